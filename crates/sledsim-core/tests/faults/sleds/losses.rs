//! Lost data and failed devices: which requests fail, and until when.

use super::{BUFFER, count, random_load, run};
use crate::common::device;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;

#[test]
fn a_failed_device_answers_every_request_at_once_with_an_error() {
    for buffer in ["", BUFFER] {
        let mut keys = vec![("faults.lost_at_ms", "500")];
        if !buffer.is_empty() {
            keys.push(("buffer", buffer));
        }
        let device = device("g2", &keys);
        let mut load = random_load(device.blocks(), 1_000, 1_000_000, 8);
        load.push(Request::new(1000, Nanos(2_000_000_000), Op::Flush, 0, 0));
        load[1000].extents.clear();
        let (rows, _) = run(&device, "sptf", &load);
        let lost = Nanos(500_000_000);
        let (mut good, mut bad) = (0, 0);
        for row in &rows {
            if row.completion < lost {
                assert_eq!(row.status, Status::Ok, "{row:?}");
                good += 1;
            }
            if row.start >= lost {
                assert_eq!(row.status, Status::Error, "{row:?}");
                assert_eq!(row.parts.seek + row.parts.transfer + row.parts.retry, Nanos::ZERO);
                bad += 1;
            }
        }
        assert!(good > 300 && bad > 300, "{good} {bad}");
        assert_eq!(rows[1000].status, Status::Error);
    }
}

/// A batch of single blocks.
fn batch(op: Op, lbns: &[u64]) -> Vec<Request> {
    let one = |(id, lbn): (usize, &u64)| {
        let mut request = Request::new(id as u64, Nanos::ZERO, op, *lbn, 1);
        request.flags = Flags::LINKED.when(id + 1 < lbns.len());
        request
    };
    lbns.iter().enumerate().map(one).collect()
}

#[test]
fn only_commands_with_lost_blocks_fail_in_a_batch() {
    // Square 3 has lost a tip: of LBNs 0 to 9 in one pass, only 3 is lost.
    let lbns: Vec<u64> = (0..10).collect();
    let plain = [("faults.failed_tips", "[200]")];
    let never = [("faults.lost_at_ms", "0")];
    for op in [Op::Read, Op::Write] {
        let (rows, _) = run(&device("cmu2003", &plain), "fcfs", &batch(op, &lbns));
        for row in &rows {
            let wanted = if row.lbn == 3 { Status::Error } else { Status::Ok };
            assert_eq!((row.status, row.retries), (wanted, 0), "{row:?}");
        }
        let (rows, _) = run(&device("cmu2003", &never), "fcfs", &batch(op, &lbns));
        assert!(rows.iter().all(|row| row.status == Status::Error));
    }
    // Random errors: a pass with a wrong block is repeated as a whole.
    let keys = [("faults.read_error_rate", "1"), ("faults.retries", "2")];
    let (rows, report) = run(&device("cmu2003", &keys), "fcfs", &batch(Op::Read, &lbns));
    for row in &rows {
        assert_eq!((row.retries, row.passes, row.status), (2, 3, Status::Error));
        assert!(row.parts.retry > Nanos(200_000));
    }
    assert_eq!(count(&report, "blocks_lost"), 10);
    let energy: u64 = rows.iter().map(|row| row.energy_nj).sum();
    let spent = report.energy.expect("energy");
    let spent_j = spent.total_j() - spent.idle_j;
    assert!((energy as f64 * 1e-9 - spent_j).abs() < 1e-8);
}

#[test]
fn lost_data_stay_lost_until_they_are_written_again() {
    // By 1 s some 550 tips have failed, about five of each square: spare ones replace
    // them, so that all squares work, but without ECC their data are lost. In another
    // ms half a tip fails, in another 5 s thousands do.
    let at = |id: u64, ms: u64| Nanos(ms * 1_000_000 + id);
    let load = vec![
        Request::new(0, at(0, 1000), Op::Read, 0, 20),
        Request::new(1, at(1, 1000), Op::Write, 5, 1),
        Request::new(2, at(2, 1001), Op::Read, 5, 1),
        Request::new(3, at(3, 1001), Op::Read, 7, 1),
        Request::new(4, at(4, 6000), Op::Read, 5, 1),
    ];
    let (mut good, mut bad) = (0, 0);
    for seed in 0..20 {
        let seed = seed.to_string();
        let keys = |ecc| {
            [
                ("faults.tip_failures_per_hour", "2e6"),
                ("faults.spare_tips", "6400"),
                ("faults.seed", &*seed),
                ("faults.ecc_tips", ecc),
            ]
        };
        let (rows, report) = run(&device("g2", &keys("0")), "fcfs", &load);
        assert!(count(&report, "squares_lost") > 95);
        assert_eq!(rows[0].status, Status::Error);
        assert_eq!(rows[1].status, Status::Ok);
        good += u32::from(rows[2].status == Status::Ok);
        bad += u32::from(rows[3].status == Status::Error);
        assert_eq!(rows[4].status, Status::Error);
        let (rows, report) = run(&device("g2", &keys("1")), "fcfs", &load);
        assert_eq!(count(&report, "squares_lost"), 0);
        assert!(rows.iter().all(|row| row.status == Status::Ok));
    }
    assert!(good >= 18 && bad >= 18, "{good} {bad}");
}

#[test]
fn out_of_spares_capacity_or_tolerance_is_given_up() {
    let reads: Vec<Request> = (0..5)
        .map(|row| Request::new(row, Nanos(row * 100_000_000), Op::Read, row * 540, 20))
        .collect();
    let keys = |policy, tips| {
        [("faults.failed_tips", tips), ("faults.ecc_tips", "1"), ("faults.out_of_spares", policy)]
    };
    // 65 tips a square: tips 0 and 1 are of square 0, on track 0.
    let of_track = |policy, tips| {
        let (rows, report) = run(&device("g2", &keys(policy, tips)), "fcfs", &reads);
        let errors: Vec<u64> =
            rows.iter().filter(|row| row.status == Status::Error).map(|row| row.id).collect();
        (errors, count(&report, "blocks_given_up"))
    };
    assert_eq!(of_track("'tolerance'", "[0]"), (vec![], 0));
    assert_eq!(of_track("'tolerance'", "[0, 1]"), (vec![0], 0));
    let square = 2500 * 27;
    assert_eq!(of_track("'capacity'", "[0]"), (vec![0], square));
    // Its 64 other tips are spare then: failures in square 99 cost nothing more.
    assert_eq!(of_track("'capacity'", "[0, 6435, 6436]"), (vec![0], square));
    // Until they are used up, too.
    let many: Vec<String> = (0..=64).map(|tip| (650 + tip).to_string()).collect();
    let list = format!("[0, {}]", many.join(", "));
    assert_eq!(of_track("'capacity'", &list).1, 2 * square);
}

#[test]
fn faults_of_a_child_fail_requests_of_the_composite() {
    let keys = [("child.faults.lost_at_ms", "100")];
    let text =
        "title = 'two'\nkind = 'stripe'\nchildren = 2\nunit_blocks = 8\n[child]\nbase = 'g2'\n";
    let mut all = sledsim_base::keys::Keys::parse(text, "two.toml").expect("keys");
    for (key, value) in keys {
        all.set_text(key, value, "test").expect("a key");
    }
    let device = Device::from_keys(all, None).expect("a device");
    let load = random_load(device.blocks(), 200, 2_000_000, 3);
    let (rows, _) = run(&device, "fcfs", &load);
    assert_eq!(rows[0].status, Status::Ok);
    assert!(rows[190..].iter().all(|row| row.status == Status::Error));
}
