//! Workloads that are files: presets, files on files, mixes, and mistakes.

use super::{DEVICE, all, info, load};
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
fn facts_of_closed_loads_are_refused() {
    let closed = info(&load("random", "").unwrap()).unwrap_err().to_string();
    assert!(closed.contains("closed"), "{closed}");
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
