//! The meaning of the keys of a caching tier.

use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::compose::hybrids::mcd::{Fetch, McdSpec};

fn read(text: &str) -> McdSpec {
    let mut keys = Keys::parse(text, "tier.toml").expect("TOML");
    // A front of 1 MiB and a back of 4.
    let spec = McdSpec::read(&mut keys, 2048, 8192).expect("a tier");
    keys.finish().expect("known keys");
    spec
}

#[test]
fn keys_have_the_documented_defaults_and_meanings() {
    let spec = read("segment_kib = 8");
    assert!(spec.shortcut && spec.immediate_report && spec.partial_write && spec.headers);
    assert!(spec.read_priority);
    assert!(!read("segment_kib = 8\nread_priority = false").read_priority);
    assert_eq!((spec.segment_blocks, spec.buffer_blocks), (16, 4096));
    // A header and 16 blocks each.
    assert_eq!(spec.placement.units, 2048 / 17);
    assert_eq!((spec.fetch, spec.exchange_segments), (Fetch::Segments(1), 1));
    assert_eq!(spec.clean_after_idle, None);
    let text = "segment_kib = 8\nheaders = false\nfetch_kib = 32\nexchange_kib = 20";
    let spec = read(text);
    assert_eq!(spec.placement.units, 128);
    // At most 20 KiB are two segments.
    assert_eq!((spec.fetch, spec.exchange_segments), (Fetch::Segments(4), 2));
    assert_eq!(read("segment_kib = 8\nfetch_kib = \"auto\"").fetch, Fetch::Automatic);
}

fn device(text: &str) -> Device {
    let text = format!("title = \"x\"\n{text}");
    Device::from_keys(Keys::parse(&text, "device.toml").expect("TOML"), None).expect("a device")
}

#[test]
fn the_cache_of_a_controller_is_read_with_any_device() {
    let good = "base = \"g2\"\n[controller_cache]\ncache_mib = 1\n";
    let cached = device(good);
    assert_eq!(cached.blocks(), device("base = \"g2\"").blocks());
    // A front that is larger than its back may lend a part.
    device(
        "kind = \"mcd\"\nsegment_kib = 8\nfront_mib = 1\nfront.base = \"atlas10k\"\nback.base = \"g2\"",
    );
}
