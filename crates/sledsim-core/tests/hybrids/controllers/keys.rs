//! Devices that take the keys of the controller.

use sledsim_base::keys::Keys;
use sledsim_core::catalog::{Device, PRESETS};

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
