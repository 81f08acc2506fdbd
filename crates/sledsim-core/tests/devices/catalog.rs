//! Devices are resolved as their files define them.

use crate::common::{device, entry};
use sledsim_core::catalog::{Device, PRESETS};
use sledsim_core::devices::flash::Flash;
use sledsim_core::devices::memory::Memory;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::fs;

#[test]
fn every_value_of_every_preset_has_a_source() {
    for (name, _) in PRESETS {
        let device = device(name, &[]);
        let spec = device.resolved_keys();
        let kind = entry(&device, "kind").0.as_str();
        let keys = match kind {
            Some("mems") => 37,
            Some("flash") => 10,
            Some("mcd") => 13,
            Some("mwb") => 13,
            _ => 5,
        };
        let [is_cached, is_buffered, has_base] =
            ["controller_cache.cache_mib", "buffer.size_kib", "base"].map(|key| spec.has(key));
        let keys = keys + usize::from(has_base) + 4 * usize::from(is_cached);
        let keys = keys + 5 * usize::from(is_buffered);
        let count = spec.entries().count();
        if matches!(kind, Some("disk" | "actuators")) {
            assert!(count >= 20, "{name}");
        } else {
            assert_eq!(count, keys, "{name}");
        }
        for (key, _, source, _) in spec.entries() {
            let last = key.rsplit('.').next().unwrap_or(&key);
            let of_part = ["child.title", "child.kind"].contains(&&*key);
            let described = ["title", "kind", "base"].contains(&&*key) || last == "base" || of_part;
            assert!(described || source.is_some(), "{name}: {key} has no source");
        }
        assert!(spec.about().contains("Does not model"), "{name}");
    }
}

#[test]
fn a_variant_states_only_differences() {
    let device = device("cmu2003", &[("spring_factor", "0.5")]);
    let (value, _, origin) = entry(&device, "active_tips");
    assert_eq!(value.as_integer(), Some(640));
    assert!(origin.starts_with("cmu2003.toml:"));
    let (value, _, origin) = entry(&device, "bit_cell_nm");
    assert_eq!(value.as_integer(), Some(40));
    assert!(origin.starts_with("g2.toml:"));
    let (value, _, origin) = entry(&device, "spring_factor");
    assert_eq!((value.as_float(), &*origin), (Some(0.5), "test spring_factor"));
}

#[test]
fn baseline_devices_are_as_large_as_the_largest_sled() {
    let blocks = |name| device(name, &[]).blocks();
    for (name, _) in PRESETS {
        if device(name, &[]).mems().is_some() {
            let (mine, flash, memory) = (blocks(name), blocks("flash"), blocks("memory"));
            assert!(mine <= flash && mine <= memory, "{name}");
        }
    }
}

#[test]
fn rates_of_the_baseline_devices_match_their_data_sheets() {
    // 8 KiB in 50 us in each of 32 units is 5.2 GB/s: SATA's 600 MB/s are the
    // limit. 32 x 8 KiB in 900 us are 291 MB/s; 512 B in 30 ns 17.07 GB/s.
    let keys = |name: &str| device(name, &[]).resolved_keys().clone();
    let close = |value: Option<f64>, mb_s: f64| {
        let value = value.expect("a number");
        assert!((value / mb_s - 1.0).abs() < 1e-3, "{value} {mb_s}");
    };
    let flash = Flash::read(&mut keys("flash")).expect("flash").derived();
    close(flash.streaming_mb_s, 600.0);
    close(flash.write_mb_s, 291.3);
    close(Memory::read(&mut keys("memory")).expect("a memory").derived().streaming_mb_s, 17_067.0);
}

#[test]
fn files_extend_presets_and_other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    };
    file("stiff.toml", "base = \"g2\"\ntitle = \"Stiff\"\nspring_factor = 0.9 # measured\n");
    let path = file("slow.toml", "base = \"stiff.toml\"\ntip_rate_kbit_s = 100\n");
    let device = Device::resolve(&path, &[]).expect("a device");
    assert_eq!(device.name(), "slow");
    assert_eq!(entry(&device, "spring_factor").1, Some("measured"));
    assert_eq!(entry(&device, "title").0.as_str(), Some("Stiff"));

    let first = file("first.toml", "base = \"second.toml\"\n");
    file("second.toml", "base = \"first.toml\"\n");
    let error = |path: &str| Device::resolve(path, &[]).expect_err("a mistake").to_string();
    assert!(error(&first).contains("cycle"));
    let bad = file("bad.toml", "base = \"g2\"\n\ntips = 64.5\n");
    assert!(error(&bad).contains("bad.toml:3: tips = 64.5"));
}

#[test]
fn composites_are_devices_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pair.toml");
    let text = "title = 'Pair'\nkind = 'stripe'\nchildren = 2\nunit_blocks = 64\n[child]\nbase = 'g2'\nspring_factor = 0.5\n";
    fs::write(&path, text).expect("written");
    let device = Device::resolve(&path.to_string_lossy(), &[]).expect("a device");
    let (model, names) = device.build(&|| SchedulerSpec::default().make());
    assert_eq!(names, ["pair", "pair.child0", "pair.child1"]);
    // Whole units only: 6,750,000 is 105,468 of 64 blocks and 48 more.
    assert_eq!(model.blocks(), 2 * 105_468 * 64);

    let path = folder.path().join("cached.toml");
    let text = "title = 'Cached'\nkind = 'read_cache'\n[front]\ntitle = 'RAM'\nkind = 'memory'\nblocks = 4096\nlatency_ms = 0.01\nms_per_block = 0.001\n[back]\nbase = 'g2'\n";
    fs::write(&path, text).expect("written");
    let device = Device::resolve(&path.to_string_lossy(), &[]).expect("a device");
    assert_eq!(
        device.build(&|| SchedulerSpec::default().make()).1,
        ["cached", "cached.front", "cached.back"]
    );
}
