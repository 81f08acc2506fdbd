//! Clients leave no resources behind. In a process of its own, whose threads and open
//! files it counts.

#[allow(dead_code, reason = "others use the rest")]
mod raw;
#[allow(dead_code, reason = "others use the rest")]
mod served;

use raw::*;
use served::*;
use sledsim_emulator::net::Admission;
use std::io::Write;
use std::time::Duration;

fn count(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}

#[test]
fn a_thousand_clients_leave_no_thread_and_no_open_file() {
    let settings = admitting(Admission {
        max_clients: 200,
        patience: Duration::from_millis(500),
        ..Admission::default()
    });
    let before = (count("task"), count("fd"));
    let slow = device("memory", &[("latency_ms", "2")]);
    let exports = vec![export("m", device("cmu2003", &[])), export("slow", slow)];
    let served = Served::with(exports, &settings);
    let here = (count("task"), count("fd"));
    for at in 0..1000u64 {
        match at % 10 {
            0 => drop(connected(&served)),
            1 => drop(served.client()),
            2 => connected(&served).write_all(&PREFACE[..20]).unwrap(),
            3 => connected(&served).write_all(PREFACE).unwrap(),
            4 => drop(connected(&served).write_all(&[0xee; 500])),
            5 => {
                let there = served.open("m");
                there.batch(&[write(at, vec![1; 512]), read(at + 1, 1)], false).unwrap();
            }
            // Batches in flight: being received, in the device, being sent.
            6 | 7 => {
                let there = served.open("slow");
                let mut pipeline = there.pipeline(8).unwrap();
                for lbn in 0..8 {
                    pipeline.send(vec![read(lbn, 64)], false).unwrap();
                }
                pipeline.flush();
                if at % 10 == 7 {
                    pipeline.receive().unwrap();
                }
            }
            8 => {
                let there = served.open("m");
                there.batch(&[read(0, 0)], true).unwrap_err();
            }
            _ => {
                called(&served, "Batch", &[framed(&[0xff; 30])]);
            }
        }
    }
    served.until("gone", |served| served.rpc.clients() == 0);
    // The last ones are still ending.
    served.until("no more", |_| count("task") <= here.0 && count("fd") <= here.1);
    served.until("done", |served| outstanding(served, "slow") == 0);
    assert_eq!(served.trouble("too_many_clients").0, 0);
    drop(served);
    assert_eq!((count("task"), count("fd")), before);
}
