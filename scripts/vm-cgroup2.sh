#!/usr/bin/env bash
# Runs the tests of containers in a virtual machine with Debian's kernel, where cgroups are of version 2 alone:
#
#   scripts/vm-cgroup2.sh [--build DIR] [--filter GOOGLETEST_FILTER] [--accel kvm|tcg]
#
# Needs qemu-system-x86 (a Debian package), a C compiler, and the release preset's tests built. The kernel comes from
# Debian's archive and is unpacked below the build folder; nothing is installed. The machine sees this machine's files,
# read-only below a layer of memory, so it runs this build's programs with this machine's libraries. As root.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$PWD/build/release
filter='*'
accel=tcg
while (($#)); do
  case "$1" in
    --build) build=$(realpath "$2") ;;
    --filter) filter=$2 ;;
    --accel) accel=$2 ;;
    *) die 2 "unknown argument '$1': there are --build, --filter and --accel" ;;
  esac
  shift 2 || die 2 "the last argument needs a value"
done
command -v qemu-system-x86_64 >/dev/null || die 2 "there is no qemu: apt-get install qemu-system-x86"
tests=$build/tests/tarcil_container_executor_test
[[ -x $tests ]] || die 2 "there is no $tests: build it first (cmake --build --preset release)"

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
  virtio_pci 9pnet_virtio 9p overlay virtio_blk bfq veth sch_tbf
truncate -s 64M "$work/disk"
cat >"$work/run" <<RUN
#!/bin/sh
# Runs inside the machine.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ip link set lo up
echo "kernel \$(uname -r); controllers of version 2: \$(cat /sys/fs/cgroup/cgroup.controllers)"
$tests --gtest_filter='$filter' 2>&1
echo "the tests returned \$?"
RUN
chmod +x "$work/run"

step "Running $(basename "$tests") in the machine ($accel)"
timeout 3600 qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m 2G -nodefaults -no-reboot -display none -serial stdio \
  -kernel "$kernel" -initrd "$work/initramfs" -append "console=ttyS0 quiet no_timer_check panic=-1 run=$work/run" \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
  -drive "file=$work/disk,format=raw,if=virtio" </dev/null | tee "$work/output"
grep -q '^the tests returned 0' "$work/output" || die 1 "the tests did not pass in the machine"
