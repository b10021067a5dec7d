# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced. What a test has started, whatever became of its parents or session, carries the variable
# SCOZ_TEST of that test in its environment; the one who started the test does not.

# strays COOKIE: those processes, but not the shell that asks.
strays() {
	local file pid
	for file in $(grep -lszxF -e "SCOZ_TEST=$1" /proc/[0-9]*/environ); do
		pid=${file#/proc/}
		pid=${pid%/environ}
		[ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || ! [ -d "/proc/$pid" ] || echo "$pid"
	done
}

# wait_for_strays COOKIE SECONDS: status 1 if some are still there after that time.
wait_for_strays() {
	local end=$((SECONDS + $2 + 1))
	while [ -n "$(strays "$1")" ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# end_strays COOKIE: asks them to end, and kills those that do not. A stopped one goes on to do so.
end_strays() {
	local pids signal
	for signal in TERM KILL; do
		pids=$(strays "$1")
		[ -n "$pids" ] || return 0
		# shellcheck disable=SC2086
		kill -$signal $pids 2>/dev/null
		# shellcheck disable=SC2086
		kill -CONT $pids 2>/dev/null
		wait_for_strays "$1" 2 && return
	done
}
