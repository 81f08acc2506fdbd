// Properties of reading any TOML text: the body of a fuzz target, and of a
// property test of sledsim-experiments (tests/any_bytes.rs).

use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::workloads::Workload;
use sledsim_experiments::load::Load;
use std::path::Path;

/// TOML text as a device, as a workload, and as values.
pub fn keys(text: &str) {
    if let Ok(keys) = Keys::parse(text, "fuzz.toml") {
        for (key, ..) in keys.entries() {
            assert!(!key.is_empty());
        }
        for name in Workload::names() {
            let _ = Load::workload(name, keys.clone());
        }
        let _ = Load::trace(Path::new("fuzz.trace"), keys.clone());
        // A base may be the path of any file.
        let base = keys.clone().opt_text("base").ok().flatten();
        let is_file = base.is_some_and(|base| base.contains(['/', '\\', '.']));
        if !is_file && let Ok(device) = Device::from_keys(keys, None) {
            assert!(device.blocks() > 0);
            assert!(serde_json::to_string(&device.show()).is_ok());
        }
    }
    let mut keys = Keys::empty("fuzz");
    if let Some((key, value)) = text.split_once('=') {
        let _ = keys.set_text(key, value, "--set fuzz");
        let _ = Load::workload("random", keys);
    }
}
