# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of scoz record: sourced after lib.sh.
check=$build/system/record_check
waiting=$build/workloads/waiting
rec=$tmp/record.scoz
truth=$tmp/truth.json
export TMPDIR=/var/tmp # for files without the page cache: not on tmpfs

# record OPTION... [-- COMMAND...]: its messages in $tmp/log
record() {
	local status
	rm -f "$rec"
	"$scoz" record ${SCOZ_TEST_ENGINE:+--engine "$SCOZ_TEST_ENGINE"} -o "$rec" "$@" >"$tmp/log" 2>&1
	status=$?
	[ -s "$rec" ] || fail "scoz record $* (exit $status) left no recording: $(cat "$tmp/log")"
	return $status
}

# begun PID: waits until scoz record PID has begun to write $rec, which was not there before
begun() {
	local end=$((SECONDS + 60))
	until [ -s "$rec" ]; do
		[ $SECONDS -lt $end ] && kill -0 "$1" || fail "no recording: $(cat "$tmp/log")"
		sleep 0.05
	done
}

# sampled PID: waits until scoz record PID has written samples to $rec, which it does every second
sampled() {
	local end=$((SECONDS + 60))
	until grep -qs '"type":"sample"' "$rec"; do
		[ $SECONDS -lt $end ] && kill -0 "$1" || fail "no samples: $(cat "$tmp/log")"
		sleep 0.05
	done
}

# value NAME: from the summary of the recording
value() {
	"$check" "$rec" summary | sed -n "s/^$1 //p"
}

# points FILTER...
points() {
	"$check" "$rec" points "$@"
}

# between LOW VALUE HIGH WHAT
between() {
	awk -v l="$1" -v v="$2" -v h="$3" 'BEGIN { exit !(v >= l && v <= h) }' ||
		fail "$4: $2, not from $1 to $3"
	echo "$4: $2"
}

# A program that measures how long it has slept; of the periods of PERIOD ms (1) in what it was asked to, at most 10
# may be missing, and there are no more than in what it took: how late timers are is the machine's affair.
slept=$build/system/slept
asleep() { # ASKED_MS WHAT [PERIOD]
	local took
	took=$(awk '$1 == "slept" { sum += $2 } END { print sum + 0 }' "$tmp/log")
	between $((($1 - 10) / ${3:-1})) "$(points comm=slept class=B kind=sleep)" $((took / ${3:-1} + 1)) "$2"
}

complete() {
	[ "$(value complete)" = 1 ] || fail "$1: the recording has no footer: $(cat "$tmp/log")"
}

# twice COMMAND...: other load may spoil what has to do with time, but not again and again
twice() {
	"$@" && return
	echo "-- once more"
	"$@" || fail "$*"
}
