//! The MEMS write buffer: exact times with memories as children, what goes
//! where, and what a power failure leaves.

mod crashes;
mod keeper;

use crate::common::{Rows, run_open};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::hybrids::mwb::MwbSpec;
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::Model;
use sledsim_core::model::source::Source;
use sledsim_core::queueing::schedulers::Fcfs;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const FRONT: u16 = 1;
const BACK: u16 = 2;

/// A buffer of `front` blocks before a memory of `back` blocks. The front takes
/// 1,000 ns and 100 per block, the back ten times as long.
fn memories(keys: &str, front: u64, back: u64) -> Box<dyn Model> {
    let text = format!(
        "title = 'Two memories'\nkind = 'mwb'\n{keys}\n\
         [front]\nbase = 'memory'\nblocks = {front}\nlatency_ms = 1e-3\nms_per_block = 1e-4\n\
         [back]\nbase = 'memory'\nblocks = {back}\nlatency_ms = 1e-2\nms_per_block = 1e-3\n"
    );
    build(&text)
}

fn read(text: &str) -> Result<Device> {
    Device::from_keys(Keys::parse(text, "mwb.toml")?, None)
}

fn build(text: &str) -> Box<dyn Model> {
    read(text)
        .expect("a device")
        .build(&|| Box::<Fcfs>::default())
        .0
}

/// The spec of a buffer between children of so many blocks.
fn spec(keys: &str, front: u64, back: u64) -> MwbSpec {
    let mut keys = Keys::parse(keys, "mwb.toml").expect("keys");
    let spec = MwbSpec::read(&mut keys, front, back).expect("a spec");
    keys.finish().expect("known keys");
    spec
}

/// Requests of (arrival in ns, operation, LBN, blocks).
fn requests(list: &[(u64, Op, u64, u32)]) -> Vec<Request> {
    (0..)
        .zip(list)
        .map(|(id, &(at, op, lbn, blocks))| Request::new(id, Nanos(at), op, lbn, blocks))
        .collect()
}

/// Completions by id.
fn completions(rows: &Rows) -> Vec<u64> {
    let by_id: BTreeMap<u64, u64> = (rows.done.iter())
        .map(|row| (row.id, row.completion.0))
        .collect();
    by_id.into_values().collect()
}

/// (operation, first LBN, blocks, arrival, completion) of what a child did for
/// the host, or for nobody.
fn seen(rows: &Rows, child: u16, for_host: bool) -> Vec<(Op, u64, u32, u64, u64)> {
    (rows.notes.iter())
        .filter(|row| row.device == child && row.parent.is_some() == for_host)
        .map(|row| (row.op, row.lbn, row.blocks, row.arrival.0, row.completion.0))
        .collect()
}

use Op::{Flush, Read, Trim, Write};

/// Logs of 8 blocks, a summary and 7 others.
const SMALL: &str = "log_kib = 4";

#[test]
fn a_write_is_complete_with_its_header_and_data_on_the_front() {
    let list = [(0, Write, 500, 2), (0, Write, 7, 3), (0, Write, 9, 1)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    // Records of 3, 4 and 2 blocks; the first two fill the log.
    assert_eq!(completions(&rows), [1300, 2700, 3900]);
    let host = [
        (Write, 1, 3, 0, 1300),
        (Write, 4, 4, 0, 2700),
        (Write, 9, 2, 0, 3900),
    ];
    assert_eq!(seen(&rows, FRONT, true), host);
    // The summary is due when both are on the front.
    assert_eq!(seen(&rows, FRONT, false), [(Write, 0, 1, 2700, 5000)]);
    assert_eq!(seen(&rows, BACK, true), []);
    assert_eq!(seen(&rows, BACK, false), []);
    let third = rows.done[2];
    assert_eq!(third.parts.queue, Nanos(2700));
    assert_eq!(third.parts.other, Nanos(1000));
    assert_eq!(third.parts.transfer, Nanos(200));
    assert_eq!((third.lbn, third.blocks, third.queue_depth), (9, 1, 2));
}

#[test]
fn a_write_goes_on_in_the_next_log() {
    let list = [
        (0, Write, 50, 10),
        (10_000, Read, 50, 10),
        (10_000, Read, 56, 4),
    ];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let host = [
        (Write, 1, 7, 0, 1700),
        (Write, 9, 5, 0, 3200),
        (Read, 2, 10, 10_000, 12_000),
        (Read, 10, 4, 10_000, 13_400),
    ];
    assert_eq!(seen(&rows, FRONT, true), host);
    assert_eq!(completions(&rows), [3200, 12_000, 13_400]);
    assert_eq!(rows.done[0].passes, 2);
}

#[test]
fn what_is_left_of_a_log_is_filled() {
    // 1 + 3 blocks used; of a write of 5 three fit behind a header, and two go on.
    let list = [(0, Write, 0, 2), (5000, Write, 20, 5)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let host = [
        (Write, 1, 3, 0, 1300),
        (Write, 4, 4, 5000, 6400),
        (Write, 9, 3, 5000, 7700),
    ];
    assert_eq!(seen(&rows, FRONT, true), host);
    // Two blocks left are a header and one of data.
    let list = [(0, Write, 0, 4), (5000, Write, 20, 3)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    assert_eq!(seen(&rows, FRONT, true)[1], (Write, 6, 2, 5000, 6200));
    assert_eq!(seen(&rows, FRONT, true)[2], (Write, 9, 3, 5000, 7500));
    // One block left has no room for a record.
    let list = [(0, Write, 0, 5), (5000, Write, 20, 1)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    assert_eq!(seen(&rows, FRONT, true)[1], (Write, 9, 2, 5000, 6200));
    assert_eq!(seen(&rows, FRONT, false)[0], (Write, 0, 1, 1600, 2700));
}

#[test]
fn a_read_gets_each_block_where_its_newest_is() {
    let list = [
        (0, Write, 100, 4),
        (5000, Write, 102, 1),
        // In the logs, out of order: 100, 101; 102; 103.
        (10_000, Read, 100, 4),
        // Not in the logs.
        (20_000, Read, 90, 3),
        // Both: 99 on the back, 100 on the front.
        (50_000, Read, 99, 2),
        (100_000, Read, 103, 3),
    ];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let front: Vec<_> = seen(&rows, FRONT, true).into_iter().skip(2).collect();
    let expected = [
        (Read, 2, 4, 10_000, 11_400),
        (Read, 2, 1, 50_000, 51_100),
        (Read, 5, 1, 100_000, 101_100),
    ];
    assert_eq!(front, expected);
    let expected = [
        (Read, 90, 3, 20_000, 33_000),
        (Read, 99, 1, 50_000, 61_000),
        (Read, 104, 2, 100_000, 112_000),
    ];
    assert_eq!(seen(&rows, BACK, true), expected);
    let all = [1500, 6200, 11_400, 33_000, 61_000, 112_000];
    assert_eq!(completions(&rows), all);
}

#[test]
fn a_read_during_a_write_gets_what_is_older() {
    let list = [
        (0, Write, 100, 4),
        (0, Read, 100, 4),
        (1499, Read, 101, 1),
        (1500, Read, 101, 1),
    ];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    // The two that arrive before the write is complete go to the back; the
    // third arrives at that very instant, when completions come first or not at
    // all: here it arrives before the buffer has looked.
    let back: Vec<_> = seen(&rows, BACK, true).iter().map(|row| row.3).collect();
    assert_eq!(back[..2], [0, 1499]);
}

#[test]
fn trims_go_to_the_back_and_flushes_nowhere() {
    let mut list = requests(&[(0, Write, 100, 4), (100, Flush, 0, 1), (5000, Trim, 100, 4)]);
    list[1].extents.clear();
    list.extend(
        requests(&[(0, Read, 0, 1); 4])
            .into_iter()
            .skip(3)
            .map(|r| Request {
                arrival: Nanos(90_000),
                extents: [Extent {
                    lbn: 100,
                    blocks: 4,
                }]
                .into_iter()
                .collect(),
                ..r
            }),
    );
    let rows = run_open(&mut *memories(SMALL, 80, 800), &list);
    assert_eq!(completions(&rows), [1500, 100, 5000, 91_400]);
}

/// All full, one log cleaned at a time.
const FULL: &str =
    "log_kib = 4\nbuffer_kib = 4\nclean_above = 1\nclean_idle_above = 1\nclean_to = 1";

#[test]
fn a_write_without_a_free_log_waits_for_the_oldest_to_be_cleaned() {
    let list = [(0, Write, 0, 6), (0, Write, 100, 6), (0, Write, 200, 6)];
    let rows = run_open(&mut *memories(FULL, 16, 800), &requests(&list));
    // Both records, both summaries, six blocks read, written, and the mark:
    // 1,700 + 1,700 + 1,100 + 1,100 + 1,600 + 16,000 + 1,100.
    let own = [
        (Write, 0, 1, 1700, 4500),
        (Write, 8, 1, 3400, 5600),
        (Read, 2, 6, 4500, 7200),
        (Write, 0, 1, 23_200, 24_300),
        (Write, 0, 1, 26_000, 27_100),
    ];
    assert_eq!(seen(&rows, FRONT, false), own);
    assert_eq!(seen(&rows, BACK, false), [(Write, 0, 6, 7200, 23_200)]);
    assert_eq!(completions(&rows), [1700, 3400, 26_000]);
    assert_eq!(rows.done[2].parts.queue, Nanos(24_300));
}

#[test]
fn a_log_that_is_being_read_is_not_written_over() {
    // The read of log 0 is queued behind those of log 1 in the front; its block
    // is rewritten at once, so that the log has nothing live.
    let mut list = vec![(0, Write, 0, 6), (0, Write, 0, 6)];
    list.extend((0..30).map(|_| (1701, Read, 0, 6)));
    list.push((3401, Write, 300, 6));
    let rows = run_open(&mut *memories(FULL, 16, 800), &requests(&list));
    let reads: Vec<_> = (seen(&rows, FRONT, true).into_iter())
        .filter(|row| row.0 == Read && row.1 == 2)
        .collect();
    let last_read = reads.iter().map(|row| row.4).max().expect("reads of log 0");
    let over = seen(&rows, FRONT, true)
        .into_iter()
        .rfind(|row| row.0 == Write);
    let over = over.expect("the last write");
    assert_eq!((over.1, reads.len() > 20), (1, true));
    assert!(over.3 >= last_read, "{over:?} before {last_read}");
    assert_eq!(seen(&rows, BACK, false), [], "nothing live");
}

/// Cleans all that there is as soon as the back has been idle for 1 ms.
const EAGER: &str =
    "log_kib = 4\nclean_after_idle_ms = 1\nclean_idle_above = 1e-6\nclean_to = 1e-6";

#[test]
fn an_idle_back_is_written_to_from_the_oldest_log_on_and_runs_are_merged() {
    // Log 0: 40 to 42, 10 and 11; log 1: 43 to 45, 12 and 13, and it is full.
    let list = [
        (0, Write, 40, 3),
        (10_000, Write, 10, 2),
        (20_000, Write, 43, 3),
        (30_000, Write, 12, 2),
    ];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let back: Vec<_> = (seen(&rows, BACK, false).iter())
        .map(|row| (row.0, row.1, row.2))
        .collect();
    assert_eq!(back, [(Write, 10, 4), (Write, 40, 6)]);
    let first = seen(&rows, FRONT, false)
        .into_iter()
        .find(|row| row.0 == Read);
    let first = first.expect("a read");
    assert_eq!((first.3, first.1), (1_000_000, 2), "idle since the start");
}

#[test]
fn the_idle_detector_counts_from_the_last_request_on_the_back() {
    let list = [
        (0, Write, 40, 6),
        (600_000, Read, 700, 1),
        (611_000, Read, 700, 1),
    ];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let reads = seen(&rows, FRONT, false)
        .into_iter()
        .find(|row| row.0 == Read);
    // The second read of the back ends at 622,000.
    assert_eq!(reads.expect("cleaning").3, 1_622_000);
    // Between two writes of the cleaner a request of the host comes: the rest
    // waits until the back is idle again.
    let list = [
        (0, Write, 40, 1),
        (5000, Write, 60, 1),
        (10_000, Write, 80, 1),
        (1_003_000, Read, 700, 1),
    ];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let writes: Vec<_> = (seen(&rows, BACK, false).iter())
        .map(|row| (row.1, row.3))
        .collect();
    let host = seen(&rows, BACK, true)[0];
    let late = host.4 + 1_000_000;
    assert_eq!(writes[0].0, 40);
    assert!(writes[0].1 < 1_003_000 + 11_000, "{writes:?}");
    assert_eq!((writes[1].0, writes[1].1), (60, late));
    // While the host leaves it alone it goes on.
    assert_eq!(writes[2], (80, late + 11_000));
}

#[test]
fn thresholds_say_when_cleaning_begins_and_ends() {
    // Ten logs; each write fills one. In use above 0.7: always; above 0.4 while
    // idle; down to 0.2.
    let keys = "log_kib = 4\nclean_logs = 1\nclean_above = 0.7\nclean_idle_above = 0.4\nclean_to = 0.2\nclean_after_idle_ms = ";
    let in_use = |idle_ms: &str, writes: u64| -> (usize, usize) {
        let keys = format!("{keys}{idle_ms}");
        let list: Vec<_> = (0..writes).map(|n| (n * 1000, Write, n * 6, 6)).collect();
        let mut model = memories(&keys, 80, 800);
        let mut rows = Rows::default();
        for request in requests(&list) {
            while let Some(at) = model.wake_at().filter(|at| *at < request.arrival) {
                model.wake(at, &mut rows);
            }
            model.submit(request, &mut rows);
        }
        while let Some(at) = model.wake_at().filter(|at| at.0 < 10_000_000) {
            model.wake(at, &mut rows);
        }
        let written = seen(&rows, BACK, false).len();
        (written, writes as usize - written)
    };
    // Not above the share: nothing is cleaned, however idle.
    assert_eq!(in_use("0", 4), (0, 4));
    assert_eq!(in_use("0", 5), (3, 2));
    // Never idle for long enough within the 10 ms.
    assert_eq!(in_use("20", 7), (0, 7));
    assert_eq!(in_use("20", 8), (6, 2));
}

#[test]
fn logs_are_cleaned_in_the_order_in_which_they_were_begun() {
    let keys = "log_kib = 4\nclean_logs = 1\nclean_above = 0.5\nclean_to = 0.3";
    let list: Vec<_> = (0..60)
        .map(|n| (n * 30_000, Write, n * 370 % 790, 6))
        .collect();
    let rows = run_open(&mut *memories(keys, 80, 800), &requests(&list));
    let cleaned: Vec<u64> = seen(&rows, BACK, false).iter().map(|row| row.1).collect();
    assert!(cleaned.len() > 50, "{}", cleaned.len());
    let written = list.iter().map(|write| write.2);
    assert!(cleaned.iter().copied().eq(written.take(cleaned.len())));
}

#[test]
fn what_is_overwritten_in_the_logs_never_reaches_the_back() {
    let mut chance = Stream::new(4, "writes");
    let mut unique = BTreeSet::new();
    let list: Vec<_> = (0..300)
        .map(|n| {
            let (lbn, blocks) = (chance.below(150), 1 + chance.below(9) as u32);
            unique.extend(lbn..lbn + u64::from(blocks));
            (n * 900, Write, lbn, blocks)
        })
        .collect();
    // All fits the logs, and the back is never idle before the end.
    let keys = EAGER.replace("idle_ms = 1", "idle_ms = 50");
    let rows = run_open(&mut *memories(&keys, 8000, 9000), &requests(&list));
    let mut written = BTreeSet::new();
    let mut total = 0;
    for (op, lbn, blocks, ..) in seen(&rows, BACK, false) {
        assert_eq!(op, Write);
        written.extend(lbn..lbn + u64::from(blocks));
        total += blocks as usize;
    }
    assert_eq!(written, unique);
    assert_eq!(total, unique.len());
    // All closed logs at once, then the open one; none touches the one before.
    let runs = seen(&rows, BACK, false);
    let pairs = || {
        runs.windows(2)
            .map(|pair| (pair[0].1 + u64::from(pair[0].2), pair[1].1))
    };
    assert!(pairs().all(|(end, next)| end != next));
    assert!(pairs().filter(|(end, next)| next < end).count() <= 1);
    // A host that writes has its data on the front only.
    assert_eq!(seen(&rows, BACK, true), []);
}

#[test]
fn a_log_is_not_begun_while_eight_before_it_have_no_summary() {
    // Every write fills a log, and summaries queue behind all of them.
    let list: Vec<_> = (0..12).map(|n| (0, Write, n * 6, 6)).collect();
    let rows = run_open(&mut *memories(SMALL, 800, 900), &requests(&list));
    let front = seen(&rows, FRONT, true);
    assert_eq!(front[7].3, 0);
    // Summary 0: after eight records.
    assert_eq!(front[8].3, 8 * 1700 + 1100);
    assert_eq!(front[9].3, 8 * 1700 + 2 * 1100);
}

#[test]
fn a_log_is_closed_when_its_summary_is_full() {
    // 256 blocks would hold 127 records of one block; a summary has room for 60.
    let list: Vec<_> = (0..61).map(|n| (n * 10_000, Write, n * 2, 1)).collect();
    let rows = run_open(&mut *memories("", 2560, 9000), &requests(&list));
    let front = seen(&rows, FRONT, true);
    assert_eq!((front[59].1, front[60].1), (1 + 59 * 2, 257));
    // Requests of many extents become records of 60 at most.
    let extents = (0..100)
        .map(|n| Extent {
            lbn: n * 2,
            blocks: 1,
        })
        .collect();
    let request = Request {
        extents,
        ..Request::new(0, Nanos(0), Write, 0, 1)
    };
    let rows = run_open(&mut *memories("log_kib = 256", 2560, 9000), &[request]);
    let host: Vec<_> = seen(&rows, FRONT, true)
        .iter()
        .map(|row| (row.1, row.2))
        .collect();
    assert_eq!(host, [(2, 61), (63, 41)]);
    assert_eq!(rows.done[0].blocks, 100);
}

#[test]
fn a_write_larger_than_the_front_goes_through_it() {
    let mut model = memories(FULL, 16, 800);
    let rows = run_open(&mut *model, &requests(&[(0, Write, 0, 100)]));
    assert_eq!(rows.done.len(), 1);
    let back: u32 = seen(&rows, BACK, false).iter().map(|row| row.2).sum();
    // 17 records of 6 blocks at most; the last two logs stay.
    assert_eq!(back, 100 - 6 - 4);
    let mut front: Vec<_> = seen(&rows, FRONT, true);
    front.sort_unstable_by_key(|row| row.4);
    assert_eq!(
        front.last().map(|row| row.4),
        Some(rows.done[0].completion.0)
    );
}

/// Requests one after the other at their arrivals.
struct Listed(VecDeque<Request>);

impl Source for Listed {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.0.front().map(|request| request.arrival))
    }

    fn take(&mut self) -> Result<Request> {
        Ok(self.0.pop_front().expect("an arrival was announced"))
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn requests(&self) -> Option<u64> {
        None
    }
}

struct Count(u64);

impl Observer for Count {
    fn done(&mut self, _row: &Row) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_load_that_the_back_cannot_take_ends_the_run() {
    // The back takes 16,000 ns for six blocks; one write each 8,000 ns fills all
    // logs, and then they wait.
    let list: Vec<_> = (0..5000).map(|n| (n * 8000, Write, n * 13, 6)).collect();
    let mut model = memories("log_kib = 4", 8000, 80_000);
    let limits = Limits { max_queue: 500 };
    let mut source = Listed(requests(&list).into());
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| {
        Ok(())
    });
    let outcome = outcome.expect("no errors");
    let saturated = outcome.saturated.expect("saturation");
    assert_eq!(outcome.submitted, outcome.completed + saturated.queue);
    // At three times the distance it never ends early.
    let list: Vec<_> = (0..5000).map(|n| (n * 24_000, Write, n * 13, 6)).collect();
    let mut source = Listed(requests(&list).into());
    let mut model = memories("log_kib = 4", 8000, 80_000);
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| {
        Ok(())
    });
    assert_eq!(outcome.expect("no errors").saturated, None);
}

#[test]
fn mistakes_name_the_key_and_what_is_allowed() {
    let device = |keys: &str, front: u64, back: u64| -> String {
        let text = format!(
            "title = 'M'\nkind = 'mwb'\n{keys}\n[front]\nbase = 'memory'\nblocks = {front}\n\
             [back]\nbase = 'memory'\nblocks = {back}\n"
        );
        match read(&text) {
            Ok(_) => "fine".into(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(device("", 512, 512), "fine");
    let cases: [(&str, u64, u64, &[&str]); 18] = [
        ("", 511, 9000, &["front", "two logs of 128 KiB"]),
        ("", 100, 9000, &["front", "128 KiB"]),
        (
            "front_mib = 0.125",
            9000,
            9000,
            &["mwb.toml:3: front_mib", "two logs"],
        ),
        ("front_mib = 100", 9000, 9000, &["front_mib", "4.39"]),
        ("", 9000, 8000, &["front", "3.90", "of the back"]),
        ("front_mib = 4", 9000, 8000, &["front_mib = 4", "3.90"]),
        (
            "log_kib = 0.3",
            900,
            9000,
            &["log_kib", "multiple of 512 bytes"],
        ),
        ("log_kib = 1", 900, 9000, &["log_kib", "1.5", "16384 KiB"]),
        ("log_kib = 0", 900, 9000, &["log_kib"]),
        (
            "log_kib = 32768",
            1 << 22,
            1 << 22,
            &["log_kib", "16384 KiB"],
        ),
        (
            "buffer_kib = 127",
            900,
            9000,
            &["buffer_kib", "128 (a log)"],
        ),
        ("buffer_kib = 0", 900, 9000, &["buffer_kib"]),
        ("clean_logs = 17", 9000, 9000, &["clean_logs", "1 to 16"]),
        ("clean_above = 1.1", 900, 9000, &["clean_above", "1"]),
        ("clean_to = 0", 900, 9000, &["clean_to"]),
        (
            "clean_above = 0.3\nclean_idle_above = 0.4",
            900,
            9000,
            &[
                "mwb.toml:4: clean_idle_above",
                "at most clean_above, which is 0.3",
            ],
        ),
        (
            "clean_to = 0.6",
            900,
            9000,
            &["clean_to", "at most clean_idle_above, which is 0.5"],
        ),
        (
            "clean_after_idle_ms = -1",
            900,
            9000,
            &["clean_after_idle_ms"],
        ),
    ];
    for (keys, front, back, says) in cases {
        let message = device(keys, front, back);
        for part in says {
            assert!(message.contains(part), "{keys}: {message}");
        }
    }
    let missing = read("title = 'M'\nkind = 'mwb'\n[front]\nbase = 'memory'\n");
    let message = missing.expect_err("no back").to_string();
    assert!(
        message.contains("back") && message.contains("missing table"),
        "{message}"
    );
    // Thresholds that are not given follow those that are.
    assert_eq!(device("clean_above = 0.3", 900, 9000), "fine");
    assert_eq!(device("clean_idle_above = 0.3", 900, 9000), "fine");
}

#[test]
fn what_follows_from_the_keys_is_shown() {
    let text = "title = 'MWB'\nkind = 'mwb'\nfront_mib = 256\n\
                [front]\nbase = 'msst2005'\n[back]\nbase = 'atlas10k-50mbps'\n";
    let device = read(text).expect("a device");
    let derived = &device.show()["derived"];
    // 256 MiB in logs of 128 KiB; a buffer of 2 MiB holds 16 of them.
    assert_eq!(derived["logs"], 2048);
    assert_eq!(derived["clean_logs"], 16);
    assert_eq!(derived["clean_above_logs"], 1843);
    let mut back = text.split("[back]").skip(1);
    let back = format!("title = 'back'\n{}", back.next().expect("a back"));
    assert_eq!(device.blocks(), read(&back).expect("a disk").blocks());
    assert_eq!((device.kind(), device.has_positions()), ("mwb", true));
}

#[test]
fn the_logs_lie_where_they_are_placed() {
    let list = requests(&[(0, Write, 0, 6), (10_000, Write, 50, 6)]);
    let first = |place: &str| -> Vec<u64> {
        let keys = format!("log_kib = 4\nfront_mib = 0.0625\nfront_placement = '{place}'");
        let rows = run_open(&mut *memories(&keys, 1000, 8000), &list);
        seen(&rows, FRONT, true).iter().map(|row| row.1).collect()
    };
    // 16 logs of 8 blocks in 1,000.
    assert_eq!(first("first"), [1, 9]);
    assert_eq!(first("centre"), [1 + 436, 9 + 436]);
    assert_eq!(first("whole"), [1, 1 + 62]);
}

/// Random requests, open, most of them writes, on few blocks.
fn random_load(count: u64, span: u64, mean_ns: f64, seed: u64) -> Vec<Request> {
    let mut chance = Stream::new(seed, "load");
    let mut at = 0.0;
    (0..count)
        .map(|id| {
            at += chance.exponential(mean_ns);
            let op = if chance.chance(0.3) { Read } else { Write };
            let blocks = chance.geometric(5.0).min(40);
            let lbn = chance.below(span - blocks);
            Request::new(id, Nanos(at as u64), op, lbn, blocks as u32)
        })
        .collect()
}

#[test]
fn places_are_those_of_a_map_block_by_block() {
    // The twin: the place of every block on the front, entered as its rows say;
    // nothing is cleaned, and places are used once.
    for seed in 0..20 {
        let load = random_load(400, 200, 3000.0, seed);
        let keys = "log_kib = 4\nclean_above = 1\nclean_idle_above = 1";
        let rows = run_open(&mut *memories(keys, 8000, 8000), &load);
        let mut done: BTreeMap<u64, u32> = BTreeMap::new();
        let mut records = Vec::new();
        let mut reads: BTreeMap<u64, BTreeMap<u16, (u64, u32)>> = BTreeMap::new();
        for row in &rows.notes {
            let Some(host) = row.parent else { continue };
            if row.op == Read {
                let parts = reads.entry(host).or_default();
                parts.insert(row.device, (row.lbn, row.blocks));
                continue;
            }
            // A record holds the next blocks of its host's write.
            let done = done.entry(host).or_default();
            let first = load[host as usize].lbn() + u64::from(*done);
            *done += row.blocks - 1;
            records.push((row.completion, first, row.lbn + 1, row.blocks - 1));
        }
        records.sort_by_key(|record| record.0);
        let mut places: BTreeMap<u64, u64> = BTreeMap::new();
        let mut records = records.into_iter().peekable();
        let mut hits = 0;
        for request in &load {
            while let Some((_, first, place, blocks)) =
                records.next_if(|record| record.0 < request.arrival)
            {
                places.extend((0..u64::from(blocks)).map(|n| (first + n, place + n)));
            }
            if request.op == Read {
                let mut parts: BTreeMap<u16, (u64, u32)> = BTreeMap::new();
                for lbn in request.lbn()..request.extents[0].end() {
                    let (child, place) = match places.get(&lbn) {
                        Some(place) => (FRONT, *place),
                        None => (BACK, lbn),
                    };
                    parts.entry(child).or_insert((place, 0)).1 += 1;
                }
                hits += usize::from(parts.contains_key(&FRONT));
                assert_eq!(reads[&request.id], parts, "seed {seed}: {request:?}");
            }
        }
        assert!(hits > 50, "seed {seed}: {hits} reads of the front");
    }
}

#[test]
fn same_requests_same_rows() {
    let load = random_load(2000, 700, 2000.0, 9);
    let once = || {
        let rows = run_open(
            &mut *memories("log_kib = 4\nclean_after_idle_ms = 0.01", 400, 800),
            &load,
        );
        (rows.done, rows.notes)
    };
    assert_eq!(once(), once());
}

#[test]
fn nothing_completes_before_the_front_has_it() {
    let load = random_load(2000, 700, 2000.0, 2);
    let rows = run_open(
        &mut *memories("log_kib = 4\nclean_after_idle_ms = 0.01", 400, 800),
        &load,
    );
    let mut last: BTreeMap<u64, (Nanos, u32)> = BTreeMap::new();
    for row in &rows.notes {
        if let Some(host) = row.parent {
            let last = last.entry(host).or_default();
            last.0 = last.0.max(row.completion);
            last.1 += row.blocks - u32::from(row.op == Write);
        }
    }
    assert_eq!(rows.done.len(), 2000);
    for row in &rows.done {
        assert_eq!(last[&row.id], (row.completion, row.blocks), "{row:?}");
        assert_eq!(row.parts.total(), row.completion - row.arrival);
    }
}

/// Writes of 8 KB, half of them all over the device and half on few places,
/// `gap_ns` apart: how many per second of real time.
fn speed_of(text: &str, gap_ns: u64) -> f64 {
    let mut chance = Stream::new(1, "speed");
    let blocks = read(text).expect("a device").blocks() / 16;
    let list: VecDeque<Request> = (0..1_000_000)
        .map(|id| {
            let lbn = 16 * chance.below(if id % 2 == 0 { blocks } else { 4000 });
            Request::new(id, Nanos(id * gap_ns), Write, lbn, 16)
        })
        .collect();
    let (mut model, mut source) = (build(text), Listed(list));
    let start = std::time::Instant::now();
    let limits = Limits::default();
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| {
        Ok(())
    });
    assert_eq!(outcome.expect("no errors").completed, 1_000_000);
    1e6 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "a measurement: cargo test --release -p sledsim-core mwb:: -- --ignored --nocapture"]
fn speed() {
    let buffer = "title = 'MWB'\nkind = 'mwb'\nfront_mib = 256\n\
                  [front]\nbase = 'msst2005'\n[back]\nbase = 'atlas10k-50mbps'\n";
    let keeps = buffer.replace("front_mib = 256", "clean_idle_above = 0.9\nclean_above = 1");
    for (name, text) in [
        ("front alone", "base = 'msst2005'"),
        ("back alone", "base = 'atlas10k-50mbps'"),
        ("buffer, all in the logs", &*keeps),
        ("buffer, cleaned while idle", buffer),
    ] {
        println!("{name}: {:.0} writes per s", speed_of(text, 20_000_000));
    }
}
