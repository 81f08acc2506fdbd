//! Random commands: each is answered once, and none panics.

use super::initiator::{Initiator, LUN_1, Target, spec};
use super::reported::{Reported, reported};
use proptest::prelude::*;
use std::sync::LazyLock;

static TARGET: LazyLock<(Target, Vec<Reported>)> = LazyLock::new(|| {
    // With faults, the sled has every page.
    let keys = [("travel_x_um", "1.1"), ("faults.ecc_tips", "3")];
    let target = Target::of(vec![spec("memory", &[("blocks", "4096")]), spec("cmu2003", &keys)]);
    let commands = reported(&target.initiator(), LUN_1);
    (target, commands)
});

/// A CDB of `length` bytes: most are of a known command, and have no bits but those that it
/// evaluates.
fn cdb(length: usize) -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![Just(0), Just(0xff), 0_u8..4, any::<u8>()];
    let bytes = prop::collection::vec(bytes, length);
    let known = prop::option::weighted(0.9, any::<prop::sample::Index>());
    (bytes, known, prop::bool::weighted(0.9)).prop_map(|(mut cdb, known, within)| {
        let Some(known) = known else {
            return cdb;
        };
        let command = known.get(&TARGET.1);
        let chosen = command.cdb();
        for (at, byte) in cdb.iter_mut().enumerate().take(chosen.len()) {
            let by = command.chosen_by(at);
            *byte = (*byte & !by) | (chosen[at] & by);
            if within {
                *byte &= command.usage[at] | by;
            }
        }
        cdb
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_command_is_answered_once(
        cdb in prop_oneof![cdb(6), cdb(10), cdb(12), cdb(16), cdb(32), cdb(260)],
        lun in prop_oneof![Just(0), Just(LUN_1), any::<u64>()],
        data in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let initiator = Initiator(TARGET.0.device.open_nexus());
        // The first may report a unit attention.
        for _ in 0..2 {
            let _ = initiator.run(lun, &cdb, &data);
        }
        // Commands that wait for the rest of their batch would not be answered.
        prop_assert!(!initiator.0.is_stalled());
    }
}
