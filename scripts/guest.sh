#!/usr/bin/env bash
# Try an iSCSI target of sledsim with the Linux kernel of a virtual machine.
# `guest.sh --help` says how; guest_init.sh is what runs in the machine.
set -euo pipefail

sledsim=${SLEDSIM:-sledsim}
accelerator=kvm require='' timeout=600 work='' address=''

usage() {
  cat <<EOF
usage: guest.sh [options] [iscsi://HOST:PORT/TARGET/LUN]

Boots Debian's cloud kernel with a small initrd in QEMU and uses a disk of the
target twice: as a SCSI disk that QEMU attaches, and by open-iscsi in the guest.
What the LUN holds is overwritten. Without an address it starts targets of its
own, with and without CHAP; \$SLEDSIM ($sledsim) is the program.

  --tcg          emulate the processor; slower, needs no KVM
  --require      fail where the guest cannot run; else that is one line and 0
  --timeout S    end the guest after so many seconds ($timeout)
  --work DIR     keep packages in this folder, and use them again

Debian packages: qemu-system-x86 qemu-block-extra busybox-static cpio; it gets
the others from apt, and does not install them.
EOF
}

die() { echo "guest: $*" >&2; exit 2; }
# The guest cannot run here.
skip() { echo "guest: cannot run: $*"; exit "${require:-0}"; }

while (($#)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --tcg) accelerator=tcg; shift ;;
    --require) require=1; shift ;;
    --timeout)
      [[ ${2-} =~ ^[1-9][0-9]{0,5}$ ]] || die "--timeout needs a whole number above 0"
      timeout=$2; shift 2 ;;
    --work)
      [[ -n ${2-} ]] || die "--work needs a folder"
      work=$2; shift 2 ;;
    -*) die "unknown option $1 (see --help)" ;;
    *) [[ -z $address ]] || die "one address only"
       address=$1; shift ;;
  esac
done
form='^iscsi://([^/:@]+):([0-9]+)/([^/]+)/([0-9]+)$'
[[ -z $address || $address =~ $form ]] || die "not iscsi://HOST:PORT/TARGET/LUN: $address"

# Everything needed, before anything is done.
export PATH=$PATH:/usr/sbin:/sbin
need() { command -v "$1" >/dev/null || skip "$1 is missing: apt install $2"; }
need qemu-system-x86_64 qemu-system-x86
need busybox busybox-static
need cpio cpio
need apt-get apt
need dpkg-deb dpkg
[[ -n $address ]] || command -v "$sledsim" >/dev/null || skip "$sledsim is missing: set SLEDSIM"
[[ $(dpkg --print-architecture) == amd64 ]] || skip "the packages must be those of amd64"
if [[ $accelerator == kvm ]]; then
  (: <>/dev/kvm) 2>/dev/null || skip "/dev/kvm does not open (--tcg works without it)"
  grep -qwE 'vmx|svm' /proc/cpuinfo ||
    skip "the processor shows no VMX and no SVM (--tcg works without them)"
fi

here=$(dirname -- "$(readlink -f -- "$0")")
scratch=$(mktemp -d)
servers=()
undo() {
  local status=$?
  trap '' INT TERM HUP
  if ((${#servers[@]})); then
    kill "${servers[@]}" 2>/dev/null || true
    wait "${servers[@]}" || true
  fi
  rm -rf --one-file-system "$scratch"
  exit "$status"
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=${work:-$scratch/work}
mkdir -p "$work"
work=$(readlink -f -- "$work")

# The packages: the kernel, the programs, and the libraries that these depend on.
programs=(open-iscsi sg3-utils fio e2fsprogs)
root=$work/root
if [[ ! -d $root ]]; then
  kernel=$(apt-cache show --no-all-versions linux-image-cloud-amd64 2>/dev/null |
    sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p')
  [[ -n $kernel ]] || skip "apt knows no linux-image-cloud-amd64: apt-get update"
  mapfile -t libraries < <(apt-cache depends --recurse --no-recommends --no-suggests \
    --no-conflicts --no-breaks --no-replaces --no-enhances "${programs[@]}" |
    grep -E '^(lib|zlib1g)' | grep -vE '^lib(perl|python|icu)' | sort -u)
  mkdir "$scratch/packages" "$scratch/root"
  (cd "$scratch/packages" &&
    timeout 300 apt-get -q -o APT::Sandbox::User="$(id -un)" \
      download "$kernel" "${programs[@]}" "${libraries[@]}") >"$scratch/apt" 2>&1 ||
    skip "the packages do not download: $(tail -n 1 "$scratch/apt")"
  for package in "$scratch"/packages/*.deb; do dpkg-deb -x "$package" "$scratch/root"; done
  mv "$scratch/root" "$root"
fi
vmlinuz=("$root"/boot/vmlinuz-*)
release=${vmlinuz[0]##*/vmlinuz-}

# The initrd: busybox, the programs with their libraries, and the modules.
initrd=$scratch/initrd
mkdir -p "$initrd"/{bin,lib64,lib/modules,etc,proc,sys,dev,run,tmp,mnt}
cp "$(command -v busybox)" "$initrd/bin/busybox"
install -m 755 "$here/guest_init.sh" "$initrd/init"
loader=$root/lib64/ld-linux-x86-64.so.2
folders=$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu
folders+=:$root/usr/lib/x86_64-linux-gnu/ceph
for program in iscsid iscsiadm fio mkfs.ext4 e2fsck \
  sg_{format,inq,vpd,modes,readcap,opcodes,logs,luns,turs,sync,write_x,get_lba_status,unmap}; do
  file=$(find "$root/sbin" "$root/usr" -path "*bin/$program" -print -quit)
  [[ -n $file ]] || die "the packages have no $program"
  cp -L "$file" "$initrd/bin/$program"
  "$loader" --library-path "$folders" --list "$file" |
    awk '$3 ~ /^\// { print $3 }' >>"$scratch/libraries"
done
sort -u "$scratch/libraries" | xargs cp -L -t "$initrd/lib64"
cp -L "$loader" "$initrd/lib64"
cp -r "$root/etc/iscsi" "$initrd/etc"
# In the order in which they load.
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci \
  failover net_failover virtio_net scsi_common scsi_mod sd_mod sg virtio_scsi \
  scsi_transport_iscsi libiscsi libiscsi_tcp iscsi_tcp ext4; do
  file=$(find "$root/lib/modules/$release" -name "$module.ko")
  if [[ -n $file ]]; then
    cp "$file" "$initrd/lib/modules/"
    echo "$module.ko" >>"$initrd/lib/modules/order"
  else
    grep -q "/$module.ko$" "$root/lib/modules/$release/modules.builtin" ||
      die "Linux $release has no module $module"
  fi
done
(cd "$initrd" && find . | cpio -o -H newc --quiet) >"$scratch/initrd.cpio"

# Start a target; its address is then in `address`.
serve() {
  local log=$scratch/serve.$1 tries
  shift
  : >"$log"
  "$sledsim" serve --export sled=cmu2003 --export disk=atlas10k \
    --iscsi 127.0.0.1:0 "$@" >"$log" 2>&1 &
  servers+=($!)
  for ((tries = 0; tries < 300; tries++)); do
    address=$(sed -n 's/^ *iscsi *\(iscsi:.*\)/\1/p' "$log")
    [[ -z $address ]] || return 0
    kill -0 "${servers[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  die "the target did not start: $(tail -n 1 "$log")"
}
# Where the guest finds the portal of `address`: this machine is 10.0.2.2 there.
portal() {
  [[ $1 =~ $form ]] || die "unexpected address $1"
  case ${BASH_REMATCH[1]} in
    127.* | localhost) echo "10.0.2.2:${BASH_REMATCH[2]}" ;;
    *) echo "${BASH_REMATCH[1]}:${BASH_REMATCH[2]}" ;;
  esac
}
append="console=ttyS0 quiet panic=-1"
if [[ -z $address ]]; then
  secrets=$scratch/secrets
  (umask 077 && printf '%s\n' 'initiator guest guest-secret-1' \
    'target sled target-secret-1' >"$secrets")
  serve chap --iscsi-secrets "$secrets"
  append+=" chap=$(portal "$address/0")"
  serve open
  address+=/0
fi
append+=" portal=$(portal "$address")"
[[ $address =~ $form ]]
append+=" target=${BASH_REMATCH[3]} lun=${BASH_REMATCH[4]}"

version=$(qemu-system-x86_64 --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')
echo "guest: Linux $release in QEMU $version, $accelerator"
cpu=max
[[ $accelerator == tcg ]] || cpu=host
started=$SECONDS status=0
timeout --kill-after=5 "$timeout" qemu-system-x86_64 \
  -accel "$accelerator" -machine q35 -cpu "$cpu" -m 768 -nodefaults -no-reboot \
  -display none -monitor none -serial stdio \
  -kernel "${vmlinuz[0]}" -initrd "$scratch/initrd.cpio" -append "$append" \
  -drive "file=$address,if=none,id=disk,format=raw,cache=none" \
  -device virtio-scsi-pci -device scsi-block,drive=disk \
  -netdev user,id=net -device virtio-net-pci,netdev=net,romfile= \
  </dev/null 2>&1 | sed -u 's/\r//g' | tee "$scratch/console" || status=$?
echo "guest: $((SECONDS - started)) s"
((status != 124 && status != 137)) || die "not done after $timeout s"
grep -qE '^guest: all [0-9]+ steps passed$' "$scratch/console" || exit 1
