//! Limits per client and server.

use crate::raw::*;
use crate::served::*;
use bytes::Bytes;
use sledsim_emulator::net::{self, Admission};
use sledsim_rpc::client::{Address, Client, Code, Error, Options};
use sledsim_rpc::server::Settings;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

fn slow(ms: &str) -> sledsim_emulator::server::ExportSpec {
    export("slow", device("memory", &[("latency_ms", ms)]))
}

#[test]
fn connections_are_limited() {
    let settings = admitting(Admission { max_clients: 2, ..Admission::default() });
    let served = Served::with(vec![slow("0.1")], &settings);
    let here = [served.client(), served.client()];
    let third = Client::connect(&Address::Unix(served.socket.clone()), &Options::default());
    let Err(Error::Connect(why)) = third else {
        panic!("{:?}", third.err());
    };
    assert!(why.contains("s.sock") && why.contains("is busy"), "{why}");
    assert!(why.contains("2 clients are connected"), "{why}");
    let (count, latest) = served.trouble("too_many_clients");
    assert_eq!(count, 1);
    assert!(latest.contains("2 clients"), "{latest}");
    drop(here);
    served.until("gone", |served| served.rpc.clients() == 0);
    drop(served.client());
}

/// Clients that make no call take all places, and a new client gets one.
#[test]
fn silent_clients_give_way() {
    let settings = admitting(Admission {
        max_clients: 2,
        patience: Duration::from_secs(600), // longer than any busy machine takes
        ..Admission::default()
    });
    let served = Served::with(vec![slow("0")], &settings);
    let mut silent = [connected(&served), connected(&served)];
    silent[0].write_all(PREFACE).unwrap();
    let good = served.client();
    while silent[0].read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    let (count, latest) = served.trouble("too_many_clients");
    assert_eq!(count, 1);
    assert!(latest.contains("client 0: gave way"), "{latest}");
    drop(good.open("slow").unwrap());
}

/// Commands of two bytes, of which each takes tens of bytes once it is decoded.
#[test]
fn commands_of_a_batch_are_limited() {
    let served = Served::new(vec![slow("0")]);
    let said = |count: usize| called(&served, "Batch", &[framed(&b"\x12\0".repeat(count))]);
    let (status, message) = said(1 << 16);
    assert_eq!((status, &message[..16]), (3, "commands[0].what"));
    let (status, message) = said((1 << 16) + 65);
    assert!(status == 8 && message.contains("more than 65536"), "{message}");
}

#[test]
fn names_of_clients_are_cut() {
    let served = Served::new(vec![slow("0")]);
    let name = "n".repeat(1 << 20);
    let Err(Error::Refused { message, .. }) = served.client().open(&name).map(drop) else {
        panic!();
    };
    assert!(message.contains(&name[..200]) && message.len() < 400, "{message}");
}

/// No more batches are begun than allowed; the others wait.
#[test]
fn batches_in_flight_are_limited() {
    let settings = limited(3);
    let served = Served::with(vec![slow("5")], &settings);
    let there = served.open("slow");
    let mut pipeline = there.pipeline(30).unwrap();
    for lbn in 0..30 {
        pipeline.send(vec![read(lbn, 1)], false).unwrap();
    }
    let mut most = 0;
    while pipeline.receive().unwrap().is_some() {
        most = most.max(outstanding(&served, "slow"));
    }
    assert!((1..=3).contains(&most), "{most}");
    served.until("all are counted", |served| requests(served, "slow") == 30);
}

/// Two threads of one connection each need more than half of the bytes in flight: a
/// call is refused, a stream waits.
#[test]
fn bytes_in_flight_are_limited() {
    let net = net::Settings { max_outstanding_bytes: 3 << 20, ..net::Settings::default() };
    let settings = Settings { net, max_batch_bytes: 2 << 20 };
    let quick = export("quick", device("memory", &[("latency_ms", "5")]));
    let served = Served::with(vec![slow("2000"), quick], &settings);
    let there = served.open("slow");
    let blocks = 4096;
    thread::scope(|scope| {
        let first = scope.spawn(|| there.batch(&[read(0, blocks)], false));
        served.until("one under way", |served| outstanding(served, "slow") == 1);
        let Err(Error::Refused { code, message }) = there.batch(&[read(0, blocks)], false) else {
            panic!();
        };
        assert_eq!(code, Code::ResourceExhausted);
        assert!(message.contains("3145728 bytes"), "{message}");
        first.join().unwrap().unwrap();
    });
    served.until("it is counted", |served| requests(served, "slow") > 0);
    assert_eq!(requests(&served, "slow"), 1);
    let there = there.client().open("quick").unwrap();
    let mut pipeline = there.pipeline(4).unwrap();
    for _ in 0..4 {
        pipeline.send(vec![read(0, blocks)], false).unwrap();
    }
    for _ in 0..4 {
        pipeline.receive().unwrap().unwrap().1.unwrap();
        assert!(outstanding(&served, "quick") <= 1);
    }
    let Err(Error::Refused { message, .. }) = there.batch(&[read(0, blocks + 1)], false) else {
        panic!();
    };
    assert!(message.contains("at most 2097152"), "{message}");
}

#[test]
fn streams_of_a_connection_are_limited() {
    let served = Served::new(vec![slow("0.1")]);
    let there = served.open("slow");
    let four: Vec<_> = (0..4).map(|_| there.pipeline(1).unwrap()).collect();
    let Err(Error::Refused { code, message }) = there.pipeline(1).map(drop) else {
        panic!();
    };
    assert_eq!(code, Code::ResourceExhausted);
    assert!(message.contains('4'), "{message}");
    drop(four);
    served.until("one ended", |_| there.pipeline(1).is_ok());
}

/// The largest batch, in both directions; many of them at once.
#[test]
fn the_largest_batch_is_served() {
    let served = Served::new(vec![export("m", device("memory", &[("latency_ms", "0")]))]);
    let there = served.open("m");
    let data: Vec<u8> = (0..32u32 << 20).map(|at| (at / 512 * 7 + at) as u8).collect();
    let data = Bytes::from(data);
    thread::scope(|scope| {
        for client in 0..3u64 {
            let (served, data) = (&served, data.clone());
            scope.spawn(move || {
                let there = served.open("m");
                let lbn = client << 16;
                let command =
                    sledsim_rpc::client::Command::Write { lbn, data: data.clone(), fua: false };
                there.batch(&[command], false).unwrap();
                let answer = there.batch(&[read(lbn, 1 << 16)], false).unwrap();
                assert!(answer.outcomes[0].data == data);
            });
        }
    });
    // Sixteen threads of one connection: messages of this size are received one at a
    // time, and none is lost.
    let piece = data.slice(..3 << 20);
    thread::scope(|scope| {
        for at in 0..16u64 {
            let (there, piece) = (&there, &piece);
            scope.spawn(move || {
                let command = sledsim_rpc::client::Command::Write {
                    lbn: at * 6144,
                    data: piece.clone(),
                    fua: true,
                };
                there.batch(&[command], false).unwrap();
            });
        }
    });
    let answer = there.batch(&[read(15 * 6144, 6144)], false).unwrap();
    assert!(answer.outcomes[0].data == piece);
}

/// A client that sends refused batches without reading the answers is not read.
#[test]
fn a_client_that_reads_no_answers_is_not_read() {
    let settings = limited(4);
    let served = Served::with(vec![slow("0")], &settings);
    let there = served.open("slow");
    let mut pipeline = there.pipeline(2000).unwrap();
    for lbn in 0..2000 {
        pipeline.send(vec![read(lbn, 64)], false).unwrap();
    }
    for _ in 0..20 {
        pipeline.flush();
        thread::sleep(Duration::from_millis(5));
    }
    // 64 MB of answers would have been made; windows and buffers hold a part.
    let begun = requests(&served, "slow");
    assert!(begun < 1000, "{begun}");
    while pipeline.receive().unwrap().is_some() {}
    served.until("all are counted", |served| requests(served, "slow") == 2000);
}
