//! Requests sent together: their replies may be sent together, too, but never wait for the client.

use super::client::*;
use sledsim_emulator::net::Settings;
use std::collections::BTreeMap;
use std::time::Duration;

const BYTES: u64 = 64 << 20;

/// The limits under which all must hold: few or many requests in flight, asleep or polling.
fn all_settings() -> [Settings; 3] {
    [
        Settings::default(),
        Settings { max_outstanding: 3, max_outstanding_bytes: 8 << 10, ..Settings::default() },
        Settings { busy_poll: Duration::from_micros(50), ..Settings::default() },
    ]
}

/// The replies to reads of `lengths`, by cookie, each checked.
fn answers(client: &mut Client, lengths: &[u32]) -> BTreeMap<u64, u32> {
    let mut found = BTreeMap::new();
    for _ in lengths {
        let answer = client.answer(0);
        let length = lengths[answer.cookie as usize];
        let (cookie, error) = (answer.cookie, answer.error);
        if error == 0 {
            assert_eq!(data_of(answer, 0, length), Ok(vec![0; length as usize]));
        }
        assert_eq!(found.insert(cookie, error), None);
    }
    found
}

/// The client stays silent after each of these and waits for its replies.
#[test]
fn replies_never_wait_for_the_client() {
    for settings in all_settings() {
        let served = Served::with(&[Wanted::quick("d", BYTES)], &settings);
        let mut client = Client::ready(&served.socket, "d");
        // Few and many, long and short ones, and one that is refused.
        let mut lengths = [512, 4096, 8192, 128 << 10, 513].repeat(10);
        for count in [1, 5, 15, 16, 17, 50] {
            lengths.truncate(50);
            let lengths = &lengths[..count];
            let mut all = Vec::new();
            for (cookie, length) in (0..).zip(lengths) {
                all.extend(request(READ, 0, cookie, 0, *length));
            }
            // A part of the next request, and later the rest.
            let next = request(WRITE, 0, 99, BYTES - 512, 512);
            all.extend(&next[..10]);
            client.say(&all);
            let found = answers(&mut client, lengths);
            for (cookie, error) in found {
                let refused = lengths[cookie as usize] == 513;
                assert_eq!(error, if refused { EINVAL } else { 0 });
            }
            // A write whose data are missing, after a read.
            client.say(&next[10..]);
            client.say(&[7; 512]);
            assert_eq!(client.answer(0).cookie, 99);
            let mut two = request(READ, 0, 0, 0, 512);
            two.extend(request(WRITE, 0, 1, 0, 512));
            two.extend([0; 100]);
            client.say(&two);
            assert_eq!(client.answer(0).cookie, 0);
            client.say(&[0; 412]);
            assert_eq!(client.answer(0).cookie, 1);
        }
        assert_eq!(client.read(BYTES - 512, 512), Ok(vec![7; 512]));
    }
}

/// All that was sent is answered before the connection ends.
#[test]
fn requests_before_the_last_are_answered() {
    for settings in all_settings() {
        let served = Served::with(&[Wanted::quick("d", BYTES)], &settings);
        for ends in [true, false] {
            let mut client = Client::ready(&served.socket, "d");
            let lengths = [4096; 10];
            let mut all = Vec::new();
            for cookie in 0..10 {
                all.extend(request(READ, 0, cookie, 0, 4096));
            }
            if ends {
                all.extend(request(DISC, 0, 0, 0, 0));
            }
            client.say(&all);
            if !ends {
                client.half_close();
            }
            assert_eq!(answers(&mut client, &lengths).len(), 10);
            assert!(client.is_closed());
        }
    }
}

/// Replies at their times, and such as are due at once, of one connection.
#[test]
fn late_replies_and_early_ones_mix() {
    let slow = Wanted::slow("d", BYTES, 3.0);
    let served = Served::with(&[slow], &Settings::default());
    let mut client = Client::ready(&served.socket, "d");
    let mut all = Vec::new();
    let lengths: Vec<u32> = (0..40).map(|at| if at % 3 == 0 { 4096 } else { 513 }).collect();
    for (cookie, length) in (0..).zip(&lengths) {
        all.extend(request(READ, 0, cookie, 0, *length));
    }
    client.say(&all);
    let found = answers(&mut client, &lengths);
    assert_eq!(found.values().filter(|error| **error == 0).count(), 14);
}
