# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's own kernels: fetched, not installed. They have the drivers for their root file system as
# modules, so a small initramfs loads them first.

stock_modules="virtio_pci 9pnet_virtio 9p virtio_console virtio_rng"

# The first package that PACKAGE depends on whose name matches PATTERN.
package_of() {
	apt-cache depends "$1" 2>/dev/null | awk -v p="$2" '$1 == "Depends:" && $2 ~ p { print $2; exit }'
}

# stock_package KERNEL: stock, or stock-SERIES.
stock_package() {
	local meta=linux-image${1#stock}-amd64 package
	package=$(package_of "$meta" '^linux-image-')
	[ -n "$package" ] || die "apt knows no $meta: run apt-get update"
	echo "$package"
}

stock_version() {
	apt-cache policy "$1" | awk '$1 == "Candidate:" { print $2 }'
}

# fetch PACKAGE DIR: its .deb into a new directory.
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
			'./lib/modules/*/kernel/fs/*cache*/*' './lib/modules/*/modules.builtin*' \
			'./lib/modules/*/modules.order' || die "unpacking $package failed"
	rm -f "$new"/*.deb
	find "$new/lib" -name '*.ko.xz' -exec xz -d {} +
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

# stock_dir KERNEL
stock_dir() {
	local package version dir
	need_tool apt-get apt
	package=$(stock_package "$1") || exit $EXIT_SETUP
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
	dir=$(stock_dir "$1") || exit $EXIT_SETUP
	if [ ! -e "$dir/vmlinux" ]; then
		package=$(stock_package "$1")
		new=$cache/stock-dbg.new
		fetch "$package-dbg" "$new"
		dpkg-deb --fsys-tarfile "$new"/*.deb | tar -x -C "$new" --wildcards --strip-components=5 \
			"./usr/lib/debug/boot/vmlinux-*" || die "no vmlinux in $package-dbg"
		mv "$new"/vmlinux-* "$dir/vmlinux" || die "no vmlinux in $package-dbg"
		rm -rf "$new"
	fi
	echo "$dir/vmlinux"
}

# What modules are built with: the packages' absolute paths lead to where they are unpacked.
build_stock_headers() {
	local release=$1 dir=$2 new=$2/headers.new package list
	[ -e "$dir/headers" ] && return
	package=linux-headers-$release
	list=("$package" "$(package_of "$package" '^linux-headers-')" "$(package_of "$package" '^linux-kbuild-')")
	rm -rf "$new"
	for package in "${list[@]}"; do
		fetch "$package" "$new.deb"
		dpkg-deb -x "$new.deb"/*.deb "$new" || die "unpacking $package failed"
	done
	rm -rf "$new.deb"
	sed -i "s|/usr/src|$dir/headers/usr/src|; s|/usr/lib|$dir/headers/usr/lib|" \
		"$new/usr/src/linux-headers-$release"/{Makefile,.kernelvariables} ||
		die "the headers of $release changed their shape"
	mv "$new" "$dir/headers"
}

# stock_headers KERNEL: the build directory for modules.
stock_headers() {
	local dir release
	dir=$(stock_dir "$1") || exit $EXIT_SETUP
	release=$(cat "$dir/release")
	with_lock stock build_stock_headers "$release" "$dir" || exit $?
	echo "$dir/headers/usr/src/linux-headers-$release"
}
