# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by tests of what windows tell: sourced after lib.sh. The profile is $out, messages in $tmp/log.
out=$tmp/p.scoz

# windows [treated]: the lines of all windows, or of those with a speedup
windows() {
	if [ "$1" = treated ]; then
		sed -n '/"type":"window"/{/"speedup":0\(\.0\)\{0,1\},/!p}' "$out" 2>/dev/null
	else
		sed -n '/"type":"window"/p' "$out" 2>/dev/null
	fi
}

# sum_of FIELD [treated]: its sum over windows
sum_of() {
	windows "$2" | awk -v f="\"$1\":" 'index($0, f) {
		s += substr($0, index($0, f) + length(f)) } END { print s + 0 }'
}

# share A LOW B HIGH: A is at least LOW times B, and at most HIGH times
share() {
	awk -v a="$(sum_of "$1")" -v l="$2" -v b="$(sum_of "$3")" -v h="$4" \
		'BEGIN { exit !(b > 0 && a >= l * b && a <= h * b) }' ||
		fail "$1 is $(sum_of "$1"), $3 is $(sum_of "$3"): not $2 to $4 times: $(cat "$tmp/log")"
}

# profile_windows OPTION...: until there are six windows with a speedup
profile_windows() {
	rm -f "$out"
	"$scozd" --engine bpf --no-replay --warmup 0.2 -o "$out" "$@" >"$tmp/log" 2>&1 &
	end_when 60 $! has_six_treated
}

has_six_treated() {
	[ "$(windows treated | wc -l)" -ge 6 ]
}
