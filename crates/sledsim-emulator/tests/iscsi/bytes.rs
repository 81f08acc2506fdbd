//! The body of the fuzz target on its seeds and on mutations of them.

#[path = "../../../../fuzz/iscsi.rs"]
mod iscsi;

use crate::seeds::seeds;
use proptest::prelude::*;

#[test]
fn the_seeds_are_served() {
    let seeds = seeds("iscsi_session");
    assert!(seeds.len() >= 7);
    for seed in seeds {
        iscsi::iscsi_session(&seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_seeds_are_survived(bytes in crate::seeds::changed("iscsi_session")) {
        iscsi::iscsi_session(&bytes);
    }
}
