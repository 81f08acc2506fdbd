//! Data in both directions: immediate, unsolicited and solicited, residual counts, windows.

use super::client::{GOOD, NO_TAG, Served, head, memory, read_10, write_10};
use proptest::prelude::*;
use sledsim_emulator::iscsi::Settings;
use std::collections::VecDeque;

/// Bytes that differ from block to block.
fn pattern(blocks: usize) -> Vec<u8> {
    (0..blocks * 512).map(|at| (at / 512 * 7 + at % 251) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// However the data of a write are divided, the bytes arrive, and are read back in
    /// messages of any size.
    #[test]
    fn data_arrive_however_they_are_divided(
        blocks in 1..300u16,
        immediate in 0..17_000usize,
        unsolicited in 0..17_000usize,
        piece in 1..70_000usize,
        received in 512..300_000u32,
        digests in any::<bool>(),
        r2t in any::<bool>(),
    ) {
        let served = Served::new(&Settings::default());
        let mut initiator = served.connect();
        let received = received.to_string();
        let digest = if digests { "CRC32C" } else { "None" };
        initiator.log_in(&[
            ("DataDigest", digest), ("HeaderDigest", digest),
            ("InitialR2T", if r2t { "Yes" } else { "No" }), ("FirstBurstLength", "16384"),
            ("MaxBurstLength", "16384"), ("MaxRecvDataSegmentLength", &received),
        ]);
        initiator.execute(0, &[0; 6], 0, &[]);
        let data = pattern(blocks.into());
        let whole = data.len();
        let immediate = immediate.min(whole).min(16_384);
        let more = if r2t { 0 } else { unsolicited.min(whole.min(16_384) - immediate) };
        let flags = if more > 0 { 0x21 } else { 0xa1 };
        let tag = initiator.command(flags, 0, &write_10(5, blocks), whole as u32, &data[..immediate]);
        let mut sent = immediate;
        let mut number = 0;
        while sent < immediate + more {
            let end = (sent + piece).min(immediate + more);
            initiator.data_out(tag, NO_TAG, number, sent as u32, &data[sent..end], end == immediate + more);
            number += 1;
            sent = end;
        }
        while sent < whole {
            let asked = initiator.receive().unwrap();
            prop_assert_eq!((asked.opcode(), asked.field(40) as usize), (0x31, sent));
            let stop = sent + asked.field(44) as usize;
            prop_assert!(asked.field(44) <= 16_384 && stop <= whole);
            let mut number = 0;
            while sent < stop {
                let end = (sent + piece).min(stop);
                initiator.data_out(tag, asked.field(20), number, sent as u32, &data[sent..end], end == stop);
                number += 1;
                sent = end;
            }
        }
        let done = initiator.status();
        prop_assert_eq!((done.head[3], done.field(44)), (GOOD, 0));
        let read = initiator.execute(0, &read_10(5, blocks), whole as u32, &[]);
        prop_assert_eq!(read.head[3], GOOD);
        prop_assert!(read.data == data);
    }
}

#[test]
fn residual_counts_tell_what_was_not_moved() {
    let served = Served::new(&Settings::default());
    let mut initiator = served.session();
    let of = |pdu: super::client::Pdu| (pdu.head[1] & 6, pdu.field(44), pdu.data.len());
    // More and fewer bytes expected than two blocks have.
    assert_eq!(of(initiator.execute(0, &read_10(0, 2), 2000, &[])), (2, 976, 1024));
    assert_eq!(of(initiator.execute(0, &read_10(0, 2), 600, &[])), (4, 424, 600));
    assert_eq!(of(initiator.execute(0, &read_10(0, 2), 0, &[])), (4, 1024, 0));
    let data = pattern(4);
    // More data than the command takes; then only the whole blocks among too few.
    assert_eq!(of(initiator.execute(0, &write_10(8, 2), 0, &data)), (2, 1024, 0));
    assert_eq!(of(initiator.execute(0, &write_10(20, 4), 0, &data[..1300])), (4, 748, 0));
    let read = initiator.execute(0, &read_10(20, 4), 2048, &[]).data;
    assert!(read[..1024] == data[..1024] && read[1024..].iter().all(|byte| *byte == 0));
}

#[test]
fn the_window_has_as_many_commands_as_the_user_allows() {
    let mut settings = Settings::default();
    settings.net.max_outstanding = 4;
    let served = Served::of(vec![memory(4096, 200.0)], &settings);
    let mut initiator = served.connect();
    initiator.log_in(&[]);
    let first = initiator.execute(0, &[0; 6], 0, &[]);
    assert_eq!(first.field(32) - first.field(28), 3);
    for _ in 0..4 {
        initiator.command(0xc1, 0, &read_10(0, 1), 512, &[]);
    }
    // A fifth is beyond the window, and ignored; an immediate one is not counted.
    initiator.command(0xc1, 0, &read_10(0, 1), 512, &[]);
    initiator.cmd_sn -= 1;
    initiator.send(head(0x40, 0x80, 0, 77, &[(20, NO_TAG), (24, initiator.cmd_sn)]), b"ping");
    let pong = initiator.receive().unwrap();
    assert_eq!((pong.opcode(), pong.field(16), &pong.data[..]), (0x20, 77, &b"ping"[..]));
    assert_eq!(pong.field(32), pong.field(28) - 1);
    for done in 1..=4 {
        let answer = initiator.status();
        assert_eq!((answer.head[3], answer.field(32) - pong.field(32)), (GOOD, done));
    }
    assert_eq!(initiator.execute(0, &read_10(0, 1), 512, &[]).data.len(), 512);
}

/// The target asks for the data of as many commands as the setting allows; for those of a
/// larger one alone.
#[test]
fn data_are_asked_for_within_the_bound() {
    let mut settings = Settings::default();
    settings.net.max_outstanding_bytes = 250 * 512;
    let served = Served::of(vec![memory(4096, 0.0)], &settings);
    let mut initiator = served.session();
    let blocks = [100, 150, 50, 300, 10];
    let data = pattern(300);
    let tags = blocks.map(|blocks| {
        let bytes = u32::from(blocks) * 512;
        initiator.command(0xa1, 0, &write_10(0, blocks), bytes, &[])
    });
    let mut asked = VecDeque::new();
    let mut ended = 0;
    // The commands whose data it waits for; all that it asks for come before the answer.
    for expected in [&[0, 1][..], &[1, 2], &[2], &[3], &[4], &[]] {
        initiator.send(head(0x40, 0x80, 0, 900, &[(20, NO_TAG), (24, initiator.cmd_sn)]), b"");
        loop {
            let message = initiator.receive().unwrap();
            match message.opcode() {
                0x31 => asked.push_back(message),
                0x21 => ended += 1,
                _ => break,
            }
        }
        let waits: Vec<_> = asked.iter().map(|r2t| r2t.field(16)).collect();
        let expected_tags: Vec<_> = expected.iter().map(|at| tags[*at]).collect();
        assert_eq!(waits, expected_tags);
        if let Some(r2t) = asked.pop_front() {
            let data = &data[..r2t.field(44) as usize];
            initiator.data_out(r2t.field(16), r2t.field(20), 0, 0, data, true);
        }
    }
    assert_eq!(ended, tags.len());
}

#[test]
fn tasks_are_aborted_without_a_status() {
    let served = Served::of(vec![memory(4096, 150.0)], &Settings::default());
    let mut initiator = served.session();
    let tag = initiator.command(0xc1, 0, &read_10(0, 1), 512, &[]);
    let other = initiator.command(0xc1, 0, &read_10(1, 1), 512, &[]);
    let manage = |initiator: &mut super::client::Initiator, function: u8, tag: u32, lun: u16| {
        let fields = [(20, tag), (24, initiator.cmd_sn)];
        initiator.send(head(0x42, 0x80 | function, lun, 900, &fields), &[]);
        let answer = initiator.receive().unwrap();
        assert_eq!((answer.opcode(), answer.field(16)), (0x22, 900));
        answer.head[2]
    };
    assert_eq!(manage(&mut initiator, 1, tag, 0), 0);
    assert_eq!(manage(&mut initiator, 1, 12345, 0), 1);
    assert_eq!(manage(&mut initiator, 5, NO_TAG, 9), 2);
    assert_eq!(manage(&mut initiator, 8, NO_TAG, 0), 4);
    assert_eq!(manage(&mut initiator, 3, NO_TAG, 0), 5);
    assert_eq!(initiator.status().field(16), other);
    // The data of an aborted write are not waited for; its tag is free again.
    let tag = initiator.command(0xa1, 0, &write_10(0, 400), 400 * 512, &[]);
    assert_eq!(initiator.receive().unwrap().opcode(), 0x31);
    assert_eq!(manage(&mut initiator, 5, NO_TAG, 0), 0);
    initiator.tag = tag - 1;
    assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).sense(), (6, 0x29, 3));
    assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).head[3], GOOD);
    // All sessions find a unit attention.
    let mut second = served.session();
    assert_eq!(manage(&mut initiator, 5, NO_TAG, 0), 0);
    for session in [&mut initiator, &mut second] {
        assert_eq!(session.execute(0, &[0; 6], 0, &[]).sense(), (6, 0x29, 3));
    }
}
