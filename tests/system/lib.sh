# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the system tests: sourced, from the top of the tree.
# However a test ends, it ends what it has started, and nothing of it is in the way of the next.
# Signals that whoever started it ignores (nohup) are none that a test would have programs ignore.
[ -n "$SCOZ_TEST" ] || exec env --default-signal=HUP "SCOZ_TEST=$$.$RANDOM" "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/strays.sh
build=${B:-build}
scozd=$build/scozd
scoz=$build/scoz
tmp=$(mktemp -d)
clean_up() {
	end_strays "$SCOZ_TEST"
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT
# The same tests run against both engines: SCOZ_TEST_ENGINE=bpf|kernel (default: scozd's choice).
if [ -n "$SCOZ_TEST_ENGINE" ]; then
	printf '#!/bin/sh\nexec %q --engine %s "$@"\n' "$(realpath "$scozd")" "$SCOZ_TEST_ENGINE" \
		>"$tmp/scozd"
	chmod +x "$tmp/scozd"
	scozd=$tmp/scozd
fi

skip() {
	echo "$*"
	exit 77
}

# cpu N: the Nth CPU that we may run on, if there is one
cpu() {
	awk '$1 == "Cpus_allowed_list:" { print $2 }' /proc/self/status | tr ',' '\n' |
		awk -F - '{ for (c = $1; c <= $NF; c++) print c }' | sed -n "$1p"
}

find_chromium() {
	command -v chromium || command -v chromium-browser || command -v google-chrome
}

fail() {
	echo "FAILED: $*"
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root: cores are sampled and stopped"
	wait_for_machine
}

# The process that has the machine for itself, if any. Asking must not take the lock.
machine_holder() {
	local lock=/run/scozd.lock device
	[ -e $lock ] || return 0
	# Inodes of other file systems have the same numbers; stat does not tell the device of every one.
	device=$(awk -v at="$(stat -c %m $lock)" '$5 == at { last = $3 } END { print last }' /proc/self/mountinfo)
	# shellcheck disable=SC2086 # two numbers
	awk -v lock="$(printf '%02x:%02x:%s' ${device/:/ } "$(stat -c %i $lock)")" \
		'$2 == "FLOCK" && $6 == lock { print $5; exit }' /proc/locks
}

# There is one scozd a machine. One that has nothing to do with the tests is given time to end.
wait_for_machine() {
	local holder limit=${SCOZ_TEST_WAIT:-60} end
	end=$((SECONDS + limit))
	while holder=$(machine_holder) && [ -n "$holder" ]; do
		[ $SECONDS -lt $end ] || fail "another scozd has had this machine for $limit s:" \
			"process $holder, $(tr '\0' ' ' <"/proc/$holder/cmdline" 2>/dev/null): end it first"
		sleep 0.2
	done
}

# What a command printed, for people: the beginning.
excerpt() {
	sed 's/^/    /' "$1" | head -n 12
	[ "$(wc -l <"$1")" -le 12 ] || echo "    ... ($(wc -l <"$1") lines)"
}

# expect STATUS PATTERN COMMAND...: exit status and a text in its output.
expect() {
	local status=$1 pattern=$2 got wrong=
	shift 2
	"$@" >"$tmp/out" 2>&1 </dev/null
	got=$?
	[ "$got" = "$status" ] || wrong="exit status $got instead of $status"
	grep -q -- "$pattern" "$tmp/out" || wrong="${wrong:+$wrong, }no \"$pattern\" in the output"
	[ -n "$wrong" ] || return 0
	fail "$wrong: $*, which printed
$(excerpt "$tmp/out")"
}

# end_when SECONDS PID COMMAND...: ends scozd PID when COMMAND succeeds, at the latest after SECONDS;
# status: that of scozd.
end_when() {
	local end=$((SECONDS + $1)) pid=$2
	shift 2
	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] && kill -0 "$pid" 2>/dev/null || break
		sleep 0.2
	done
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
}

# await_threads PID NAME...: until that process, which may not have executed its program yet, has a thread
# of each of these names
await_threads() {
	local pid=$1 name end=$((SECONDS + 60))
	shift
	for name; do
		until grep -qsxF -e "$name" "/proc/$pid/task/"*/comm; do
			[ $SECONDS -lt $end ] && kill -0 "$pid" || fail "process $pid has no thread \"$name\""
			sleep 0.05
		done
	done
}

# has_treated N FILE, has_kept N FILE: windows in which delay was inserted; with a speedup, that count.
has_treated() {
	[ "$(grep '"type":"window"' "$2" | grep -v '"discard":"control"' |
		grep -c '"inserted_s":\(0\.0*[1-9]\|[1-9]\)')" -ge "$1" ]
}
has_kept() {
	[ "$(kept_windows "$2" treated)" -ge "$1" ]
}

# until_treated N PID FILE: ends scozd PID when its profile has N windows in which delay was inserted,
# however long that takes here; status: that of scozd.
until_treated() {
	end_when 120 "$2" has_treated "$1" "$3"
}

# For awk: a number of the line, which is JSON
awk_field='function field(name) { return substr($0, index($0, "\"" name "\":") + length(name) + 3) + 0 }
'

# kept_windows FILE [treated]: how many windows count so far, or how many with a speedup.
kept_windows() {
	[ -e "$1" ] || { echo 0; return; }
	awk -v treated="$2" "$awk_field"'
		/"type":"discard"/ { from = field("before_seq") }
		/"type":"window".*"discard":null/ && (!treated || field("speedup")) { seq[n++] = field("seq") }
		END { for (i = 0; i < n; i++) kept += seq[i] >= from; print kept + 0 }' "$1"
}

# has_run SECONDS base|treated FILE: so long profiled tasks have run in windows without a speedup, or with one
has_run() {
	awk -v least="$1" -v treated="$2" "$awk_field"'
		/"type":"window".*"discard":null/ && (field("speedup") > 0) == (treated == "treated") { ran += field("ran_s") }
		END { exit !(ran >= least) }' "$3"
}

# until_kept N SECONDS FILE COMMAND...: COMMAND is scozd, which writes FILE; ended when N windows with a
# speedup count in it, and after SECONDS whatever it has; status: that of scozd.
until_kept() {
	local n=$1 most=$2 file=$3
	shift 3
	"$@" &
	end_when "$most" $! has_kept "$n" "$file"
}

# begin_forged SECONDS: another user's program with the mark "unit"; its process is $forger
begin_forged() {
	chmod 755 "$tmp"
	cp "$build/system/forged" "$tmp"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/forged" "$1" &
	forger=$!
}

# footer FIELD FILE: a number or string of the last footer.
footer() {
	grep '"type":"footer"' "$2" | tail -n 1 | sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p" |
		tr -d '"'
}

footer_line() {
	grep '"type":"footer"' "$1"
}

# exact_ledger FILE: cores were stopped, and all that was inserted is accounted for.
exact_ledger() {
	local f
	for f in inserted_s stopped_s own_s excused_s overhead_s waived_s owed_s; do
		local $f="$(footer $f "$1")"
	done
	awk -v n="$(nproc)" -v g="$inserted_s" -v st="$stopped_s" -v own="$own_s" -v ex="$excused_s" \
		-v oh="$overhead_s" -v w="$waived_s" -v ow="$owed_s" 'BEGIN {
		if (g <= 0.01) { print "hardly anything was inserted: " g; exit 1 }
		if (st <= 0) { print "no core was stopped"; exit 1 }
		d = n * g - (own + st + ex + oh + ow)
		if (d > 1e-6 || d < -1e-6) { print "ledger is off by " d " s"; exit 1 }
		d = g + w - own
		if (d > 1e-6 || d < -1e-6) { print "hits and growth of G differ by " d " s"; exit 1 }
	}'
}

rate=/proc/sys/kernel/perf_event_max_sample_rate
# Guardians of what this test has started: a scozd has one where perf_event_max_sample_rate was low.
guardians() {
	local pid
	for pid in $(strays "$SCOZ_TEST"); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != scozd-guard ] || echo "$pid"
	done
}
guardian_of_test() {
	local pid
	for _ in $(seq 600); do
		pid=$(guardians)
		[ -z "$pid" ] || {
			echo "$pid"
			return
		}
		sleep 0.1
	done
	fail "scozd has no guardian"
}
# That of a scozd that is gone ends a moment later, and must not be taken for the next one's.
await_no_guardian() {
	for _ in $(seq 600); do
		[ -n "$(guardians)" ] || return 0
		sleep 0.1
	done
	fail "the guardian goes on: $(guardians)"
}
