//! Disks with several actuators: against single disks, the rates of their bus, and what is
//! published of the Exos 2X18.

use crate::common::{DISK_POWER, Rows, device, energy, reports, run_open};
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::{Fcfs, Scheduler};

const EXOS: &str = "exos2x18";
/// Blocks of each of its actuators.
const HALF: u64 = 17_578_328_064;

fn fcfs() -> Box<dyn Scheduler> {
    Box::<Fcfs>::default()
}

fn parsed(keys: &str) -> Result<Device, String> {
    let text = format!("title = 'Arms'\nkind = 'actuators'\n{keys}");
    let keys = Keys::parse(&text, "arms.toml").expect("TOML");
    Device::from_keys(keys, None).map_err(|error| error.to_string())
}

/// A disk of several arms, each an Atlas 10K with these keys.
fn arms(actuators: u64, keys: &[(&str, &str)]) -> Box<dyn Model> {
    let mut text = format!("actuators = {actuators}\nchild.base = 'atlas10k'\n");
    for (key, value) in keys {
        text += &format!("child.{key} = {value}\n");
    }
    parsed(&text).expect("a device").build(&fcfs).0
}

fn single(keys: &[(&str, &str)]) -> Box<dyn Model> {
    device("atlas10k", keys).build(&fcfs).0
}

fn by_id(rows: &Rows) -> Vec<Row> {
    let mut rows = rows.done.clone();
    rows.sort_by_key(|row| row.id);
    rows
}

fn end(rows: &Rows) -> Nanos {
    rows.done.iter().map(|row| row.completion).max().expect("rows")
}

/// Reads of 1 MiB in sequence, asked for at once, from each of these blocks on.
fn streams(firsts: &[u64], each: u64) -> Vec<Request> {
    let places = (0..each).flat_map(|index| firsts.iter().map(move |first| first + 2048 * index));
    (0..).zip(places).map(|(id, lbn)| Request::new(id, Nanos::ZERO, Op::Read, lbn, 2048)).collect()
}

/// MB/s of such streams.
fn rate(keys: &[(&str, &str)], firsts: &[u64]) -> f64 {
    let keys = [&[("child.queue.entries", "1")], keys].concat();
    let requests = streams(firsts, 1500);
    let mut model = device(EXOS, &keys).build(&fcfs).0;
    let bytes = requests.len() as f64 * 1_048_576.0;
    bytes / end(&run_open(&mut *model, &requests)).s() / 1e6
}

#[track_caller]
fn near(ours: f64, expected: f64, within: f64) {
    assert!((ours / expected - 1.0).abs() < within, "{ours}, expected {expected}");
}

#[test]
fn ranges_follow_one_another() {
    // As a drive of this model reports them; see the file of the preset.
    assert_eq!(device(EXOS, &[]).ranges(), [0..HALF, HALF..2 * HALF]);
    assert_eq!(device(EXOS, &[("actuators", "3")]).ranges()[2], 2 * HALF..3 * HALF);
    assert_eq!(device(EXOS, &[]).blocks() * 512, 18_000_207_937_536);
    for other in ["atlas10k", "nearline20t", "g2", "mcd", "memory"] {
        assert!(device(other, &[]).ranges().is_empty(), "{other}");
    }
}

#[test]
fn a_request_over_a_border_is_split() {
    let mut model = arms(3, &[]);
    let each = model.blocks() / 3;
    let at = |second: u64| Nanos(1_000_000_000 * second);
    let mut scattered = Request::new(2, at(2), Op::Write, 5, 1);
    scattered.extents.push(Extent { lbn: 2 * each + 7, blocks: 2 });
    let requests = [
        Request::new(0, at(0), Op::Read, each - 4, 10),
        Request::new(1, at(1), Op::Read, each, 10),
        scattered,
        Request { extents: Vec::new().into(), ..Request::new(3, at(3), Op::Flush, 0, 1) },
    ];
    let rows = run_open(&mut *model, &requests);
    let mut parts: Vec<_> =
        rows.notes.iter().map(|row| (row.parent, row.device, row.lbn, row.blocks)).collect();
    parts.sort_unstable();
    let expected = [
        (Some(0), 1, each - 4, 4),
        (Some(0), 2, 0, 6),
        (Some(1), 2, 0, 10),
        (Some(2), 1, 5, 1),
        (Some(2), 3, 7, 2),
        (Some(3), 1, 0, 0),
        (Some(3), 2, 0, 0),
        (Some(3), 3, 0, 0),
    ];
    assert_eq!(parts, expected);
    for row in by_id(&rows) {
        let parts = rows.notes.iter().filter(|part| part.parent == Some(row.id));
        assert!(parts.map(|part| part.completion).max() <= Some(row.completion));
        assert_eq!(row.parts.total(), row.response());
    }
}

/// With a bus that takes no time each arm is a disk of its own.
#[test]
fn each_arm_serves_its_range_as_a_disk_alone() {
    let keys = [
        ("bus_ms_per_block", "0"),
        ("buffer.write_back", "'none'"),
        ("queue.entries", "8"),
        ("queue.margin_ms", "0.3"),
        ("cache.blocks", "3000"),
        ("cache.idle_ms", "5"),
    ];
    let mut model = arms(2, &keys);
    let each = model.blocks() / 2;
    let mut random = Stream::new(1, "requests");
    let requests: Vec<Request> = (0..4000)
        .map(|id| {
            let op = if random.below(3) == 0 { Op::Write } else { Op::Read };
            let lbn = random.below(2) * each + random.below(each - 100);
            Request::new(id, Nanos(3_000_000 * id), op, lbn, 1 + random.below(60) as u32)
        })
        .collect();
    let together = by_id(&run_open(&mut *model, &requests));
    for arm in 0..2 {
        let own = requests.iter().filter(|request| request.lbn() / each == arm);
        let own: Vec<Request> = own
            .map(|request| Request {
                extents: Request::new(
                    0,
                    Nanos::ZERO,
                    Op::Read,
                    request.lbn() % each,
                    request.blocks(),
                )
                .extents,
                ..request.clone()
            })
            .collect();
        let alone = by_id(&run_open(&mut *single(&keys), &own));
        assert!(alone.len() > 1800);
        for row in alone {
            let both = &together[row.id as usize];
            assert_eq!((both.start, both.completion), (row.start, row.completion), "{}", row.id);
            assert_eq!(both.parts, row.parts);
        }
    }
}

#[test]
fn streams_of_both_arms_run_at_the_sum_of_their_rates() {
    // Published: 554 MB/s.
    let [first, second] = [0, HALF].map(|lbn| rate(&[], &[lbn]));
    near(first, 277.0, 0.003);
    near(second, 277.0, 0.003);
    near(rate(&[], &[0, HALF]), first + second, 0.001);
    // Both in one range take turns at one arm.
    assert!(rate(&[], &[0, 4_000_000_000]) < 1.01 * first);
}

#[test]
fn the_bus_bounds_both_together_and_none_alone() {
    // 400 MB/s.
    let slow = [("child.bus_ms_per_block", "0.00128")];
    near(rate(&slow, &[0, HALF]), 400.0, 0.003);
    near(rate(&slow, &[HALF]), 277.0, 0.003);
    // Three arms on the bus of two: 600 MB/s.
    near(rate(&[("actuators", "3")], &[0, HALF, 2 * HALF]), 512.0 / 0.853, 0.003);
    // It is then busy all the time.
    let keys = [&slow[..], &[("child.queue.entries", "1")]].concat();
    let mut model = device(EXOS, &keys).build(&fcfs).0;
    let until = end(&run_open(&mut *model, &streams(&[0, HALF], 1000)));
    let report = &reports(&*model, until)[0];
    assert_eq!(report.mechanisms[0].0, ".bus");
    near(report.mechanisms[0].1.total().s(), until.s(), 0.01);
}

#[test]
fn the_spindle_is_counted_once() {
    let mut model = arms(2, &DISK_POWER);
    let each = model.blocks() / 2;
    // Idle, it draws what one disk does.
    let second = Nanos(1_000_000_000);
    assert_eq!(energy(&*arms(3, &DISK_POWER), second).total_j(), 7.5);
    let mut random = Stream::new(4, "energy");
    let requests: Vec<Request> = (0..200)
        .map(|id| Request::new(id, Nanos(20_000_000 * id), Op::Read, random.below(each), 8))
        .collect();
    let until = Nanos(5_000_000_000);
    // One arm works: the other adds nothing.
    let mut alone = single(&DISK_POWER);
    let _ = run_open(&mut *alone, &requests);
    let _ = run_open(&mut *model, &requests);
    let one_j = energy(&*alone, until).total_j();
    near(energy(&*model, until).total_j(), one_j, 1e-12);
    // Both work: each adds what it draws beyond the spindle.
    let moved = requests.iter().map(|request| {
        Request::new(request.id + 200, request.arrival, Op::Read, request.lbn() + each, 8)
    });
    let mut all: Vec<Request> = requests.iter().cloned().chain(moved).collect();
    all.sort_by_key(|request| request.arrival);
    let mut both = arms(2, &DISK_POWER);
    let _ = run_open(&mut *both, &all);
    near(energy(&*both, until).total_j(), 2.0 * one_j - 7.5 * until.s(), 1e-9);
}
