//! Batches reach the device whole.

use crate::served::*;
use sledsim_core::units::Nanos;

#[test]
fn ten_blocks_of_a_class_take_one_pass() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let there = served.open("m");
    let class = there.equivalent(123_456, None).unwrap();
    let ten: Vec<_> = class.iter().step_by(10).copied().collect();
    let writes: Vec<_> = ten
        .iter()
        .map(|&lbn| write(lbn, vec![lbn as u8; 512]))
        .collect();
    let answer = there.batch(&writes, true).unwrap();
    assert_eq!(answer.failure(), None);
    let reads: Vec<_> = ten.iter().map(|&lbn| read(lbn, 1)).collect();
    for answer in [answer, there.batch(&reads, true).unwrap()] {
        let first = &answer.outcomes[0].row;
        assert!(first.completion > first.start && first.start >= first.arrival);
        for (index, outcome) in answer.outcomes.iter().enumerate() {
            let row = &outcome.row;
            assert_eq!((row.arrival, row.start), (first.arrival, first.start));
            assert_eq!((row.id, row.passes), (first.id + index as u64, 1));
            assert_eq!(row.parts.total(), row.completion - row.arrival);
            assert!(outcome.lateness > Nanos::ZERO);
        }
    }
    let again = there.batch(&reads, false).unwrap();
    for (lbn, outcome) in ten.iter().zip(&again.outcomes) {
        assert_eq!(outcome.data, vec![*lbn as u8; 512]);
    }
}

#[test]
fn a_pipeline_keeps_many_under_way() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let there = served.open("m");
    let mut pipeline = there.pipeline(8).unwrap();
    let mut seen = vec![false; 40];
    for number in 0..40u64 {
        if pipeline.is_full() {
            let (tag, answer) = pipeline.receive().unwrap().unwrap();
            assert_eq!(answer.unwrap().outcomes.len(), 2);
            assert!(!std::mem::replace(&mut seen[tag as usize], true));
        }
        let commands = vec![
            read(number * 1000, 1),
            write(number * 1000 + 1, vec![7; 512]),
        ];
        assert_eq!(pipeline.send(commands, false).unwrap(), number);
    }
    while let Some((tag, answer)) = pipeline.receive().unwrap() {
        answer.unwrap();
        assert!(!std::mem::replace(&mut seen[tag as usize], true));
    }
    assert!(seen.iter().all(|seen| *seen));
}
