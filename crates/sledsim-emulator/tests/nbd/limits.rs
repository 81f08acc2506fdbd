//! Limits per client and server.

use super::client::*;
use sledsim_emulator::net::{Admission, Settings};
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn connections_are_limited() {
    let admission = Admission { max_clients: 2, ..Admission::default() };
    let served = Served::with(&[Wanted::quick("d", 1 << 20)], &admitting(admission));
    let mut first = Client::simple(&served.socket, "d");
    let second = Client::simple(&served.socket, "d");
    assert_eq!(served.nbd.clients(), 2);
    assert!(Client::silent(&served.socket).is_closed());
    assert_eq!(served.client_errors("too_many_clients"), 1);
    assert_eq!(first.read(0, 512), Ok(vec![0; 512]));
    drop(second);
    served.until(|served| served.nbd.clients() == 1);
    let mut third = Client::simple(&served.socket, "d");
    assert_eq!(third.read(0, 512), Ok(vec![0; 512]));
}

#[test]
fn a_handshake_has_a_time_limit() {
    const PATIENCE: Duration = Duration::from_secs(1);
    let admission = Admission { patience: PATIENCE, ..Admission::default() };
    let served = Served::with(&[Wanted::quick("d", 1 << 20)], &admitting(admission));
    // A client that sends nothing, one that sends slowly, and one that does not read
    // its replies.
    let start = Instant::now();
    let mut silent = Client::silent(&served.socket);
    let mut slow = Client::connect(&served.socket);
    let drip = thread::spawn(move || {
        for byte in b"IHAVEOPT\0\0\0\x03\0\0\0\x40".iter().cycle() {
            if slow.wire.write_all(&[*byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    });
    let mut deaf = Client::connect(&served.socket);
    let lists = thread::spawn(move || {
        let list = b"IHAVEOPT\0\0\0\x03\0\0\0\0".repeat(1 << 16);
        while deaf.wire.write_all(&list).is_ok() {}
    });
    assert!(silent.is_closed());
    drip.join().unwrap();
    lists.join().unwrap();
    assert!(start.elapsed() >= PATIENCE);
    served.until(|served| served.nbd.clients() == 0);
    assert!(served.client_errors("timeouts") >= 2);
    // A handshake in time has no time limit afterwards. A busy machine may take several.
    let in_time = || {
        let socket = served.socket.clone();
        thread::spawn(move || Client::simple(&socket, "d")).join()
    };
    let mut client = (0..20).find_map(|_| in_time().ok()).unwrap();
    thread::sleep(PATIENCE * 2);
    assert_eq!(client.read(0, 512), Ok(vec![0; 512]));
}

/// Silent clients take all places, and a new client gets one.
#[test]
fn silent_clients_give_way() {
    let admission = Admission {
        max_clients: 4,
        patience: Duration::from_secs(600), // longer than any busy machine takes
        ..Admission::default()
    };
    let served = Served::with(&[Wanted::quick("d", 1 << 20)], &admitting(admission));
    let mut first = Client::simple(&served.socket, "d");
    // An answer to a request says that the server has noted the end of its handshake.
    assert_eq!(first.read(0, 512), Ok(vec![0; 512]));
    let mut silent: Vec<_> = (0..3).map(|_| Client::silent(&served.socket)).collect();
    let mut half = Client::connect(&served.socket);
    half.say(b"IHAVEOPT");
    assert!(silent[0].is_closed(), "the oldest");
    let mut good = Client::simple(&served.socket, "d");
    assert!(silent[1].is_closed(), "the next");
    assert_eq!(served.client_errors("too_many_clients"), 2);
    assert_eq!(first.read(0, 512), Ok(vec![0; 512]));
    assert_eq!(good.read(0, 512), Ok(vec![0; 512]));
}

#[test]
fn a_client_may_be_silent_between_messages_alone() {
    const PATIENCE: Duration = Duration::from_secs(1);
    let admission = Admission { patience: PATIENCE, ..Admission::default() };
    let served = Served::with(&[Wanted::quick("d", 1 << 20)], &admitting(admission));
    let ready = || {
        let once =
            || thread::scope(|scope| scope.spawn(|| Client::ready(&served.socket, "d")).join());
        (0..20).find_map(|_| once().ok()).unwrap()
    };
    let mut idle = ready();
    let write = request(WRITE, 0, 1, 0, 4096);
    let long = request(WRITE, 0, 1, 0, 48 << 20);
    let parts = [&write[..1], &write[..27], &write[..], &[&write[..], &[1; 4095]].concat(), &long];
    for (count, part) in (1..).zip(parts) {
        let start = Instant::now();
        let mut half = ready();
        half.say(part);
        assert!(half.is_closed());
        assert!(start.elapsed() >= PATIENCE);
        served.until(|served| served.client_errors("timeouts") == count);
    }
    assert_eq!(idle.read(0, 512), Ok(vec![0; 512]));
}

/// What 30 clients that read no replies hold is bounded, and others go on.
#[test]
fn slow_readers_hold_a_bounded_part() {
    const MIB: u32 = 1 << 20;
    let served = Served::new(&[Wanted::quick("d", 64 << 20)]);
    let mut good = Client::simple(&served.socket, "d");
    let slow: Vec<_> = (0..30)
        .map(|_| {
            let mut client = Client::simple(&served.socket, "d");
            for cookie in 0..64 {
                client.ask(READ, 0, cookie, 0, MIB);
            }
            client
        })
        .collect();
    // They take all that there is: 2 MiB each, and 96 MiB in common.
    served.until(|served| served.requests("d") >= 30 * 2 + 96 - 30);
    thread::sleep(Duration::from_millis(200));
    let begun = served.requests("d") + served.outstanding("d") as u64;
    assert!(begun <= 30 * (2 + 1) + 128, "{begun} MiB");
    assert_eq!(good.read(0, 4096), Ok(vec![0; 4096]));
    assert_eq!(good.read(0, 24 * MIB), Ok(vec![0; 24 << 20]));
    for cookie in 0..8 {
        good.ask(READ, 0, cookie, 0, MIB);
    }
    for _ in 0..8 {
        assert_eq!(good.answer(MIB).error, 0);
    }
    drop(slow);
    served.until(|served| served.nbd.clients() == 1);
}

/// A client that reads nothing is let go once another one waits for the memory, not before.
#[test]
fn a_slow_reader_gives_way_when_memory_is_short() {
    let admission = Admission { patience: Duration::from_secs(1), ..Admission::default() };
    let served = Served::with(&[Wanted::quick("d", 64 << 20)], &admitting(admission));
    let slow = |count: u64| {
        let mut client = Client::simple(&served.socket, "d");
        for cookie in 0..count {
            client.ask(READ, 0, cookie, 0, 32 << 20);
        }
        client
    };
    let _slow: Vec<_> = (0..4).map(|_| slow(1)).collect();
    served.until(|served| served.requests("d") == 4);
    thread::sleep(Duration::from_secs(3));
    assert_eq!(served.nbd.clients(), 4);
    let mut good = Client::simple(&served.socket, "d");
    assert_eq!(good.read(0, 32 << 20), Ok(vec![0; 32 << 20]));
    served.until(|served| served.client_errors("unread_replies") > 0);
}

#[test]
fn options_of_a_handshake_are_limited() {
    let served = Served::new(&[Wanted::quick("d", 1 << 20)]);
    let mut client = Client::connect(&served.socket);
    let mut asked = 0;
    while {
        let sent = client.wire.write_all(b"IHAVEOPT\0\0\0\x0f\0\0\0\0");
        sent.is_ok() && client.wire.read_exact(&mut [0; 20 + 14]).is_ok()
    } {
        asked += 1;
        assert!(asked < 100_000);
    }
    assert!(asked > 1000, "{asked}");
    served.until(|served| served.client_errors("protocol_errors") == 1);
}

/// Requests beyond the limit are not read.
#[test]
fn requests_in_flight_are_limited() {
    let settings = Settings { max_outstanding: 4, ..Settings::default() };
    // The first is so slow that no request is answered here.
    let wanted = [Wanted::slow("stuck", 1 << 20, 60_000.0), Wanted::slow("d", 1 << 20, 20.0)];
    let served = Served::with(&wanted, &settings);
    let ask = |name| {
        let mut client = Client::ready(&served.socket, name);
        for cookie in 0..40 {
            client.ask(READ, 0, cookie, 0, 512);
        }
        let export = served.server.exports().named(name).unwrap();
        (client, move || export.timeline().outstanding())
    };
    let (_stuck, outstanding) = ask("stuck");
    served.until(|_| outstanding() >= 4);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(outstanding(), 4);
    // The others are read as soon as the limit permits.
    let (mut client, outstanding) = ask("d");
    for cookie in 0..40 {
        assert!(outstanding() <= 4);
        assert_eq!(client.answer(512).cookie, cookie);
    }
}

/// A single answer may exceed the limit of all answers.
#[test]
fn bytes_in_flight_are_limited() {
    let settings = Settings { max_outstanding_bytes: 1 << 20, ..Settings::default() };
    // So slow that no request is answered here.
    let wanted = [Wanted::slow("d", 64 << 20, 60_000.0)];
    let served = Served::with(&wanted, &settings);
    let export = served.server.exports().named("d").unwrap();
    let under_way = |count: usize| {
        served.until(|_| export.timeline().outstanding() >= count);
        thread::sleep(Duration::from_millis(50));
        assert_eq!(export.timeline().outstanding(), count);
    };
    let mut large = Client::ready(&served.socket, "d");
    large.ask(READ, 0, 0, 0, 8 << 20);
    large.ask(READ, 0, 0, 0, 512);
    under_way(1);
    let mut several = Client::ready(&served.socket, "d");
    for cookie in 1..9 {
        several.ask(READ, 0, cookie, 0, 256 << 10);
    }
    under_way(1 + 4);
    // Data of writes are not kept and do not count.
    let mut writes = Client::ready(&served.socket, "d");
    for at in 0..8 {
        writes.say(&request(WRITE, 0, at, 0, 256 << 10));
        writes.say(&[1; 256 << 10]);
    }
    under_way(1 + 4 + 8);
}

/// Answered requests no longer count.
#[test]
fn answered_requests_release_their_bytes() {
    let settings = Settings { max_outstanding_bytes: 1 << 20, ..Settings::default() };
    // Where a busy machine answers the first of the four before the last one is there, the
    // device is slower the next time.
    let all_at_once = |latency_ms| {
        let served = Served::with(&[Wanted::slow("d", 64 << 20, latency_ms)], &settings);
        let mut client = Client::ready(&served.socket, "d");
        assert_eq!(client.read(0, 8 << 20), Ok(vec![0; 8 << 20]));
        for cookie in 0..4 {
            client.ask(READ, 0, cookie, 0, 256 << 10);
        }
        served.until(|served| served.outstanding("d") == 4 || served.requests("d") > 1);
        served.outstanding("d") == 4
    };
    assert!([250.0, 2_500.0, 25_000.0].into_iter().any(all_at_once));
}

/// A client may disconnect while it waits for the limit.
#[test]
fn a_client_that_disconnects_while_waiting_is_released() {
    let settings = Settings { max_outstanding: 2, ..Settings::default() };
    let served = Served::with(&[Wanted::slow("d", 1 << 20, 20.0)], &settings);
    let mut client = Client::ready(&served.socket, "d");
    for cookie in 0..9 {
        client.ask(READ, 0, cookie, 0, 512);
    }
    drop(client);
    served.until(|served| served.nbd.clients() == 0);
    assert_eq!(served.client_errors("disconnects_mid_request"), 1);
}

/// A client that disconnects without reading its replies is dropped.
#[test]
fn unread_replies_after_a_disconnect_time_out() {
    let admission = Admission { patience: Duration::from_secs(1), ..Admission::default() };
    let settings = admitting(admission);
    let served = Served::with(&[Wanted::quick("d", 64 << 20)], &settings);
    let mut client = Client::ready(&served.socket, "d");
    client.ask(READ, 0, 1, 0, 16 << 20);
    client.ask(DISC, 0, 0, 0, 0);
    served.until(|served| served.nbd.clients() == 0);
    assert_eq!(served.client_errors("unread_replies"), 1);
    // A client that reads slowly but steadily is not, however long it takes in all. A busy
    // machine may keep one from being steady.
    let slow_and_steady = |_| {
        let served = Served::with(&[Wanted::quick("d", 64 << 20)], &settings);
        let mut client = Client::ready(&served.socket, "d");
        client.ask(READ, 0, 1, 0, 2 << 20);
        client.ask(DISC, 0, 0, 0, 0);
        let mut rest = (2 << 20) + 28;
        while rest > 0 {
            let some = rest.min(128 << 10);
            if client.wire.read_exact(&mut vec![0; some]).is_err() {
                return false;
            }
            rest -= some;
            thread::sleep(Duration::from_millis(90));
        }
        matches!(client.wire.read(&mut [0; 1]), Ok(0))
    };
    assert!((0..20).any(slow_and_steady));
}
