//! When picks happen, in the device and in the host's queue: each considers
//! exactly the requests that have arrived.

use crate::common::{device, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// Rows of one-block reads (arrival in ns, LBN) on a memory that takes 1,000
/// ns for each, by id.
fn serve(scheduler: &str, reads: &[(u64, u64)]) -> Vec<Row> {
    let memory = device("memory", &[("latency_ms", "0.001"), ("ms_per_block", "0")]);
    let choice = SchedulerSpec::named(scheduler).expect("a scheduler");
    let (mut model, _) = memory.build_with(&choice).expect("no positions needed");
    let requests: Vec<Request> = (reads.iter().enumerate())
        .map(|(id, &(arrival, lbn))| Request::new(id as u64, Nanos(arrival), Op::Read, lbn, 1))
        .collect();
    let mut rows = run_open(&mut *model, &requests).done;
    rows.sort_by_key(|row| row.id);
    rows
}

fn starts(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.start.0).collect()
}

#[test]
fn a_pick_considers_requests_that_arrive_at_its_instant() {
    for scheduler in ["c_look", "fcfs(host=c_look)"] {
        // The first is served until 1,000; the third lies before the second.
        let rows = serve(scheduler, &[(0, 0), (10, 900), (1000, 500)]);
        assert_eq!(starts(&rows), [0, 2000, 1000], "{scheduler}");
        let rows = serve(scheduler, &[(0, 0), (10, 900), (1001, 500)]);
        assert_eq!(starts(&rows), [0, 1000, 2000], "{scheduler}");
        // All that arrive at an idle device at once are considered, too.
        let rows = serve(scheduler, &[(7, 900), (7, 500), (7, 100)]);
        assert_eq!(starts(&rows), [2007, 1007, 7], "{scheduler}");
    }
}

#[test]
fn the_host_gives_the_device_as_many_as_it_may_have() {
    let reads = [(0, 0), (0, 900), (0, 500), (0, 100), (0, 700)];
    // One at a time: the host decides alone.
    let rows = serve("fcfs(host=c_look)", &reads);
    assert_eq!(starts(&rows), [0, 4000, 2000, 1000, 3000]);
    // Three: the device, first come first served, has 0, 900 and 500 when the
    // host could still have picked 100.
    let rows = serve("fcfs(host=fcfs; device_depth=3)", &reads);
    assert_eq!(starts(&rows), [0, 1000, 2000, 3000, 4000]);
    // The device sorts what it has; at 1,000 it gets 100 before it picks.
    let rows = serve("c_look(host=fcfs; device_depth=3)", &reads);
    assert_eq!(starts(&rows), [0, 4000, 2000, 1000, 3000]);
}

#[test]
fn time_in_the_host_is_queue() {
    let rows = serve("fcfs(host=sstf_lbn)", &[(0, 0), (100, 10), (200, 20)]);
    let times: Vec<_> =
        rows.iter().map(|row| (row.parts.queue.0, row.completion.0, row.queue_depth)).collect();
    assert_eq!(times, [(0, 1000, 0), (900, 2000, 1), (1800, 3000, 2)]);
}
