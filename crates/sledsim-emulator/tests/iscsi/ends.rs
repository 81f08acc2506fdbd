//! Ends of sessions that the target decides: power failures, a server that stops.

use super::client::{CHECK, GOOD, Served, memory, read_10};
use sledsim_emulator::iscsi::Settings;
use sledsim_emulator::power_failure::CutSpec;
use std::time::Duration;

#[test]
fn a_power_failure_ends_the_session_and_the_next_finds_the_unit_not_ready() {
    let mut spec = memory(4096, 0.0);
    spec.power_cut = Some(CutSpec::parse("manual").unwrap());
    let served = Served::of(vec![spec, super::client::named("other")], &Settings::default());
    let mut before = served.session();
    let power = served.server.power("m").unwrap();
    power.cut().unwrap();
    assert!(before.is_ended());
    let mut off = served.session();
    let answer = off.execute(0, &read_10(0, 1), 512, &[]);
    assert_eq!((answer.head[3], answer.sense()), (CHECK, (2, 4, 3)));
    // The other logical unit has power.
    assert_eq!(off.execute(1, &[0; 6], 0, &[]).sense(), (6, 0x29, 0));
    assert_eq!(off.execute(1, &read_10(0, 1), 512, &[]).head[3], GOOD);
    power.on().unwrap();
    assert_eq!(off.execute(0, &read_10(0, 1), 512, &[]).head[3], GOOD);
}

#[test]
fn a_server_that_stops_answers_what_is_in_flight() {
    let served = Served::of(vec![memory(4096, 100.0)], &Settings::default());
    let mut initiator = served.session();
    let tag = initiator.command(0xc1, 0, &read_10(0, 1), 512, &[]);
    // The command has arrived once the session answers a later one.
    assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).head[3], GOOD);
    served.target.stop(Duration::from_secs(120));
    let answer = initiator.status();
    assert_eq!((answer.field(16), answer.head[3]), (tag, GOOD));
    assert!(initiator.is_ended());
}
