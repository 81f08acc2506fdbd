//! Error messages for invalid keys.

use super::Keys;

#[test]
fn errors_name_the_key() {
    let error = |name: &str, keys: &Keys<'_>| {
        let keys: Vec<_> = keys
            .iter()
            .map(|(key, value)| {
                ((*key).to_owned(), value.parse().expect("TOML"), format!("--set {key}"))
            })
            .collect();
        let error = sledsim_core::catalog::Device::resolve(name, &keys);
        error.expect_err("a mistake").to_string()
    };
    let timeout = ("power.policy", "'timeout'");
    let cases: [(&str, &Keys<'_>, &[&str]); 9] = [
        ("g2", &[timeout, ("power.timeout_ms", "-1")], &["power.timeout_ms", "-1", "0"]),
        ("g2", &[("power.policy", "'always'")], &["power.policy", "always", "immediate"]),
        ("g2", &[("power.timeout_ms", "5")], &["power.timeout_ms", "policy"]),
        ("g2", &[timeout, ("power.break_even_ms", "5")], &["break_even_ms", "adaptive"]),
        ("g2", &[("power.max_active_tips", "100")], &["max_active_tips", "multiple", "64"]),
        ("g2", &[("power.max_active_tips", "1344")], &["max_active_tips", "1280"]),
        ("g2", &[("power.compressed_to", "1.5")], &["compressed_to", "1.5"]),
        ("g2", &[("power.on_at_ms", "5")], &["on_at_ms", "starts"]),
        ("atlas10k", &[timeout], &["power.seek_w", "missing"]),
    ];
    for (name, keys, words) in cases {
        let message = error(name, keys);
        for word in words {
            assert!(message.contains(word), "{message} lacks {word}");
        }
        assert!(!message.contains('\n'));
    }
}
