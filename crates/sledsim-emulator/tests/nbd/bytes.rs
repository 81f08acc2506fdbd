//! The body of the fuzz target on its seeds and on mutations of them.

#[path = "../../../../fuzz/nbd.rs"]
mod nbd;

use crate::seeds::seeds;
use proptest::prelude::*;

#[test]
fn the_seeds_are_served() {
    let seeds = seeds("nbd_session");
    assert!(seeds.len() >= 4);
    for seed in seeds {
        nbd::nbd_session(&seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_seeds_are_survived(bytes in crate::seeds::changed("nbd_session")) {
        nbd::nbd_session(&bytes);
    }
}
