//! Workloads that are files: presets, files on files, mixes, and mistakes.

use super::{DEVICE, all, info, load, try_source};
use serde_json::Value;
use sledsim_base::keys::Keys;
use sledsim_core::workloads::{Mix, MixSpec, PRESETS};
use sledsim_experiments::load::show;

#[test]
fn presets_are_drawn_to_their_end_and_take_other_keys() {
    for (name, _) in PRESETS {
        let whole = load(name, "").unwrap();
        let short = info(&load(name, "requests = 500").unwrap()).unwrap();
        assert_eq!(short["requests"], 500);
        assert_eq!(whole.seed(), Some(1));
        let other = info(&load(name, "requests = 500\nseed = 2").unwrap()).unwrap();
        assert_ne!(short["footprint"], other["footprint"], "{name}");
        let slow = info(&load(name, "requests = 500\ntime_scale = 0.25").unwrap()).unwrap();
        let ratio = slow["last_time_s"].as_f64().unwrap() / short["last_time_s"].as_f64().unwrap();
        assert!((ratio - 4.0).abs() < 1e-6, "{name} {ratio}");
        assert_eq!(slow["footprint"], short["footprint"]);
        let shown = show(name).unwrap();
        let unsourced = |(key, entry): (&String, &Value)| {
            (entry["source"].is_null() && !key.contains("kind") && key != "title")
                .then(|| key.clone())
        };
        let unsourced: Vec<String> =
            shown["parameters"].as_object().unwrap().iter().filter_map(unsourced).collect();
        // The two parts of a mix share comments.
        assert!(unsourced.iter().all(|key| key.starts_with("part.")), "{unsourced:?}");
    }
}

#[test]
fn a_file_is_a_workload_and_may_stand_on_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("below")).unwrap();
    std::fs::write(at("mine.toml"), "title = \"mine\"\nbase = \"tpcc\"\nrequests = 300\n").unwrap();
    std::fs::write(at("below/far.toml"), "base = \"../mine.toml\"\nrate = 7 # slow\n").unwrap();
    let path = at("below/far.toml");
    let path = path.to_str().unwrap();
    let facts = info(&load(path, "seed = 9").unwrap()).unwrap();
    let keys = &facts["workload"];
    assert_eq!(keys["workload"], "nurand");
    assert_eq!(keys["preset"], "far");
    assert_eq!(
        (&keys["requests"], &keys["rate"], &keys["seed"]),
        (&300.into(), &7.0.into(), &9.into())
    );
    assert_eq!(keys["tables"][0][3], 8191);
    let shown = show(path).unwrap();
    assert_eq!(shown["parameters"]["rate"]["source"], "slow");
    assert_eq!(shown["parameters"]["title"]["value"], "mine");
    std::fs::write(at("a.toml"), "base = \"b.toml\"\n").unwrap();
    std::fs::write(at("b.toml"), "base = \"a.toml\"\n").unwrap();
    std::fs::write(at("none.toml"), "rate = 5\n").unwrap();
    std::fs::write(at("odd.toml"), "base = \"tpcc\"\nrats = 5\n").unwrap();
    for (file, says) in [
        ("a.toml", "the bases form a cycle"),
        ("none.toml", "none.toml: missing key 'kind'"),
        ("odd.toml", "odd.toml:2: unknown key 'rats'; did you mean 'rate'"),
        ("gone.toml", "gone.toml"),
    ] {
        let error = load(at(file).to_str().unwrap(), "").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = load("cells", "").unwrap_err().to_string();
    assert!(error.contains("unknown workload 'cells'; did you mean 'cello'?"), "{error}");
}

#[test]
fn mistakes_are_refused() {
    let files = "set_mib = 10\n";
    for (kind, text, says) in [
        ("random", "rate = 5\nbias = 0.4", ":2: bias = 0.4: must be at least 0.5"),
        ("random", "bias = 0.7", ":1: bias = 0.7: shapes the arrivals of an open load"),
        ("random", "rate = 5\ncascade_s = 3", ":2: cascade_s = 3: needs bias"),
        ("random", "rate = 5\nbias = 0.7\ncascade_levels = 31", ":3: cascade_levels = 31"),
        (
            "random",
            "rate = 5\nbias = 0.7\non_ms = 5\noff_ms = 5",
            ":2: bias = 0.7: must not be given with on_ms",
        ),
        ("random", "sizes_kib = [1]", ":1: sizes_kib = [1]: needs size = \"listed\""),
        ("random", "size = \"listed\"", "sizes_kib: size = \"listed\" needs at least one"),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1, 2]\nsize_shares = [1]",
            ":3: size_shares = [1]: must be a list of 2",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1, 2.2]\nsize_shares = [1, 1]",
            ":2: sizes_kib[1] = 2.2: must be a multiple of 0.5 KiB",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1]\nsize_shares = [0]",
            ":3: size_shares[0] = 0: must be",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1]\nsize_shares = [1]\nmean_size_kib = 4",
            ":4: mean_size_kib = 4: has no effect",
        ),
        ("files", "", "load.toml: missing key 'set_mib'"),
        ("files", "set_mib = 9000", ":1: set_mib = 9000: must be at most the 8759."),
        (
            "files",
            "set_mib = 10\nextent_kib = 10\nblocking = 16",
            ":2: extent_kib = 10: must be a multiple of blocking, which is 8 KiB",
        ),
        (
            "files",
            "set_mib = 10\nunit_kib = 3",
            ":2: unit_kib = 3: must be a multiple of blocking, and divide",
        ),
        (
            "files",
            "set_mib = 10\npart_from = 0.5\npart_to = 0.5",
            ":3: part_to = 0.5: must be above 0.5",
        ),
        (
            "files",
            "set_mib = 0.0625\npart_from = 0.4\npart_to = 0.45",
            ":2: part_from = 0.4: must leave an extent",
        ),
        ("scan", "set_mib = 1\nscans = 9", ":2: scans = 9: must be at most the 8 extents"),
        (
            "scan",
            "set_mib = 1\nturn_kib = 129",
            ":2: turn_kib = 129: must be above 0 and at most 128",
        ),
        (
            "scan",
            "set_mib = 1\nturn_kib = 3\nblocking = 4",
            ":2: turn_kib = 3: must be a multiple of blocking",
        ),
        (
            "random",
            "writes = \"read_earlier\"\nread_fraction = 1",
            ":1: writes = \"read_earlier\": needs a read_fraction above 0 and below 1",
        ),
        ("nurand", "set_mib = 1\nrows = 0", ":2: rows = 0: must be an integer from 1"),
    ] {
        let error = try_source(kind, text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\n{says}");
    }
    assert!(try_source("files", files).is_ok());
    let closed = info(&load("random", "").unwrap()).unwrap_err().to_string();
    assert!(closed.contains("closed"), "{closed}");
    let parts = "time_scale = 2\n[part.a]\nqueue_depth = 2";
    let error = MixSpec::read(&mut Keys::parse(parts, "mix.toml").unwrap()).unwrap_err();
    assert!(error.to_string().contains("mix.toml:1: time_scale = 2: scales the arrivals"));
}

#[test]
fn a_mix_is_scaled_in_all_its_open_parts() {
    let read = |text: &str| -> Mix {
        let mut keys = Keys::parse(text, "mix.toml").unwrap();
        MixSpec::read(&mut keys).unwrap().source(DEVICE).unwrap()
    };
    let parts = "[part.a]\nrate = 100\ntime_scale = 2\n[part.b]\nrate = 50\nbias = 0.7\n";
    let (plain, fast) = (all(read(parts)), all(read(&format!("time_scale = 8\n{parts}"))));
    for (plain, fast) in plain.iter().zip(&fast) {
        assert!(plain.arrival.0.abs_diff(8 * fast.arrival.0) <= 16);
        assert_eq!((plain.lbn(), plain.stream), (fast.lbn(), fast.stream));
    }
}
