//! Hints for unknown names: similar names, and synonyms of keys.

/// At most three `candidates` similar to a mistyped `name`, nearest first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let most = (name.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = (candidates.into_iter())
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = strsim::osa_distance(&name, &other);
            let part = name.len() > 2 && other.contains(&name);
            (distance <= most || part).then_some((distance, candidate))
        })
        .collect();
    found.sort_by_key(|&(distance, _)| distance);
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The end of a message about an unknown name: `; did you mean 'g2'?`, or the
/// list of known names.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    did_you_mean_behind("", name, candidates)
}

/// As [`did_you_mean`], of names that all stand behind `prefix`, which makes none similar.
pub(super) fn did_you_mean_behind<'a>(
    prefix: &str,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let full = |names: Vec<&str>, between: &str| {
        let names = names.into_iter().map(|name| format!("{prefix}{name}"));
        names.collect::<Vec<_>>().join(between)
    };
    let near = nearest(name, candidates.clone());
    if !near.is_empty() {
        return format!("; did you mean '{}'?", full(near, "' or '"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    match all.len() {
        0 => "; there are none here".to_owned(),
        _ => format!("; known are {}", full(all, ", ")),
    }
}

/// Names of keys in fio and in queueing theory, with the name used here.
pub(super) const SYNONYMS: [(&str, &str); 17] = [
    ("alpha", "zipf_exponent"),
    ("exponent", "zipf_exponent"),
    ("skew", "zipf_exponent"),
    ("theta", "zipf_exponent"),
    ("bs", "mean_size_kib"),
    ("block_size", "mean_size_kib"),
    ("request_size", "mean_size_kib"),
    ("size_kib", "mean_size_kib"),
    ("iodepth", "queue_depth"),
    ("outstanding", "queue_depth"),
    ("iops", "rate"),
    ("lambda", "rate"),
    ("rwmixread", "read_fraction"),
    ("count", "requests"),
    // Of a trace, which has arrivals of its own.
    ("rate", "time_scale"),
    ("speed", "time_scale"),
    ("iops", "time_scale"),
];
