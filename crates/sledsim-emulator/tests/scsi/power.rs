//! Power that fails while tasks run and others wait for them.

use super::cdbs::{BLOCK, cdb, compare_and_write, write_scattered};
use super::initiator::{NO_POWER, STOPPING, Target, WAIT, spec};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_emulator::power_failure::{CutSpec, CutWhen};
use sledsim_emulator::scsi::Attribute;
use sledsim_emulator::server::ExportSpec;
use sledsim_emulator::timeline::{Answer, Reply};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// A sled whose power fails as `when` says, and that is slow.
fn target(when: CutWhen) -> Target {
    let cut = CutSpec { when, back_after: None };
    Target::of(vec![ExportSpec { power_cut: Some(cut), speed: 1e-2, ..spec("cmu2003", &[]) }])
}

/// The tasks in flight and those behind them end, and nothing blocks.
#[test]
fn tasks_end_when_power_fails() {
    let target = target(CutWhen::Commanded);
    let initiator = target.initiator();
    let first = initiator.start(&cdb(0x2a, 0, 0, 1), &[1; BLOCK], Attribute::Ordered);
    let behind = initiator.start(&cdb(0x2a, 0, 1, 1), &[1; BLOCK], Attribute::Ordered);
    let swap = initiator.start(&compare_and_write(2, 1), &[0; 2 * BLOCK], Attribute::Simple);
    let (done, cut) = channel();
    let power = target.server.power("cmu2003").unwrap();
    thread::spawn(move || done.send(power.cut().is_ok()));
    assert_eq!(cut.recv_timeout(WAIT), Ok(true));
    for (task, code) in [(first, STOPPING), (behind, NO_POWER), (swap, NO_POWER)] {
        assert_eq!(task.end(), Err(code));
    }
}

/// The request that cuts power is a write, a batch, or the write of COMPARE AND WRITE: a
/// task behind those in flight starts while it is refused.
#[test]
fn tasks_end_when_a_request_cuts_power() {
    let write = (cdb(0x2a, 0, 5, 1), vec![1; BLOCK]);
    let swap = (compare_and_write(5, 1), vec![0; 2 * BLOCK]);
    let (scattered, mut list) = write_scattered(false, &[(5, 1), (900, 1)], 1);
    list.extend([1; 2 * BLOCK]);
    for (command, number, code) in
        [(write, 2, NO_POWER), ((scattered, list), 2, STOPPING), (swap, 3, NO_POWER)]
    {
        let target = target(CutWhen::Request(number));
        let (cutting, other) = (target.initiator(), target.initiator());
        let (told, outcomes) = channel();
        thread::spawn(move || {
            let cut = || cutting.start(&command.0, &command.1, Attribute::HeadOfQueue);
            // COMPARE AND WRITE reads first: what is in flight then is behind that.
            let early = (number == 3).then(cut);
            let first = other.start(&cdb(0x2a, 0, 7000, 1), &[1; BLOCK], Attribute::Simple);
            let behind = other.start(&cdb(0x2a, 0, 1, 1), &[1; BLOCK], Attribute::Ordered);
            let cut = early.unwrap_or_else(cut);
            for task in [first, behind, cut] {
                let _ = told.send(task.end());
            }
        });
        for expected in [STOPPING, NO_POWER, code] {
            assert_eq!(outcomes.recv_timeout(WAIT), Ok(Err(expected)), "{number}");
        }
    }
}

/// Looks at the timeline when it is dropped, as a task does that starts another.
struct Looks(Arc<Target>, Sender<usize>);

impl Reply for Looks {
    fn send(self: Box<Self>, _answer: Answer) {}
}

impl Drop for Looks {
    fn drop(&mut self) {
        let export = self.0.export(0);
        let _ = self.1.send(export.timeline().outstanding());
    }
}

/// Power may fail after a request has begun and before its data have been moved.
#[test]
fn a_reply_that_comes_too_late_is_dropped_without_a_lock() {
    let target = Arc::new(target(CutWhen::Commanded));
    let (told, outstanding) = channel();
    let reply = Looks(Arc::clone(&target), told);
    thread::spawn(move || {
        let timeline = target.export(0).timeline();
        let id = timeline.begin(Request::new(0, Nanos::ZERO, Op::Flush, 0, 0));
        target.server.power("cmu2003").unwrap().cut().unwrap();
        timeline.finish(id, Box::new(reply), Ok(Vec::new()));
    });
    assert_eq!(outstanding.recv_timeout(WAIT), Ok(0));
}
