//! START STOP UNIT and the power states of a sled.

use super::initiator::{GOOD, INVALID_FIELD, Target};
use sledsim_core::model::Energy;

/// START STOP UNIT with this byte 4.
fn start_stop(flags: u8) -> [u8; 6] {
    [0x1b, 0, 0, 0, flags, 0]
}

fn energy(target: &Target) -> Energy {
    let reports = target.export(0).timeline().reports();
    reports[0].energy.expect("energy")
}

/// Energy of inactive time grows from the command on, and the next read starts the sled up.
#[test]
fn standby_and_stop_let_a_sled_rest() {
    for (rest, start) in [(0x30, 0x10), (0x00, 0x01)] {
        let target = Target::preset("g2", &[("power.policy", "\"never\"")]);
        let initiator = target.initiator();
        let read = [0x28, 0, 0, 0, 3, 0, 0, 0, 8, 0];
        assert_eq!(initiator.read(0, &read).len(), 4096);
        assert_eq!((energy(&target).inactive_j, energy(&target).startup_j), (0.0, 0.0));
        assert_eq!(initiator.sense(0, &start_stop(rest), &[]), GOOD);
        while energy(&target).inactive_j == 0.0 {}
        assert_eq!(initiator.sense(0, &start_stop(start), &[]), GOOD);
        assert_eq!(energy(&target).startup_j, 0.0);
        assert_eq!(initiator.read(0, &read).len(), 4096);
        assert!(energy(&target).startup_j > 0.0);
    }
}

#[test]
fn a_device_that_cannot_rest_refuses_standby() {
    let target = Target::preset("memory", &[("blocks", "4096")]);
    let initiator = target.initiator();
    assert_eq!(initiator.sense(0, &start_stop(0x30), &[]), INVALID_FIELD);
    assert_eq!(initiator.sense(0, &start_stop(0x20), &[]), GOOD);
}
