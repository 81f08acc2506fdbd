"""Which options of fio are taken, ignored and refused."""

from __future__ import annotations

_TAKEN = """
    ba bs bsrange bssplit buffered direct filename io_size iodepth ioengine kb_base loops
    norandommap number_ios numjobs offset offset_increment random_distribution rate_iops
    rate_process runtime rw rwmixread rwmixwrite size thinktime thinktime_blocks time_based
"""
TAKEN = frozenset(_TAKEN.split())
"""What a load is made of."""

_IGNORED = """
    allow_file_create allow_mounted_write allrandrepeat block_error_percentiles
    buffer_compress_chunk buffer_compress_percentage buffer_pattern bwavgtime cgroup
    cgroup_nodelete cgroup_weight clat_percentiles clocksource continue_on_error cpumask
    cpus_allowed cpus_allowed_policy create_fsync create_on_open create_serialize dedupe_global
    dedupe_mode dedupe_percentage dedupe_working_set_percentage description directory disable_bw
    disable_bw_measurement disable_clat disable_lat disable_slat disk_util do_verify error_dump
    exec_postrun exec_prerun exit_what exitall_on_error fadvise_hint fallocate file_service_type
    filename_format fixedbufs gid group_reporting gtod_cpu gtod_reduce hipri hugepage-size
    ignore_error invalidate io_submit_mode iomem iomem_align iopsavgtime ioscheduler
    lat_percentiles lockmem log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec
    log_compression log_compression_cpus log_entries log_hist_coarseness log_hist_msec
    log_max_value log_offset log_prio log_store_compressed log_unix_epoch mem mem_align name
    new_group nice nonvectored numa_cpu_nodes numa_mem_policy openfiles overwrite per_job_logs
    percentile_list prio prioclass randrepeat randseed rate_cycle rate_ignore_thinktime
    refill_buffers registerfiles scramble_buffers significant_figures slat_percentiles
    softrandommap sqthread_poll sqthread_poll_cpu stats thinktime_blocks_type thinktime_spin
    thread uid unified_rw_reporting unique_filename unit_base unlink unlink_each_loop uri
    userspace_reap verify_async verify_backlog verify_backlog_batch verify_dump verify_fatal
    verify_interval verify_offset verify_pattern verify_state_load verify_state_save write_bw_log
    write_hint write_hist_log write_iolog write_iops_log write_lat_log zero_buffers
"""
IGNORED = frozenset(_IGNORED.split())
"""What changes no request: it is of the host, of the report, or of options that are refused."""

_ORDER = "jobs begin and end together here; run the jobs one by one"
_FLUSHES = "workloads have no flushes"
_BATCHES = "requests are sent one by one here"

REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "bs_unaligned": ("requests are whole blocks of 512 bytes here", ("0",)),
    "end_fsync": (_FLUSHES, ("0",)),
    "exitall": (_ORDER, ("0",)),
    "fdatasync": (_FLUSHES, ("0",)),
    "fsync": (_FLUSHES, ("0",)),
    "fsync_on_close": (_FLUSHES, ("0",)),
    "include": ("put the lines of that file here", ()),
    "iodepth_batch": (_BATCHES, ("1",)),
    "iodepth_batch_complete_max": (_BATCHES, ("1",)),
    "iodepth_batch_complete_min": (_BATCHES, ("1",)),
    "iodepth_low": (_BATCHES, ()),
    "nrfiles": ("a job has one file here", ("1",)),
    "offset_align": ("write the offset in bytes", ("0",)),
    "percentage_random": ("a job is either sequential or random here", ("100",)),
    "pre_read": ("write a job of its own that reads", ("0",)),
    "ramp_time": ("leave it out, and give warm_up_s, as with --set warm_up_s=10", ("0",)),
    "random_generator": ("places of an lfsr do not repeat", ("tausworthe", "tausworthe64")),
    "rate": ("give rate_iops, which is this rate by the size of a request", ("0",)),
    "rate_iops_min": ("no job is ended for its rate here", ("0",)),
    "rate_min": ("no job is ended for its rate here", ("0",)),
    "read_iolog": ("give the log as a trace, as with --trace", ()),
    "serialize_overlap": ("requests do not wait for others of the same blocks here", ("0",)),
    "startdelay": (_ORDER, ("0",)),
    "stonewall": (_ORDER, ("0",)),
    "sync": (_FLUSHES, ("0", "none")),
    "thinktime_iotime": ("a client thinks after each request here", ("0",)),
    "trim_percentage": ("workloads have no trims", ("0",)),
    "verify": ("workloads do not read what they wrote", ("0",)),
    "wait_for": (_ORDER, ()),
    "zonemode": ("devices have no zones", ("none",)),
}
"""Options that change requests and are not taken: why, and the values that do no harm.

All that stand in none of these tables are refused too.
"""

SYNCHRONOUS = frozenset({"mmap", "psync", "pvsync", "pvsync2", "sg", "splice", "sync", "vsync"})
"""Engines with one request outstanding, whatever ``iodepth`` says."""
ASYNCHRONOUS = frozenset({"io_uring", "io_uring_cmd", "libaio", "nbd", "posixaio", "rbd"})
UNCACHED = frozenset({"io_uring_cmd", "nbd", "rbd", "sg"})
"""Engines that no page cache stands before."""
