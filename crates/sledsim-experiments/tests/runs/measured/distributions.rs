//! Longest waits and distribution functions, against the rows.

use super::{Seen, g2, in_memory, load, planned, rows};
use serde_json::json;
use sledsim_base::request::Op;

#[test]
fn the_longest_wait_is_that_of_the_rows() {
    let run = planned(&g2(), &load("rate = 1000.0\nrequests = 5000\n"), &in_memory());
    let rows = rows(&run.batches);
    let queue = rows.iter().map(|row| row.queue).max().unwrap();
    let worst = rows.iter().find(|row| row.queue == queue).unwrap();
    let found = &json!(run.document)["summary"]["longest_wait"];
    assert_eq!(found["queue_ms"], queue as f64 / 1e6);
    assert_eq!(found["queue_ms"], json!(run.document)["summary"]["queue_ms"]["max"]);
    assert_eq!(found["id"], worst.id);
    assert_eq!(found["lbn"], worst.lbn);
    assert_eq!(found["blocks"], worst.blocks);
    assert_eq!(found["op"], if worst.write { "write" } else { "read" });
    assert_eq!(found["arrival_s"], worst.arrival as f64 / 1e9);
}

#[test]
fn distribution_functions_are_those_of_the_rows() {
    let run = planned(&g2(), &load("rate = 900.0\nrequests = 4000\n"), &in_memory());
    let rows = rows(&run.batches);
    type Chosen = fn(&Seen) -> bool;
    type TimeOf = fn(&Seen) -> u64;
    let response: TimeOf = |r| r.completion - r.arrival;
    let cases: [(&str, Option<Op>, Chosen, TimeOf); 4] = [
        ("response_time", None, |_| true, response),
        ("response_time", Some(Op::Read), |r| !r.write, response),
        ("response_time", Some(Op::Write), |r| r.write, response),
        ("queue", None, |_| true, |r| r.queue),
    ];
    for (time, op, chosen, of) in cases {
        let mut exact: Vec<u64> = rows.iter().filter(|r| chosen(r)).map(of).collect();
        exact.sort_unstable();
        let points = run.stats.cdf(time, op).unwrap();
        assert!(points.windows(2).all(|p| p[0].0 < p[1].0 && p[0].1 < p[1].1), "{time}");
        let last = points.last().unwrap();
        assert_eq!(*last, (*exact.last().unwrap() as f64 / 1e6, 1.0));
        for &(ms, share) in &points {
            // So many are not longer, and of those at most that are 1/1024
            // shorter none is counted beyond.
            let count = (share * exact.len() as f64).round() as usize;
            let ns = (ms * 1e6).round() as u64;
            assert!(exact[count - 1] <= ns, "{time}: {ms}");
            assert!(exact[count - 1] >= ns.saturating_sub(ns / 1024 + 1), "{time}: {ms}");
            assert!(count == exact.len() || exact[count] > ns, "{time}: {ms}");
        }
    }
    assert!(run.stats.cdf("response_time", Some(Op::Flush)).unwrap().is_empty());
    let message = |time, op| run.stats.cdf(time, op).unwrap_err().to_string();
    assert!(message("respons_time", None).contains("did you mean 'response_time'"));
    assert!(message("seek", Some(Op::Read)).contains("response_time"));
}
