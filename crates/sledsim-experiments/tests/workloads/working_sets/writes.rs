//! Writes to places that were read before.

use super::{assert_share, open};
use sledsim_base::request::{Op, Request};

const WRITES: &str = "rate = 9\nwrites = \"read_earlier\"\nmean_size_kib = 8";

fn place(request: &Request) -> (u64, u32) {
    (request.lbn(), request.blocks())
}

#[test]
fn every_write_goes_to_a_place_read_before_in_the_order_of_the_reads() {
    // Of so many places hardly any is drawn twice.
    for (fraction, share) in [(0.521, 0.479 / 0.521), (0.6, 2.0 / 3.0), (0.3, 1.0)] {
        let text = format!("{WRITES}\nread_fraction = {fraction}");
        let (mut reads, mut next, mut once) = (Vec::new(), 0, 0.0);
        let mut last = None;
        for request in &open("random", 100_000, &text) {
            if request.op == Op::Read {
                reads.push(place(request));
            } else if let Some(found) = reads[next..].iter().position(|&at| at == place(request)) {
                next += found + 1;
                once += 1.0;
                last = Some(place(request));
            } else {
                // Nothing waits: the last one again, or the first read.
                assert_eq!(Some(place(request)), last.or(reads.first().copied()));
            }
        }
        assert_share(once, next as f64, share, "reads that are written");
        let rest = (reads.len() - next) as f64;
        assert!(rest < 0.05 * reads.len() as f64, "{rest} wait");
    }
}

#[test]
fn times_and_operations_are_those_of_independent_writes() {
    let same = |text: &str| open("random", 5_000, &format!("{text}\nread_fraction = 0.5"));
    let independent = same("rate = 9\nmean_size_kib = 8");
    for (one, other) in same(WRITES).iter().zip(&independent) {
        assert_eq!((one.arrival, one.op), (other.arrival, other.op));
    }
}
