//! Initiators that violate the protocol, vanish, or flood the target.

use super::client::{GOOD, NO_TAG, Served, head, memory, read_10, write_10};
use sledsim_emulator::iscsi::Settings;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Waits until a count of client errors is so high.
fn counted(served: &Served, kind: &str, count: u64) {
    let end = Instant::now() + Duration::from_secs(120);
    while served.troubles(kind) != count {
        assert!(Instant::now() < end, "{kind}: {}", served.troubles(kind));
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn violations_end_the_session_and_no_other() {
    let served = Served::new(&Settings::default());
    let mut other = served.session();
    let mut count = 0;
    let mut violate = |act: &dyn Fn(&mut super::client::Initiator)| {
        let mut initiator = served.session();
        act(&mut initiator);
        assert!(initiator.is_ended());
        count += 1;
        counted(&served, "protocol_errors", count);
    };
    // More data than the target accepts.
    violate(&|initiator| {
        let mut head = head(0x05, 0x80, 0, 1, &[(20, NO_TAG)]);
        head[5..8].copy_from_slice(&[0x04, 0x00, 0x01]);
        initiator.wire.write_all(&head).unwrap();
    });
    // A number inside the window that is not the next.
    violate(&|initiator| {
        initiator.cmd_sn += 3;
        initiator.command(0x81, 0, &[0; 6], 0, &[]);
    });
    // A tag that is in use.
    violate(&|initiator| {
        initiator.command(0xa1, 0, &write_10(0, 8), 4096, &[]);
        initiator.tag -= 1;
        initiator.command(0xa1, 0, &write_10(0, 8), 4096, &[]);
    });
    // Unsolicited data that were not agreed on.
    violate(&|initiator| {
        initiator.command(0x21, 0, &write_10(0, 8), 4096, &[0; 512]);
    });
    // Additional headers that do not fit.
    violate(&|initiator| {
        let mut head = head(0x01, 0x81, 0, 50, &[(24, initiator.cmd_sn)]);
        head[4] = 1;
        initiator.wire.write_all(&head).unwrap();
        initiator.wire.write_all(&[0, 200, 1, 0]).unwrap();
    });
    assert_eq!(other.execute(0, &[0; 6], 0, &[]).head[3], GOOD);
}

/// Data with another number, offset or transfer tag, more than asked for, and fewer.
#[test]
fn a_command_whose_data_are_lost_ends_alone() {
    let served = Served::new(&Settings::default());
    let mut initiator = served.session();
    let cases =
        [(1, 0, 0, 4096), (0, 512, 0, 512), (0, 0, 1, 512), (0, 0, 0, 8192), (0, 0, 0, 512)];
    for (number, offset, off_tag, bytes) in cases {
        let tag = initiator.command(0xa1, 0, &write_10(0, 8), 4096, &[]);
        let asked = initiator.receive().unwrap();
        let transfer = asked.field(20) + off_tag;
        initiator.data_out(tag, transfer, number, offset, &vec![7; bytes], true);
        let answer = initiator.status();
        assert_eq!((answer.field(16), answer.sense()), (tag, (0xb, 0x47, 5)));
    }
    counted(&served, "protocol_errors", 5);
    let read = initiator.execute(0, &read_10(0, 8), 4096, &[]);
    assert!(read.data.iter().all(|byte| *byte == 0));
}

#[test]
fn wrong_digests_end_the_session() {
    let served = Served::new(&Settings::default());
    for (header, data) in [(1, 0), (0, 1)] {
        let mut initiator = served.connect();
        initiator.log_in(&[("HeaderDigest", "CRC32C"), ("DataDigest", "CRC32C")]);
        initiator.execute(0, &[0; 6], 0, &[]);
        let mut head = head(0x01, 0xa1, 0, 9, &[(4, 512), (20, 512), (24, initiator.cmd_sn)]);
        head[32..42].copy_from_slice(&write_10(0, 1));
        let mut bytes = head.to_vec();
        bytes.extend((crc32c::crc32c(&head) ^ header).to_le_bytes());
        bytes.extend([3; 512]);
        bytes.extend((crc32c::crc32c(&[3; 512]) ^ data).to_le_bytes());
        initiator.wire.write_all(&bytes).unwrap();
        assert!(initiator.is_ended());
    }
    counted(&served, "protocol_errors", 2);
}

#[test]
fn an_initiator_that_does_not_log_in_is_let_go() {
    let mut settings = Settings::default();
    settings.net.admission.patience = Duration::from_millis(100);
    let served = Served::new(&settings);
    let mut silent = served.connect();
    assert!(silent.is_ended());
    counted(&served, "timeouts", 1);
    let served = Served::new(&Settings::default());
    let mut noisy = served.connect();
    noisy.wire.write_all(&[0x01; 100]).unwrap();
    assert!(noisy.is_ended());
    counted(&served, "protocol_errors", 1);
}

#[test]
fn an_initiator_may_be_silent_between_messages_alone() {
    let mut settings = Settings::default();
    settings.net.admission.patience = Duration::from_secs(1);
    let served = Served::new(&settings);
    let mut idle = served.session();
    let mut half = served.session();
    half.wire.write_all(&[0x01; 7]).unwrap();
    assert!(half.is_ended());
    counted(&served, "timeouts", 1);
    // A command for whose data the target has asked.
    let mut asked = served.session();
    asked.command(0xa1, 0, &write_10(0, 200), 200 * 512, &[]);
    assert_eq!(asked.receive().unwrap().opcode(), 0x31);
    assert!(asked.is_ended());
    counted(&served, "timeouts", 2);
    assert_eq!(idle.execute(0, &[0; 6], 0, &[]).head[3], 0);
}

#[test]
fn silent_initiators_give_way() {
    let mut settings = Settings::default();
    settings.net.admission.max_clients = 2;
    settings.net.admission.patience = Duration::from_secs(600); // longer than any busy machine takes
    let served = Served::new(&settings);
    let mut silent = [served.connect(), served.connect()];
    let mut good = served.session();
    assert!(silent[0].is_ended());
    assert_eq!(good.execute(0, &[0; 6], 0, &[]).head[3], 0);
    counted(&served, "too_many_clients", 1);
}

#[test]
fn an_initiator_that_vanishes_leaves_nothing_behind() {
    let served = Served::of(vec![memory(4096, 100.0)], &Settings::default());
    for _ in 0..20 {
        let mut initiator = served.session();
        initiator.command(0xc1, 0, &read_10(0, 8), 4096, &[]);
        initiator.command(0xa1, 0, &write_10(0, 200), 200 * 512, &[]);
    }
    let end = Instant::now() + Duration::from_secs(120);
    while served.target.clients() > 0 {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(1));
    }
    let export = served.server.exports().named("m").unwrap();
    assert!(export.timeline().drain(Duration::from_secs(120)));
}

/// The sizes of the anonymous memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// Initiators that ask for the largest reads and writes and neither read nor send: the
/// memory of each is bounded by the setting, and one command beyond it. Other tests of this
/// process may take memory meanwhile, so that one of several turns must be within the bound.
#[test]
fn memory_is_bounded_for_any_requests() {
    let before = resident();
    let most = (4 * (5 + 17 + 4)) << 20;
    assert!((0..10).any(|_| taken_by_greedy_initiators(before) < most));
}

fn taken_by_greedy_initiators(before: u64) -> u64 {
    let mut settings = Settings::default();
    settings.net.max_outstanding_bytes = 4 << 20;
    let served = Served::of(vec![memory(1 << 17, 0.0)], &settings);
    let mut initiators: Vec<_> = (0..4).map(|_| served.session()).collect();
    for initiator in &mut initiators {
        for _ in 0..60 {
            initiator.command(0xc1, 0, &read_10(0, 2048), 1 << 20, &[]);
        }
        for _ in 0..60 {
            initiator.command(0xa1, 0, &write_10(0, 32768), 16 << 20, &[]);
        }
    }
    thread::sleep(Duration::from_millis(300));
    resident().saturating_sub(before)
}

/// 64 sessions, each with 256 commands in flight: each command is answered once.
#[test]
fn sixty_four_sessions_with_256_commands_each_are_served() {
    let mut settings = Settings::default();
    settings.net.max_outstanding = 256;
    let served = Served::of(vec![memory(1 << 16, 0.05)], &settings);
    let one = |number: u32| {
        let mut initiator = served.session();
        let lbn = number * 256;
        for at in 0..256 {
            match at % 2 {
                0 => initiator.command(0xa1, 0, &write_10(lbn + at, 1), 512, &[at as u8; 512]),
                _ => initiator.command(0xc1, 0, &read_10(lbn + at, 1), 512, &[]),
            };
        }
        let mut tags: Vec<_> = (0..256).map(|_| initiator.status().field(16)).collect();
        tags.sort_unstable();
        assert_eq!(tags, (2..258).collect::<Vec<_>>());
        let read = initiator.execute(0, &read_10(lbn, 256), 256 * 512, &[]).data;
        let block = |at: usize| if at.is_multiple_of(2) { at as u8 } else { 0 };
        assert!((0..256).all(|at| read[at * 512] == block(at)));
    };
    thread::scope(|scope| {
        for number in 0..64 {
            scope.spawn(move || one(number));
        }
    });
}
