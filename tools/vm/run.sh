# SPDX-License-Identifier: GPL-2.0-or-later
# Running a guest. Its root file system is that of the host, read-only over 9p; two more shares
# carry the command, its status (ctl) and its files (out). What the command prints comes through
# a virtio port; the kernel's own messages go to the serial console, which is searched for
# complaints of the kernel afterwards.

qemu=${VM_QEMU:-qemu-system-x86_64}

splats='BUG:|WARNING:|Oops|KASAN:|KCSAN:|UBSAN:|ODEBUG:|INFO: task|INFO: rcu|rcu: INFO:'
splats="$splats|possible (circular|recursive|irq|interrupt|deadlock|unsafe|reason)"
splats="$splats|inconsistent lock state|suspicious RCU|DEBUG_LOCKS_WARN|bad unlock balance"
splats="$splats|held lock freed|lock held when returning|soft lockup|hard LOCKUP|workqueue lockup"
splats="$splats|blocked for more than|Kernel panic|general protection fault|double fault"
splats="$splats|unable to handle|scheduling while atomic|Bad page|refcount_t:|list_(add|del) corruption"
splats="$splats|detected stalls|self-detected stall|failed to unregister, leaking"

# Races that are none of the series': readers of that clock look afterwards whether it was being
# written, and a fork looks without a lock whether its pid namespace is gone.
meant='KCSAN: data-race in (ktime_get_mono_fast_ns / timekeeping_update|alloc_pid / copy_process)'

# find_splats CONSOLE: an excerpt of the first complaint; status 1 if there is none.
find_splats() {
	tr -d '\r' <"$1" | awk -v pattern="$splats" -v meant="$meant" '
		$0 ~ pattern && $0 !~ meant { if (!first) first = NR }
		first && NR < first + 60 { print }
		END { exit !first }'
}

# Sets kernel, initrd and default_threads for the argument of --kernel. A kernel without
# kernel-patches/testing does not survive parallel emulation (docs/vm.md).
find_kernel() {
	local what=$1 dir
	initrd= default_threads=multi
	case $what in
	stock | stock-6.*)
		default_threads=single
		dir=$(stock_dir "$what") || exit $EXIT_SETUP
		kernel=$dir/vmlinuz
		initrd=$dir/initrd
		;;
	6.*:*)
		dir=$(kernel_dir "${what%%:*}" "${what#*:}") || exit $EXIT_SETUP
		kernel=$dir/bzImage
		;;
	6.1 | 6.12)
		dir=$(kernel_dir "$what" test) || exit $EXIT_SETUP
		kernel=$dir/bzImage
		;;
	*)
		for kernel in "$what/bzImage" "$what/arch/x86/boot/bzImage" "$what"; do
			[ -f "$kernel" ] && return
		done
		die "no kernel \"$what\": neither series, series:configuration, stock, stock-SERIES nor a directory with bzImage"
		;;
	esac
}

parse_run_options() {
	kernel_name=6.12 cpus=2 mem=2G append= timeout=300 out= console= gdb= icount= threads=
	binds=() envs=() words=()
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel | --cpus | --mem | --append | --timeout | --out | --bind | --env | --console | --threads)
			[ $# -gt 1 ] || die "$1 wants an argument"
			;;&
		--kernel) kernel_name=$2 ;;
		--cpus) cpus=$2 ;;
		--mem) mem=$2 ;;
		--append) append="$append $2" ;;
		--timeout) timeout=$2 ;;
		--out) out=$2 ;;
		--bind) binds+=("$(realpath -e "$2")") || die "no directory $2" ;;
		--env) envs+=("$2") ;;
		--console) console=$2 ;;
		--threads) threads=$2 ;;
		--gdb) gdb=y ;;
		--icount) icount=y ;;
		--)
			shift
			words=("$@")
			return
			;;
		*) die "no option \"$1\" (the command stands after --)" ;;
		esac
		case $1 in
		--gdb | --icount) shift ;;
		*) shift 2 ;;
		esac
	done
}

# What the guest covers with a tmpfs but shall see.
hidden_in_guest() {
	case $1/ in
	/tmp/?* | /run/?* | /root/* | /home/* | /var/tmp/?* | /var/cache/?* | /var/log/?*) return 0 ;;
	esac
	return 1
}

# write_command FILE: the script that the guest runs.
write_command() {
	local e dir
	{
		printf 'export PATH=%q HOME=/root LANG=%q VM_OUT=/run/vm/out\n' \
			/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${LANG:-C.UTF-8}"
		for e in "${envs[@]}"; do
			case $e in
			*=*) printf 'export %s=%q\n' "${e%%=*}" "${e#*=}" ;;
			*) [ -n "${!e+x}" ] && printf 'export %s=%q\n' "$e" "${!e}" ;;
			esac
		done
		printf 'cd %q || exit 126\n' "$PWD"
		printf 'exec'
		printf ' %q' "${words[@]}"
		echo
	} >"$1"
	hidden_in_guest "$PWD" && binds+=("$PWD")
	for dir in "${binds[@]}"; do
		hidden_in_guest "$dir" && echo "$dir"
	done >"$(dirname "$1")/binds"
	return 0
}

# tsc_khz: prints how fast a guest's time stamp counter turns, which is this machine's. A guest that
# finds out by itself while the host is busy was seen with an eighth of it: all its time ran eight
# times too fast, and what took too long was a stall.
tsc_khz() {
	[ -z "$icount" ] && gcc -O1 -o "$run/tsc-khz" "$vm_dir/tsc-khz.c" 2>/dev/null && "$run/tsc-khz"
}

qemu_arguments() {
	local args khz
	[ -z "$icount" ] || threads=single
	args="root=root rootfstype=9p rootflags=trans=virtio,version=9p2000.L,cache=loose,msize=262144 ro"
	args="$args init=$vm_dir/guest-init console=ttyS0 tsc=reliable no_timer_check panic=-1 oops=panic"
	khz=$(tsc_khz) && args="$args tsc_early_khz=$khz"
	args="$args$append"
	qemu_args=(-nodefaults -no-user-config -display none -no-reboot
		-accel "tcg,thread=${threads:-$default_threads}" -cpu max,vendor=GenuineIntel,-monitor -smp "$cpus" -m "$mem"
		-kernel "$kernel" -append "$args"
		-serial "file:$run/console.log" -serial null -device virtio-rng-pci
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap
		-device virtio-9p-pci,fsdev=root,mount_tag=root
		-fsdev "local,id=ctl,path=$run/ctl,security_model=none"
		-device virtio-9p-pci,fsdev=ctl,mount_tag=ctl
		-fsdev "local,id=out,path=$out,security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=out,mount_tag=out
		-device virtio-serial-pci)
	[ -z "$initrd" ] || qemu_args+=(-initrd "$initrd")
	[ -z "$icount" ] || qemu_args+=(-icount "shift=0,sleep=off")
	[ -z "$gdb" ] || {
		qemu_args+=(-gdb "tcp::${VM_GDB_PORT:-1234}" -S)
		note "waiting for gdb: tools/vm/vm gdb $kernel_name"
	}
}

prepare_run() {
	need_tool "$qemu" qemu-system-x86
	need_tool busybox busybox-static
	[[ $vm_dir != *[[:space:],]* ]] || die "$vm_dir: the kernel's command line cannot hold such a path"
	find_kernel "$kernel_name"
	run=$(mktemp -d "${TMPDIR:-/tmp}/scoz-vm.XXXXXX") || exit $EXIT_SETUP
	qemu_pid=
	trap 'end_run' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir "$run/ctl"
	if [ -n "$out" ]; then
		mkdir -p "$out" && out=$(realpath "$out") || die "cannot make $out"
	else
		out=$run/out
		mkdir "$out"
	fi
	write_command "$run/ctl/command"
	[ -z "$initrd" ] || cp "$(dirname "$initrd")/config" "$run/ctl/config"
	qemu_arguments
}

end_run() {
	[ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null
	[ -z "$console" ] || cp "$run/console.log" "$console" 2>/dev/null
	rm -rf "$run"
}

# verdict STATUS-OF-QEMU
verdict() {
	local status excerpt
	[ -e "$run/console.log" ] || die "$qemu did not start: $(cat "$run/qemu.err")"
	if excerpt=$(find_splats "$run/console.log"); then
		echo "vm: the guest's kernel complained:" >&2
		echo "$excerpt" >&2
		return $EXIT_SPLAT
	fi
	if [ "$1" = 124 ] || [ "$1" = 137 ]; then
		echo "vm: time out after $timeout s; the console ended with:" >&2
		tail -n 30 "$run/console.log" >&2
		return $EXIT_TIMEOUT
	fi
	status=$(cat "$run/ctl/status" 2>/dev/null)
	if [ -z "$status" ] || ! grep -q 'scoz-vm: end' "$run/console.log"; then
		echo "vm: the guest ended without a status (qemu: $1 $(cat "$run/qemu.err")); the console ended with:" >&2
		tail -n 30 "$run/console.log" >&2
		return $EXIT_DIED
	fi
	return "$status"
}

vm_run() {
	local status reader fd
	parse_run_options "$@"
	[ ${#words[@]} -gt 0 ] || die "run: no command (it stands after --)"
	prepare_run
	mkfifo "$run/output" || exit $EXIT_SETUP
	cat "$run/output" &
	reader=$!
	timeout -k 5 "$timeout" "$qemu" "${qemu_args[@]}" \
		-chardev "file,id=output,path=$run/output" -device virtserialport,chardev=output,name=output \
		</dev/null >"$run/qemu.err" 2>&1 &
	qemu_pid=$!
	wait $qemu_pid
	status=$?
	qemu_pid=
	# A qemu that never opened the output leaves the reader waiting; this does not block.
	exec {fd}<>"$run/output"
	exec {fd}>&-
	wait $reader
	verdict $status
}

vm_shell() {
	local status
	parse_run_options "$@"
	[ -t 0 ] || die "shell: standard input is no terminal"
	[ ${#words[@]} -gt 0 ] || words=(/bin/bash -i)
	envs+=("TERM=${TERM:-vt100}")
	prepare_run
	stty size | awk '{ print "rows", $1, "cols", $2 }' >"$run/ctl/shell"
	note "the kernel's messages: $run/console.log; leave with exit"
	"$qemu" "${qemu_args[@]}" -chardev stdio,id=tty,signal=off -device virtconsole,chardev=tty
	status=$?
	stty sane
	verdict $status
}

vm_vmlinux() {
	local dir
	[ $# = 1 ] || die "vmlinux: which kernel?"
	case $1 in
	stock | stock-6.*)
		stock_vmlinux "$1"
		return
		;;
	esac
	find_kernel "$1"
	dir=$(dirname "$kernel")
	[ -e "$dir/vmlinux" ] || dir=${dir%/arch/x86/boot}
	[ -e "$dir/vmlinux" ] || die "no vmlinux beside $kernel"
	echo "$dir/vmlinux"
}

vm_headers() {
	[ $# = 1 ] || die "headers: of which kernel?"
	case $1 in
	stock | stock-6.*) stock_headers "$1" ;;
	*)
		find_kernel "$1"
		[ -e "$(dirname "$kernel")/obj/Module.symvers" ] || die "modules cannot be built for $1"
		echo "$(dirname "$kernel")/obj"
		;;
	esac
}

vm_gdb() {
	local vmlinux
	need_tool gdb gdb
	vmlinux=$(vm_vmlinux "${1:-6.12}") || exit $?
	exec gdb -ex "dir $(dirname "$vmlinux")/src" -ex "target remote :${VM_GDB_PORT:-1234}" "$vmlinux"
}
