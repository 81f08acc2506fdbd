//! Errors about unknown names and bad TOML.

use super::{fails, parse};
use proptest::prelude::*;
use sledsim_base::error::{Error, Origin};
use sledsim_base::keys::{Keys, Range, did_you_mean, nearest};

#[test]
fn a_synonym_hints_at_the_key() {
    let mut keys = Keys::empty("load");
    keys.set_text("iodepth", "4", "--set").unwrap();
    assert_eq!(keys.opt_u64("queue_depth", 1..=9).unwrap(), None);
    let says = "--set: unknown key 'iodepth'; did you mean 'queue_depth'?";
    assert_eq!(fails(keys.finish()), says);
}

#[test]
fn unknown_keys_and_tables_are_refused_with_a_hint() {
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
        ("Rate = 1", "my.toml:1: unknown key 'Rate'; did you mean 'rate'?"),
        ("spring = 1", "my.toml:1: unknown key 'spring'; did you mean 'spring_factor'?"),
        (
            "zzz = 1",
            "my.toml:1: unknown key 'zzz'; known are spring_factor, travel_x_um, power.sled_mw, rate, front",
        ),
        ("[front]\nbaze = 1", "my.toml:2: unknown key 'front.baze'; did you mean 'front.base'?"),
        ("[frnt]\nbase = 1", "my.toml:1: unknown table 'frnt'; did you mean 'front'?"),
        ("[frnt]", "my.toml:1: unknown table 'frnt'; did you mean 'front'?"),
        (
            "[power]\nsled_w = 1",
            "my.toml:2: unknown key 'power.sled_w'; did you mean 'power.sled_mw' (in mW)?",
        ),
        ("front = 3", "my.toml:1: front = 3: must be a table, as in [front]"),
        ("[front.deep]", "my.toml:1: unknown table 'front.deep'; there are none here"),
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
    assert_eq!(fails(set.finish()), "--set rat: unknown key 'rat'; did you mean 'rate'?");
    // Sub-tables are taken whole: an empty one counts, a missing one does not.
    let mut keys = parse("[front]\n[front.power]\nx = 1\n[frontier]\ny = 2");
    assert!(keys.has("front") && keys.has("front.power.x") && !keys.has("back"));
    let front = keys.take_table("front").unwrap();
    assert_eq!(front.entries().map(|e| e.0).collect::<Vec<_>>(), ["power.x"]);
    assert_eq!(keys.entries().map(|e| e.0).collect::<Vec<_>>(), ["frontier.y"]);
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
        assert!(message.starts_with(begin) && !message.contains('\n'), "{text:?}: {message}");
    }
}

#[test]
fn hints_list_similar_names_nearest_first() {
    let presets = ["g1", "g2", "g3", "cmu2003", "msst2005", "sigmetrics2000", "atlas10k"];
    assert_eq!(nearest("G2", presets)[0], "g2");
    assert_eq!(nearest("sigmetrics200", presets), ["sigmetrics2000"]);
    assert_eq!(nearest("sigmetrics", presets), ["sigmetrics2000"]);
    assert_eq!(nearest("atals10k", presets), ["atlas10k"]);
    assert!(nearest("floppy", presets).is_empty());
    assert_eq!(did_you_mean("altas10k", presets), "; did you mean 'atlas10k'?");
    assert_eq!(did_you_mean("floppy", ["a", "b"]), "; known are a, b");
}

proptest! {
    /// Any text is read, or refused with its file and an existing line.
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

/// The file or description, the line and the key that an error carries.
fn place(error: Error) -> (String, Option<usize>, Option<String>) {
    let (origin, key) = match error {
        Error::Value { origin, key, .. } => (origin, key),
        Error::UnknownKey { origin, key, .. } => (origin, Some(key)),
        Error::Missing(missing) => (missing.origin, Some(missing.key)),
        other => panic!("{other:?}"),
    };
    let line = match &origin {
        Origin::File { line, .. } => *line,
        Origin::Named(_) => None,
    };
    (origin.name().to_owned(), line, key)
}

#[test]
fn an_error_carries_its_file_its_line_and_its_key() {
    let text = "rate = -1\n[front]\nlist = [\n 1,\n \"x\",\n]\n[frnt]\ny = 1\n";
    let mut keys = parse(text);
    let mut front = keys.take_table("front").unwrap();
    let at = |line, key: &str| ("my.toml".to_owned(), line, Some(key.to_owned()));
    let rate = keys.f64("rate", Range::above(0.0)).unwrap_err();
    assert_eq!(place(rate), at(Some(1), "rate"));
    let item = front.opt_f64s("list", Range::any()).unwrap_err();
    assert_eq!(place(item), at(Some(5), "front.list[1]"));
    assert_eq!(place(front.bool("on").unwrap_err()), at(None, "front.on"));
    assert_eq!(place(keys.finish().unwrap_err()), at(Some(7), "frnt"));
    let unknown = parse("\nz = 1").finish().unwrap_err();
    assert_eq!(place(unknown), at(Some(2), "z"));
    let syntax = Keys::parse("a = 1\nb = =", "my.toml").unwrap_err();
    assert_eq!(place(syntax), ("my.toml".to_owned(), Some(2), None));
    let mut named = Keys::empty("load");
    named.set_text("rate", "-1", "--set rate").unwrap();
    let refused = named.f64("rate", Range::above(0.0)).unwrap_err();
    let rate = || Some("rate".to_owned());
    assert_eq!(place(refused), ("--set rate".to_owned(), None, rate()));
    let missing = Keys::empty("load").text("rate").unwrap_err();
    assert_eq!(place(missing), ("load".to_owned(), None, rate()));
}
