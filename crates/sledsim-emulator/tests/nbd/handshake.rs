//! The handshake, byte by byte as specified.

use super::client::*;

const MIB: u64 = 1 << 20;

fn two() -> Served {
    let read_only = Wanted { read_only: true, ..Wanted::quick("zwei", 2 * MIB) };
    Served::new(&[Wanted::quick("one", MIB), read_only])
}

/// All transmission flags but DF, which requires structured replies; and those of a
/// read-only export.
const FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11;
const FLAGS_READ_ONLY: u16 = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8 | 1 << 10;

#[test]
fn a_complete_session_of_a_simple_client() {
    let served = two();
    let mut client = Client::silent(&served.socket);
    assert_eq!(
        client.hear(18),
        [
            0x4e, 0x42, 0x44, 0x4d, 0x41, 0x47, 0x49, 0x43, 0x49, 0x48, 0x41, 0x56, 0x45, 0x4f,
            0x50, 0x54, 0x00, 0x03
        ]
    );
    client.say(&[0, 0, 0, 3]);
    client.say(b"IHAVEOPT\0\0\0\x07\0\0\0\x09\0\0\0\x03one\0\0");
    let mut expected = vec![0, 3, 0xe8, 0x89, 0x04, 0x55, 0x65, 0xa9];
    expected.extend([0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 12]);
    expected.extend([0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0]);
    expected.extend(FLAGS.to_be_bytes());
    expected.extend([0, 3, 0xe8, 0x89, 0x04, 0x55, 0x65, 0xa9]);
    expected.extend([0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 14]);
    expected.extend([0, 3, 0, 0, 2, 0, 0, 0, 0x10, 0, 2, 0, 0, 0]);
    expected.extend([0, 3, 0xe8, 0x89, 0x04, 0x55, 0x65, 0xa9]);
    expected.extend([0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(client.hear(expected.len()), expected);
    // A write with its data in the same message, then a read.
    let mut write = vec![0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1];
    write.extend(*b"cookie-1");
    write.extend([0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0]);
    write.extend([0xab; 512]);
    client.say(&write);
    assert_eq!(client.hear(16), b"\x67\x44\x66\x98\0\0\0\0cookie-1");
    let mut read = vec![0x25, 0x60, 0x95, 0x13, 0, 0, 0, 0];
    read.extend(*b"cookie-2");
    read.extend([0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0]);
    client.say(&read);
    assert_eq!(client.hear(16), b"\x67\x44\x66\x98\0\0\0\0cookie-2");
    assert_eq!(client.hear(512), [0xab; 512]);
    client.ask(DISC, 0, 0, 0, 0);
    assert!(client.is_closed());
}

#[test]
fn export_name_option() {
    let served = two();
    // With and without the zeroes for old clients; a client without the fixed newstyle
    // may send this option only.
    for (flags, zeroes) in [(0, 124), (FIXED, 124), (FIXED | NO_ZEROES, 0), (NO_ZEROES, 0)] {
        for (name, bytes, may) in
            [("", MIB, FLAGS), ("one", MIB, FLAGS), ("zwei", 2 * MIB, FLAGS_READ_ONLY)]
        {
            let mut client = Client::silent(&served.socket);
            client.greet(flags);
            client.option(EXPORT_NAME, name.as_bytes());
            assert_eq!(client.u64(), bytes);
            assert_eq!(client.u16(), may);
            assert_eq!(client.hear(zeroes), vec![0; zeroes]);
            assert_eq!(client.read(0, 512), Ok(vec![0; 512]));
        }
    }
    let mut client = Client::connect(&served.socket);
    client.option(EXPORT_NAME, b"three");
    assert!(client.is_closed());
    let mut client = Client::silent(&served.socket);
    client.greet(NO_ZEROES);
    client.option(LIST, &[]);
    assert!(client.is_closed());
    served.until(|served| {
        served.client_errors("refused_handshakes") == 1
            && served.client_errors("protocol_errors") == 1
    });
}

#[test]
fn exports_are_listed_and_described() {
    let served = two();
    let mut client = Client::connect(&served.socket);
    let list = client.replies(LIST, &[]);
    assert_eq!(
        list,
        [
            (REP_SERVER, b"\0\0\0\x03one".to_vec()),
            (REP_SERVER, b"\0\0\0\x04zwei".to_vec()),
            (ACK, vec![])
        ]
    );
    assert_eq!(client.replies(LIST, b"x")[0].0, ERR_INVALID);
    for option in [INFO, GO] {
        assert_eq!(client.replies(option, &info("three", &[]))[0].0, ERR_UNKNOWN);
        for bad in [
            &[][..],
            &[0; 5],
            b"\0\0\0\x09one\0\0",
            b"\0\0\0\x03one\0\x01",
            b"\0\0\0\x03one\0\0\0",
            b"\0\0\0\x03\xff\xff\xff\0\0",
            b"\xff\xff\xff\xffone\0\0",
            &info(&"x".repeat(4097), &[]),
        ] {
            assert_eq!(client.replies(option, bad)[0].0, ERR_INVALID, "{bad:?}");
        }
    }
    let block_size = vec![0, 3, 0, 0, 2, 0, 0, 0, 0x10, 0, 2, 0, 0, 0];
    let about =
        |bytes: u64, flags: u16| [&[0, 0], &bytes.to_be_bytes()[..], &flags.to_be_bytes()].concat();
    let expected = vec![
        (REP_INFO, about(MIB, FLAGS)),
        (REP_INFO, b"\0\x01one".to_vec()),
        (REP_INFO, block_size.clone()),
        (ACK, vec![]),
    ];
    // The empty name is the first export; unknown names get no reply.
    assert_eq!(client.replies(INFO, &info("", &[1, 3, 2, 99])), expected);
    client.structure();
    let expected = vec![
        (REP_INFO, about(2 * MIB, FLAGS_READ_ONLY | 1 << 7)),
        (REP_INFO, block_size),
        (ACK, vec![]),
    ];
    assert_eq!(client.replies(INFO, &info("zwei", &[])), expected);
    assert_eq!(client.replies(GO, &info("zwei", &[])), expected);
    assert_eq!(client.read(MIB, 512), Ok(vec![0; 512]));
}

#[test]
fn unknown_options_are_skipped() {
    let served = two();
    let mut client = Client::connect(&served.socket);
    for option in [0, 4, 11, 12, 0x8000_0000, u32::MAX] {
        assert_eq!(client.replies(option, &[9; 1000])[0].0, ERR_UNSUP);
    }
    assert_eq!(client.replies(STARTTLS, &[])[0].0, ERR_POLICY);
    assert_eq!(client.replies(STRUCTURED_REPLY, b"x")[0].0, ERR_INVALID);
    assert_eq!(client.replies(LIST, &vec![0; 100_000])[0].0, ERR_TOO_BIG);
    assert_eq!(client.replies(12, &vec![0; 1 << 20])[0].0, ERR_TOO_BIG);
    client.go("one");
    assert_eq!(client.read(0, 512), Ok(vec![0; 512]));
}

#[test]
fn abort_ends_the_handshake() {
    let served = two();
    let mut client = Client::connect(&served.socket);
    assert_eq!(client.replies(ABORT, &[]), [(ACK, vec![])]);
    assert!(client.is_closed());
    served.until(|served| served.nbd.clients() == 0);
    for kind in ["refused_handshakes", "protocol_errors", "disconnects_mid_request"] {
        assert_eq!(served.client_errors(kind), 0, "{kind}");
    }
}

#[test]
fn metadata_contexts_are_listed_and_selected() {
    let served = two();
    let mut client = Client::connect(&served.socket);
    for option in [LIST_META, SET_META] {
        let early = client.replies(option, &meta("one", &["base:allocation"]));
        assert_eq!(early[0].0, ERR_INVALID);
    }
    client.structure();
    let context = |id: u8| (REP_META, [&[0, 0, 0, id], &b"base:allocation"[..]].concat());
    for queries in [&[][..], &["base:"], &["x:y", "base:allocation"]] {
        let listed = client.replies(LIST_META, &meta("one", queries));
        assert_eq!(listed, [context(0), (ACK, vec![])], "{queries:?}");
    }
    for queries in [&["base:dirty"][..], &["qemu:"], &["base"]] {
        let listed = client.replies(LIST_META, &meta("one", queries));
        assert_eq!(listed, [(ACK, vec![])], "{queries:?}");
    }
    for option in [LIST_META, SET_META] {
        assert_eq!(client.replies(option, &meta("three", &[]))[0].0, ERR_UNKNOWN);
        for bad in [
            &[][..],
            b"\0\0\0\x03one",
            b"\0\0\0\x03one\0\0\0\x02\0\0\0\x01x",
            b"\0\0\0\x03one\0\0\0\x01\0\0\0\x02x",
            b"\0\0\0\x03one\0\0\0\0x",
            b"\0\0\0\x03one\xff\xff\xff\xff",
        ] {
            assert_eq!(client.replies(option, bad)[0].0, ERR_INVALID, "{bad:?}");
        }
    }
    let chosen = client.replies(SET_META, &meta("one", &["base:allocation", "base:"]));
    assert_eq!(chosen, [context(1), (ACK, vec![])]);
    // The last selection counts: nothing is selected after this.
    assert_eq!(client.replies(SET_META, &meta("one", &[])), [(ACK, vec![])]);
    client.go("one");
    assert_eq!(client.status(0, 0, 512), Err(EINVAL));
}

#[test]
fn a_selected_context_applies_to_one_export() {
    let served = two();
    for (chosen, used, may) in [("one", "one", true), ("one", "zwei", false), ("", "one", true)] {
        let mut client = Client::connect(&served.socket);
        client.structure();
        client.set_allocation(chosen);
        client.go(used);
        assert_eq!(client.status(0, 0, 512).is_ok(), may, "{chosen} {used}");
    }
}

#[test]
fn protocol_errors_end_the_handshake() {
    let served = two();
    let unknown_flag = |client: &mut Client| client.greet(FIXED | NO_ZEROES | 4);
    let magic = |client: &mut Client| {
        client.greet(FIXED);
        client.say(b"IHAVEOPX\0\0\0\x03\0\0\0\0");
    };
    let too_long = |client: &mut Client| {
        client.greet(FIXED);
        client.say(b"IHAVEOPT\0\0\0\x03\x10\0\0\0");
    };
    let name = |client: &mut Client| {
        client.greet(FIXED);
        client.say(b"IHAVEOPT\0\0\0\x01\0\0\x10\x01");
    };
    let all: [&dyn Fn(&mut Client); 4] = [&unknown_flag, &magic, &too_long, &name];
    for (done, break_it) in all.iter().enumerate() {
        let mut client = Client::silent(&served.socket);
        break_it(&mut client);
        assert!(client.is_closed());
        served.until(|served| served.client_errors("protocol_errors") == done as u64 + 1);
    }
}
