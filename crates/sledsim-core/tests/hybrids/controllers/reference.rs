//! The controller does what that of DiskSim 4.0 does, request by request.
//!
//! The rows are of DiskSim with its shipped cached controller before an Atlas 10K of half
//! the surfaces and twice the sectors of a track, as the preset `atlas10k-50mbps`.

use super::disks::{TimedDisk, controller};
use crate::common::{Rows, csv, device, reference, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::HostQueue;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::{BTreeMap, BTreeSet};

/// A load with the keys of its run, and how many requests the host gives to the controller.
struct Load {
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
    depth: u32,
}

const LOADS: [Load; 5] = [
    load("hplajw92_shipped", &[], 1),
    load("hplajw92_idle20", &[("clean_after_idle_ms", "20")], 1),
    load("cello_shipped", &[], 1),
    load("cello_depth1000", &[], 1000),
    load("tpcc_shipped", &[], 1),
];

const fn load(
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
    depth: u32,
) -> Load {
    Load { name, keys, depth }
}

/// A row of either file: time in ns, first block, blocks, operation; and of hosts the
/// response in ns.
type Line = (u64, u64, u32, Op, u64);

/// The rows of hosts and of the disk; `None` if there are no reference files.
fn rows(name: &str) -> Option<(Vec<Line>, Vec<Line>)> {
    let read = |name: String| {
        let path = reference(&format!("reference/disksim/controller/{name}.csv.gz"))?;
        let ns = |text: &str| (text.parse::<f64>().expect("a time") * 1e6).round() as u64;
        let line = |row: &Vec<String>| {
            let op = if row[3] == "1" { Op::Read } else { Op::Write };
            let number = |column: usize| row[column].parse::<u64>().expect("a number");
            let response = row.get(4).map_or(0, |text| ns(text));
            (ns(&row[0]), number(1), number(2) as u32, op, response)
        };
        Some(csv(&path).iter().map(line).collect::<Vec<Line>>())
    };
    let mut hosts = read(name.to_owned())?;
    hosts.sort_by_key(|line| line.0);
    Some((hosts, read(format!("{name}_disk"))?))
}

fn requests(hosts: &[Line]) -> Vec<Request> {
    let request =
        |(id, line): (u64, &Line)| Request::new(id, Nanos(line.0), line.3, line.1, line.2);
    (0..).zip(hosts).map(request).collect()
}

/// How long each request of the disk took: until a host request was complete that did not
/// complete on arrival, or until the disk got the next one, at a time when no host request
/// arrived. `None` if neither tells: no host request waited for it.
fn disk_times(load: &Load, hosts: &[Line], disk: &[Line]) -> Vec<Option<Nanos>> {
    const IDLE_NS: u64 = 20_000_000;
    let arrivals: BTreeSet<u64> = hosts.iter().map(|line| line.0).collect();
    let ends: BTreeSet<u64> = hosts.iter().map(|line| line.0 + line.4).collect();
    let ends: Vec<u64> = ends.difference(&arrivals).copied().collect();
    let time = |index: usize| {
        let at = disk[index].0;
        let next = disk.get(index + 1)?.0;
        let end = ends.get(ends.partition_point(|end| *end <= at + 10)).copied();
        let end = end.filter(|end| *end <= next + 2);
        let end = end.or((!arrivals.contains(&next)).then_some(next))?;
        let is_waited_for = load.keys.is_empty() || end - at < IDLE_NS;
        is_waited_for.then(|| Nanos(end - at))
    };
    (0..disk.len()).map(time).collect()
}

/// With the disk's times of the reference, the disk gets the same requests at the same
/// instants, and every host request takes as long, to 2 µs.
#[test]
fn every_request_matches_with_the_times_of_the_disk() {
    for load in &LOADS {
        let Some((hosts, disk)) = rows(load.name) else {
            return;
        };
        let times = disk_times(load, &hosts, &disk);
        // The disk's buffer takes a write in its bus time if no host request waits for it.
        let bus = |blocks: u32| Nanos::from_ms(0.189 + 0.01024 * f64::from(blocks));
        let time = move |number: usize, request: &Request| {
            let known = times.get(number).copied().flatten();
            known.unwrap_or_else(|| bus(request.blocks()))
        };
        let (timed, asked) = TimedDisk::new(17_938_986, time);
        let keys = load.keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
        let keys = format!("cache_mib = 4\n{}", keys.collect::<String>());
        let host = SchedulerSpec::named("c_look(from=start)").expect("a scheduler");
        let inner = controller(&keys, Box::new(timed));
        let mut model = HostQueue::new("host", 0, inner, host.make(), load.depth);
        let Rows { mut done, .. } = run_open(&mut model, &requests(&hosts));
        done.sort_by_key(|row| row.id);
        assert_eq!(done.len(), hosts.len());
        // The files end here; later the disk has other requests.
        let until = disk.last().map_or(0, |line| line.0);
        let differs = |(row, host): &(&Row, &Line)| {
            host.0 + host.4 < until && row.response().0.abs_diff(host.4) > 2000
        };
        let differing = done.iter().zip(&hosts).filter(differs).count();
        let asked = asked.lock().expect("no panic before");
        let same = |(one, line): &(&Request, &Line)| {
            let (one, other) = ((one.lbn(), one.blocks(), one.op), (line.1, line.2, line.3));
            one == other
        };
        let others = asked.iter().zip(&disk).filter(|pair| !same(pair)).count();
        println!(
            "{}: {differing} of {} requests and {others} of {} of the disk differ",
            load.name,
            hosts.len(),
            disk.len(),
        );
        let allowed = match load.name {
            // Not all times of the disk are known.
            "hplajw92_idle20" => hosts.len() / 500,
            // DiskSim tells waiters for the same first block apart by luck.
            "cello_depth1000" => hosts.len() / 2000,
            _ => 0,
        };
        assert!(differing <= allowed, "{}: {differing}", load.name);
        assert!(others <= allowed, "{}: {others}", load.name);
    }
}

/// What a run comes to.
#[derive(Debug)]
struct Sums {
    mean_ms: f64,
    /// Requests that were complete as soon as they got to the controller.
    at_once: usize,
    /// Of the disk: reads, blocks read, writes, blocks written.
    disk: [f64; 4],
}

fn sums(hosts: &[Line], disk: &[Line]) -> Sums {
    let ends: BTreeMap<u64, usize> = hosts.iter().fold(BTreeMap::new(), |mut ends, line| {
        *ends.entry(line.0 + line.4).or_default() += 1;
        ends
    });
    let of = |op: Op, by: fn(&Line) -> f64| disk.iter().filter(|line| line.3 == op).map(by).sum();
    let blocks = |line: &Line| f64::from(line.2);
    // Of those that complete at one instant, the first may have been served until then.
    let together: usize = ends.values().map(|ends| ends - 1).sum();
    Sums {
        mean_ms: hosts.iter().map(|line| line.4 as f64).sum::<f64>() / hosts.len() as f64 / 1e6,
        at_once: together + hosts.iter().filter(|line| line.4 == 0).count(),
        disk: [
            of(Op::Read, |_| 1.0),
            of(Op::Read, blocks),
            of(Op::Write, |_| 1.0),
            of(Op::Write, blocks),
        ],
    }
}

fn simulate(hosts: &[Line], keys: &[(&str, &str)], depth: u32) -> Sums {
    let keys: Vec<(String, &str)> = [("controller", "'disksim'"), ("cache_mib", "4")]
        .iter()
        .chain(keys)
        .map(|(key, value)| (format!("controller_cache.{key}"), *value))
        .collect();
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (&**key, *value)).collect();
    let scheduler = format!("fcfs(host=c_look(from=start); device_depth={depth})");
    let scheduler = SchedulerSpec::named(&scheduler).expect("a scheduler");
    let device = device("atlas10k-50mbps", &keys);
    let (mut model, names) = device.build_with(&scheduler).expect("a model");
    assert_eq!(names.len(), 3, "host, controller, disk: {names:?}");
    let Rows { done, notes } = run_open(&mut *model, &requests(hosts));
    let line = |row: &Row| (row.arrival.0, row.lbn, row.blocks, row.op, row.response().0);
    let of_disk = notes.iter().filter(|row| row.device == 2);
    let disk: Vec<Line> = of_disk.map(line).collect();
    sums(&done.iter().map(line).collect::<Vec<_>>(), &disk)
}

/// Before the disk of sledsim, whose times are those of the measured drive rather than of
/// DiskSim's: the disk's requests are within 2 %, and so are the requests that hit.
#[test]
fn the_disk_gets_as_many_requests_and_as_many_hit() {
    for load in &LOADS {
        let Some((hosts, disk)) = rows(load.name) else {
            return;
        };
        let theirs = sums(&hosts, &disk);
        let ours = simulate(&hosts, load.keys, load.depth);
        println!("{}: {ours:?}, DiskSim {theirs:?}", load.name);
        let quantities = ours.disk.into_iter().zip(theirs.disk);
        for (quantity, (ours, theirs)) in quantities.enumerate() {
            let off = (ours / theirs - 1.0).abs();
            assert!(off < 0.02, "{} {quantity}: {ours}, {theirs}", load.name);
        }
        let off = ours.at_once as f64 / theirs.at_once as f64 - 1.0;
        assert!(off.abs() < 0.02, "{}: hits {off}", load.name);
    }
}

/// The effects of the keys, each alone, have the sign that they have in DiskSim, on loads
/// of 50,000 requests of which these are the first.
#[test]
fn keys_slow_down_or_speed_up_as_in_disksim() {
    let Some((hosts, _)) = rows("cello_shipped") else {
        return;
    };
    let mean_ms = |keys: &[(&str, &str)], depth: u32| simulate(&hosts, keys, depth).mean_ms;
    let shipped_ms = mean_ms(&[], 1);
    println!("cello shipped: {shipped_ms:.2} ms");
    let faster: [(&[(&str, &str)], u32); 5] = [
        (&[("clean_after_idle_ms", "20")], 1),
        (&[("clean_every_ms", "1000")], 1),
        (&[], 1000),
        (&[("scheme", "'through'")], 1),
        (&[("allocate", "'clean_first'")], 1),
    ];
    for (keys, depth) in faster {
        let ms = mean_ms(keys, depth);
        println!("cello {keys:?} at {depth}: {ms:.2} ms");
        assert!(ms < shipped_ms, "{keys:?}: {ms}");
    }
    let mut last_ms = mean_ms(&[("exchange_kib", "32")], 1);
    println!("cello without clusters: {last_ms:.2} ms");
    assert!(last_ms > shipped_ms);
    for blocks in ["4", "8", "16"] {
        let ms = mean_ms(&[("bit_blocks", blocks)], 1);
        println!("cello with bits of {blocks} blocks: {ms:.2} ms");
        assert!(ms > last_ms, "{blocks}: {ms}");
        last_ms = ms;
    }
}
