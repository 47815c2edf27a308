#!/usr/bin/env bash
# Installs what building and running Tarcil needs on Debian 12; with --dev also what the gates of .ci/run need.
# Does nothing, quickly, where all of it is there. As root or with a sudo that asks nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  g++ cmake ninja-build ccache git pkg-config
  capnproto libcapnp-dev librocksdb-dev libboost-container-dev libjemalloc-dev
  libabsl-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libspdlog-dev libfmt-dev
  librapidcheck-dev libgtest-dev libgmock-dev libbenchmark-dev
  libarchive-dev libseccomp-dev libssl-dev libcap-dev libfuse3-dev prometheus-cpp-dev libeigen3-dev tzdata
)
dev_packages=(clang clang-format clang-tidy crun etcd-client etcd-server gnuplot-nox groff-base iproute2 libclang-rt-dev lld memcached openmpi-bin openssl python3 python3-jsonschema skopeo umoci wrk
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc)

# What builds and tries the page; Debian's npm cannot stand beside another Node that brings its own.
dev_packages+=(chromium-headless-shell fonts-dejavu-core)
command -v npm >/dev/null || dev_packages+=(nodejs npm)

# promtool, which checks integrations/prometheus, comes with the server.
dev_packages+=(prometheus)

case "${1-}" in
  "") ;;
  --dev) packages+=("${dev_packages[@]}") ;;
  *) die 2 "unknown argument '$1': there is only --dev" ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die 1 "this is not Debian or a relative of it (no dpkg and apt-get): install the equivalents of: ${packages[*]}"
fi

# dpkg-query fails when it knows nothing of a package; such a package is simply absent from what it prints.
installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true) "
missing=()
for package in "${packages[@]}"; do
  [[ $installed == *" installed:$package "* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

find_root "installing packages"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

# What some of them bring as services is not to run here. Where somebody has a policy already, that one holds.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

step "Installing ${#missing[@]} packages: ${missing[*]}"
apt update || die 1 "apt-get update failed: check the network and /etc/apt/sources.list"
apt install -y --no-install-recommends "${missing[@]}" ||
  die 1 "apt-get could not install ${missing[*]}: this needs Debian 12 (bookworm) or newer and its main archive"

for package in memcached prometheus etcd-server; do
  [[ " ${missing[*]} " != *" $package "* ]] || ! command -v systemctl >/dev/null ||
    "${as_root[@]}" systemctl --quiet disable "${package%-server}" ||
    die 1 "$package was installed, and cannot be kept from starting with the machine"
done
