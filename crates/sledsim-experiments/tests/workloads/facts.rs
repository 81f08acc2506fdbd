//! Generators report the keys in effect.

use serde_json::json;
use sledsim_base::keys::Keys;
use sledsim_core::workloads::GeneratorSpec;

fn facts(kind: &str, text: &str) -> String {
    let mut keys = Keys::parse(text, "load.toml").unwrap();
    let spec = GeneratorSpec::read(kind, &mut keys).unwrap();
    keys.finish().unwrap();
    json!(spec.source(6_750_000).unwrap()).to_string()
}

#[test]
fn the_json_has_every_value_in_effect() {
    for (kind, text, expected) in [
        (
            "random",
            "",
            r#"{"workload":"random","requests":10000,"seed":1,"read_fraction":0.67,"size":"geometric","mean_size_kib":4.0,"blocking":1,"first_lbn":0,"last_lbn":null,"queue_depth":1,"think_ms":0.0,"shortened":0}"#,
        ),
        ("zipf", "", r#""zipf_exponent":1.0,"unit_blocks":8,"scatter":true,"queue_depth":1"#),
        ("zipf", "blocking = 3", r#""unit_blocks":9"#),
        ("hot_cold", "", r#""hot_fraction":0.2,"hot_share":0.8,"hot_start":0.0"#),
        ("sequential", "", r#""streams":1,"interleave":"round_robin","sequential_fraction":1.0"#),
        ("sequential", "mean_run_requests = 4", r#""sequential_fraction":0.75"#),
        ("random", "rate = 5", r#""rate":5.0,"time_scale":1.0,"arrivals":"poisson""#),
        (
            "random",
            "rate = 5\non_ms = 1000\noff_ms = 2",
            r#""arrivals":"poisson","on_ms":1000.0,"off_ms":2.0,"burst_lengths":"exponential""#,
        ),
        ("random", "think_ms = 1", r#""queue_depth":1,"think_ms":1.0,"think":"fixed""#),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [4, 2.5]\nsize_shares = [1, 3]\nblocking = 2",
            r#""size":"listed","mean_size_kib":2.875,"sizes_kib":[4.0,2.5],"size_shares":[1.0,3.0],"blocking":2"#,
        ),
        ("random", "writes = \"read_earlier\"", r#""read_fraction":0.67,"writes":"read_earlier""#),
        (
            "nurand",
            "set_mib = 4\ntables = [[0.5, 1, 1000, 15, 20]]",
            r#""set_mib":4.0,"extent_kib":8.0,"tables":[[0.5,1.0,1000,15,20]],"#,
        ),
        ("nurand", "set_mib = 4", r#""rows":100000,"row_mask":8191,"rows_per_page":26,"#),
        (
            "files",
            "set_mib = 4\nrate = 9\nbias = 0.7",
            r#""unit_kib":8.0,"popularity":"static","zipf_exponent":1.0,"clustered":true,"part_from":0.0,"part_to":1.0,"sequential_fraction":0.0,"interleave_kib":0.0,"rate":9.0,"time_scale":1.0,"arrivals":"poisson","bias":0.7,"cascade_s":32.0,"cascade_levels":9"#,
        ),
        (
            "files",
            "set_mib = 4\npopularity = \"moving\"\nreuse_set = 100\nreuse_distances = [2]\nreuse_counts = [9]\nnew_fraction = 0.25",
            r#""popularity":"moving","reuse_set":100.0,"reuse_distances":[2.0],"reuse_counts":[9.0],"new_fraction":0.25,"clustered""#,
        ),
    ] {
        let found = facts(kind, text);
        assert!(found.contains(expected), "{found}\n{expected}");
        assert!(found.starts_with(&format!(r#"{{"workload":"{kind}""#)), "{found}");
    }
}
