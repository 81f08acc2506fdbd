//! The answers of a drive with many outstanding requests are physically possible.
//! Random small drives, random electronics, bursts of requests; the bounds come from
//! the sectors that the walk in `drives.rs` finds and from the rows, never from the
//! code under test.

use super::drives::{Drive, Zone, cases, drive};
use super::small;
use crate::common::{self, run_open};
use proptest::prelude::*;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::Fcfs;
use std::collections::BTreeMap;

/// Electronics in whole microseconds, and the rest of their keys as text.
#[derive(Clone, Debug)]
struct Electronics {
    command_us: u64,
    read_us: u64,
    write_us: u64,
    read_completion_us: u64,
    write_completion_us: u64,
    segment_blocks: u64,
    text: String,
}

fn electronics() -> impl Strategy<Value = Electronics> {
    let few = || prop_oneof![Just(0_u64), 1..300_u64];
    let times = (few(), few(), few(), few(), few());
    let overheads = prop::collection::vec(0..400_u32, 9);
    let sizes = (1..5_u32, prop_oneof![1..12_u64, 12..80_u64], 0..6_u64, 0..90_u64);
    let words = (0..3_usize, 0..5_usize, 0..3_usize, 0..2_usize, 0..5_u32);
    let flags = prop::collection::vec(any::<bool>(), 12);
    (times, overheads, sizes, words, flags).prop_map(|(times, overheads, sizes, words, on)| {
        let (segments, segment_blocks, least, most) = sizes;
        let own = on[0] && segments > 1;
        let ms = |us: u32| f64::from(us) / 1e3;
        let names = [
            "read_hit_after_read_ms",
            "read_hit_after_write_ms",
            "read_miss_after_read_ms",
            "read_miss_after_write_ms",
            "write_hit_after_read_ms",
            "write_hit_after_write_ms",
            "write_miss_after_read_ms",
            "write_miss_after_write_ms",
            "reselect_ms",
        ];
        let overheads: String = (names.iter().zip(overheads))
            .map(|(name, us)| format!("{name} = {}\n", ms(us)))
            .collect();
        let text = format!(
            "[overheads]\n{overheads}read_completion_ms = {}\nwrite_completion_ms = {}\n\
             [buffer]\nsegments = {segments}\nsegment_blocks = {segment_blocks}\n\
             keep = '{}'\nread_ahead = '{}'\nwrite_back = '{}'\nhigh_water_of = '{}'\nhigh_water = {}\n\
             read_ahead_min_blocks = {}\nread_ahead_max_blocks = {}\nwrite_segments = {}\n\
             own_write_segment = {own}\nread_ahead_over_requested = {}\nread_ahead_on_hit = {}\n\
             read_ahead_stops_in_sector = {}\nread_ahead_after_write_hit = {}\nread_free_blocks = {}\n\
             whole_track = {}\nappend_writes = {}\nread_written = {}\npartial_hits_at_once = {}\n",
            times.3 as f64 / 1e3,
            times.4 as f64 / 1e3,
            ["all", "ahead", "nothing"][words.0],
            ["none", "track", "cylinder", "segment", "tracks"][words.1],
            ["none", "appends", "all"][words.2],
            ["request", "segment"][words.3],
            f64::from(words.4) / 4.0,
            least.min(segment_blocks).min(most),
            most,
            1 + u32::from(on[11] && segments > 1 + u32::from(own)),
            on[1],
            on[2],
            on[3],
            on[4],
            on[5],
            on[6],
            on[7],
            on[8],
            on[9],
        );
        Electronics {
            command_us: times.0,
            read_us: times.1,
            write_us: times.2,
            read_completion_us: times.3,
            write_completion_us: times.4,
            segment_blocks,
            text: format!("hold_bus_reads = {}\n{text}", on[10]),
        }
    })
}

/// The drive with these electronics.
fn build(drive: &Drive, with: &Electronics) -> Option<Box<dyn Model>> {
    let (before_zones, zones) =
        drive.toml().split_once("[[zone]]").map(|(a, b)| (a.to_owned(), b.to_owned()))?;
    let (own, tables) = with.text.split_once('\n')?;
    let before_zones =
        before_zones.replace("command_overhead_ms = 0\n", "").replace("bus_ms_per_block = 0\n", "");
    let text = format!(
        "{before_zones}command_overhead_ms = {}\nbus_ms_per_block = {}\nbus_write_ms_per_block = {}\n{own}\n{tables}[[zone]]{zones}",
        with.command_us as f64 / 1e3,
        with.read_us as f64 / 1e3,
        with.write_us as f64 / 1e3,
    );
    let keys = Keys::parse(&text, "test.toml").expect("TOML");
    // Some random drives have no room for their blocks.
    let device = Device::from_keys(keys, None).ok()?;
    Some(device.build(&|| Box::<Fcfs>::default()).0)
}

/// Bursts: sequential runs, nearby requests, and others; some of all operations.
fn requests(count: u64, seed: u64, blocks: u64, revolution_us: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "bursts");
    let (mut at_us, mut end) = (0, 0);
    (0..count)
        .map(|id| {
            if random.chance(0.5) {
                at_us += random.below(2 * revolution_us);
            }
            let op = match random.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=8 => Op::Write,
                _ => Op::Read,
            };
            let extents = match op {
                Op::Flush => 0,
                _ => 1 + random.below(12) / 11,
            };
            let mut extent = || {
                let lbn = match random.below(10) {
                    0..=4 => end,
                    5..=6 => (end + random.below(40)).saturating_sub(20),
                    _ => random.below(blocks),
                };
                let lbn = lbn % blocks;
                let length = random.geometric(5.0).min(blocks - lbn).min(60);
                end = lbn + length;
                Extent { lbn, blocks: length as u32 }
            };
            Request {
                id,
                arrival: Nanos(1000 * at_us),
                op,
                extents: (0..extents).map(|_| extent()).collect(),
                ..Request::default()
            }
        })
        .collect()
}

/// Times at which sectors pass.
struct Sectors<'a> {
    drive: &'a Drive,
    /// Cylinder, head, index on the track and sectors of it, by block.
    of: BTreeMap<u64, (u32, u32, u32, u32)>,
}

impl Sectors<'_> {
    /// Whether block `lbn` passes completely between two times.
    fn passes(&self, lbn: u64, from: Nanos, to: Nanos) -> bool {
        let revolution = 6e10 / f64::from(self.drive.rpm);
        let (_, _, physical, sectors) = self.of[&lbn];
        let angle = f64::from(physical) / f64::from(sectors) - f64::from(self.drive.start) / 7.0;
        let turns = ((from.0 as f64 - 2.0) / revolution - angle).ceil();
        let sector = revolution / f64::from(sectors);
        let end = (turns + angle) * revolution + sector;
        end <= to.0 as f64 + 2.0
    }

    fn same_track(&self, lbn: u64, other: u64) -> bool {
        let (one, other) = (self.of[&lbn], self.of[&other]);
        (one.0, one.1) == (other.0, other.1)
    }
}

/// The interval in which the media work visibly on a request. Overhead other than that
/// of command and completion comes before the arm moves.
fn media(row: &Row, with: &Electronics) -> (Nanos, Nanos) {
    let parts = &row.parts;
    let completion_us =
        if row.op == Op::Read { with.read_completion_us } else { with.write_completion_us };
    let before = parts.overhead - Nanos(1000 * (with.command_us + completion_us));
    let moves = parts.seek + parts.head_switch + parts.rotation + parts.transfer;
    (row.start, row.start + before + moves)
}

fn check(drive: &Drive, with: &Electronics, seed: u64) -> Result<(), TestCaseError> {
    let Some(mut model) = build(drive, with) else {
        return Ok(());
    };
    let revolution_us = 60_000_000 / u64::from(drive.rpm);
    let all = requests(150, seed, model.blocks(), revolution_us);
    let mut rows = run_open(&mut *model, &all).done;
    prop_assert_eq!(rows.len(), all.len());
    rows.sort_by_key(|row| row.id);

    // Late and superfluous calls change nothing.
    let mut late = Vec::new();
    {
        let mut model = build(drive, with).expect("as before");
        let mut sink = common::Rows::default();
        let mut chunks = all.chunks(7).peekable();
        while let Some(some) = chunks.next() {
            for request in some {
                model.submit(request.clone(), &mut sink);
            }
            // All requests that arrive by now have been submitted.
            let next = chunks.peek().map_or(u64::MAX >> 1, |next| next[0].arrival.0);
            for now in [next.saturating_sub(3000), next.saturating_sub(1)] {
                if (some[some.len() - 1].arrival.0..next).contains(&now) {
                    model.wake(Nanos(now), &mut sink);
                }
            }
        }
        model.wake(Nanos::from_s(1e6), &mut sink);
        prop_assert_eq!(model.next_event(), None);
        late.append(&mut sink.done);
    }
    late.sort_by_key(|row| row.id);
    for (late, row) in late.iter().zip(&rows) {
        prop_assert_eq!(late, row);
    }

    let walk = drive.walk().expect("a drive with blocks");
    let mut of = BTreeMap::new();
    for sector in &walk {
        if let Some(lbn) = sector.lbn {
            let sectors = drive.zones[sector.zone].sectors;
            of.insert(lbn, (sector.cylinder, sector.head, sector.physical, sectors));
        }
    }
    let sectors = Sectors { drive, of };
    let us = |us: u64| Nanos(1000 * us);

    let mut visible = Vec::new();
    let mut crossings = Vec::new();
    for (row, request) in rows.iter().zip(&all) {
        prop_assert_eq!(row.parts.total(), row.response(), "{:?}", row);
        prop_assert!(row.arrival + us(with.command_us) <= row.start && row.start <= row.completion);
        let blocks = u64::from(row.blocks);
        let (bus, completion) = match row.op {
            Op::Read => (us(with.read_us * blocks), us(with.read_completion_us)),
            Op::Write => (us(with.write_us * blocks), us(with.write_completion_us)),
            _ => continue,
        };
        let crossed = row.completion - completion;
        prop_assert!(row.arrival + bus <= crossed, "{:?}", row);
        if row.passes > 0 {
            visible.push((media(row, with), row, request));
        }
        let whole = row.op == Op::Read || (row.passes == 0 && blocks <= with.segment_blocks);
        if whole && bus > Nanos::ZERO {
            crossings.push((crossed, crossed - bus));
        }
    }

    // The mechanics do one thing at a time ...
    visible.sort_by_key(|((from, _), ..)| *from);
    for pair in visible.windows(2) {
        prop_assert!(pair[0].0.1 <= pair[1].0.0, "{:?} {:?}", pair[0].1, pair[1].1);
    }
    // ... and so does the bus.
    crossings.sort_unstable();
    for pair in crossings.windows(2) {
        prop_assert!(pair[0].0 <= pair[1].1, "bus: {:?}", pair);
    }

    // Between visible work the arm's moves are hidden.
    let mut gaps = Vec::new();
    let mut from = Nanos::ZERO;
    for ((begin, end), ..) in &visible {
        gaps.push((from, *begin));
        from = *end;
    }
    gaps.push((from, Nanos(u64::MAX)));
    let hidden = |lbn: u64, after: Nanos, by: Nanos| {
        let mut gaps = gaps.iter().filter(|(begin, end)| *begin < by && *end > after);
        gaps.any(|(begin, end)| sectors.passes(lbn, after.max(*begin), by.min(*end)))
    };
    for (row, request) in rows.iter().zip(&all) {
        let blocks = request.extents.iter().flat_map(|extent| extent.lbn..extent.end());
        if row.op == Op::Read {
            // Each block was written, or has passed, before it crossed.
            let done = row.completion - us(with.read_completion_us);
            let begins = done - us(with.read_us * u64::from(row.blocks));
            for (number, lbn) in (0..).zip(blocks) {
                let by = done - us(with.read_us * (u64::from(row.blocks) - number));
                let own = row.passes > 0 && sectors.passes(lbn, media(row, with).0, by);
                let sent = || {
                    rows.iter().zip(&all).any(|(write, sent)| {
                        write.op == Op::Write
                            && write.passes == 0
                            && write.completion - us(with.write_completion_us) <= begins
                            && sent
                                .extents
                                .iter()
                                .any(|extent| (extent.lbn..extent.end()).contains(&lbn))
                    })
                };
                let seen = || {
                    visible.iter().any(|((from, to), other, request)| {
                        let mut near =
                            request.extents.iter().flat_map(|extent| extent.lbn..extent.end());
                        other.op == Op::Read
                            && *from < by
                            && near.any(|near| sectors.same_track(lbn, near))
                            && sectors.passes(lbn, *from, by.min(*to + us(400)))
                    })
                };
                prop_assert!(
                    own || sent() || hidden(lbn, Nanos::ZERO, by) || seen(),
                    "block {} by {:?}: {:?}",
                    lbn,
                    by,
                    row
                );
            }
        } else if row.op == Op::Write {
            // Writes complete before a flush arrived have passed when the flush is
            // complete.
            let flush =
                rows.iter().find(|flush| flush.op == Op::Flush && flush.arrival > row.completion);
            if let Some(flush) = flush {
                for lbn in blocks {
                    let through = row.passes > 0 && sectors.passes(lbn, row.start, row.completion);
                    prop_assert!(
                        through || (row.passes == 0 && hidden(lbn, row.start, flush.completion)),
                        "block {} is not on the media: {:?} {:?}",
                        lbn,
                        row,
                        flush
                    );
                }
            }
        }
    }
    Ok(())
}

/// A drive of one zone whose arm moves in .1 ms, with one segment.
fn of_zone(zone: Zone, rpm: u32, zero_latency: bool, segment_blocks: u64) -> (Drive, Electronics) {
    let sparing = if zone.slips.is_empty() { 0 } else { 10 };
    let drive = Drive {
        surfaces: 2,
        mapping: 0,
        sparing,
        range_cylinders: 1,
        band_cylinders: 1,
        zones: vec![zone],
        unused_end: 0,
        rpm,
        start: 6,
        seeks_us: vec![100; 20],
        staying_us: 0,
        head_switch_us: 0,
        write_settle_us: 0,
        zero_latency,
    };
    let buffer =
        format!("segments = 1\nsegment_blocks = {segment_blocks}\nread_free_blocks = true\n");
    let with = Electronics {
        command_us: 0,
        read_us: 0,
        write_us: 0,
        read_completion_us: 0,
        write_completion_us: 0,
        segment_blocks,
        text: format!("hold_bus_reads = false\n[buffer]\n{buffer}"),
    };
    (drive, with)
}

/// Blocks that pass before a read are kept, and delivered no earlier than they pass.
/// Block 46 passes completely .742857 revolutions after the start, at 6,190,476.2 ns;
/// it is one of five before block 49, which is read.
#[test]
fn free_blocks_are_not_early() {
    let zone = Zone {
        cylinders: 3,
        gap: 1,
        sectors: 10,
        skews: [4, 0, 1],
        revolutions: true,
        reserved: 0,
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    };
    let (drive, mut with) = of_zone(zone, 7200, false, 5);
    with.command_us = 1;
    check(&drive, &with, 6_584_016_126_494_969_055).expect("possible answers");
}

/// Blocks behind a slipped sector pass one sector later: block 4 begins to pass .642857
/// revolutions after the start, at 6,428,571.4 ns.
#[test]
fn blocks_behind_a_slipped_sector_are_not_early() {
    let zone = Zone {
        cylinders: 1,
        gap: 0,
        sectors: 6,
        skews: [5, 0, 0],
        revolutions: true,
        reserved: 0,
        spares: 1,
        slips: vec![3],
        defects: Vec::new(),
    };
    let (drive, with) = of_zone(zone, 6000, true, 1);
    check(&drive, &with, 5_466_193_859_490_229_173).expect("possible answers");
}

/// The same among free blocks. Block 14 passes completely at 12/13 of a revolution; it
/// is one of four with a slipped sector after the first.
#[test]
fn free_blocks_behind_a_slipped_sector_are_not_early() {
    let zone = Zone {
        cylinders: 3,
        gap: 0,
        sectors: 13,
        skews: [5, 0, 4],
        revolutions: false,
        reserved: 13,
        spares: 0,
        slips: vec![27],
        defects: vec![[13, 1]],
    };
    let (mut drive, with) = of_zone(zone, 6000, false, 5);
    (drive.sparing, drive.start, drive.seeks_us[0]) = (2, 0, 2770);
    check(&drive, &with, 8_565_644_860_218_262_657).expect("possible answers");
}

/// Of two requests that need the mechanics at one instant, the first may be a hit in the
/// end; the other does not start when the mechanics became free, but then.
#[test]
fn no_request_starts_before_it_arrives() {
    let zone = Zone {
        cylinders: 1,
        gap: 0,
        sectors: 5,
        skews: [1, 0, 0],
        revolutions: false,
        reserved: 0,
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    };
    let (mut drive, mut with) = of_zone(zone, 6000, false, 4);
    (drive.surfaces, drive.start, drive.unused_end) = (1, 0, 1);
    let buffer = "segments = 2\nsegment_blocks = 4\nwrite_back = 'appends'\n\
                  append_writes = false\npartial_hits_at_once = false\n";
    with.text = format!("hold_bus_reads = false\n[buffer]\n{buffer}");
    check(&drive, &with, 12_297_604_794_828_492_950).expect("possible answers");
}

/// A read waits for all written data that it takes from the buffer, though the last of
/// the writes, with less overhead, may be the first to be sent.
#[test]
fn reads_wait_for_all_written_data() {
    let zone = Zone {
        cylinders: 4,
        gap: 0,
        sectors: 6,
        skews: [0; 3],
        revolutions: false,
        reserved: 3,
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    };
    let (mut drive, mut with) = of_zone(zone, 6000, false, 11);
    drive.start = 0;
    let tables = "[overheads]\nwrite_hit_after_read_ms = 0.372\n[buffer]\nsegments = 1\n\
                  segment_blocks = 11\nwrite_back = 'appends'\npartial_hits_at_once = false\n";
    with.text = format!("hold_bus_reads = false\n{tables}");
    check(&drive, &with, 9_072_602_258_813_714_054).expect("possible answers");
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_answer_is_possible(drive in drive(), with in electronics(), seed in any::<u64>()) {
        check(&drive, &with, seed)?;
    }

    /// A naive LRU list, for reads of whole segments.
    #[test]
    fn what_was_used_longest_ago_goes(
        segments in 1..6_usize,
        units in prop::collection::vec((0..9_u64, any::<bool>()), 1..60),
        own in any::<bool>(),
    ) {
        let own = own && segments > 1;
        let (count, set_aside) = (segments.to_string(), own.to_string());
        let keys = [
            ("buffer.segments", count.as_str()),
            ("buffer.own_write_segment", set_aside.as_str()),
            ("buffer.write_back", "'all'"),
        ];
        let arrivals: Vec<small::Arrival> = (0..).zip(&units)
            .map(|(number, &(unit, write))| {
                let op = if write { Op::Write } else { Op::Read };
                (100_000 * number, op, 50 * unit, 50)
            })
            .collect();
        let rows = small::rows_of(&keys, &small::requests(&arrivals));
        // Most recent first: the unit, and whether it was written.
        let mut list: Vec<(u64, bool)> = Vec::new();
        let mut end = None;
        for (row, &(unit, write)) in rows.iter().zip(&units) {
            if write {
                // One segment for written data; a sequential run stays in it.
                let _ = end;
                list.retain(|(_, written)| !written);
                list.insert(0, (unit, true));
            } else if let Some(place) = list.iter().position(|(held, _)| *held == unit) {
                prop_assert_eq!(row.passes, 0, "{:?}", row);
                let used = list.remove(place);
                list.insert(0, used);
                continue;
            } else {
                prop_assert_eq!(row.passes, 1, "{:?}", row);
                list.insert(0, (unit, false));
            }
            end = Some(unit);
            let room = if own { segments - 1 } else { segments };
            let counted = |(_, written): &(u64, bool)| !(own && *written);
            if list.iter().filter(|entry| counted(entry)).count() > room {
                let oldest = list.iter().rposition(counted).expect("one");
                list.remove(oldest);
            }
        }
    }

    /// Commands queue for the bus in a single line.
    #[test]
    fn commands_cross_one_after_the_other(gaps in prop::collection::vec(0..300_u64, 1..50)) {
        let mut at = 0;
        let arrivals: Vec<small::Arrival> = (gaps.iter())
            .map(|gap| {
                at += gap;
                (at, Op::Trim, 0, 1)
            })
            .collect();
        let times = small::times(&[("command_overhead_ms", "0.1")], &arrivals);
        let mut free = 0.0_f64;
        for (arrival, time) in arrivals.iter().zip(times) {
            free = free.max(arrival.0 as f64) + 100.0;
            prop_assert_eq!(time, free);
        }
    }
}
