# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the system tests: sourced, from the top of the tree.
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
scozd=$build/scozd
scoz=$build/scoz
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
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

fail() {
	echo "FAILED: $*"
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root: cores are sampled and stopped"
}

# expect STATUS PATTERN COMMAND...: exit status and a text in its output.
expect() {
	local status=$1 pattern=$2 got
	shift 2
	"$@" >"$tmp/out" 2>&1 </dev/null
	got=$?
	cat "$tmp/out"
	[ "$got" = "$status" ] || fail "exit status $got instead of $status: $*"
	grep -q -- "$pattern" "$tmp/out" || fail "no \"$pattern\" in the output of: $*"
}

# footer FIELD FILE: a number or string of the last footer.
footer() {
	grep '"type":"footer"' "$2" | tail -n 1 | sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p" |
		tr -d '"'
}
