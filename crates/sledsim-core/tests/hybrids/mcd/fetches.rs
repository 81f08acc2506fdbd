//! What a caching tier fetches: reads of streams bypass it, and automatic fetch
//! sizes cost least.

use super::tiers::{Loose, memory, play, tier};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::FRONT;

const ALONE: Option<(usize, Nanos)> = Some((1, Nanos(10_000_000)));

/// Reads of `streams` files in turn, 8 blocks at a time; which of them the
/// front was asked for.
fn scans(streams: u64, bypass_kib: u64, steps: u64) -> Vec<bool> {
    let keys = format!("segment_kib = 4\nbypass_after_kib = {bypass_kib}");
    let front = Loose::new(1, 9 * 64, 1000, false, 1);
    let asked = front.asked();
    let back = Loose::new(2, 1 << 20, 1000, false, 2);
    let mut model = tier(&keys, Box::new(front), Box::new(back));
    let mut wrote = Vec::new();
    let mut id = 0;
    for step in 0..steps {
        for stream in 0..streams {
            let lbn = stream * 16_000 + step * 8;
            let at = Nanos(id * 1_000_000);
            let request = Request::new(id, at, Op::Read, lbn, 8);
            play(&mut model, &[request], None, false);
            wrote.push(!std::mem::take(&mut *asked.lock().expect("one thread")).is_empty());
            id += 1;
        }
    }
    assert_eq!(FRONT, 0);
    wrote
}

#[test]
fn up_to_32_streams_are_tracked_and_bypass_after_their_first_blocks() {
    // 12 KiB are three requests; the fourth passes, in all streams.
    for streams in [1, 2, 32] {
        let cached = scans(streams, 12, 10);
        let (first, rest) = cached.split_at(3 * streams as usize);
        assert!(first.iter().all(|cached| *cached), "{streams} streams");
        assert!(rest.iter().all(|cached| !cached), "{streams} streams");
    }
    // One more, and each is forgotten before it goes on.
    assert!(scans(33, 12, 10).iter().all(|cached| *cached));
}

#[test]
fn an_interrupted_stream_starts_over() {
    let keys = "segment_kib = 4\nbypass_after_kib = 8";
    let front = Loose::new(1, 9 * 64, 1000, false, 1);
    let asked = front.asked();
    let back = Loose::new(2, 1 << 20, 1000, false, 2);
    let mut model = tier(keys, Box::new(front), Box::new(back));
    let mut is_cached = |number: u64, lbn: u64| {
        let at = Nanos(number * 1_000_000);
        let request = Request::new(number, at, Op::Read, lbn, 8);
        play(&mut model, &[request], None, false);
        !std::mem::take(&mut *asked.lock().expect("one thread")).is_empty()
    };
    let lbns = [0, 8, 16, 24, 40, 48, 56, 64, 0];
    let cached: Vec<bool> = (0..).zip(lbns).map(|(at, lbn)| is_cached(at, lbn)).collect();
    // 16 passes, 24 too; 40 is no continuation, 48 is the second; 0 hits.
    let expected = [true, true, false, false, true, true, false, false, true];
    assert_eq!(cached, expected);
}

const BACK_BLOCKS: u64 = 1 << 20;

/// Reads in runs of `run` blocks, 16 at a time.
fn reads(run: u64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "reads");
    let mut at = 0;
    (0..30_000)
        .map(|id| {
            if id % (run / 16) == 0 {
                at = random.below(BACK_BLOCKS / run) * run;
            }
            let request = Request::new(id, Nanos(0), Op::Read, at, 16);
            at += 16;
            request
        })
        .collect()
}

/// The mean response time in ns with this `fetch_kib` after the first 3000
/// requests, and the mean size of the back's reads in the second half.
fn mean_ns(load: &[Request], fetch: &str) -> (f64, f64) {
    let keys = format!("segment_kib = 8\nbuffer_kib = 256\nheaders = false\nfetch_kib = {fetch}");
    let front = memory(1, 512 * 16, 10_000, 100);
    let back = memory(2, BACK_BLOCKS, 4_000_000, 20_000);
    let mut model = tier(&keys, front, back);
    let played = play(&mut model, load, ALONE, false);
    let known = played.rows.iter().skip(3000);
    let total: u64 = known.map(|row| row.response().0).sum();
    let late = played.notes.iter().skip(played.notes.len() / 2);
    let sizes: Vec<f64> =
        (late.filter(|note| note.device == 2)).map(|note| f64::from(note.blocks)).collect();
    let mean_blocks = sizes.iter().sum::<f64>() / sizes.len() as f64;
    (total as f64 / (load.len() - 3000) as f64, mean_blocks)
}

#[test]
fn automatic_sizes_come_close_to_the_best_fixed_one() {
    // A run of 256 KiB, read once, is best fetched as a whole; single segments
    // alone. In between the best is the run's own size.
    for (run, best_kib) in [(16, 8), (64, 32), (128, 64), (512, 256)] {
        let load = reads(run, run);
        let fixed = [8, 16, 32, 64, 128, 256].map(|kib| (mean_ns(&load, &kib.to_string()).0, kib));
        let best = fixed
            .iter()
            .copied()
            .fold((f64::MAX, 0), |one, other| if other.0 < one.0 { other } else { one });
        assert_eq!(best.1, best_kib, "{fixed:?}");
        let (automatic, blocks) = mean_ns(&load, "\"auto\"");
        println!("runs of {run}: best {best:?}, automatic {automatic}, {blocks} blocks; {fixed:?}");
        assert!(automatic < 1.03 * best.0, "{automatic} against {fixed:?}");
        assert!((blocks / (2.0 * f64::from(best_kib)) - 1.0).abs() < 0.1, "{blocks}");
        assert_eq!(mean_ns(&load, "\"auto\""), (automatic, blocks));
    }
}

/// The mean size of the back's reads of this load with automatic sizes.
fn mean_blocks(load: &[Request], keys: &str) -> f64 {
    let keys =
        format!("segment_kib = 8\nbuffer_kib = 256\nheaders = false\nfetch_kib = \"auto\"\n{keys}");
    let front = memory(1, 512 * 16, 10_000, 100);
    let back = memory(2, BACK_BLOCKS, 4_000_000, 20_000);
    let played = play(&mut tier(&keys, front, back), load, ALONE, false);
    let late = played.notes.iter().skip(played.notes.len() / 2);
    let sizes: Vec<f64> = (late.filter(|note| note.device == 2 && note.op == Op::Read))
        .map(|note| f64::from(note.blocks))
        .collect();
    sizes.iter().sum::<f64>() / sizes.len() as f64
}

#[test]
fn neighbours_fetched_together_do_not_increase_the_fetch_size() {
    // 64 KiB from any segment on: together they are one read as it is, and a
    // larger size would only fetch more. One by one a larger size pays.
    let mut random = Stream::new(3, "reads");
    let load: Vec<Request> = (0..20_000)
        .map(|id| {
            let lbn = random.below(BACK_BLOCKS / 16 - 8) * 16;
            Request::new(id, Nanos(0), Op::Read, lbn, 128)
        })
        .collect();
    assert!((mean_blocks(&load, "exchange_kib = 64") - 128.0).abs() < 4.0);
    assert!(mean_blocks(&load, "exchange_kib = 8") > 60.0);
}

#[test]
fn writes_that_fetch_nothing_do_not_increase_the_fetch_size() {
    // Files of 256 KiB are written, single segments elsewhere are read.
    let mut random = Stream::new(4, "reads");
    let mut at = 0;
    let load: Vec<Request> = (0..40_000)
        .map(|id| {
            if id % 32 == 0 {
                at = random.below(BACK_BLOCKS / 1024) * 512;
            }
            let lbn = random.below(BACK_BLOCKS / 32) * 16 + BACK_BLOCKS / 2;
            at += 16 * (id % 2);
            match id % 2 {
                0 => Request::new(id, Nanos(0), Op::Write, at, 16),
                _ => Request::new(id, Nanos(0), Op::Read, lbn, 16),
            }
        })
        .collect();
    assert!(mean_blocks(&load, "") < 17.0);
}

#[test]
fn automatic_sizes_adapt_to_a_changing_load() {
    let mut load = reads(16, 1);
    load.extend(reads(512, 2));
    for (id, request) in (0..).zip(&mut load) {
        request.id = id;
    }
    let (automatic, _) = mean_ns(&load, "\"auto\"");
    for kib in ["8", "32", "64", "256"] {
        let (fixed, _) = mean_ns(&load, kib);
        assert!(automatic < fixed, "{automatic} against {fixed} with {kib} KiB");
    }
}
