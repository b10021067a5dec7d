# SPDX-License-Identifier: GPL-2.0-or-later
# Building kernels. The cache ($SCOZ_CACHE/vm):
#
#   source/SERIES-VERSION-*/    Debian's source, without what no kernel here compiles
#   build/SERIES/               where `vm build` works; its path is always the same, so that
#                               the compiler cache serves every patch level and configuration
#   kernels/SERIES-CONFIG-KEY/  results: bzImage, vmlinux, config, src/ and obj/ for modules;
#                               KEY is a hash of all that goes in; checked: the image is that
#                               of vmlinux
#   dev/                        trees and objects of `vm dev`
#   ccache/
#
# src/ of a result is made of hard links to source/: nothing may write into it.

known_series="6.1 6.12"
known_configs="test debug kcsan plain unpatched"
keep_kernels=2
build_format=1 # goes into the key: raise it when a change here changes the kernels

jobs=${VM_JOBS:-$(nproc)}

check_series() {
	[[ " $known_series " == *" $1 "* ]] || die "no series \"$1\": there are $known_series"
}

check_config() {
	[[ " $known_configs " == *" $1 "* ]] || die "no configuration \"$1\": there are $known_configs"
}

# with_lock NAME COMMAND...: one process at a time.
with_lock() {
	local name=$1 fd status
	shift
	mkdir -p "$cache" || die "cannot make $cache: set SCOZ_CACHE to a writable directory"
	exec {fd}>"$cache/$name.lock" || die "cannot write $cache/$name.lock"
	flock "$fd"
	"$@" {fd}>&-
	status=$?
	exec {fd}>&-
	return $status
}

source_package_version() {
	dpkg-query -W -f '${Version}' "linux-source-$1" 2>/dev/null ||
		die "linux-source-$1 is not installed: apt-get install linux-source-$1"
}

# Much of what no configuration compiles and no patch touches stays packed: it saves time and space.
not_unpacked=(
	'Documentation/[b-su-z]*/*.rst' 'Documentation/*.txt' 'Documentation/*.yaml'
	'Documentation/*.svg' 'arch/[a-tv-w]*/*.[chS]' 'arch/*/*.dts*' 'arch/um/*.[chS]'
	'drivers/gpu/*.[ch]' 'drivers/media/*.[ch]' 'drivers/staging/*.[ch]'
	'drivers/infiniband/*.[ch]' 'drivers/scsi/*.[ch]' 'drivers/net/ethernet/*.[ch]'
	'drivers/net/wireless/*.[ch]' 'drivers/iio/*.[ch]' 'sound/*.[ch]'
	'tools/testing/selftests/[a-oq-z]*/*' 'tools/perf'
)

source_dir() {
	echo "$cache/source/$1-$(source_package_version "$1")-$(cksum <<<"${not_unpacked[*]}" | cut -d ' ' -f 1)"
}

unpack_source() {
	[ -e "$2/Makefile" ] || with_lock "source-$1" unpack_source_once "$1" "$2" || exit $?
}

unpack_source_once() {
	local series=$1 dir=$2 tar=/usr/src/linux-source-$1.tar.xz
	[ -e "$dir/Makefile" ] && return
	[ -r "$tar" ] || die "$tar is missing: apt-get install --reinstall linux-source-$series"
	note "unpacking $tar"
	rm -rf "$cache/source/$series-"*
	mkdir -p "$dir.new" || die "cannot make $dir.new"
	xz -dc -T0 "$tar" | tar -x -C "$dir.new" --strip-components=1 "${not_unpacked[@]/#/--exclude=*/}" ||
		die "unpacking $tar failed (is the disk full?)"
	mv "$dir.new" "$dir"
}

# The patches of a configuration, in order.
patches_of() {
	local series=$1 config=$2 p
	for p in "$top/kernel-patches/blocked/$series"/*.patch "$top/kernel-patches/$series"/*.patch; do
		[ -e "$p" ] && [ "$config" != unpatched ] && echo "$p"
	done
	for p in "$top/kernel-patches/testing/$series"/*.patch; do
		[ -e "$p" ] && echo "$p"
	done
	return 0
}

apply_patches() {
	local dir=$1 p
	shift
	for p; do
		patch -s -d "$dir" -p1 -N --no-backup-if-mismatch <"$p" >&2 ||
			die "$p does not apply to $dir: the series is out of date or in the wrong order"
	done
}

# config_of CONFIG SERIES: the fragments of a configuration: later lines win.
config_of() {
	local dir=$top/kernel-patches/config
	cat "$dir/test.config" || die "$dir/test.config is missing"
	[ "$1" = test ] || grep -hv '^$' "$dir/$1.config" || die "$dir/$1.config is missing"
	[ ! -e "$dir/$1-$2.config" ] || grep -hv '^$' "$dir/$1-$2.config"
}

tools_version() {
	gcc --version | head -n 1
	ld --version | head -n 1
	pahole --version
}

kernel_key() {
	local series=$1 config=$2 list
	mapfile -t list < <(patches_of "$series" "$config")
	{
		echo "$build_format $(source_package_version "$series")"
		tools_version
		config_of "$config" "$series"
		[ ${#list[@]} = 0 ] || cat "${list[@]}"
	} | sha256sum | cut -c 1-12
}

build_tools() {
	need_tool gcc gcc
	need_tool make make
	need_tool flex flex
	need_tool bison bison
	need_tool bc bc
	need_tool patch patch
	need_tool pahole pahole
	need_tool ccache ccache
	need_tool xz xz-utils
	need_tool readelf binutils
}

# kbuild SRC OBJ KEY ARGUMENT...: make with all that could differ between two builds fixed.
kbuild() {
	local src=$1 obj=$2 key=$3
	shift 3
	CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$(dirname "$src") CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_MAXSIZE=4G \
	CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime \
	KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 2026' KBUILD_BUILD_USER=scoz KBUILD_BUILD_HOST=$key \
	KBUILD_BUILD_VERSION=1 \
		make -C "$src" O="$obj" ARCH=x86_64 CC="$vm_dir/cc gcc" HOSTCC="ccache gcc" \
		KCFLAGS="-fdebug-prefix-map=$src/=" --no-print-directory "$@"
}

# configure SERIES SRC OBJ CONFIG KEY: .config of OBJ; what was asked for and exists must be there.
configure() {
	local series=$1 src=$2 obj=$3 config=$4 key=$5 seed symbol value got bad=
	mkdir -p "$obj" || die "cannot make $obj"
	seed=$obj/.scoz-seed
	config_of "$config" "$series" >"$seed.new"
	if [ -e "$obj/.config" ] && cmp -s "$seed.new" "$seed"; then
		return
	fi
	KCONFIG_ALLCONFIG=$seed.new kbuild "$src" "$obj" "$key" allnoconfig >"$obj/config.log" 2>&1 || {
		cat "$obj/config.log" >&2
		die "configuring $src failed"
	}
	while IFS='=' read -r symbol value; do
		got=$(grep "^$symbol=" "$obj/.config")
		[ "${got#*=}" = "$value" ] && continue
		[ "$value" = n ] && [ -z "$got" ] && continue
		# A symbol that this series does not know is no error.
		grep -qrE --include='Kconfig*' "^(menu)?config ${symbol#CONFIG_}$" "$src" || continue
		bad="$bad ${symbol}=$value"
	done < <(sed 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/\1=n/' "$seed.new" | grep '^CONFIG_' |
		tac | awk -F= '!seen[$1]++')
	[ -z "$bad" ] || die "configuration $config: not as wanted (a dependency is missing):$bad"
	mv "$seed.new" "$seed"
}

# build_id FILE
build_id() {
	readelf -n "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p' | head -n 1
}

# image_fault SRC IMAGE VMLINUX CONFIG KEY: prints what is wrong if IMAGE does not unpack to this vmlinux,
# with this configuration, of this build. (The compiler cache has once put an older kernel in.)
image_fault() {
	local unpacked
	unpacked=$(mktemp) || die "cannot make a temporary file"
	if ! "$1/scripts/extract-vmlinux" "$2" >"$unpacked" 2>/dev/null; then
		echo "it cannot be unpacked"
	elif [ "$(build_id "$unpacked")" != "$(build_id "$3")" ] || [ -z "$(build_id "$3")" ]; then
		echo "it holds another vmlinux"
	elif ! grep -aqF "scoz@$5" "$unpacked"; then
		echo "it is of another build"
	elif grep -q '^CONFIG_IKCONFIG=y' "$4" && ! "$1/scripts/extract-ikconfig" "$unpacked" | cmp -s - "$4"; then
		echo "it holds another configuration"
	fi
	rm -f "$unpacked"
}

# compile SRC OBJ KEY LOG
compile() {
	local status fault
	kbuild "$1" "$2" "$3" -j"$jobs" bzImage >"$4" 2>&1 &&
		kbuild "$1" "$2" "$3" -j"$jobs" modules_prepare >>"$4" 2>&1
	status=$?
	if [ $status = 0 ]; then
		fault=$(image_fault "$1" "$2/arch/x86/boot/bzImage" "$2/vmlinux" "$2/.config" "$3")
		[ -z "$fault" ] || die "$2/arch/x86/boot/bzImage: $fault"
		return
	fi
	grep -nE ' error: |Error [0-9]|undefined reference' "$4" | head -n 30 >&2
	tail -n 15 "$4" >&2
	die "building the kernel failed; log: $4"
}

# bzImage alone makes no Module.symvers: the symbols of vmlinux are those that modules need.
module_symbols() {
	local obj=$1
	[ -e "$obj/vmlinux.symvers" ] && cp "$obj/vmlinux.symvers" "$obj/Module.symvers"
}

# Objects are of no use for modules.
strip_objects() {
	local obj=$1
	find "$obj" \( -path "$obj/scripts" -o -path "$obj/tools" \) -prune -o -type f \
		\( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -name 'vmlinux.map' \
		-o -name '.tmp_*' -o -name 'vmlinux.bin*' -o -name 'vmlinux.relocs' \) -print0 | xargs -0 rm -f
	rm -f "$obj"/.vmlinux* "$obj/vmlinux.unstripped"
}

build_kernel() {
	local series=$1 config=$2 key=$3 dir=$4 work=$cache/build/$1 start=$SECONDS
	local list
	[ -e "$dir/bzImage" ] && return
	build_tools
	unpack_source "$series" "$(source_dir "$series")"
	note "building $series, configuration $config ($key)"
	rm -rf "$work"
	mkdir -p "$work" "$cache/kernels" || die "cannot write to $cache"
	cp -al "$(source_dir "$series")" "$work/src" ||
		die "cannot copy the source to $work"
	mapfile -t list < <(patches_of "$series" "$config")
	apply_patches "$work/src" "${list[@]}"
	configure "$series" "$work/src" "$work/obj" "$config" "$key"
	compile "$work/src" "$work/obj" "$key" "$work/build.log"
	module_symbols "$work/obj"
	cp "$work/obj/arch/x86/boot/bzImage" "$work/obj/System.map" "$work/"
	cp "$work/obj/.config" "$work/config"
	mv "$work/obj/vmlinux" "$work/vmlinux"
	strip_objects "$work/obj"
	ln -s ../vmlinux "$work/obj/vmlinux"
	rm -rf "$dir"
	# Out-of-tree modules find the source through these two.
	sed -i "s|$work/src|$dir/src|g" "$work/obj/Makefile"
	ln -sfn ../src "$work/obj/source"
	touch "$work/checked"
	mv "$work" "$dir" || die "cannot move the kernel to $dir"
	note "built in $((SECONDS - start)) s: $dir"
	prune_kernels "$series-$config"
}

prune_kernels() {
	local old
	for old in $(ls -dt "$cache/kernels/$1-"????????????/ 2>/dev/null | tail -n +$((keep_kernels + 1))); do
		rm -rf "$old"
	done
}

# Kernels from before images were checked are checked once, and built again if they are not right.
check_cached() {
	local dir=$1 key=$2 fault
	[ -e "$dir/bzImage" ] && [ ! -e "$dir/checked" ] || return 0
	fault=$(image_fault "$dir/src" "$dir/bzImage" "$dir/vmlinux" "$dir/config" "$key")
	if [ -n "$fault" ]; then
		note "$dir/bzImage: $fault"
		rm -rf "$dir"
	else
		touch "$dir/checked" 2>/dev/null
	fi
}

# The directory of a kernel, built if it is not there.
kernel_dir() {
	local series=$1 config=$2 key dir
	check_series "$series"
	check_config "$config"
	build_tools
	key=$(kernel_key "$series" "$config") || exit $EXIT_SETUP
	dir=$cache/kernels/$series-$config-$key
	check_cached "$dir" "$key"
	if [ ! -e "$dir/bzImage" ]; then
		with_lock "build-$series" build_kernel "$series" "$config" "$key" "$dir" >&2 || exit $?
	fi
	touch "$dir" 2>/dev/null
	echo "$dir"
}

vm_build() {
	local series= config=test
	while [ $# -gt 0 ]; do
		case $1 in
		--config)
			config=${2:?--config NAME}
			shift
			;;
		-*) die "build: no option $1" ;;
		*) series=$1 ;;
		esac
		shift
	done
	[ -n "$series" ] || die "build: which series? ($known_series)"
	kernel_dir "$series" "$config"
}

# A tree for changes: real files, not links.
make_dev_tree() {
	local series=$1 tree=$2 list
	unpack_source "$series" "$(source_dir "$series")"
	note "making $tree"
	rm -rf "$tree.new"
	mkdir -p "$(dirname "$tree")"
	cp -a "$(source_dir "$series")" "$tree.new" ||
		die "cannot copy the source to $tree"
	mapfile -t list < <(patches_of "$series" test)
	apply_patches "$tree.new" "${list[@]}"
	rm -rf "$tree"
	mv "$tree.new" "$tree"
}

vm_dev() {
	local series= config=test tree= reset= options=() obj
	while [ $# -gt 0 ]; do
		case $1 in
		--config)
			config=${2:?--config NAME}
			shift
			;;
		--tree)
			tree=$(realpath -e "${2:?--tree DIR}") || die "no directory $2"
			shift
			;;
		--reset) reset=y ;;
		--) break ;;
		--icount | --gdb) options+=("$1") ;;
		-*)
			options+=("$1" "${2-}")
			shift
			;;
		*) series=$1 ;;
		esac
		shift
	done
	[ -n "$series" ] || die "dev: which series? ($known_series)"
	check_series "$series"
	check_config "$config"
	build_tools
	if [ -z "$tree" ]; then
		tree=$cache/dev/$series/src
		if [ -n "$reset" ] || [ ! -e "$tree/Makefile" ]; then
			with_lock "build-$series" make_dev_tree "$series" "$tree" || exit $?
		fi
	fi
	obj=$cache/dev/$series/obj-$config
	[ "$tree" = "$cache/dev/$series/src" ] || obj=$obj-$(echo "$tree" | sha256sum | cut -c 1-8)
	with_lock "dev-$series-$(basename "$obj")" dev_build "$tree" "$obj" "$config" || exit $?
	if [ $# -gt 1 ] || [ ${#options[@]} -gt 0 ]; then
		vm_run --kernel "$obj" "${options[@]}" "$@"
	else
		echo "$obj"
	fi
}

dev_build() {
	local tree=$1 obj=$2 config=$3 start=$SECONDS
	[ -e "$tree/.config" ] && die "$tree was built in place: \`make mrproper\` there first"
	configure "$series" "$tree" "$obj" "$config" dev
	compile "$tree" "$obj" dev "$obj/build.log"
	module_symbols "$obj"
	ln -sfn arch/x86/boot/bzImage "$obj/bzImage"
	grep -n 'warning:' "$obj/build.log" >&2
	note "built in $((SECONDS - start)) s: $obj"
}

vm_list() {
	local dir
	[ -d "$cache" ] || return 0
	for dir in "$cache"/kernels/* "$cache"/dev/* "$cache"/source/* "$cache"/stock/* "$cache"/ccache; do
		[ -d "$dir" ] && du -sh "$dir"
	done
	return 0
}

vm_clean() {
	rm -rf "$cache"
}
