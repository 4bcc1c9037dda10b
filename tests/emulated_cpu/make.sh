#!/usr/bin/env bash
# Makes, in the folder $1, a machine with AVX-512 and AMX for the tests of this checkout: the emulator Bochs, mended and
# without its debugger, a kernel, and a disk with this checkout's .venv. Once; `run.sh` starts it. Debian or Ubuntu, root.
set -euo pipefail
work=$(realpath -m "${1:?the folder to make it in}")
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
mirror=http://deb.debian.org/debian
box=$work/box # a Debian of its own: it builds the emulator, and its libraries are the guest's
inside() { chroot "$box" env DEBIAN_FRONTEND=noninteractive "$@"; }

command -v debootstrap >/dev/null || apt-get install -y debootstrap
mkdir -p "$work"
if [ ! -e "$box/root/packages" ]; then
    debootstrap --variant=minbase trixie "$box" $mirror
    echo "deb-src $mirror trixie main" >"$box/etc/apt/sources.list.d/source.list"
    echo "deb $mirror trixie-backports main" >"$box/etc/apt/sources.list.d/backports.list"
    inside apt-get update -qq
    inside apt-get install -y -qq --no-install-recommends g++ make patch dpkg-dev libncurses-dev bochsbios vgabios grub-pc-bin \
        grub-common xorriso mtools busybox-static kmod cpio xz-utils procps iproute2 libegl1 libgl1 libglib2.0-0t64 \
        libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1
    touch "$box/root/packages"
fi

if [ ! -x "$box/root/bochs/bochs" ]; then # as of 3.0; later ones may have these faults mended
    inside bash -c "cd /root && apt-get download -qq bochs && apt-get source -qq --download-only bochs; ls bochs_*.orig.tar.xz"
    rm -rf "$box/root/bochs" && mkdir "$box/root/bochs"
    tar xf "$box"/root/bochs_*.orig.tar.xz -C "$box/root/bochs" --strip-components=1
    patch -d "$box/root/bochs" -p1 <"$here/bochs-3.0.patch"
    flags="-O2 -march=x86-64-v3 -ffp-contract=off -fno-math-errno"
    inside bash -c "cd /root/bochs && CFLAGS='$flags' CXXFLAGS='$flags' ./configure --with-term --disable-docbook \
        --enable-all-optimizations --enable-cpu-level=6 --enable-x86-64 --enable-fpu --enable-avx --enable-evex \
        --enable-amx --enable-cet --enable-protection-keys --enable-memtype --enable-monitor-mwait --enable-perfmon \
        --enable-pci --enable-cdrom --disable-debugger --disable-plugins >/dev/null && make -j$(nproc) >/dev/null"
fi

if [ ! -e "$work/boot.iso" ]; then # setcpuid= came with 6.16; 7.3 hangs in Bochs
    kernel=$(inside apt-cache search --names-only '^linux-image-6\.17\..*[0-9]\+deb13-amd64$' | awk '{print $1}' | sort -V | tail -1)
    inside bash -c "cd /root && apt-get download -qq $kernel && dpkg -x $kernel*.deb /root/kernel"
    release=${kernel#linux-image-}
    inside bash -c "mkdir -p /usr/lib/modules && cp -r \$(find /root/kernel -type d -path '*modules/$release') /usr/lib/modules/ && depmod $release"
    start=$box/root/start
    rm -rf "$start" "$box/root/iso" && mkdir -p "$start"/{bin,modules,proc,sys,dev,root} "$box/root/iso/boot/grub"
    cp "$box/bin/busybox" "$start/bin/"
    cp "$here/init" "$start/init"
    number=10
    for module in $(inside modprobe -S "$release" --show-depends -a ext4 sd_mod ata_piix | awk '/insmod/ && !seen[$2]++ {print $2}'); do
        xz -dc "$box$module" >"$start/modules/$number-$(basename "$module" .xz)"
        number=$((number + 1))
    done
    inside bash -c "cd /root/start && find . | cpio -o -H newc --quiet | gzip -1 >/root/iso/boot/initrd"
    cp "$box/root/kernel/boot/vmlinuz-$release" "$box/root/iso/boot/vmlinuz"
    cp "$here/grub.cfg" "$box/root/iso/boot/grub/"
    inside grub-mkrescue -o /root/boot.iso /root/iso 2>/dev/null
    mv "$box/root/boot.iso" "$work/boot.iso"
fi

disk=$work/disk
rm -rf "$disk" "$work/disk.img" && mkdir "$disk"
tar cf - -C "$box" --exclude='./root/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' --exclude=./boot \
    --exclude=./usr/lib/modules --exclude=./usr/lib/gcc --exclude=./usr/share --exclude='./var/*' . | tar xf - -C "$disk"
about='import sys, sysconfig; print(sys.base_prefix, sysconfig.get_path("stdlib"))'
read -r base library < <("$checkout/.venv/bin/python" -c "$about")
(cd / && tar cf - ".$library" ".$checkout/.venv" $(compgen -G ".$base/bin/python*") $(compgen -G ".$base/lib/libpython3*")) |
    tar xf - -C "$disk"
cp "$here/guest" "$disk/guest" && chmod +x "$disk/guest"
truncate -s 12G "$work/disk.img"
mke2fs -q -t ext4 -O ^has_journal -d "$disk" "$work/disk.img"
rm -rf "$disk"
echo "$checkout" >"$work/checkout"
echo "Made. Try: $here/run.sh $work .venv/bin/python -m pytest -v -n 0 tests/engine/test_int8_linear.py"
