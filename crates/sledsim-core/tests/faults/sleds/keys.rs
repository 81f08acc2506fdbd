//! Errors of invalid keys.

use sledsim_core::catalog::Device;

#[test]
fn invalid_keys_are_refused_with_the_allowed_values() {
    for (keys, wanted) in [
        (vec![("faults.spare_tips", "6401")], "must be an integer from 0 to 6400"),
        (vec![("faults.spare_tips", "-1")], "faults.spare_tips"),
        (vec![("faults.ecc_tips", "6401")], "from 0 to 6400"),
        (vec![("faults.read_error_rate", "1.5")], "faults.read_error_rate"),
        (vec![("faults.read_error_rate", "-0.1")], "faults.read_error_rate"),
        (vec![("faults.seek_error_rate", "2")], "faults.seek_error_rate"),
        (vec![("faults.tip_failures_per_hour", "-1")], "tip_failures_per_hour"),
        (vec![("faults.failed_tips", "6401")], "from 0 to 6400"),
        (vec![("faults.failed_tips", "[6400]")], "from 0 to 6399"),
        (vec![("faults.failed_tips", "[7, 8, 7]")], "faults.failed_tips[2]"),
        (vec![("faults.remap", "'nowhere'")], "elsewhere"),
        (vec![("faults.remap", "'elsewhere'")], "spare_cylinders"),
        (vec![("faults.remap", "'elsewhere'"), ("faults.spare_cylinders", "2500")], "2499"),
        (vec![("faults.remap", "'elsewhere'"), ("faults.spare_tips", "3")], "left out"),
        (vec![("faults.spare_cylinders", "3")], "elsewhere"),
        (vec![("faults.lost_at_ms", "-1")], "lost_at_ms"),
        (vec![("faults.ecc_tip", "1")], "ecc_tips"),
    ] {
        let overrides: Vec<_> = keys
            .iter()
            .map(|(key, value)| {
                let value = value.parse().expect("a value");
                ((*key).to_owned(), value, "test".to_owned())
            })
            .collect();
        let error = Device::resolve("g2", &overrides).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}: {wanted}");
    }
}
