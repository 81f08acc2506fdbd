#!/usr/bin/env bash
# Record the block requests of PostMark on ext4 as a DiskSim ascii trace.
# `record_postmark.sh --help` says how; the metadata it writes says what.
set -euo pipefail

# The delay is in whole ms; with 1 ms the requests come too fast (730 to 870 a
# second) for an open replay on a device that takes about 0.8 ms for each.
files=40000 transactions=20000 subdirectories=100 seed=42
memory_mib=48 delay_ms=2 size_mib=1900

usage() {
  cat <<EOF
usage: record_postmark.sh [options] OUT.trace.gz

Runs PostMark on a fresh ext4 on a loop device, logs every block request, and
writes OUT.trace.gz (DiskSim ascii) and OUT.toml (its metadata). Needs root.
The device lives in memory and takes a fixed time for one request at a time.

  --files N            PostMark: set number          ($files)
  --transactions N     PostMark: set transactions    ($transactions)
  --subdirectories N   PostMark: set subdirectories  ($subdirectories)
  --seed N             PostMark: set seed            ($seed)
  --memory-mib N       memory of PostMark with its page cache  ($memory_mib)
  --delay-ms N         time the device takes for a request, whole ms  ($delay_ms)
  --size-mib N         size of the device            ($size_mib)

Debian packages: postmark nbdkit libnbd-bin fuse3 e2fsprogs mount util-linux python3
EOF
}

die() { echo "record_postmark: $*" >&2; exit 2; }

out=
while (($#)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --files | --transactions | --subdirectories | --seed | --memory-mib | --delay-ms | --size-mib)
      [[ ${2-} =~ ^[1-9][0-9]{0,8}$ ]] || die "$1 needs a whole number above 0"
      name=${1#--}
      printf -v "${name//-/_}" %s "$2"
      shift 2 ;;
    -*) die "unknown option $1 (see --help)" ;;
    *) [[ -z $out ]] || die "one output file only"
       out=$1; shift ;;
  esac
done
[[ -n $out ]] || { usage >&2; exit 2; }
[[ $out == *.trace.gz ]] || die "the output must be called something.trace.gz"
[[ -d $(dirname -- "$out") ]] || die "no directory $(dirname -- "$out")"

# Everything needed, before anything is changed.
need() { [[ -x $(PATH=$PATH:/usr/sbin:/sbin command -v "$1") ]] || die "$1 is missing: apt install $2"; }
need postmark postmark
need nbdkit nbdkit
need nbdfuse libnbd-bin
need fusermount3 fuse3
need mkfs.ext4 e2fsprogs
need mount mount
need losetup mount
need setsid util-linux
need chrt util-linux
need python3 python3
export PATH=$PATH:/usr/sbin:/sbin
((EUID == 0)) || die "mounting needs root"
[[ -c /dev/fuse && -c /dev/loop-control ]] || die "the kernel has no FUSE or no loop devices"
if [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]]; then
  cgroup=/sys/fs/cgroup/memory limit=memory.limit_in_bytes # cgroup v1
elif grep -qsw memory /sys/fs/cgroup/cgroup.controllers; then
  cgroup=/sys/fs/cgroup limit=memory.max # cgroup v2 (not tried yet)
  echo +memory >"$cgroup/cgroup.subtree_control"
else
  die "the kernel offers no memory cgroup"
fi
cgroup+=/record-postmark-$$

here=$(dirname -- "$(readlink -f -- "$0")")
# In memory: a busy disk must not hold up the log.
work=$(mktemp -d -p /dev/shm)
daemons=() loop='' mounted='' fused='' program=''

# Undo everything, in reverse order; also after an error or a signal.
undo() {
  local status=$?
  trap '' INT TERM HUP
  set +e
  if [[ -n $program ]]; then kill "$program"; wait "$program"; fi 2>/dev/null
  if [[ -n $mounted ]]; then umount "$work/ext4" || umount --lazy "$work/ext4"; fi
  if [[ -n $loop ]]; then losetup --detach "$loop"; fi
  if [[ -n $fused ]]; then
    fusermount3 -u "$work/nbd" || fusermount3 -uz "$work/nbd"
    sleep 1 # nbdfuse ends by itself
  fi
  if ((${#daemons[@]})); then kill "${daemons[@]}"; wait "${daemons[@]}"; fi 2>/dev/null
  if [[ -d $cgroup ]]; then rmdir "$cgroup"; fi
  rm -rf --one-file-system "$work"
  exit "$status"
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# First among the processes of the host, so that others do not slow the recording.
first=(chrt --rr 1)

# Start a daemon out of reach of Ctrl-C (undo ends it) and wait for its pid file.
start() {
  local pidfile=$1 tries
  shift
  setsid "${first[@]}" "$@" &
  daemons+=($!)
  for ((tries = 0; tries < 100; tries++)); do
    [[ ! -s $pidfile ]] || return 0
    kill -0 "${daemons[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  die "$1 did not start"
}
mkdir "$work/nbd" "$work/ext4"

# The device: memory behind a fixed delay, one request at a time.
start "$work/device.pid" nbdkit -f -P "$work/device.pid" -U "$work/device.sock" \
  --filter=noparallel --filter=delay memory "${size_mib}M" \
  serialize=all-requests delay-read="${delay_ms}ms" delay-write="${delay_ms}ms"

# The log in front of it: takes requests in parallel, so it sees them arrive.
start "$work/log.pid" nbdkit -f -P "$work/log.pid" -U "$work/log.sock" \
  --filter=log nbd socket="$work/device.sock" logfile="$work/log"

# The block device: NBD as a file, the file as a loop device without page cache.
fused=yes
start "$work/fuse.pid" nbdfuse -P "$work/fuse.pid" "$work/nbd/disk" --unix "$work/log.sock"
loop=$(losetup --find --show --direct-io=on "$work/nbd/disk")
# Discards are off (the chain cannot pass them); no tables left to write later.
mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$loop"
mount -t ext4 "$loop" "$work/ext4"
mounted=yes

# PostMark in the root of the file system; what is not set is its default.
cat >"$work/config" <<EOF
set number $files
set transactions $transactions
set subdirectories $subdirectories
set seed $seed
set report terse
run
quit
EOF
mkdir "$cgroup"
echo "${memory_mib}M" >"$cgroup/$limit"

# Begin with nothing cached and nothing under way.
sync --file-system "$work/ext4"
echo 3 >/proc/sys/vm/drop_caches
sleep 1
before=$(wc -l <"$work/log")
echo "recording PostMark with $files files and $transactions transactions ..." >&2
started=$SECONDS
read -r load _ </proc/loadavg
(
  echo "$BASHPID" >"$cgroup/cgroup.procs" # its page cache counts as its memory
  cd "$work/ext4"
  exec "${first[@]}" postmark ../config
) >"$work/report" 2>"$work/errors" &
program=$!
wait "$program" || die "PostMark failed: $(head -n 1 "$work/errors")"
program=
# PostMark ends well whatever happens: its errors are only on standard error.
[[ ! -s $work/errors ]] || die "PostMark: $(head -n 1 "$work/errors")"
grep -q 'Deleting subdirectories...Done' "$work/report" || die "PostMark did not finish"
# Record until all it wrote has reached the device.
sync --file-system "$work/ext4"
sleep 1
after=$(wc -l <"$work/log")
echo "recorded in $((SECONDS - started)) s" >&2

# Convert the log of the run alone, without mkfs and mount.
sed -n "$((before + 1)),${after}p" "$work/log" >"$work/run.log"
python3 "$here/nbdlog_to_disksim.py" "$work/run.log" "$work/trace" \
  --device-blocks $((size_mib * 2048)) >"$work/figures"
gzip -n -9 -c "$work/trace" >"$work/trace.gz" # no name, no time: same bytes from same text

# Metadata: no paths, no host.
sha256() { sha256sum <"$1" | cut -d ' ' -f 1; }
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo unknown; }
kernel=$(uname -r)
cat >"$work/toml" <<EOF
# Written by scripts/record_postmark.sh together with the trace.
title = "PostMark on ext4"
file = "$(basename -- "$out")"
format = "disksim-ascii"  # time in ms, devno, LBN, blocks of 512 B, flags (1 read, 0 write)
licence = "CC0-1.0"  # our own recording
date = $(date -u +%F)
sha256_gz = "$(sha256 "$work/trace.gz")"
sha256_text = "$(sha256 "$work/trace")"
description = """
All block requests of one run of PostMark on a fresh ext4, from its first file \\
to the sync after its last; mkfs and mount are not in it. A time is the arrival \\
at the device, after the page cache and the block layer, not a completion."""
limits = [
  "The program waited for a device that took ${delay_ms} ms for each request, one at a time. That feedback is frozen into the arrival times: an open replay does not slow down or speed up with the simulated device.",
  "Requests reach the server through loop, FUSE and NBD, which hold few at a time (max_outstanding); what waited above them is not seen until it arrives.",
  "The memory limit decides what the page cache hides, and so how many reads there are.",
  "Flushes took no time at the device and are dropped; there are no discards.",
  "One run of a benchmark with synthetic files, not a day of a mail server.",
]

[figures]
$(<"$work/figures")

[recording]
program = "PostMark 1.51 (Debian package postmark $(version postmark))"
filesystem = "ext4, default options of mkfs.ext4 and mount, but -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 (e2fsprogs $(version e2fsprogs))"
kernel = "Linux ${kernel%%-*}"
chain = "ext4 > loop (direct I/O) > nbdfuse > nbdkit (log) > nbdkit (noparallel, delay, memory)"
chain_versions = "nbdkit $(version nbdkit), libnbd-bin $(version libnbd-bin), fuse3 $(version fuse3)"
delay_ms = $delay_ms  # for each read or write, before the chain's own time
memory_limit_mib = $memory_mib  # PostMark and its page cache, by a memory cgroup
caches = "dropped before the run, left alone during it"
priority = "PostMark, nbdfuse and nbdkit real-time (chrt --rr 1); load average at the start $load"
# PostMark's configuration; what is not set is its default (500 to 10,000 B
# files, 512 B reads and writes, biases 5/5, buffered I/O).
postmark_config = """
$(<"$work/config")
"""
# Its terse report.
postmark_report = "$(tail -n 1 "$work/report")"
EOF

mv "$work/trace.gz" "$out"
mv "$work/toml" "${out%.trace.gz}.toml"
chmod 644 "$out" "${out%.trace.gz}.toml"
cat "$work/figures" >&2
