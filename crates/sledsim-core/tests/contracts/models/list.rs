//! The models under test.

use crate::common::{DISK_POWER, device};
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::{ReadCache, Stripe};
use sledsim_core::devices::memory::Memory;
use sledsim_core::model::Model;
use sledsim_core::queueing::controllers::{Interface, Station};
use sledsim_core::queueing::schedulers::{Fcfs, Scheduler, SchedulerSpec};

pub(super) type Make = fn() -> Box<dyn Model>;

fn fcfs() -> Box<dyn Scheduler> {
    Box::<Fcfs>::default()
}

/// A plain sled, with its number in the rows.
fn plain(device_number: u16) -> Box<dyn Model> {
    device("g2", &[]).mems().expect("a sled").build("plain", device_number, fcfs(), None)
}

/// A sled that parks soon, coasts, and sweeps runs: its state depends on time.
fn restless(device_number: u16) -> Box<dyn Model> {
    let overrides = [("inactive_after_ms", "2"), ("idle", "'coast'"), ("direction", "'best_run'")];
    device("g3", &overrides).mems().expect("a sled").build("restless", device_number, fcfs(), None)
}

pub(super) fn sled() -> Box<dyn Model> {
    plain(0)
}

fn restless_sled() -> Box<dyn Model> {
    restless(0)
}

fn disk() -> Box<dyn Model> {
    let overrides = [
        ("buffer.keep", "'nothing'"),
        ("overheads.write_miss_after_read_ms", "0"),
        ("overheads.write_miss_after_write_ms", "0"),
    ];
    device("superdisk", &overrides).disk().expect("a disk").build("disk", 0, fcfs())
}

/// The Atlas 10K, whose buffer reads tracks round and takes all writes.
fn buffered_disk() -> Box<dyn Model> {
    device("atlas10k", &[]).build(&fcfs).0
}

/// One whose spindle stops soon, with its buffer.
fn buffered_disk_that_stops() -> Box<dyn Model> {
    let stops =
        [("power.policy", "'adaptive'"), ("power.timeout_ms", "5"), ("power.starts", "'off'")];
    let overrides = [DISK_POWER.as_slice(), &stops].concat();
    device("atlas10k", &overrides).build(&fcfs).0
}

/// A sled that goes inactive at once and lets few tips work.
fn sled_that_saves() -> Box<dyn Model> {
    let overrides = [
        ("power.policy", "'immediate'"),
        ("power.max_active_tips", "256"),
        ("power.starts", "'off'"),
        ("power.on_at_ms", "3"),
    ];
    device("g2", &overrides).build(&fcfs).0
}

/// One whose buffer is a window, with commands and overheads on a bus that
/// reads keep.
fn buffered_disk_that_streams() -> Box<dyn Model> {
    let overrides = [
        ("command_overhead_ms", "0.1"),
        ("hold_bus_reads", "true"),
        ("overheads.reselect_ms", "0.05"),
        ("overheads.read_completion_ms", "0.03"),
        ("buffer.read_ahead", "'segment'"),
        ("buffer.read_ahead_over_requested", "true"),
        ("buffer.read_ahead_on_hit", "true"),
        ("buffer.read_ahead_after_write_hit", "true"),
        ("buffer.write_back", "'appends'"),
        ("buffer.high_water", "0.5"),
        ("buffer.segments", "3"),
    ];
    device("atlas10k", &overrides).build(&fcfs).0
}

/// One that takes one request at a time and writes through.
fn buffered_disk_alone_on_its_bus() -> Box<dyn Model> {
    let overrides = [
        ("command_overhead_ms", "0.1"),
        ("never_disconnect", "true"),
        ("overheads.write_completion_ms", "0.03"),
        ("buffer.keep", "'ahead'"),
        ("buffer.read_ahead", "'cylinder'"),
        ("buffer.read_ahead_stops_in_sector", "true"),
        ("buffer.write_back", "'none'"),
        ("buffer.read_written", "false"),
        ("buffer.own_write_segment", "true"),
        ("buffer.partial_hits_at_once", "false"),
    ];
    device("atlas10k", &overrides).build(&fcfs).0
}

fn stripe() -> Box<dyn Model> {
    Box::new(Stripe::new("stripe", 0, vec![plain(1), restless(2)], 4))
}

fn memory_before_sled() -> Box<dyn Model> {
    let memory =
        Memory { blocks: 1000, latency: Nanos(10_000), block_time: Nanos(500), battery: true };
    let front = Station::new("front", 1, memory, fcfs(), Interface::default());
    Box::new(ReadCache::new("cached", 0, Box::new(front), plain(2)))
}

fn buffered_sled() -> Box<dyn Model> {
    buffered(0)
}

/// A sled with a buffer that reads ahead and holds writes back, and parks soon.
fn buffered(device_number: u16) -> Box<dyn Model> {
    let overrides = [
        ("inactive_after_ms", "2"),
        ("idle", "'coast'"),
        ("buffer.size_kib", "256"),
        ("buffer.segments", "4"),
        ("buffer.read_ahead", "'full'"),
        ("buffer.write_back_segments", "2"),
        ("buffer.speed_matching", "'block'"),
    ];
    device("g2", &overrides).mems().expect("a sled").build("buffered", device_number, fcfs(), None)
}

/// Two sleds with buffers, of which only the first lets writes through.
fn stripe_of_buffered_sleds() -> Box<dyn Model> {
    let through = [
        ("buffer.size_kib", "128"),
        ("buffer.segments", "8"),
        ("buffer.read_ahead", "30"),
        ("buffer.speed_matching", "'none'"),
    ];
    let through = device("g3", &through).mems().expect("a sled").build("through", 1, fcfs(), None);
    Box::new(Stripe::new("stripe", 0, vec![through, buffered(2)], 16))
}

/// A write buffer whose logs are full most of the time.
fn write_buffer(front: &str, back: &str) -> Box<dyn Model> {
    let text = format!(
        "title = 'Write buffer'\nkind = 'mwb'\nlog_kib = 32\nfront_mib = 0.5\nbuffer_kib = 128\n\
         clean_after_idle_ms = 1\nclean_idle_above = 0.2\nclean_above = 0.6\nclean_to = 0.1\n\
         [front]\n{front}\n[back]\n{back}\n"
    );
    let keys = Keys::parse(&text, "mwb.toml").expect("keys");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

fn write_buffer_before_a_disk() -> Box<dyn Model> {
    write_buffer("base = 'msst2005'", "base = 'atlas10k-50mbps'")
}

fn write_buffer_on_memory() -> Box<dyn Model> {
    let memory = "base = 'memory'\nblocks = 4096\nlatency_ms = 0.01\nms_per_block = 0.001";
    write_buffer(memory, "base = 'g2'")
}

fn flash() -> Box<dyn Model> {
    let overrides = [("units", "3")];
    device("flash", &overrides).build(&fcfs).0
}

/// A sled before a disk, with all techniques, behind the cache of a controller;
/// small, so that everything happens.
fn tier_behind_a_cache() -> Box<dyn Model> {
    tier(
        "segment_kib = 8\nfront_mib = 0.5\nbuffer_kib = 64\nexchange_kib = 32\n\
         fetch_kib = 16\nbypass_after_kib = 64\nclean_after_idle_ms = 1\n\
         front.base = \"msst2005\"\nback.base = \"atlas10k-50mbps\"\n\
         [controller_cache]\ncache_mib = 0.25\nexchange_kib = 16\nbuffer_kib = 32\n\
         clean_above = 0.3\nclean_after_idle_ms = 2",
    )
}

/// A sled behind the controller of DiskSim, with few lines, which it cleans.
fn sled_behind_a_controller() -> Box<dyn Model> {
    let overrides = [
        ("controller_cache.controller", "'disksim'"),
        ("controller_cache.cache_mib", "0.25"),
        ("controller_cache.line_kib", "8"),
        ("controller_cache.bit_blocks", "4"),
        ("controller_cache.prefetch", "'rest'"),
        ("controller_cache.clean_after_idle_ms", "3"),
        ("controller_cache.clean_every_ms", "50"),
    ];
    device("g2", &overrides).build(&fcfs).0
}

/// A memory before a stripe of sleds, without any technique.
fn plain_tier() -> Box<dyn Model> {
    tier(
        "segment_kib = 4\nbuffer_kib = 8\nfront_mib = 0.2509765625\nclean_above = 0.9\n\
         shortcut = false\nimmediate_report = false\npartial_write = false\n\
         policy = \"arc\"\nfetch_kib = \"auto\"\nfront.base = \"memory\"\n\
         back.title = \"Two\"\nback.kind = \"stripe\"\nback.children = 2\n\
         back.unit_blocks = 10\nback.child.base = \"g3\"",
    )
}

fn tier(keys: &str) -> Box<dyn Model> {
    let keys = format!("title = \"Tier\"\nkind = \"mcd\"\n{keys}");
    let keys = Keys::parse(&keys, "test").expect("TOML");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

/// An array of this kind.
fn array(kind: &str, keys: &str) -> Box<dyn Model> {
    let keys = format!("title = \"Array\"\nkind = \"{kind}\"\n{keys}");
    let keys = Keys::parse(&keys, "test").expect("TOML");
    let device = Device::from_keys(keys, None).expect("a device");
    device.build(&fcfs).0
}

fn mirrored_sleds() -> Box<dyn Model> {
    array("raid1", "children = 2\nreads = \"nearest\"\nchild.base = \"g3\"")
}

/// Stripes of sleds, the second of which fails.
fn degraded_sleds() -> Box<dyn Model> {
    array(
        "raid5",
        "children = 4\nunit_blocks = 16\nfail_child = 1\nfail_at_ms = 70.25\n\
         child.base = \"g2\"\nchild.idle = \"coast\"",
    )
}

/// Two of these fail, one after the other, and are rebuilt beside the load.
const REBUILDING: &str = "spares = 2\nfail_child = [0, 2]\nfail_at_ms = [40, 150.5]\n\
     rebuild_after_ms = 5\nrebuild_unit_blocks = 64\nrebuild_min_mb_s = 8\n\
     child.base = \"memory\"\nchild.blocks = 4096\nchild.latency_ms = 0.1\n\
     child.ms_per_block = 0.002";

fn rebuilding_mirrors() -> Box<dyn Model> {
    array("raid1", &format!("children = 3\n{REBUILDING}"))
}

fn rebuilding_parity() -> Box<dyn Model> {
    array("raid5", &format!("children = 5\nunit_blocks = 16\n{REBUILDING}"))
}

fn rebuilding_double_parity() -> Box<dyn Model> {
    array("raid6", &format!("children = 6\nunit_blocks = 16\n{REBUILDING}"))
}

fn rebuilding_striped_mirrors() -> Box<dyn Model> {
    array("raid10", &format!("children = 5\nunit_blocks = 16\n{REBUILDING}"))
}

/// Whether every mechanism in it only serves the requests it reports, one at a
/// time.
pub(super) fn is_plain(name: &str) -> bool {
    !name.contains("buffered") && name != "tier behind a cache" && name != "flash"
}

/// A device with the scheduler of a label, including a host's.
fn scheduled(name: &str, overrides: &[(&str, &str)], label: &str) -> Box<dyn Model> {
    let choice = SchedulerSpec::named(label).expect("a scheduler");
    let built = device(name, overrides).build_with(&choice);
    built.expect("a device with positions").0
}

fn sled_by_positioning_time() -> Box<dyn Model> {
    scheduled("g2", &[("idle", "'coast'")], "sptf")
}

fn disk_by_positioning_time() -> Box<dyn Model> {
    scheduled("atlas10k", &[], "aged_sptf(age_weight=0.05)")
}

fn sled_behind_a_host() -> Box<dyn Model> {
    scheduled("g2", &[], "zone_sptf(host=sptf; device_depth=3)")
}

fn buffered_disk_behind_a_host() -> Box<dyn Model> {
    scheduled("atlas10k", &[], "fcfs(host=c_look)")
}

/// Two tiers that clean their fronts.
fn stripe_of_tiers() -> Box<dyn Model> {
    array(
        "stripe",
        "children = 2\nunit_blocks = 16\nchild.title = \"Tier\"\nchild.kind = \"mcd\"\n\
         child.segment_kib = 8\nchild.front_mib = 0.5\nchild.buffer_kib = 64\n\
         child.exchange_kib = 32\nchild.clean_after_idle_ms = 1\n\
         child.front.base = \"memory\"\nchild.back.base = \"g3\"",
    )
}

/// Two write buffers that clean their logs.
fn stripe_of_write_buffers() -> Box<dyn Model> {
    array(
        "stripe",
        "children = 2\nunit_blocks = 16\nchild.title = \"Log\"\nchild.kind = \"mwb\"\n\
         child.log_kib = 32\nchild.front_mib = 0.5\nchild.buffer_kib = 128\n\
         child.clean_after_idle_ms = 1\nchild.clean_idle_above = 0.2\n\
         child.clean_above = 0.6\nchild.clean_to = 0.1\n\
         child.front.base = \"msst2005\"\nchild.back.base = \"g2\"",
    )
}

/// Arms that wait for the bus they share.
fn buffered_disk_with_three_arms() -> Box<dyn Model> {
    array(
        "actuators",
        "actuators = 3\nchild.base = \"atlas10k\"\nchild.bus_ms_per_block = 0.3\n\
         child.buffer.write_back = \"none\"\nchild.cache.blocks = 2000\n\
         child.queue.entries = 2",
    )
}

pub(super) const MODELS: [(&str, Make); 31] = [
    ("buffered disk with three arms", buffered_disk_with_three_arms),
    ("sled by positioning time", sled_by_positioning_time),
    ("buffered disk by positioning time", disk_by_positioning_time),
    ("sled behind a host", sled_behind_a_host),
    ("buffered disk behind a host", buffered_disk_behind_a_host),
    ("buffered disk", buffered_disk),
    ("buffered disk that stops", buffered_disk_that_stops),
    ("sled that saves", sled_that_saves),
    ("buffered disk that streams", buffered_disk_that_streams),
    ("buffered disk alone on its bus", buffered_disk_alone_on_its_bus),
    ("sled", sled),
    ("restless sled", restless_sled),
    ("disk", disk),
    ("stripe of two sleds", stripe),
    ("memory before a sled", memory_before_sled),
    ("buffered sled", buffered_sled),
    ("stripe of buffered sleds", stripe_of_buffered_sleds),
    ("flash", flash),
    ("write buffer before a buffered disk", write_buffer_before_a_disk),
    ("write buffer on memory", write_buffer_on_memory),
    ("tier behind a cache", tier_behind_a_cache),
    ("sled behind a controller", sled_behind_a_controller),
    ("plain tier", plain_tier),
    ("mirrored sleds", mirrored_sleds),
    ("degraded sleds", degraded_sleds),
    ("rebuilding mirrors", rebuilding_mirrors),
    ("rebuilding parity", rebuilding_parity),
    ("rebuilding double parity", rebuilding_double_parity),
    ("rebuilding striped mirrors", rebuilding_striped_mirrors),
    ("stripe of tiers", stripe_of_tiers),
    ("stripe of write buffers", stripe_of_write_buffers),
];
