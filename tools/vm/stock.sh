# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's own kernel: fetched, not installed. It has the drivers for its root file system as
# modules, so a small initramfs loads them first.

stock_modules="virtio_pci 9pnet_virtio 9p virtio_console virtio_rng"

stock_package() {
	local package
	package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }')
	[ -n "$package" ] || die "apt knows no linux-image-amd64: run apt-get update"
	echo "$package"
}

stock_version() {
	apt-cache policy "$1" | awk '$1 == "Candidate:" { print $2 }'
}

# fetch PACKAGE DIR: its .deb into an empty directory.
fetch() {
	rm -rf "$2"
	mkdir -p "$2" || die "cannot make $2"
	note "downloading $1"
	(cd "$2" && apt-get -o APT::Sandbox::User=root -qq download "$1" >&2) || {
		apt-get -qq update >&2
		(cd "$2" && apt-get -o APT::Sandbox::User=root -qq download "$1" >&2) ||
			die "cannot download $1: see above"
	}
}

build_stock() {
	local package=$1 dir=$2 new=$2.new release file
	[ -e "$dir/initrd" ] && return
	need_tool busybox busybox-static
	need_tool cpio cpio
	need_tool depmod kmod
	release=${package#linux-image-}
	fetch "$package" "$new"
	dpkg-deb --fsys-tarfile "$new"/*.deb |
		tar -x -C "$new" --wildcards './boot/*' './lib/modules/*/kernel/*/virtio*' \
			'./lib/modules/*/kernel/*/9p*' './lib/modules/*/kernel/fs/netfs/*' \
			'./lib/modules/*/kernel/fs/fscache/*' './lib/modules/*/modules.builtin*' \
			'./lib/modules/*/modules.order' || die "unpacking $package failed"
	rm -f "$new"/*.deb
	mv "$new/boot/vmlinuz-$release" "$new/vmlinuz"
	mv "$new/boot/config-$release" "$new/config"
	rm -rf "$new/boot"
	depmod -b "$new" "$release" || die "depmod failed"
	mkdir -p "$new/initramfs"/{bin,proc,sys,dev,newroot}
	cp "$(command -v busybox)" "$new/initramfs/bin/busybox"
	ln -s busybox "$new/initramfs/bin/sh"
	: >"$new/initramfs/modules"
	for file in $stock_modules; do
		modprobe -d "$new" -S "$release" --show-depends "$file" | awk '$1 == "insmod" { print $2 }'
	done | awk '!seen[$0]++' >"$new/list" || die "the modules of $package changed their names"
	while read -r file; do
		cp "$file" "$new/initramfs/" || die "no module $file"
		basename "$file" >>"$new/initramfs/modules"
	done <"$new/list"
	cp "$vm_dir/stock-init" "$new/initramfs/init"
	(cd "$new/initramfs" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$new/initrd" ||
		die "making the initramfs failed"
	rm -rf "$new/initramfs" "$new/list" "$new/lib"
	echo "$release" >"$new/release"
	rm -rf "$dir"
	mv "$new" "$dir"
	for file in $(ls -dt "$cache/stock"/*/ | tail -n +$((keep_kernels + 1))); do
		rm -rf "$file"
	done
}

stock_dir() {
	local package version dir
	need_tool apt-get apt
	package=$(stock_package) || exit $EXIT_SETUP
	version=$(stock_version "$package")
	dir=$cache/stock/$package-$version-$(sha256sum <"$vm_dir/stock-init" | cut -c 1-6)
	if [ ! -e "$dir/initrd" ]; then
		with_lock stock build_stock "$package" "$dir" || exit $?
	fi
	echo "$dir"
}

# The debug package is 6 GB unpacked: one file of it is taken.
stock_vmlinux() {
	local dir package new
	dir=$(stock_dir) || exit $EXIT_SETUP
	if [ ! -e "$dir/vmlinux" ]; then
		package=$(stock_package)
		new=$cache/stock-dbg.new
		fetch "$package-dbg" "$new"
		dpkg-deb --fsys-tarfile "$new"/*.deb | tar -x -C "$new" --wildcards --strip-components=5 \
			"./usr/lib/debug/boot/vmlinux-*" || die "no vmlinux in $package-dbg"
		mv "$new"/vmlinux-* "$dir/vmlinux" || die "no vmlinux in $package-dbg"
		rm -rf "$new"
	fi
	echo "$dir/vmlinux"
}
