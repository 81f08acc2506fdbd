//! Sources of keys and their merging: files, variants, flags, arguments.

use super::{fails, g2, parse, unit};
use sledsim_base::keys::{Keys, Range};

#[test]
fn entries_keep_file_order_sources_and_origins() {
    let keys = g2();
    assert_eq!(keys.about(), "Second generation.\nA comment of two lines.");
    let seen: Vec<String> = keys
        .entries()
        .map(|(key, value, source, origin)| format!("{key}|{value}|{source:?}|{origin}"))
        .collect();
    let expected = [
        "bit_cell_nm|40|Some(\"[P] SIGMETRICS 2000, Table 1\")|g2.toml:5",
        "travel_x_um|100.0|None|g2.toml:6",
        "spring_factor|0.75|None|g2.toml:7",
        "bidirectional|true|None|g2.toml:8",
        "kinematics|\"analytic\"|Some(\"ours\")|g2.toml:9",
        "power.sled_mw|100|Some(\"a mean\")|g2.toml:12",
        "power.tips.active_mw|1|None|g2.toml:14",
    ];
    assert_eq!(seen, expected);
    // Tables written out of order still come in the order of the file.
    let keys = parse("[a.b]\nx = 1\n[c]\ny = 2 #\n[a]\nz = [\n 1, # one\n]\t# all\n");
    let seen: Vec<_> = keys.entries().map(|e| (e.0, e.2, e.3)).collect();
    let expected = [
        ("a.b.x", None, "my.toml:2"),
        ("c.y", Some(""), "my.toml:4"),
        ("a.z", Some("all"), "my.toml:6"),
    ];
    let expected =
        expected.map(|(key, source, origin)| (key.to_owned(), source, origin.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn a_variant_is_merged_key_by_key() {
    let variant =
        "# Half the spring.\nspring_factor = 0.375 # why\ntips = 3\n[power]\nsled_mw = 7\n";
    let mut merged = parse(variant).over(g2());
    assert_eq!(merged.about(), "Half the spring.");
    let order: Vec<_> = merged.entries().map(|e| e.0).collect();
    let expected = [
        "bit_cell_nm",
        "travel_x_um",
        "spring_factor",
        "bidirectional",
        "kinematics",
        "power.sled_mw",
        "power.tips.active_mw",
        "tips",
    ];
    assert_eq!(order, expected);
    let changed: Vec<_> =
        merged.entries().filter(|e| e.3.starts_with("my")).map(|e| (e.0, e.2)).collect();
    let expected = [("spring_factor", Some("why")), ("power.sled_mw", None), ("tips", None)];
    assert_eq!(changed, expected.map(|(key, source)| (key.to_owned(), source)));
    assert_eq!(merged.f64("spring_factor", unit()).unwrap(), 0.375);
    assert_eq!(
        fails(merged.u64("active_tips", 64..=6400)),
        "g2.toml: missing key 'active_tips' (an integer from 64 to 6400)"
    );
    let mut plain = parse("tips = 1").over(g2());
    assert!(plain.about().starts_with("Second"));
    assert_eq!(
        fails(plain.f64("bit_cell_nm", unit())),
        "g2.toml:5: bit_cell_nm = 40: must be at least 0 and below 1"
    );
}

#[test]
fn messages_name_the_argument_or_flag() {
    let mut keys = g2();
    keys.set("spring_factor", 1.5.into(), "argument spring_factor").unwrap();
    keys.set_text("bit_cell_nm", "many", "--set device.bit_cell_nm").unwrap();
    keys.set_text("order", "c_look", "--set scheduler.name").unwrap();
    keys.set_text("power", "{ sled_mw = -1 }", "--set device.power").unwrap();
    assert_eq!(
        fails(keys.f64("spring_factor", unit())),
        "argument spring_factor = 1.5: must be at least 0 and below 1"
    );
    assert_eq!(
        fails(keys.f64("bit_cell_nm", Range::above(0.0))),
        "--set device.bit_cell_nm = \"many\": must be a number above 0"
    );
    assert_eq!(
        fails(keys.bool("order")),
        "--set scheduler.name: order = \"c_look\": must be true or false"
    );
    let mut power = keys.take_table("power").unwrap();
    assert_eq!(
        fails(power.u64("sled_mw", 0..=u64::MAX)),
        "--set device.power: power.sled_mw = -1: must be an integer of at least 0"
    );
    // In place: the order of the file is kept.
    assert_eq!(keys.entries().nth(2).unwrap().0, "spring_factor");
}

#[test]
fn text_after_set_is_toml_or_a_word() {
    let mut keys = Keys::empty("workload");
    for (key, text) in [
        ("a", "sptf"),
        ("b", "traces/week 1.srt"),
        ("c", " 1_000 "),
        ("d", "\"quoted\""),
        ("e", "true"),
        ("f", "./x.trace"),
        ("g", "inf"),
    ] {
        keys.set_text(key, text, "--set").unwrap();
    }
    let seen: Vec<_> = keys.entries().map(|e| e.1.to_string()).collect();
    let expected = [
        "\"sptf\"",
        "\"traces/week 1.srt\"",
        "1_000",
        "\"quoted\"",
        "true",
        "\"./x.trace\"",
        "inf",
    ];
    assert_eq!(seen, expected);
    for bad in ["", "\"open", "[1, 2", "{a=1", "-", "a\"b"] {
        let message = fails(keys.set_text("rate", bad, "--set rate"));
        assert!(message.starts_with(&format!("--set rate = {bad}")), "{message}");
        assert!(message.contains("not a TOML value"), "{message}");
    }
}
