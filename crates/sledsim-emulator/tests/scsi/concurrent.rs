//! Commands that run at the same time.

use super::cdbs::{BLOCK, cdb, compare_and_write, write_scattered};
use super::initiator::{Initiator, MISCOMPARE, Running, Target, WAIT, be64, spec};
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::export::Export;
use sledsim_emulator::scsi::{Attribute, TaskManagement};
use sledsim_emulator::server::ExportSpec;
use sledsim_emulator::timeline::{Answer, Reply};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

struct Told(Sender<Answer>);

impl Reply for Told {
    fn send(self: Box<Self>, answer: Answer) {
        let _ = self.0.send(answer);
    }
}

/// Adds one to the number in the first block, and keeps the two blocks after it.
fn increment(initiator: &Initiator) {
    loop {
        let old = initiator.blocks(0, 3);
        let mut data = old.clone();
        data.extend(&old);
        data[3 * BLOCK..3 * BLOCK + 8].copy_from_slice(&(be64(&old, 0) + 1).to_be_bytes());
        match initiator.ask(&compare_and_write(0, 3), &data) {
            Ok(_) => return,
            Err(code) => assert_eq!(code, MISCOMPARE),
        }
    }
}

/// Serves a command for block 2 as another front end does.
fn submit(export: &Arc<Export>, what: CommandKind<'_>) -> Vec<u8> {
    let (told, answer) = channel();
    let command = Command { what, offset: 2 * BLOCK as u64, fua: false, stream: 99 };
    export.submit(command, Box::new(Told(told)));
    answer.recv_timeout(WAIT).unwrap().unwrap()
}

fn block(number: u64) -> Vec<u8> {
    number.to_be_bytes().repeat(BLOCK / 8)
}

/// Four initiators count in a block by COMPARE AND WRITE, which also writes two more blocks
/// that others write meanwhile; and each sets its bits by ORWRITE.
#[test]
fn no_change_is_lost() {
    const EACH: u64 = 200;
    let target = Target::instant(64);
    let export = target.export(0);
    thread::scope(|scope| {
        for thread in 0..4 {
            let initiator = target.initiator();
            scope.spawn(move || {
                for round in 0..EACH {
                    increment(&initiator);
                    let mut bits = vec![0; BLOCK];
                    bits[round as usize] = 1 << thread;
                    assert_eq!(initiator.ask(&cdb(0x8b, 0, 3, 1), &bits), Ok(vec![]));
                }
            });
        }
        let initiator = target.initiator();
        scope.spawn(move || {
            for number in 0..EACH {
                // By WRITE, or by a batch.
                let (cdb, mut data) = match number % 2 {
                    0 => (cdb(0x2a, 0, 1, 1), vec![]),
                    _ => write_scattered(true, &[(1, 1)], 1),
                };
                data.extend(block(number));
                assert_eq!(initiator.ask(&cdb, &data), Ok(vec![]));
                assert_eq!(initiator.blocks(1, 1), block(number));
            }
        });
        scope.spawn(move || {
            for number in 0..EACH {
                submit(export, CommandKind::Write(&block(number)));
                assert_eq!(submit(export, CommandKind::Read(BLOCK as u64)), block(number));
            }
        });
    });
    let initiator = target.initiator();
    assert_eq!(initiator.blocks(0, 1)[..8], (4 * EACH).to_be_bytes());
    assert_eq!(initiator.blocks(1, 2), block(EACH - 1).repeat(2));
    let mut bits = vec![0; BLOCK];
    bits[..EACH as usize].fill(0x0f);
    assert_eq!(initiator.blocks(3, 1), bits);
}

/// A task that waits for an earlier one does nothing once it has been aborted.
#[test]
fn an_aborted_task_sends_no_status() {
    let target = Target::instant(64);
    let (first, second) = (target.initiator(), target.initiator());
    let earlier = first.0.begin(0, &cdb(0x2a, 0, 0, 1), Attribute::Ordered);
    let task = second.0.begin(0, &cdb(0x2a, 0, 1, 1), Attribute::Simple);
    let id = task.id().unwrap();
    let task = Running::start(task, &[1; BLOCK]);
    assert_eq!(task.within(Duration::from_millis(1)).unwrap_err(), Timeout);
    assert!(second.0.manage(0, TaskManagement::AbortTask(id)));
    assert_eq!(task.within(WAIT).unwrap_err(), Disconnected);
    drop(earlier);
    assert_eq!(first.blocks(0, 2), vec![0; 2 * BLOCK]);
}

/// An ORDERED task starts after all earlier ones, and later ones start after it.
#[test]
fn an_ordered_task_is_a_barrier() {
    let target = Target::instant(64);
    let initiator = target.initiator();
    let hold = initiator.0.begin(0, &cdb(0x2a, 0, 0, 1), Attribute::Simple);
    let write = initiator.start(&cdb(0x2a, 0, 5, 1), &[1; BLOCK], Attribute::Ordered);
    let read = initiator.start(&cdb(0x28, 0, 5, 1), &[], Attribute::Simple);
    let head = initiator.start(&cdb(0x28, 0, 5, 1), &[], Attribute::HeadOfQueue);
    assert_eq!(head.end(), Ok(vec![0; BLOCK]));
    assert!(write.is_pending() && read.is_pending());
    drop(hold);
    assert_eq!(write.end(), Ok(vec![]));
    assert_eq!(read.end(), Ok(vec![1; BLOCK]));
}

/// A sled on which each access takes a while.
fn slow(speed: f64) -> Target {
    Target::of(vec![ExportSpec { speed, ..spec("cmu2003", &[]) }])
}

/// Where a busy machine ends the exchange before it is aborted, the sled is slower the next
/// time.
#[test]
fn an_aborted_exchange_writes_nothing() {
    let in_time = |speed| an_exchange_that_is_aborted_in_time_writes_nothing(speed);
    assert!([0.05, 0.005, 0.0005].into_iter().any(in_time));
}

/// Returns `false` if the exchange had ended by then.
fn an_exchange_that_is_aborted_in_time_writes_nothing(speed: f64) -> bool {
    let target = slow(speed);
    let initiator = target.initiator();
    let swap = compare_and_write(5, 1);
    let mut data = vec![0; BLOCK];
    data.extend([1; BLOCK]);
    let aborted = initiator.start(&swap, &data, Attribute::Simple);
    assert!(initiator.0.manage(0, TaskManagement::AbortTaskSet));
    if aborted.within(Duration::ZERO).is_ok() {
        return false;
    }
    // It has read when this has.
    let _ = initiator.blocks(6, 1);
    assert_eq!(initiator.blocks(5, 1), [0; BLOCK]);
    assert_eq!(aborted.within(WAIT).unwrap_err(), Disconnected);
    assert_eq!(initiator.ask(&swap, &data), Ok(vec![]));
    assert_eq!(initiator.blocks(5, 1), [1; BLOCK]);
    true
}

#[test]
fn immediate_commands_end_before_they_are_done() {
    let target = slow(0.05);
    let initiator = target.initiator();
    let read = |flags| initiator.start(&cdb(0x90, flags, 0, 0), &[], Attribute::Simple);
    let (immediate, waits) = (read(2), read(0));
    assert!(immediate.within(Duration::ZERO).unwrap().sense.is_empty());
    assert!(waits.is_pending());
    let write = initiator.start(&cdb(0x8a, 0, 0, 1), &[1; BLOCK], Attribute::Simple);
    let flush = |flags| initiator.start(&cdb(0x91, flags, 0, 0), &[], Attribute::Simple);
    let (immediate, waits) = (flush(2), flush(0));
    assert!(immediate.within(Duration::ZERO).unwrap().sense.is_empty());
    assert!(waits.is_pending());
    drop((write, waits));
}

/// The task that ends an exchange starts the next one, which also changes data.
#[test]
fn a_write_may_start_where_an_exchange_ends() {
    let target = Target::instant(64);
    let initiator = target.initiator();
    let exchange = initiator.0.begin(0, &cdb(0x8b, 0, 5, 1), Attribute::Simple);
    let behind = initiator.start(&cdb(0x2a, 0, 5, 1), &[2; BLOCK], Attribute::Ordered);
    assert!(behind.is_pending());
    thread::spawn(move || Running::start(exchange, &[1; BLOCK]));
    assert_eq!(behind.end(), Ok(vec![]));
    assert_eq!(initiator.blocks(5, 1), [2; BLOCK]);
}
