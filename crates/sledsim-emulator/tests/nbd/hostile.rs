//! Clients that violate the protocol or disconnect do not affect the server or other
//! clients.

use super::client::*;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

const BYTES: u64 = 64 << 20;

/// Sends `bytes` and reads replies until the server closes; fails if it does not.
fn throw(socket: &Path, bytes: &[u8]) {
    let mut wire = UnixStream::connect(socket).unwrap();
    wire.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut reads = wire.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut sink = vec![0; 1 << 16];
            loop {
                match reads.read(&mut sink) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) => {
                        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
                        break;
                    }
                }
            }
        });
        // The server may have closed before the end.
        let _ = wire.write_all(bytes);
        let _ = wire.shutdown(std::net::Shutdown::Write);
    });
}

/// The bytes of a valid client.
fn session() -> Vec<u8> {
    let mut all = 3u32.to_be_bytes().to_vec();
    let mut option = |option: u32, data: &[u8]| {
        all.extend(b"IHAVEOPT");
        all.extend(option.to_be_bytes());
        all.extend((data.len() as u32).to_be_bytes());
        all.extend(data);
    };
    option(LIST, &[]);
    option(STRUCTURED_REPLY, &[]);
    option(SET_META, &meta("d", &["base:allocation"]));
    option(GO, &info("d", &[1, 3]));
    for (at, command) in
        [WRITE, READ, TRIM, FLUSH, WRITE_ZEROES, BLOCK_STATUS, CACHE, READ].into_iter().enumerate()
    {
        let length = if command == FLUSH { 0 } else { 4096 };
        let offset = if command == FLUSH { 0 } else { at as u64 * 512 };
        all.extend(request(command, 0, at as u64, offset, length));
        if command == WRITE {
            all.extend([7; 4096]);
        }
    }
    all.extend(request(DISC, 0, 0, 0, 0));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A valid client is served despite any bytes of others.
    #[test]
    fn nonsense_harms_nobody(
        noise in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..2000).prop_map(|bytes| (true, bytes, vec![])),
                prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
                    .prop_map(|changes| (false, vec![], changes)),
            ],
            16,
        ),
        cut in any::<prop::sample::Index>(),
    ) {
        let served = Served::new(&[Wanted::slow("d", BYTES, 0.01)]);
        let mut good = Client::ready(&served.socket, "d");
        for (at, (is_noise, bytes, changes)) in noise.iter().enumerate() {
            let mut all = session();
            if *is_noise {
                all.truncate(cut.index(all.len()));
                all.extend(bytes);
            }
            for (place, value) in changes {
                let place = place.index(all.len());
                all[place] = *value;
            }
            throw(&served.socket, &all);
            // Beyond the blocks that the clients above write to, mutated or not.
            let mine = [at as u8 + 1; 512];
            let place = BYTES - 512 * (at as u64 + 1);
            prop_assert_eq!(good.write(place, &mine), Ok(()));
            prop_assert_eq!(good.read(place, 512), Ok(mine.to_vec()));
        }
        served.until(|served| served.nbd.clients() == 1);
    }
}

#[test]
fn the_session_to_mutate_is_valid() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    throw(&served.socket, &session());
    served.until(|served| served.nbd.clients() == 0);
    for (kind, what) in served.nbd.to_json()["troubles"].as_object().unwrap() {
        assert_eq!(what["count"], 0, "{kind}");
    }
    let mut client = Client::simple(&served.socket, "d");
    assert_eq!(client.read(0, 1024), Ok([7; 1024].to_vec()));
}

#[test]
fn disconnects_within_requests_are_counted() {
    let served = Served::new(&[Wanted::slow("d", BYTES, 20.0)]);
    let gone = "disconnects_mid_request";
    let leave: [&dyn Fn(&mut Client); 4] = [
        // Half a request, half its data, half an option; and one in flight.
        &|client| client.say(&request(READ, 0, 0, 0, 512)[..13]),
        &|client| {
            client.say(&request(WRITE, 0, 0, 0, 4096));
            client.say(&[1; 1000]);
        },
        &|client| client.say(&request(WRITE, 0, 0, 0, 4096)),
        &|client| client.say(&request(READ, 0, 0, 0, 512)),
    ];
    for (done, leave) in leave.iter().enumerate() {
        let mut client = Client::ready(&served.socket, "d");
        leave(&mut client);
        drop(client);
        served.until(|served| served.nbd.clients() == 0);
        assert_eq!(served.client_errors(gone), done as u64 + 1);
    }
    let mut client = Client::connect(&served.socket);
    client.say(b"IHAVEOPT\0\0\0\x03\0\0");
    drop(client);
    served.until(|served| served.client_errors(gone) == 5);
    drop(Client::connect(&served.socket));
    served.until(|served| served.client_errors("refused_handshakes") == 1);
    // An incomplete write is not executed.
    let mut client = Client::simple(&served.socket, "d");
    assert_eq!(client.read(0, 4096), Ok(vec![0; 4096]));
}

#[test]
fn invalid_requests_end_the_connection() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut client = Client::ready(&served.socket, "d");
    client.say(&[0; 28]);
    assert!(client.is_closed());
    // A write too long to skip.
    let mut client = Client::ready(&served.socket, "d");
    client.ask(WRITE, 0, 0, 0, u32::MAX);
    assert!(client.is_closed());
    served.until(|served| served.client_errors("protocol_errors") == 2);
}

/// A client may disconnect cleanly, or stop sending, and still receive its replies.
#[test]
fn requests_before_a_disconnect_are_answered() {
    let served = Served::new(&[Wanted::slow("d", BYTES, 30.0)]);
    for says_goodbye in [true, false] {
        let mut client = Client::ready(&served.socket, "d");
        for cookie in 0..3 {
            client.ask(READ, 0, cookie, 0, 512);
        }
        if says_goodbye {
            client.ask(DISC, 0, 0, 0, 0);
        } else {
            client.half_close();
        }
        for cookie in 0..3 {
            assert_eq!(client.answer(512).cookie, cookie);
        }
        assert!(client.is_closed());
    }
}

/// 64 MB of replies wait for a client that reads none, while another one is served.
#[test]
fn a_client_that_does_not_read_delays_no_other() {
    let served = Served::new(&[Wanted::quick("d", BYTES)]);
    let mut lazy = Client::ready(&served.socket, "d");
    for at in 0..16u64 {
        lazy.ask(READ, 0, at, at << 20, 4 << 20);
    }
    let mut good = Client::ready(&served.socket, "d");
    for at in 0..200 {
        assert_eq!(good.write(at * 4096, &[at as u8; 4096]), Ok(()));
        assert_eq!(good.read(at * 4096, 4096), Ok(vec![at as u8; 4096]));
    }
    // They are all there when it does read.
    let mut seen: Vec<_> = (0..16).map(|_| lazy.answer(4 << 20).cookie).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..16));
}
