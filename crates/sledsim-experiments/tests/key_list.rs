//! The list of keys: whole, and that of the readers.

use sledsim_core::catalog::GROUPS;
use sledsim_experiments::key_list::things;
use std::collections::BTreeSet;

/// Keys that another reader takes: names of things, kept loads, the parts of a mix, which the
/// caller names, and studies and scenarios.
fn is_read_elsewhere(family: &str, group: &str, key: &str) -> bool {
    let elsewhere = ["stored", "workload", "trace_file"];
    family == "studies" || elsewhere.contains(&group) || key.starts_with("part.") || key == "name"
}

#[test]
fn every_key_that_is_asked_for_has_a_meaning_and_every_meaning_a_reader() {
    let things = things(None);
    let mut silent = BTreeSet::new();
    let mut told = BTreeSet::new();
    for thing in &things {
        for key in &thing.keys {
            let name = &key.question.key;
            match key.meaning.is_empty() {
                true => silent.insert(format!("{} {} {name}", thing.family, thing.name)),
                false => told.insert(name.clone()),
            };
        }
    }
    let unread: Vec<_> = (GROUPS.iter())
        .flat_map(|group| group.keys.iter().map(move |key| (group, &key.key)))
        .filter(|(group, key)| !is_read_elsewhere(group.family, &group.name, key))
        .filter(|(_, key)| !told.contains(*key))
        .map(|(group, key)| format!("{} {} {key}", group.family, group.name))
        .collect();
    assert!(silent.is_empty() && unread.is_empty(), "silent: {silent:#?}\nunread: {unread:#?}");
}

#[test]
fn a_key_has_the_type_and_the_range_of_its_reader() {
    let things = things(None);
    let of = |thing: &str, key: &str| {
        let thing = things.iter().find(|each| each.name == thing).expect("a thing");
        let key = thing.keys.iter().find(|each| each.question.key == key).expect("a key");
        (key.question.takes.clone(), key.question.required, key.unit, key.default.clone())
    };
    let default = |text: &str| Some(text.to_owned());
    let range = "a number at least 0 and at most 10".to_owned();
    assert_eq!(of("zipf", "zipf_exponent"), (range, false, None, default("1.0")));
    let choice = r#""poisson" or "constant""#.to_owned();
    assert_eq!(of("random", "arrivals"), (choice, false, None, default("\"poisson\"")));
    let (_, required, unit, _) = of("mems", "travel_x_um");
    assert_eq!((required, unit), (true, Some("um")));
    assert!(!of("mems", "startup_ms").1 || of("mems", "tips").1);
    let names: Vec<_> = things.iter().map(|thing| &*thing.name).collect();
    for name in ["postmark", "trace", "mwb", "zone_sptf", "bipartite", "s3fifo"] {
        assert!(names.contains(&name), "{name}");
    }
}
