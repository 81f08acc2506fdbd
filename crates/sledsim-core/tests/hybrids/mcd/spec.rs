//! Does a caching tier refuse invalid keys and name the reason?

use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::compose::hybrids::mcd::{Fetch, McdSpec};

fn read(text: &str) -> Result<McdSpec, String> {
    let mut keys = Keys::parse(text, "tier.toml").expect("TOML");
    // A front of 1 MiB and a back of 4.
    let spec = McdSpec::read(&mut keys, 2048, 8192).map_err(|error| error.to_string())?;
    keys.finish().map_err(|error| error.to_string())?;
    Ok(spec)
}

#[test]
fn errors_name_the_invalid_key() {
    let cases = [
        ("", "missing key 'segment_kib'"),
        ("segment_kib = 0", "segment_kib"),
        ("segment_kib = 2048", "segment_kib"),
        ("segment_kib = 0.3", "segment_kib"),
        ("segment_kib = 1024", "segment"),
        ("segment_kib = 8\nfront_mib = 2", "front_mib"),
        ("segment_kib = 64\nfront_mib = 0.0625", "front_mib"),
        ("segment_kib = 8\nfront_placement = \"last\"", "front_placement"),
        ("segment_kib = 8\nbuffer_kib = 4", "buffer_kib"),
        ("segment_kib = 8\nexchange_kib = 4", "exchange_kib"),
        ("segment_kib = 8\nexchange_kib = 4096", "exchange_kib"),
        ("segment_kib = 8\nfetch_kib = 12", "fetch_kib"),
        ("segment_kib = 8\nfetch_kib = \"some\"", "fetch_kib"),
        ("segment_kib = 8\nfetch_kib = 4096", "fetch_kib"),
        ("segment_kib = 8\npolicy = \"lrru\"", "policy"),
        ("segment_kib = 8\nclean_above = 1.5", "clean_above"),
        ("segment_kib = 8\nclean_after_idle_ms = -1", "clean_after_idle_ms"),
        ("segment_kib = 8\nbuffer_latency_ms = -1", "buffer_latency_ms"),
        ("segment_kib = 8\nbypass_after_kib = 0", "bypass_after_kib"),
        ("segment_kib = 8\nshortcut = 1", "shortcut"),
        ("segment_kib = 8\nshort_cut = true", "short_cut"),
    ];
    for (text, says) in cases {
        let error = read(text).expect_err(text);
        assert!(error.contains(says), "{text:?}: {error}");
        assert!(error.contains("tier.toml"), "{text:?}: {error}");
    }
}

#[test]
fn keys_have_the_documented_defaults_and_meanings() {
    let spec = read("segment_kib = 8").expect("a tier");
    assert!(spec.shortcut && spec.immediate_report && spec.partial_write && spec.headers);
    assert!(spec.read_priority);
    assert!(!(read("segment_kib = 8\nread_priority = false").expect("a tier")).read_priority);
    assert_eq!((spec.segment_blocks, spec.buffer_blocks), (16, 4096));
    // A header and 16 blocks each.
    assert_eq!(spec.placement.units, 2048 / 17);
    assert_eq!((spec.fetch, spec.exchange_segments), (Fetch::Segments(1), 1));
    assert_eq!(spec.clean_after_idle, None);
    let text = "segment_kib = 8\nheaders = false\nfetch_kib = 32\nexchange_kib = 20";
    let spec = read(text).expect("a tier");
    assert_eq!(spec.placement.units, 128);
    // At most 20 KiB are two segments.
    assert_eq!((spec.fetch, spec.exchange_segments), (Fetch::Segments(4), 2));
    assert_eq!(
        read("segment_kib = 8\nfetch_kib = \"auto\"").expect("a tier").fetch,
        Fetch::Automatic
    );
}

fn device(text: &str) -> Result<Device, String> {
    let text = format!("title = \"x\"\n{text}");
    let keys = Keys::parse(&text, "device.toml").map_err(|error| error.to_string())?;
    Device::from_keys(keys, None).map_err(|error| error.to_string())
}

#[test]
fn a_front_that_is_larger_than_the_back_is_refused() {
    let keys = "kind = \"mcd\"\nsegment_kib = 8\nfront.base = \"atlas10k\"\nback.base = \"g2\"";
    let error = device(keys).expect_err("too large a front");
    assert!(error.contains("front") && error.contains("swap"), "{error}");
    let keys = keys.replace("segment_kib = 8", "segment_kib = 8\nfront_mib = 1");
    assert!(device(&keys).is_ok());
}

#[test]
fn the_cache_of_a_controller_is_read_with_any_device() {
    let good = "base = \"g2\"\n[controller_cache]\ncache_mib = 1\n";
    let cached = device(good).expect("a sled behind a cache");
    assert_eq!(cached.blocks(), device("base = \"g2\"").expect("a sled").blocks());
    let cases = [
        ("base = \"g2\"\n[controller_cache]\nline_kib = 4\n", "cache_mib"),
        ("base = \"g2\"\n[controller_cache]\ncache_mib = 0.001953125\n", "cache_mib"),
        ("base = \"memory\"\n[controller_cache]\ncache_mib = 1e9\n", "cache_mib"),
    ];
    for (text, says) in cases {
        let error = device(text).expect_err(text);
        assert!(error.contains(says), "{text:?}: {error}");
    }
    for key in ["segment_kib = 4", "headers = true", "fetch = 4"] {
        let error = device(&format!("{good}{key}\n")).expect_err(key);
        let name = key.split(' ').next().expect("a name");
        assert!(error.contains(name), "{key}: {error}");
    }
}
