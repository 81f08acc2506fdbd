//! Keys: what is read, and what every mistake says.

use proptest::prelude::*;
use sledsim_base::keys::{Keys, Range, did_you_mean, nearest};

const G2: &str = "\
# Second generation.
# A comment of two lines.

# Not part of it.
bit_cell_nm = 40        # [P] SIGMETRICS 2000, Table 1
travel_x_um = 100.0
spring_factor = 0.75
bidirectional = true
kinematics = \"analytic\" # ours

[power]
sled_mw = 100  # a mean
[power.tips]
active_mw = 1
";

fn g2() -> Keys {
    Keys::parse(G2, "g2.toml").unwrap()
}

fn parse(text: &str) -> Keys {
    Keys::parse(text, "my.toml").unwrap()
}

fn unit() -> Range {
    Range::at_least(0.0).below(1.0)
}

/// The message of a failure.
fn fails<T: std::fmt::Debug>(result: sledsim_base::error::Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn values_are_read_as_what_they_are() {
    let mut keys = g2();
    assert_eq!(keys.f64("bit_cell_nm", Range::above(0.0)).unwrap(), 40.0);
    assert_eq!(keys.u32("bit_cell_nm", 1..=100).unwrap(), 40);
    assert_eq!(keys.f64("spring_factor", unit()).unwrap(), 0.75);
    assert!(keys.bool("bidirectional").unwrap());
    let choices = [("piecewise", 1), ("analytic", 2)];
    assert_eq!(keys.choice("kinematics", &choices).unwrap(), 2);
    assert_eq!(keys.text("kinematics").unwrap(), "analytic");
    assert_eq!(keys.f64("power.sled_mw", Range::any()).unwrap(), 100.0);
    assert_eq!(
        keys.opt_f64("travel_x_um", Range::any()).unwrap(),
        Some(100.0)
    );
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
    assert_eq!(seen, expected);
}

#[test]
fn a_variant_is_merged_key_by_key() {
    let variant =
        "# Half the spring.\nspring_factor = 0.375 # why\ntips = 3\n[power]\nsled_mw = 7\n";
    let mut merged = parse(variant).over(g2());
    assert_eq!(merged.about(), "Half the spring.");
    let order: Vec<_> = merged.entries().map(|e| e.0.to_owned()).collect();
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
    let changed: Vec<_> = merged
        .entries()
        .filter(|e| e.3.starts_with("my"))
        .map(|e| (e.0, e.2))
        .collect();
    assert_eq!(
        changed,
        [
            ("spring_factor", Some("why")),
            ("power.sled_mw", None),
            ("tips", None)
        ]
    );
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
fn arguments_and_flags_say_where_they_came_from() {
    let mut keys = g2();
    keys.set("spring_factor", 1.5.into(), "argument spring_factor")
        .unwrap();
    keys.set_text("bit_cell_nm", "many", "--set device.bit_cell_nm")
        .unwrap();
    keys.set_text("order", "c_look", "--set scheduler.name")
        .unwrap();
    keys.set_text("power", "{ sled_mw = -1 }", "--set device.power")
        .unwrap();
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
        assert!(
            message.starts_with(&format!("--set rate = {bad}")),
            "{message}"
        );
        assert!(message.contains("not a TOML value"), "{message}");
    }
}

#[test]
fn a_number_with_a_unit_is_refused_by_the_key() {
    for (key, text, says) in [
        ("rate", "500/s", "must be a number above 0, without a unit"),
        (
            "size_kib",
            "8KiB",
            "must be a number above 0, without a unit: the key is in KiB",
        ),
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
fn names_that_others_use_are_known() {
    let mut keys = Keys::empty("load");
    keys.set_text("iodepth", "4", "--set").unwrap();
    assert_eq!(keys.opt_u64("queue_depth", 1..=9).unwrap(), None);
    let says = "--set: unknown key 'iodepth'; did you mean 'queue_depth'?";
    assert_eq!(fails(keys.finish()), says);
}

#[test]
fn wrong_values_are_refused_with_file_line_and_what_is_allowed() {
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
    assert_eq!(
        k.f64("e", Range::above(0.0).at_most(f64::INFINITY))
            .unwrap(),
        f64::INFINITY
    );
}

#[test]
fn bounds_are_in_or_out_as_said() {
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

#[test]
fn every_key_must_be_asked_for() {
    let unknown = |text: &str| {
        let mut keys = parse(text);
        let _ = keys.opt_f64("spring_factor", Range::any());
        let _ = keys.opt_f64("travel_x_um", Range::any());
        let _ = keys.opt_f64("power.sled_mw", Range::any());
        let _ = keys.opt_f64("rate", Range::any());
        if let Some(mut front) = keys.take_table("front") {
            let _ = front.opt_text("base");
            if let Err(error) = front.finish() {
                return error.to_string();
            }
        }
        fails(keys.finish())
    };
    for (text, message) in [
        (
            "rate = 1\n\nspring_facter = 1",
            "my.toml:3: unknown key 'spring_facter'; did you mean 'spring_factor'?",
        ),
        (
            "travel_x_mm = 0.1",
            "my.toml:1: unknown key 'travel_x_mm'; did you mean 'travel_x_um' (in um)?",
        ),
        (
            "travel_x = 0.1",
            "my.toml:1: unknown key 'travel_x'; did you mean 'travel_x_um' (in um)?",
        ),
        (
            "Rate = 1",
            "my.toml:1: unknown key 'Rate'; did you mean 'rate'?",
        ),
        (
            "spring = 1",
            "my.toml:1: unknown key 'spring'; did you mean 'spring_factor'?",
        ),
        (
            "zzz = 1",
            "my.toml:1: unknown key 'zzz'; known are spring_factor, travel_x_um, power.sled_mw, rate, front",
        ),
        (
            "[front]\nbaze = 1",
            "my.toml:2: unknown key 'front.baze'; did you mean 'front.base'?",
        ),
        (
            "[frnt]\nbase = 1",
            "my.toml:1: unknown table 'frnt'; did you mean 'front'?",
        ),
        (
            "[frnt]",
            "my.toml:1: unknown table 'frnt'; did you mean 'front'?",
        ),
        (
            "[power]\nsled_w = 1",
            "my.toml:2: unknown key 'power.sled_w'; did you mean 'power.sled_mw' (in mW)?",
        ),
        (
            "front = 3",
            "my.toml:1: front = 3: must be a table, as in [front]",
        ),
        (
            "[front.deep]",
            "my.toml:1: unknown table 'front.deep'; there are none here",
        ),
        (
            "front = { base = \"g2\", bass = 1 }",
            "my.toml:1: unknown key 'front.bass'; did you mean 'front.base'?",
        ),
    ] {
        assert_eq!(unknown(text), message);
    }
    let mut set = Keys::empty("device g2");
    set.set_text("rat", "1", "--set rat").unwrap();
    set.opt_u64("rate", 0..=1).unwrap();
    assert_eq!(
        fails(set.finish()),
        "--set rat: unknown key 'rat'; did you mean 'rate'?"
    );
    // Sub-tables are taken whole: an empty one counts, a missing one does not.
    let mut keys = parse("[front]\n[front.power]\nx = 1\n[frontier]\ny = 2");
    assert!(keys.has("front") && keys.has("front.power.x") && !keys.has("back"));
    let front = keys.take_table("front").unwrap();
    assert_eq!(
        front.entries().map(|e| e.0).collect::<Vec<_>>(),
        ["power.x"]
    );
    assert_eq!(
        keys.entries().map(|e| e.0).collect::<Vec<_>>(),
        ["frontier.y"]
    );
    assert!(keys.take_table("back").is_none());
    let mut deep = parse("[a]\n[a.b]\nx = 1");
    deep.take_table("a.b").unwrap();
    deep.finish().unwrap();
    let mut empty = parse("[front]");
    empty.take_table("front").unwrap().finish().unwrap();
    empty.finish().unwrap();
}

#[test]
fn syntax_errors_name_file_and_line() {
    for (text, begin) in [
        ("a = 1\nb = \n", "my.toml:2: "),
        ("a = 1\n\na = 2\n", "my.toml:3: duplicate key at 'a'"),
        ("[t]\na = 1\n[t]\nb = 2", "my.toml:3: duplicate key at 't'"),
        ("a = 1\r\nb == 2\r\n", "my.toml:2: "),
        ("a = \"open\n", "my.toml:1: "),
        ("\"a.b\" = 1\n", "my.toml:1: key 'a.b': must not"),
        ("\"a[0]\" = 1\n", "my.toml:1: key 'a[0]': must not"),
        ("a = 99999999999999999999", "my.toml:1: "),
    ] {
        let message = fails(Keys::parse(text, "my.toml"));
        assert!(
            message.starts_with(begin) && !message.contains('\n'),
            "{text:?}: {message}"
        );
    }
}

#[test]
fn near_names_come_first_and_far_ones_not_at_all() {
    let presets = [
        "g1",
        "g2",
        "g3",
        "cmu2003",
        "msst2005",
        "sigmetrics2000",
        "atlas10k",
    ];
    assert_eq!(nearest("G2", presets)[0], "g2");
    assert_eq!(nearest("sigmetrics200", presets), ["sigmetrics2000"]);
    assert_eq!(nearest("sigmetrics", presets), ["sigmetrics2000"]);
    assert_eq!(nearest("atals10k", presets), ["atlas10k"]);
    assert!(nearest("floppy", presets).is_empty());
    assert_eq!(
        did_you_mean("altas10k", presets),
        "; did you mean 'atlas10k'?"
    );
    assert_eq!(did_you_mean("floppy", ["a", "b"]), "; known are a, b");
}

proptest! {
    /// Whatever a file says, reading it ends in keys or in an error that names
    /// the file and a line it has.
    #[test]
    fn any_text_is_read_or_refused(text in "([a-c\"'=.\\[\\]{}# \n0-9é,-]|= |true|\\\\u){0,40}") {
        match Keys::parse(&text, "f") {
            Ok(keys) => {
                let lines = text.lines().count();
                for (.., origin) in keys.entries() {
                    let line: usize = origin.strip_prefix("f:").unwrap().parse().unwrap();
                    prop_assert!((1..=lines).contains(&line));
                }
            }
            Err(error) => {
                let message = error.to_string();
                let line = message.split(':').nth(1).unwrap().parse::<usize>().unwrap();
                prop_assert!((1..=text.lines().count() + 1).contains(&line), "{}", message);
            }
        }
    }
}

const DRIVE: &str = "\
slips = [3, 5,
   8] # [S] a drive
points = [
  [1, 0.5],  # measured
  [2, 0.7],
  [3, -1],
]
pairs = [[1, 2], [3, 4]]

[[zone]] # outer
first = 0 # own
blocks = 20
[[zone]]
first = 7
[zone.inner]
x = 1
";

#[test]
fn lists_are_read_item_by_item() {
    let mut keys = parse(DRIVE);
    assert_eq!(keys.opt_u64s("slips", 0..=9).unwrap().unwrap(), [3, 5, 8]);
    let all = keys.opt_f64s("slips", Range::any()).unwrap().unwrap();
    assert_eq!(all, [3.0, 5.0, 8.0]);
    let points = keys.opt_f64_rows("points", [Range::any(); 2]);
    assert_eq!(
        points.unwrap().unwrap(),
        [[1.0, 0.5], [2.0, 0.7], [3.0, -1.0]]
    );
    let pairs = keys.opt_u64_rows::<2>("pairs", 0..=9).unwrap().unwrap();
    assert_eq!(pairs, [[1, 2], [3, 4]]);
    assert_eq!(keys.opt_u64s("spares", 0..=9).unwrap(), None);
    assert!(
        parse("a = []")
            .opt_u64s("a", 0..=9)
            .unwrap()
            .unwrap()
            .is_empty()
    );
    let source = keys.entries().next().unwrap().2;
    assert_eq!(source, Some("[S] a drive"));
}

#[test]
fn a_wrong_item_is_named_with_its_own_line() {
    let mut keys = parse(DRIVE);
    let [at_least_0, any] = [Range::at_least(0.0), Range::any()];
    for (message, says) in [
        (
            fails(keys.opt_u64s("slips", 0..=7)),
            "my.toml:2: slips[2] = 8: must be an integer from 0 to 7",
        ),
        (
            fails(keys.opt_f64_rows("points", [any, at_least_0])),
            "my.toml:6: points[2] = [3, -1]: must be a list of 2: a finite number, a number at least 0",
        ),
        (
            fails(keys.opt_u64_rows::<3>("pairs", 0..=9)),
            "my.toml:8: pairs[0] = [1, 2]: must be a list of 3, each an integer from 0 to 9",
        ),
        (
            fails(parse("a = 5").opt_f64s("a", any)),
            "my.toml:1: a = 5: must be a list; an item is a finite number",
        ),
        (
            fails(parse("a = [\n1, nan]").opt_f64s("a", any)),
            "my.toml:2: a[1] = nan: must be a finite number",
        ),
        (
            keys.refuse_item("points", 1, "must rise").to_string(),
            "my.toml:5: points[1] = [2, 0.7]: must rise",
        ),
    ] {
        assert_eq!(message, says);
    }
    let mut keys = parse(DRIVE);
    keys.set_text("slips", "[4, -1]", "--set device.slips")
        .unwrap();
    assert_eq!(
        fails(keys.opt_u64s("slips", 0..=7)),
        "--set device.slips: slips[1] = -1: must be an integer from 0 to 7"
    );
}

#[test]
fn lists_of_tables_are_taken_in_order() {
    let mut keys = parse(DRIVE);
    let mut zones = keys.take_tables("zone").unwrap();
    assert_eq!(zones.len(), 2);
    assert_eq!(zones[0].u64("first", 0..=9).unwrap(), 0);
    assert_eq!(
        fails(zones[0].u64("blocks", 1..=9)),
        "my.toml:12: zone[0].blocks = 20: must be an integer from 1 to 9"
    );
    zones.remove(0).finish().unwrap();
    let mut inner = zones[0].take_table("inner").unwrap();
    assert_eq!(inner.u64("x", 0..=9).unwrap(), 1);
    assert_eq!(
        fails(zones.remove(0).finish()),
        "my.toml:14: unknown key 'zone[1].first'; known are zone[1].inner"
    );
    assert!(keys.take_tables("spindle").unwrap().is_empty());
    let mistakes: [(&str, &str); 3] = [
        (
            "zone = 5",
            "my.toml:1: zone = 5: must be a list of tables, as in [[zone]]",
        ),
        (
            "[zone]\na = 1",
            "my.toml: zone: must be a list of tables, as in [[zone]]",
        ),
        (
            "zone = [{a = 1}, 2]",
            "my.toml:1: zone = [{a = 1}, 2]: must be a list of tables, as in [[zone]]",
        ),
    ];
    for (text, says) in mistakes {
        assert_eq!(fails(parse(text).take_tables("zone")), says);
    }
    let mut keys = parse("[[zones]]\na = 1\n");
    keys.take_tables("zone").unwrap();
    assert_eq!(
        fails(keys.finish()),
        "my.toml:1: unknown table 'zones'; did you mean 'zone'?"
    );
    let mut keys = parse("[[front]]\na = 1\n");
    assert!(keys.take_table("front").is_none());
    assert_eq!(
        fails(keys.finish()),
        "my.toml:1: front: must not be a list of tables ([[..]])"
    );
}

#[test]
fn inline_tables_make_lists_too_and_share_the_comment_behind_them() {
    let text = "zone = [\n { first = 0, last = 9 }, # [S] outer\n { first = 10 }\n] # [S] all\nx = {a = 1} # x";
    let keys = parse(text);
    let seen: Vec<_> = keys.entries().map(|e| (e.0, e.2, e.3)).collect();
    let expected = [
        ("zone[0].first", Some("[S] outer"), "my.toml:2"),
        ("zone[0].last", Some("[S] outer"), "my.toml:2"),
        ("zone[1].first", Some("[S] all"), "my.toml:3"),
        ("x.a", Some("x"), "my.toml:5"),
    ];
    assert_eq!(seen, expected);
    let mut keys = keys;
    assert_eq!(keys.take_tables("zone").unwrap().len(), 2);
}

#[test]
fn a_list_of_tables_replaces_the_whole_list_and_one_key_one_key() {
    let count = |mut keys: Keys| keys.take_tables("zone").unwrap().len();
    let base = || parse(DRIVE);
    assert_eq!(count(parse("x = 1").over(base())), 2);
    assert_eq!(count(parse("[[zone]]\na = 1\n").over(base())), 1);
    assert_eq!(
        count(parse("zone = [{a = 1}, {a = 2}, {a = 3}]").over(base())),
        3
    );
    let mut keys = base();
    keys.set_text("zone", "[{first = 3}]", "--set zone")
        .unwrap();
    assert_eq!(count(keys), 1);
    let mut one = Keys::empty("test");
    one.set_text("zone[1].first", "5", "--set zone[1].first")
        .unwrap();
    let mut zones = one.over(base()).take_tables("zone").unwrap();
    assert_eq!(zones.len(), 2);
    assert_eq!(zones[1].u64("first", 0..=9).unwrap(), 5);
    assert_eq!(zones[0].u64("first", 0..=9).unwrap(), 0);
}
