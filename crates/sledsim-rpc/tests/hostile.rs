//! Invalid or excessive data and disconnects affect no other client.

use crate::raw::*;
use crate::served::*;
use proptest::prelude::*;
use sledsim_emulator::net::Admission;
use std::io::Write;
use std::time::Duration;

fn served() -> Served {
    let slow = device("memory", &[("latency_ms", "20")]);
    Served::new(vec![export("m", device("cmu2003", &[])), export("slow", slow)])
}

/// The server continues, and no resources are left behind.
fn is_well(served: &Served) {
    let there = served.open("m");
    assert_eq!(there.batch(&[read(0, 1)], true).unwrap().outcomes[0].data, [0; 512][..]);
    drop(there);
    served.until("gone", |served| served.rpc.clients() == 0);
    served.until("done", |served| outstanding(served, "slow") == 0);
}

#[test]
fn other_protocols_are_reported() {
    let served = served();
    let answer = said_to(&served, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 505 "), "{answer}");
    assert!(answer.contains("gRPC"), "{answer}");
    // A connection may close before its error is recorded.
    let noted = |count| {
        served.until("noted", |served| served.trouble("protocol_errors").0 == count);
    };
    noted(1);
    assert!(said_to(&served, b"NBDMAGICIHAVEOPT").is_empty());
    noted(2);
    assert!(said_to(&served, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03").is_empty());
    noted(3);
    let (_, latest) = served.trouble("protocol_errors");
    assert!(latest.contains("client 2: sent TLS"), "{latest}");
    is_well(&served);
}

#[test]
fn a_silent_client_times_out() {
    let settings =
        admitting(Admission { patience: Duration::from_millis(100), ..Admission::default() });
    let served = Served::with(vec![export("m", device("cmu2003", &[]))], &settings);
    assert!(said_to(&served, b"").is_empty());
    assert!(said_to(&served, &PREFACE[..20]).is_empty());
    served.until("noted", |served| served.trouble("timeouts").0 == 2);
    let (_, latest) = served.trouble("timeouts");
    assert!(latest.contains("0.1 s"), "{latest}");
    assert!(!said_to(&served, PREFACE).is_empty(), "settings");
    served.until("noted", |served| served.trouble("timeouts").0 == 3);
    let idle = served.client();
    let half = framed(&[0; 1000]).slice(..100);
    let (status, message) = called_with(&served, "Batch", &[half], true);
    assert!(status == 4 && message.contains("middle of a message"), "{message}");
    drop(idle.open("m").unwrap());
}

#[test]
fn invalid_frames_end_the_connection() {
    let served = served();
    // A frame of 16 MiB; a headers frame of stream 0; random bytes after the preface.
    let frames: [&[u8]; 3] =
        [b"\xff\xff\xff\0\0\0\0\0\x01", b"\0\0\x01\x01\x04\0\0\0\0\x82", &[0xff; 200]];
    for frame in frames {
        let bytes = [PREFACE, frame].concat();
        let answer = said_to(&served, &bytes);
        assert!(!answer.is_empty(), "settings, and why it ends");
    }
    served.until("noted", |served| served.trouble("protocol_errors").0 == 3);
    is_well(&served);
}

#[test]
fn invalid_messages_are_refused() {
    let served = served();
    let wrong = framed(b"\xff\xff\xff\xff");
    for method in [
        "ListExports",
        "Describe",
        "GetParallelism",
        "GetEquivalent",
        "CheckConflicting",
        "GetBoundaries",
        "Batch",
        "Batches",
        "Flush",
    ] {
        let (status, message) = called(&served, method, std::slice::from_ref(&wrong));
        assert_eq!(status, 3, "{method}: {message}");
        assert!(message.contains("not what sledsim.v1 has"), "{message}");
    }
    let (status, message) = called(&served, "Erase", &[framed(b"")]);
    assert_eq!(status, 12, "{message}");
    // Truncated; of the wrong length; with an unknown compression.
    let whole = framed(b"\x0a\x01m");
    for bytes in [&whole[..3], &whole[..6], &b"\x01\0\0\0\x02ab"[..], b""] {
        let (status, message) = called(&served, "Describe", &[bytes.to_vec().into()]);
        assert!([3, 12, 13].contains(&status), "{bytes:?}: {status} {message}");
    }
    is_well(&served);
}

#[test]
fn an_oversized_message_is_refused_by_its_header() {
    let served = served();
    let most = (32 << 20) + (4 << 20);
    for method in ["Batch", "Batches", "Describe"] {
        for length in [most + 1, u32::MAX] {
            let [a, b, c, d] = length.to_be_bytes();
            let head = vec![0, a, b, c, d, 1, 2, 3];
            let (status, message) = called(&served, method, &[head.into()]);
            assert_eq!(status, 8, "{message}");
            assert!(
                message.contains(&format!("{length} bytes: must be at most {most}")),
                "{message}"
            );
        }
    }
    is_well(&served);
}

#[test]
fn disconnected_clients_leave_no_resources() {
    let served = served();
    for _ in 0..8 {
        let before = requests(&served, "slow");
        let there = served.open("slow");
        let mut pipeline = there.pipeline(4).unwrap();
        for lbn in 0..4 {
            pipeline.send(vec![write(lbn, vec![1; 512])], false).unwrap();
        }
        served.until("some under way", |served| {
            pipeline.flush();
            outstanding(served, "slow") > 0 || requests(served, "slow") > before
        });
    }
    served.until("done", |served| outstanding(served, "slow") == 0);
    served.until("gone", |served| served.rpc.clients() == 0);
    // Within a large message.
    let mut socket = connected(&served);
    socket.write_all(PREFACE).unwrap();
    // HEADERS of stream 1 need HPACK: this is `:method POST`, truncated.
    socket.write_all(b"\0\0\x01\x01\x04\0\0\0\x01\x83").unwrap();
    drop(socket);
    is_well(&served);
    let facts = served.rpc.to_json();
    assert!(
        facts["troubles"]["disconnects_mid_request"]["count"].as_u64().unwrap() >= 1,
        "{facts}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any bytes first, after the preface, or as a message.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300), how in 0..3, cut in 0usize..400) {
        let served = served();
        match how {
            0 => drop(said_to_and_left(&served, &bytes)),
            1 => drop(said_to_and_left(&served, &[PREFACE, &bytes].concat())),
            _ => {
                let message = framed(&bytes);
                let cut = cut.min(message.len());
                let (status, _) = called(&served, "Batch", &[message.slice(..cut), message.slice(cut..)]);
                prop_assert!([0, 3, 5, 7, 8, 9, 12, 13].contains(&status));
            }
        }
        is_well(&served);
    }
}

/// Sends `bytes` and disconnects.
fn said_to_and_left(served: &Served, bytes: &[u8]) -> std::io::Result<()> {
    connected(served).write_all(bytes)
}
