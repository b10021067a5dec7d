# SPDX-License-Identifier: GPL-2.0-or-later
# Which kernels do the tests need? $base in any case: programs of scoz are tested on it. Building one takes
# minutes, and the same kernel under the same tests tells nothing new: tests of the kernels alone ask no program
# of scoz, so what they found is a function of the kernel's key and of their own text. kernel-patches/tested
# says with which of these the kernels in $once passed (`make check-kernels` writes it, who changes a patch
# commits it); whatever else is there is due, and is built and tested by `make check`. $base is tested so when
# $beside_base is: that is the same with debug options, so all that makes the one another makes the other.

base="6.12:test" beside_base="6.12:debug"
once="6.1:test 6.12:debug"
tested_file=$top/kernel-patches/tested
# All that such a test is made of, but for the kernel
tests_of_kernels="tests/vm/lib.sh tests/vm/test-vm-boot tests/vm/test-kernel-selftests tests/vm/test-kernel-ends
	tests/vm/guest-ends.c tests/vm/ends tools/vm/run.sh tools/vm/guest-init include/uapi"

# tested_line KERNEL: as it stands in kernel-patches/tested
tested_line() {
	local key
	key=$(kernel_key "${1%:*}" "${1#*:}") || exit $EXIT_SETUP
	{
		echo "$key"
		(cd "$top" && find $tests_of_kernels -type f | LC_ALL=C sort | xargs sha256sum) || exit $EXIT_SETUP
	} | sha256sum | sed "s/^\(.\{16\}\).*/$1 $key \1/"
}

# Those whose tests of the kernel alone are due; $VM_DUE=all: all of them, whatever was tested.
vm_due() {
	local kernel line due=
	build_tools
	for kernel in $once; do
		line=$(tested_line "$kernel") || exit $EXIT_SETUP
		[ "${VM_DUE-}" != all ] && grep -qsxF "$line" "$tested_file" || due="$due $kernel"
	done
	[[ " $due " != *" $beside_base "* ]] || due="$base$due"
	[ -z "$due" ] || printf '%s\n' $due
}

# Those that are booted
vm_needed() {
	local due
	due=$(vm_due) || exit $EXIT_SETUP
	printf '%s\n' "$base" $due | awk '!seen[$0]++'
}

vm_tested() {
	local kernel
	build_tools
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# Kernels that passed their tests (tools/vm/due.sh): KERNEL, its key, a hash of key and tests."
		for kernel in $once; do
			tested_line "$kernel" || exit $EXIT_SETUP
		done
	} >"$tested_file.new" || die "cannot write $tested_file.new"
	mv "$tested_file.new" "$tested_file"
}
