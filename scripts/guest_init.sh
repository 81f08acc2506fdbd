#!/bin/busybox sh
# What runs in the virtual machine of guest.sh: the steps of the session. The kernel
# passes portal, target, lun and perhaps chap from its command line.
# shellcheck shell=dash
# shellcheck disable=SC2154

export PATH=/bin LD_LIBRARY_PATH=/lib64
/bin/busybox --install -s /bin 2>/dev/null
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
exec </dev/console >/dev/console 2>&1
ln -sf /proc/mounts /etc/mtab
ln -s /run /var
mkdir -p /run/lock/iscsi
echo root:x:0:0:root:/:/bin/sh >/etc/passwd # iscsid looks up its user
cd /tmp || exit

steps=0 failed=0
# `step WANT LINE` runs a line of shell. It passes if the line succeeds and shows a line
# that matches WANT; - matches all. A line that begins with `not` has to fail.
step() {
  local want=success got=success
  steps=$((steps + 1))
  printf '\n# %s\n' "$2"
  case $2 in not\ *) want=failure ;; esac
  timeout 120 sh -c "set -o pipefail; ${2#not }" >out 2>&1 || got=failure
  cat out
  if [ "$got" != "$want" ]; then
    echo "FAILED: $got"
  elif [ "$1" != - ] && ! grep -qE "$1" out; then
    echo "FAILED: no line matches $1"
  else
    return 0
  fi
  failed=$((failed + 1))
  return 1
}

title() { printf '\n== %s\n' "$*"; }

end() {
  echo
  if [ "$failed" = 0 ]; then
    echo "guest: all $steps steps passed"
  else
    echo "guest: $failed of $steps steps failed"
  fi
  poweroff -f
}

# Wait until a condition holds, 20 s at most.
await() {
  local tries=0
  until sh -c "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || return 1
    sleep 0.2
  done
}

cat >verify.fio <<EOF
[verify]
direct=1
ioengine=libaio
iodepth=16
rw=randwrite
bsrange=512-64k
verify=crc32c
verify_fatal=1
EOF

# Data are written to disk $1, read back and compared; $2 is how much.
data() {
  step 'err= 0' "fio --eta=never --filename=/dev/$1 --size=$2 verify.fio | grep -E 'err=|IOPS'"
  step - "mkfs.ext4 -q -F /dev/$1"
  step - "mount /dev/$1 /mnt && cp /bin/fio /mnt/ && sync && umount /mnt"
  step files "e2fsck -fn /dev/$1 2>&1 | tail -n 1"
  step trimmed "mount /dev/$1 /mnt && cmp /bin/fio /mnt/fio && rm /mnt/fio && fstrim -v /mnt && umount /mnt"
}

# What the kernel said of SCSI since the last time; no line may be an alarm.
printf '%s\n' rror ailed nvalid ncorrect 'imed out' 'sking for' nexpected 'not a multiple' >alarms
kernel() {
  dmesg -c | sed 's/^.[ 0-9.]*. //' |
    grep -E '^(sd|scsi|iscsi| connection|EXT4-fs|blk|I/O|critical|Buffer)' >kernel
  step - "grep -v EXT4-fs kernel"
  step - "not grep -f alarms kernel"
}

title "The disk through QEMU"
while read -r module; do
  insmod "/lib/modules/$module" || failed=$((failed + 1))
done </lib/modules/order
await 'grep -q sda$ /proc/partitions' || step sda 'cat /proc/partitions' || end
sleep 1
step 'supports DPO and FUA' 'dmesg | grep -o "sd.*DPO.*"'
step SLEDSIM 'sg_inq /dev/sda'
step 'Block limits' 'sg_vpd /dev/sda'
step - 'sg_vpd -p bl /dev/sda'
step - 'sg_vpd -p lbpv /dev/sda'
step - 'sg_vpd -p bdc /dev/sda'
step - 'sg_vpd -p di /dev/sda'
step - 'sg_vpd -p ei /dev/sda'
step 'Caching' 'sg_modes -p 8 /dev/sda'
step 'page_code: 0x20' 'sg_modes -p 0x20 /dev/sda'
step 'Device size' 'sg_readcap --16 /dev/sda'
step 'PMI' 'sg_readcap --pmi --lba=1000 /dev/sda'
step 'Write scattered' 'sg_opcodes /dev/sda'
step - 'sg_logs -a /dev/sda'
step - 'sg_luns /dev/sda'
step - 'sg_turs /dev/sda && sg_sync /dev/sda'
step - 'cd /sys/block/sda/queue && grep . write_cache fua rotational optimal_io_size max_sectors_kb discard_granularity discard_max_bytes write_zeroes_max_bytes'

# Three ranges of one WRITE SCATTERED are one batch. sg_write_x 1.46 sends zeros in place of
# the data unless they come with the descriptors, which it writes to a file for that.
head -c 4096 /dev/urandom >data
step - "sg_write_x --scattered=3 --lba=1000,5000,9000 --num=4,1,3 -i data -xx /dev/sda"
step - "(head -c 512 sg_write_x.bin; cat data) >both"
step - "sg_write_x --scattered=3 --combined=1 -i both /dev/sda"
block="dd if=/dev/sda bs=512 iflag=direct"
step same "($block skip=1000 count=4; $block skip=5000 count=1; $block skip=9000 count=3) 2>/dev/null | cmp - data && echo same"
step - 'sg_get_lba_status --lba=1000 /dev/sda'
step zeros "sg_unmap --force --lba=1000 --num=4 /dev/sda && $block skip=1000 count=4 2>/dev/null | cmp -n 2048 - /dev/zero && echo zeros"
step zeros "sg_format --format --quick --wait /dev/sda && $block skip=5000 count=1 2>/dev/null | cmp -n 512 - /dev/zero && echo zeros"
data sda 8m
kernel

title "open-iscsi in the guest"
echo "InitiatorName=iqn.2026-11.com.example:guest" >/etc/iscsi/initiatorname.iscsi
sed -i '/^iscsid.startup/d' /etc/iscsi/iscsid.conf
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
step - iscsid

# A session with portal $1, and what is done with its disk; other words set keys of the node.
session() {
  local portal=$1 node="iscsiadm -m node -T $target -p $1" disk
  shift
  step - "iscsiadm -m node -o new -T $target -p $portal"
  [ $# = 0 ] || step - "for key in $*; do $node -o update -n \${key%%=*} -v \${key#*=}; done"
  step successful "$node --login" || return
  disks="/sys/class/iscsi_session/session*/device/target*/*:*:*:$lun/block/sd*"
  await "ls -d $disks >/dev/null 2>&1"
  sleep 1
  disk=$(basename "$(eval "echo $disks")")
  step 'LOGGED IN' "iscsiadm -m session -P 3 | grep -E 'Portal|State|user|Digest|Length|Data:|R2T|disk'"
  step SLEDSIM "sg_inq /dev/$disk | grep ident"
  step - "sg_luns /dev/$disk"
  data "$disk" 4m
  step successful "$node --logout"
  step - "$node -o delete"
  kernel
}

# The target names the address at which it was reached; in the guest that is another one.
step "$target" "iscsiadm -m discovery -t st -p $portal"
step - "iscsiadm -m node -o delete"
session "$portal"
if [ -n "$chap" ]; then
  title "open-iscsi with CHAP in both directions, and digests"
  step - "iscsiadm -m node -o new -T $target -p $chap"
  step uthorization "not iscsiadm -m node -T $target -p $chap --login"
  step 'conn error' "dmesg -c | grep -o 'connection.*'" # the target closed it
  step - "iscsiadm -m node -T $target -p $chap -o delete"
  session "$chap" node.session.auth.authmethod=CHAP \
    node.session.auth.username=guest node.session.auth.password=guest-secret-1 \
    node.session.auth.username_in=sled node.session.auth.password_in=target-secret-1 \
    node.conn[0].iscsi.HeaderDigest=CRC32C node.conn[0].iscsi.DataDigest=CRC32C
fi
end
