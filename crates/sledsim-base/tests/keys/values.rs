//! Reading values by type, and the errors about wrong ones.

use super::{fails, g2, parse, unit};
use sledsim_base::keys::{Keys, Range};

#[test]
fn values_are_read_by_type() {
    let mut keys = g2();
    assert_eq!(keys.f64("bit_cell_nm", Range::above(0.0)).unwrap(), 40.0);
    assert_eq!(keys.u32("bit_cell_nm", 1..=100).unwrap(), 40);
    assert_eq!(keys.f64("spring_factor", unit()).unwrap(), 0.75);
    assert!(keys.bool("bidirectional").unwrap());
    let choices = [("piecewise", 1), ("analytic", 2)];
    assert_eq!(keys.choice("kinematics", &choices).unwrap(), 2);
    assert_eq!(keys.text("kinematics").unwrap(), "analytic");
    assert_eq!(keys.f64("power.sled_mw", Range::any()).unwrap(), 100.0);
    assert_eq!(keys.opt_f64("travel_x_um", Range::any()).unwrap(), Some(100.0));
    assert_eq!(keys.opt_u64("tips", 1..=9).unwrap(), None);
    assert_eq!(keys.opt_text("base").unwrap(), None);
    assert_eq!(keys.opt_bool("fast").unwrap(), None);
    assert_eq!(keys.opt_choice("order", &choices).unwrap(), None);
    let mut power = keys.take_table("power").unwrap();
    let mut tips = power.take_table("tips").unwrap();
    assert_eq!(tips.u64("active_mw", 0..=9).unwrap(), 1);
    power.u64("sled_mw", 0..=1000).unwrap();
    tips.finish().unwrap();
    power.finish().unwrap();
    keys.finish().unwrap();
}

#[test]
fn a_number_with_a_unit_is_refused_by_the_key() {
    for (key, text, says) in [
        ("rate", "500/s", "must be a number above 0, without a unit"),
        ("size_kib", "8KiB", "must be a number above 0, without a unit: the key is in KiB"),
        ("rate", "1..2", "must be a number above 0, without a unit"),
        ("rate", "fast", "must be a number above 0"),
    ] {
        let mut keys = Keys::empty("load");
        keys.set_text(key, text, &format!("--set {key}")).unwrap();
        let message = fails(keys.f64(key, Range::above(0.0)));
        assert_eq!(message, format!("--set {key} = \"{text}\": {says}"));
    }
}

#[test]
fn whole_numbers_may_be_written_with_an_exponent() {
    let read = |text: &str| {
        let mut keys = Keys::empty("load");
        keys.set_text("requests", text, "--set").unwrap();
        keys.u64("requests", 0..=u64::MAX)
    };
    assert_eq!(read("1e6").unwrap(), 1_000_000);
    assert_eq!(read("100.0").unwrap(), 100);
    assert_eq!(read("-0.0").unwrap(), 0);
    assert_eq!(read("9007199254740991.0").unwrap(), (1 << 53) - 1);
    // The nearest number to 2^53 + 1: it may have been meant.
    for text in ["9007199254740993.0", "1e300", "1.5", "-1e2", "nan", "inf"] {
        assert!(fails(read(text)).contains("must be an integer"), "{text}");
    }
}

#[test]
fn wrong_values_are_refused_with_file_line_and_allowed_values() {
    let text = "a = 1.2\nb = \"many\"\nc = 1.5\nd = nan\ne = inf\nf = -3\ng = \"eror\"\nh = [1]\n";
    let choices = [("error", 0), ("wrap", 1), ("scale", 2)];
    let mut k = parse(text);
    let messages = [
        fails(k.f64("a", unit())),
        fails(k.f64("b", Range::at_least(1.0).at_most(2.0))),
        fails(k.u64("b", 64..=6400)),
        fails(k.u64("c", 1..=u64::MAX)),
        fails(k.f64("d", Range::any())),
        fails(k.f64("d", Range::at_least(0.0).at_most(f64::INFINITY))),
        fails(k.f64("e", Range::at_least(0.0))),
        fails(k.u32("f", 0..=9)),
        fails(k.choice("g", &choices)),
        fails(k.choice("a", &choices)),
        fails(k.text("a")),
        fails(k.f64("h", Range::any())),
        fails(k.opt_u32("a", 0..=9)),
        fails(k.choice("z", &choices)),
        fails(k.text("z")),
        fails(k.bool("z")),
        fails(k.f64("z", Range::above(0.0).at_most(f64::INFINITY))),
        k.refuse("f", "must divide tips (6400)").to_string(),
        k.refuse("z", "must divide tips (6400)").to_string(),
    ];
    let expected = [
        "my.toml:1: a = 1.2: must be at least 0 and below 1",
        "my.toml:2: b = \"many\": must be a number at least 1 and at most 2",
        "my.toml:2: b = \"many\": must be an integer from 64 to 6400",
        "my.toml:3: c = 1.5: must be an integer of at least 1",
        "my.toml:4: d = nan: must be a finite number",
        "my.toml:4: d = nan: must be at least 0, or inf",
        "my.toml:5: e = inf: must be at least 0 and finite",
        "my.toml:6: f = -3: must be an integer from 0 to 9",
        "my.toml:7: g = \"eror\": must be \"error\", \"wrap\" or \"scale\"",
        "my.toml:1: a = 1.2: must be \"error\", \"wrap\" or \"scale\"",
        "my.toml:1: a = 1.2: must be a string in quotes",
        "my.toml:8: h = [1]: must be a finite number",
        "my.toml:1: a = 1.2: must be an integer from 0 to 9",
        "my.toml: missing key 'z' (\"error\", \"wrap\" or \"scale\")",
        "my.toml: missing key 'z' (a string in quotes)",
        "my.toml: missing key 'z' (true or false)",
        "my.toml: missing key 'z' (a number above 0, or inf)",
        "my.toml:6: f = -3: must divide tips (6400)",
        "my.toml: z: must divide tips (6400)",
    ];
    assert_eq!(messages, expected);
    assert_eq!(k.f64("e", Range::above(0.0).at_most(f64::INFINITY)).unwrap(), f64::INFINITY);
}

#[test]
fn ranges_include_or_exclude_their_bounds() {
    let half_open = Range::above(0.0).at_most(1.0);
    let other = Range::at_least(0.0).below(1.0);
    for (number, first, second) in [
        (-f64::MIN_POSITIVE, false, false),
        (0.0, false, true),
        (f64::MIN_POSITIVE, true, true),
        (1.0, true, false),
        (1.0 + f64::EPSILON, false, false),
        (f64::NAN, false, false),
    ] {
        assert_eq!(half_open.contains(number), first, "{number}");
        assert_eq!(other.contains(number), second, "{number}");
    }
    assert!(!Range::any().contains(f64::NEG_INFINITY) && !Range::any().contains(f64::INFINITY));
    assert!(Range::any().contains(f64::MIN) && Range::any().contains(f64::MAX));
}
