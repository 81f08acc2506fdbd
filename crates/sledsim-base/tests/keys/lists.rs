//! Lists of values and lists of tables: reading, and errors about items.

use super::{fails, parse};
use sledsim_base::keys::{Keys, Range};

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
    assert_eq!(points.unwrap().unwrap(), [[1.0, 0.5], [2.0, 0.7], [3.0, -1.0]]);
    let pairs = keys.opt_u64_rows::<2>("pairs", 0..=9).unwrap().unwrap();
    assert_eq!(pairs, [[1, 2], [3, 4]]);
    assert_eq!(keys.opt_u64s("spares", 0..=9).unwrap(), None);
    assert!(parse("a = []").opt_u64s("a", 0..=9).unwrap().unwrap().is_empty());
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
    keys.set_text("slips", "[4, -1]", "--set device.slips").unwrap();
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
        ("zone = 5", "my.toml:1: zone = 5: must be a list of tables, as in [[zone]]"),
        ("[zone]\na = 1", "my.toml: zone: must be a list of tables, as in [[zone]]"),
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
    assert_eq!(fails(keys.finish()), "my.toml:1: unknown table 'zones'; did you mean 'zone'?");
    let mut keys = parse("[[front]]\na = 1\n");
    assert!(keys.take_table("front").is_none());
    assert_eq!(fails(keys.finish()), "my.toml:1: front: must not be a list of tables ([[..]])");
}

#[test]
fn lists_of_inline_tables_are_read_and_share_the_trailing_comment() {
    let text = "zone = [\n { first = 0, last = 9 }, # [S] outer\n { first = 10 }\n] # [S] all\nx = {a = 1} # x";
    let keys = parse(text);
    let seen: Vec<_> = keys.entries().map(|e| (e.0, e.2, e.3)).collect();
    let expected = [
        ("zone[0].first", Some("[S] outer"), "my.toml:2"),
        ("zone[0].last", Some("[S] outer"), "my.toml:2"),
        ("zone[1].first", Some("[S] all"), "my.toml:3"),
        ("x.a", Some("x"), "my.toml:5"),
    ];
    let expected =
        expected.map(|(key, source, origin)| (key.to_owned(), source, origin.to_owned()));
    assert_eq!(seen, expected);
    let mut keys = keys;
    assert_eq!(keys.take_tables("zone").unwrap().len(), 2);
}

#[test]
fn overriding_a_list_of_tables_replaces_it_and_a_single_key_only_itself() {
    let count = |mut keys: Keys| keys.take_tables("zone").unwrap().len();
    let base = || parse(DRIVE);
    assert_eq!(count(parse("x = 1").over(base())), 2);
    assert_eq!(count(parse("[[zone]]\na = 1\n").over(base())), 1);
    assert_eq!(count(parse("zone = [{a = 1}, {a = 2}, {a = 3}]").over(base())), 3);
    let mut keys = base();
    keys.set_text("zone", "[{first = 3}]", "--set zone").unwrap();
    assert_eq!(count(keys), 1);
    let mut one = Keys::empty("test");
    one.set_text("zone[1].first", "5", "--set zone[1].first").unwrap();
    let mut zones = one.over(base()).take_tables("zone").unwrap();
    assert_eq!(zones.len(), 2);
    assert_eq!(zones[1].u64("first", 0..=9).unwrap(), 5);
    assert_eq!(zones[0].u64("first", 0..=9).unwrap(), 0);
}
