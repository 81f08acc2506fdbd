//! The keys of the controller: what is refused, and how.

use sledsim_base::keys::Keys;
use sledsim_core::catalog::{Device, PRESETS};
use sledsim_core::compose::hybrids::controllers;

fn error(text: &str) -> String {
    let mut keys = Keys::parse(text, "test").expect("TOML");
    match controllers::read(&mut keys, 100_000).map(|_| keys.finish()) {
        Err(error) | Ok(Err(error)) => error.to_string(),
        Ok(Ok(())) => panic!("taken: {text}"),
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (keys, problems) in [
        ("", ["cache_mib", "missing"]),
        ("cache_mib = 0.001953125", ["cache_mib", "must hold 1 to"]),
        ("cache_mib = 100", ["cache_mib", "as the device"]),
        ("cache_mib = 4.015625", ["cache_mib", "whole lines"]),
        ("cache_mib = 4\nline_kib = 2048", ["line_kib", "at most 1024"]),
        ("cache_mib = 4\nbit_blocks = 3", ["bit_blocks", "divide"]),
        ("cache_mib = 4\nbit_blocks = 65", ["bit_blocks", "65"]),
        ("cache_mib = 4\nexchange_kib = 48", ["exchange_kib", "whole lines"]),
        ("cache_mib = 4\nscheme = 'behind'", ["scheme", "through"]),
        ("cache_mib = 4\nallocate = 'newest'", ["allocate", "clean_first"]),
        ("cache_mib = 4\nprefetch = 'some'", ["prefetch", "rest"]),
        ("cache_mib = 4\nprefetch = 'all'\nbit_blocks = 64", ["prefetch", "none"]),
        ("cache_mib = 4\nscheme = 'sync'\nclean_every_ms = 5", ["clean_every_ms", "back"]),
        (
            "cache_mib = 4\nscheme = 'through'\nclean_after_idle_ms = 5",
            ["clean_after_idle_ms", "back"],
        ),
        ("cache_mib = 4\nscheme = 'sync'\nallocate = 'clean_first'", ["allocate", "back"]),
        ("cache_mib = 4\nclean_above = 0.5", ["clean_above", "unknown"]),
    ] {
        let error = error(&format!("controller = 'disksim'\n{keys}"));
        for problem in problems {
            assert!(error.contains(problem), "{keys}: {error}");
        }
    }
    assert!(error("controller = 'raid'\ncache_mib = 4").contains("disksim"));
}

/// The controller stands before any device, those that have one already included.
#[test]
fn every_preset_takes_it() {
    for (name, _) in PRESETS {
        let text = format!(
            "base = \"{name}\"\n[controller_cache]\ncontroller = \"disksim\"\ncache_mib = 0.5\n"
        );
        let keys = Keys::parse(&text, "test").expect("TOML");
        let device = Device::from_keys(keys, None).expect(name);
        assert_eq!(device.kind(), "disksim", "{name}");
        assert_eq!(device.children().len(), 1, "{name}");
    }
}
