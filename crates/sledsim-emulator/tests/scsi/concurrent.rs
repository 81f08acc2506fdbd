//! Commands that run at the same time.

use super::target::{
    BLOCK, Client, MISCOMPARE, Target, cdb, compare_and_write, run, write_scattered,
};
use sledsim_core::catalog::Device as Model;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::export::Export;
use sledsim_emulator::scsi::{Attribute, TaskManagement};
use sledsim_emulator::server::ExportSpec;
use sledsim_emulator::timeline::{Answer, Reply};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Time after which something has gone wrong.
const WAIT: Duration = Duration::from_secs(20);

struct Told(Sender<Answer>);

impl Reply for Told {
    fn send(self: Box<Self>, answer: Answer) {
        let _ = self.0.send(answer);
    }
}

/// Adds one to the number in the first block, and keeps the two blocks after it.
fn increment(client: &Client) {
    loop {
        let old = client.read(0, 3);
        let number = u64::from_be_bytes(old[..8].try_into().unwrap());
        let mut data = old.clone();
        data.extend(&old);
        data[3 * BLOCK..3 * BLOCK + 8].copy_from_slice(&(number + 1).to_be_bytes());
        match client.ask(&compare_and_write(0, 3), &data) {
            Ok(_) => return,
            Err(code) => assert_eq!(code, MISCOMPARE),
        }
    }
}

/// Serves a command for block 2 as another front end does.
fn submit(export: &Export, what: CommandKind<'_>) -> Vec<u8> {
    let (told, answer) = channel();
    let command = Command {
        what,
        offset: 2 * BLOCK as u64,
        fua: false,
        stream: 99,
    };
    export.submit(command, Box::new(Told(told)));
    answer
        .recv_timeout(Duration::from_secs(20))
        .unwrap()
        .unwrap()
}

fn block(number: u64) -> Vec<u8> {
    number.to_be_bytes().repeat(BLOCK / 8)
}

/// Four clients count in a block by COMPARE AND WRITE, which also writes two more blocks
/// that others write meanwhile; and each sets its bits by ORWRITE.
#[test]
fn no_change_is_lost() {
    const EACH: u64 = 200;
    let target = Target::instant(64);
    let export = target.server.exports().named("d").unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let client = target.client();
            scope.spawn(move || {
                for round in 0..EACH {
                    increment(&client);
                    let mut bits = vec![0; BLOCK];
                    bits[round as usize] = 1 << thread;
                    assert_eq!(client.ask(&cdb(0x8b, 0, 3, 1), &bits), Ok(vec![]));
                }
            });
        }
        let client = target.client();
        scope.spawn(move || {
            for number in 0..EACH {
                // By WRITE, or by a batch.
                let (cdb, mut data) = match number % 2 {
                    0 => (cdb(0x2a, 0, 1, 1), vec![]),
                    _ => write_scattered(true, &[(1, 1)], 1),
                };
                data.extend(block(number));
                assert_eq!(client.ask(&cdb, &data), Ok(vec![]));
                assert_eq!(client.read(1, 1), block(number));
            }
        });
        scope.spawn(move || {
            for number in 0..EACH {
                submit(export, CommandKind::Write(&block(number)));
                assert_eq!(
                    submit(export, CommandKind::Read(BLOCK as u64)),
                    block(number)
                );
            }
        });
    });
    let client = target.client();
    assert_eq!(client.read(0, 1)[..8], (4 * EACH).to_be_bytes());
    assert_eq!(client.read(1, 2), block(EACH - 1).repeat(2));
    let mut bits = vec![0; BLOCK];
    bits[..EACH as usize].fill(0x0f);
    assert_eq!(client.read(3, 1), bits);
}

/// A task that waits for an earlier one does nothing once it has been aborted.
#[test]
fn an_aborted_task_sends_no_status() {
    let target = Target::instant(64);
    let (first, second) = (target.client(), target.client());
    let earlier = first.0.begin(0, &cdb(0x2a, 0, 0, 1), Attribute::Ordered);
    let task = second.0.begin(0, &cdb(0x2a, 0, 1, 1), Attribute::Simple);
    let id = task.id().unwrap();
    let outcome = run(task, &[1; BLOCK]);
    let wait = Duration::from_millis(1);
    assert_eq!(
        outcome.recv_timeout(wait).unwrap_err(),
        RecvTimeoutError::Timeout
    );
    assert!(second.0.manage(0, TaskManagement::AbortTask(id)));
    assert_eq!(
        outcome.recv_timeout(wait).unwrap_err(),
        RecvTimeoutError::Disconnected
    );
    drop(earlier);
    assert_eq!(first.read(0, 2), vec![0; 2 * BLOCK]);
}

/// An ORDERED task starts after all earlier ones, and later ones start after it.
#[test]
fn an_ordered_task_is_a_barrier() {
    let target = Target::instant(64);
    let client = target.client();
    let hold = client.0.begin(0, &cdb(0x2a, 0, 0, 1), Attribute::Simple);
    let write = client.start(&cdb(0x2a, 0, 5, 1), &[1; BLOCK], Attribute::Ordered);
    let read = client.start(&cdb(0x28, 0, 5, 1), &[], Attribute::Simple);
    let head = client.start(&cdb(0x28, 0, 5, 1), &[], Attribute::HeadOfQueue);
    assert_eq!(head.recv().unwrap().data, [0; BLOCK]);
    assert!(write.try_recv().is_err() && read.try_recv().is_err());
    drop(hold);
    assert!(write.recv().unwrap().sense.is_empty());
    assert_eq!(read.recv().unwrap().data, [1; BLOCK]);
}

/// A sled on which each access takes a while.
fn slow() -> Target {
    let model = Model::resolve("cmu2003", &[]).unwrap();
    Target::of(ExportSpec {
        speed: 0.05,
        ..ExportSpec::of("d", model)
    })
}

#[test]
fn an_aborted_exchange_writes_nothing() {
    let target = slow();
    let client = target.client();
    let swap = compare_and_write(5, 1);
    let mut data = vec![0; BLOCK];
    data.extend([1; BLOCK]);
    let aborted = client.start(&swap, &data, Attribute::Simple);
    assert!(client.0.manage(0, TaskManagement::AbortTaskSet));
    // It has read when this has.
    let _ = client.read(6, 1);
    assert_eq!(client.read(5, 1), [0; BLOCK]);
    assert_eq!(
        aborted.recv_timeout(WAIT).unwrap_err(),
        RecvTimeoutError::Disconnected
    );
    assert_eq!(client.ask(&swap, &data), Ok(vec![]));
    assert_eq!(client.read(5, 1), [1; BLOCK]);
}

#[test]
fn immediate_commands_end_before_they_are_done() {
    let target = slow();
    let client = target.client();
    let read = |flags| client.start(&cdb(0x90, flags, 0, 0), &[], Attribute::Simple);
    let (immediate, waits) = (read(2), read(0));
    assert!(immediate.try_recv().unwrap().sense.is_empty());
    assert!(waits.try_recv().is_err());
    let write = client.start(&cdb(0x8a, 0, 0, 1), &[1; BLOCK], Attribute::Simple);
    let flush = |flags| client.start(&cdb(0x91, flags, 0, 0), &[], Attribute::Simple);
    let (immediate, waits) = (flush(2), flush(0));
    assert!(immediate.try_recv().unwrap().sense.is_empty());
    assert!(waits.try_recv().is_err());
    drop((write, waits));
}

/// The task that ends an exchange starts the next one, which also changes data.
#[test]
fn a_write_may_start_where_an_exchange_ends() {
    let target = Target::instant(64);
    let client = target.client();
    let exchange = client.0.begin(0, &cdb(0x8b, 0, 5, 1), Attribute::Simple);
    let behind = client.start(&cdb(0x2a, 0, 5, 1), &[2; BLOCK], Attribute::Ordered);
    assert!(behind.try_recv().is_err());
    thread::spawn(move || run(exchange, &[1; BLOCK]));
    assert!(behind.recv_timeout(WAIT).unwrap().sense.is_empty());
    assert_eq!(client.read(5, 1), [2; BLOCK]);
}
