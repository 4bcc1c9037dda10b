#!/usr/bin/env bash
# Runs a command in the machine that `make.sh` made in the folder $1, in a copy of this checkout as it is now, and prints
# what it says. Its clock is the emulated one: seconds of a machine of 2.2 GHz that does one instruction a tick. EMULATED_CPU:
# which one of those that Bochs knows.
set -euo pipefail
work=$(realpath "${1:?the folder that make.sh made}")
shift
checkout=$(cat "$work/checkout")
here=$(cd "$(dirname "$0")" && pwd)
box=$work/box

job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
(cd "$checkout" && git ls-files -z --cached --others --exclude-standard && printf 'llama_gui/engine/native/kernels.so\0') |
    (cd "$checkout" && tar cf "$job/tree.tar" --null --ignore-failed-read -T - 2>/dev/null)
printf 'cd %q && ' "$checkout" >"$job/command"
printf '%q ' "$@" >>"$job/command"
tar cf "$work/job.img" -C "$job" tree.tar command
truncate -s %512 "$work/job.img"
truncate -s +64M "$work/job.img"

rm -f "$work"/*.lock "$work/serial.log"
sed "s#WORK#/root/work#; s#MODEL#${EMULATED_CPU:-sapphire_rapids}#" "$here/bochsrc" >"$work/bochsrc"
mkdir -p "$box/root/work"
# A mount of its own, so that nothing is left mounted.
unshare --mount bash -c "mount --bind '$work' '$box/root/work' && mount --bind /dev '$box/dev' && mount --bind /dev/pts '$box/dev/pts' &&
    TERM=xterm script -qfc 'chroot $box /root/bochs/bochs -q -f /root/work/bochsrc' /dev/null >/dev/null </dev/null" &
emulator=$!
while [ ! -e "$work/serial.log" ] && kill -0 $emulator 2>/dev/null; do sleep 1; done
[ -e "$work/serial.log" ] || { cat "$work/bochs.log"; exit 1; }
tail -f --pid=$emulator -n +1 "$work/serial.log"
grep -q '^JOB DONE 0 ' "$work/serial.log"
