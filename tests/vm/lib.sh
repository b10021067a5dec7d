# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests in virtual machines: sourced, from the top of the tree.
[ -n "$SCOZ_TEST" ] || exec env --default-signal=HUP "SCOZ_TEST=$$.$RANDOM" "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
vm=tools/vm/vm
. tests/strays.sh
tmp=$(mktemp -d)
clean_up() {
	end_strays "$SCOZ_TEST"
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

skip() {
	echo "$*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	exit 1
}

for tool in qemu-system-x86_64 busybox pahole ccache; do
	command -v $tool >/dev/null || skip "$tool is missing: tools/install-deps vm"
done
for series in 6.1 6.12; do
	[ -e /usr/src/linux-source-$series.tar.xz ] ||
		skip "linux-source-$series is missing: tools/install-deps vm"
done

# due KERNEL...: those that are tested now, into $kernels; who has none is skipped.
due() {
	local kernel now
	now=$("$vm" due) || fail "vm due"
	kernels=()
	for kernel; do
		if grep -qxF "$kernel" <<<"$now"; then
			kernels+=("$kernel")
		else
			echo "$kernel: its patches, configuration and tests are those that passed (kernel-patches/tested)"
		fi
	done
	[ ${#kernels[@]} -gt 0 ] || skip "$* passed as they are now (kernel-patches/tested): make check-kernels tries again"
}

# guest KERNEL [OPTION...] -- COMMAND...: in the guest the build directory is where it is here.
guest() {
	local kernel=$1
	shift
	"$vm" run --kernel "$kernel" --bind "$build" --env "B=$build" "$@"
}

# status_of WANTED COMMAND...: its output goes to $tmp/out.
status_of() {
	local wanted=$1 got
	shift
	"$@" >"$tmp/out" 2>&1
	got=$?
	[ "$got" = "$wanted" ] && return
	tail -n 80 "$tmp/out"
	fail "exit status $got instead of $wanted: $*"
}

output_has() {
	grep -q -- "$1" "$tmp/out" && return
	tail -n 80 "$tmp/out"
	fail "no \"$1\" in the output"
}
