#!/usr/bin/env bash
# Runs the tests of containers, or a command, in a virtual machine with Debian's kernel, where cgroups are of version 2
# alone:
#
#   scripts/vm-cgroup2.sh [--build DIR] [--filter GOOGLETEST_FILTER] [--accel kvm|tcg] [--memory SIZE] \
#     [--filesystem ext4|xfs] [-- COMMAND...]
#
# A command runs in the root of the source tree. /mnt is a file system on the machine's disk /dev/vda, with project quotas;
# the scheduler mq-deadline serves it: `echo bfq >/sys/block/vda/queue/scheduler` changes that.
#
# Needs qemu-system-x86 (a Debian package; xfsprogs for xfs), a C compiler, and the release preset's tests built. The kernel comes from
# Debian's archive and is unpacked below the build folder; nothing is installed. The machine sees this machine's files,
# read-only below a layer of memory, so it runs this build's programs with this machine's libraries: change no
# program while it runs. As root.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$PWD/build/release
filter='*'
accel=tcg
memory=2G
filesystem=ext4
while (($#)) && [[ $1 != -- ]]; do
  case "$1" in
    --build) build=$(realpath "$2") ;;
    --filter) filter=$2 ;;
    --accel) accel=$2 ;;
    --memory) memory=$2 ;;
    --filesystem) filesystem=$2 ;;
    *) die 2 "unknown argument '$1': there are --build, --filter, --accel, --memory, --filesystem, and a command after --" ;;
  esac
  shift 2 || die 2 "the last argument needs a value"
done
(($# == 0)) || shift
command -v qemu-system-x86_64 >/dev/null || die 2 "there is no qemu: apt-get install qemu-system-x86"
tests=$build/tests/tarcil_container_executor_test
if (($# == 0)); then
  [[ -x $tests ]] || die 2 "there is no $tests: build it first (cmake --build --preset release)"
  set -- "$tests" "--gtest_filter=$filter"
fi

work=$build/vm
mkdir -p "$work"
if [[ ! -d $work/kernel ]]; then
  step "Unpacking Debian's kernel"
  package=$(apt-cache depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }')
  (cd "$work" && apt-get -q download "$package" && dpkg-deb -x "$package"_*.deb kernel.new && rm "$package"_*.deb)
  mv "$work/kernel.new" "$work/kernel"
fi
kernel=$(echo "$work"/kernel/boot/vmlinuz-*)

step "Making the machine's first files"
cc -static -O1 -Wall -o "$work/init" tests/vm/init.c
python3 tests/vm/make_initramfs.py "$work/init" "$work/kernel/lib/modules" "$work/initramfs" \
  virtio_pci 9pnet_virtio 9p overlay virtio_blk bfq ext4 quota_v2 crc32c_generic xfs loop veth sch_tbf
truncate -s 8G "$work/disk"
case "$filesystem" in
  ext4) mkfs.ext4 -q -F -O quota,project -E quotatype=prjquota "$work/disk" ;;
  xfs) mkfs.xfs -q -f "$work/disk" ;;
  *) die 2 "--filesystem: '$filesystem' is neither ext4 nor xfs" ;;
esac
cat >"$work/run" <<RUN
#!/bin/bash
# Runs inside the machine.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd '$PWD'
ip link set lo up
echo mq-deadline >/sys/block/vda/queue/scheduler
mount -t '$filesystem' -o prjquota /dev/vda /mnt
echo "kernel \$(uname -r); controllers of version 2: \$(cat /sys/fs/cgroup/cgroup.controllers)"
${*@Q} 2>&1
echo "the command returned \$?"
umount /mnt
RUN
chmod +x "$work/run"

step "Running $(basename "$1") in the machine ($accel)"
timeout 3600 qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m "$memory" -nodefaults -no-reboot -display none -serial stdio \
  -kernel "$kernel" -initrd "$work/initramfs" -append "console=ttyS0 quiet no_timer_check panic=-1 run=$work/run" \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
  -drive "file=$work/disk,format=raw,if=virtio" </dev/null | tee "$work/output"
grep -q '^the command returned 0' "$work/output" || die 1 "$(basename "$1") did not succeed in the machine"
