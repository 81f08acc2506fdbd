//! Arrivals: scaled, counted from the first, sorted, or closed.

use super::{SMALL, TWO, file, lbns, message, open, replay};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;

#[test]
fn time_scale_divides_the_times() {
    let (_folder, path) = file("10 0 1 1 1\n13 0 1 1 1\n1532949.045363 0 1 1 1");
    let times = |keys: &str| -> Vec<u64> {
        replay(&path, keys, 10).unwrap().0.iter().map(|r| r.arrival.0).collect()
    };
    assert_eq!(times(""), [10_000_000, 13_000_000, 1_532_949_045_363]);
    assert_eq!(times("time_scale = 2"), [5_000_000, 6_500_000, 766_474_522_682]);
    assert_eq!(times("time_scale = 0.5"), [20_000_000, 26_000_000, 3_065_898_090_726]);
    let (_folder, late) = file("0.0 0 1 1 1\n9000000000000 0 1 1 1");
    let error = replay(&late, "time_scale = 0.1", 10).unwrap_err().to_string();
    assert!(error.contains("bad.trace:2: arrives after") && error.contains("292 years"), "{error}");
}

#[test]
fn a_closed_replay_keeps_the_order_and_not_the_times() {
    let (_folder, path) = file(SMALL);
    let mut source = open(&path, "queue_depth = 2\nthink_ms = 1", 10_000).unwrap();
    let mut take = |expected: Option<u64>| {
        assert_eq!(source.next_arrival().unwrap(), expected.map(Nanos));
        if expected.is_none() {
            return;
        }
        let request = source.take();
        assert_eq!(Some(request.arrival), expected.map(Nanos));
        if request.id == 1 {
            source.completed(0, Nanos(7));
        }
        if request.id == 2 {
            source.completed(1, Nanos(9));
        }
    };
    for expected in [Some(0), Some(0), Some(1_000_007), Some(1_000_009), None] {
        take(expected);
    }
    assert_eq!(json!(source.facts())["queue_depth"], 2);
    assert_eq!(json!(source.facts())["think_ms"], 1.0);
}

#[test]
fn times_count_from_the_file_or_from_the_first_request() {
    let (_folder, path) = file(TWO);
    let times = |keys: &str| {
        let (requests, facts) = replay(&path, keys, 100).unwrap();
        let text = |key: &str| facts[key].clone();
        let times: Vec<_> = requests.iter().map(|r| r.arrival.0).collect();
        (times, text("time_origin"), text("first_time_s"), text("subtracted_s"))
    };
    let seven = "trace_device = 7";
    let (file, first) = (json!("file"), json!("first"));
    assert_eq!(times(seven), (vec![3_000_000], file.clone(), json!(0.003), json!(0.0)));
    let keys = "trace_device = \"all\"\ntime_scale = 2";
    let expected = vec![500_000, 1_000_000, 1_500_000, 2_000_000];
    assert_eq!(times(keys), (expected, file, json!(0.001), json!(0.0)));
    let expected = vec![0, 500_000, 1_000_000, 1_500_000];
    let from_first = format!("{keys}\ntime_origin = \"first\"");
    assert_eq!(times(&from_first), (expected, first.clone(), json!(0.001), json!(0.001)));
    // The first request is the one that comes first when sorted.
    let (_folder, path) = self::file("5 0 1 1 1\n3 0 2 1 1\n4 0 3 1 1\n");
    let (requests, facts) = replay(&path, "sort_ms = 2\ntime_origin = \"first\"", 100).unwrap();
    assert_eq!(lbns(&requests), [2, 3, 1]);
    assert_eq!(requests[2].arrival, Nanos(2_000_000));
    assert_eq!(facts["subtracted_s"], 0.003);
    let late = "8999999999999 0 1 1 1\n8999999999999.5 0 1 1 1\n";
    let (_folder, path) = self::file(late);
    let keys = "time_origin = \"first\"\ntime_scale = 0.000001";
    let (requests, _) = replay(&path, keys, 100).unwrap();
    assert_eq!(requests[1].arrival, Nanos(500_000_000_000));
}

#[test]
fn times_that_fall_are_an_error_or_sorted_within_a_window() {
    let text = "1 0 1 1 1\n5 0 2 1 1\n3.5 0 3 1 1\n5 0 4 1 1\n4 0 5 1 1\n9 0 6 1 1\n";
    assert_eq!(
        message(text, "", 100),
        "bad.trace:3: time 3.500000 ms is before 5.000000 ms, the request above: give sort_ms \
         (--sort) of at least 1.500000 to sort what is out of order"
    );
    assert_eq!(
        message(text, "sort_ms = 1.25", 100),
        "bad.trace:3: time 3.500000 ms is 1.500000 ms before one above, 5.000000 ms: sort_ms \
         (--sort) is 1.250000; give sort_ms (--sort) of at least 1.500000 to sort what is out of \
         order"
    );
    // What the whole file needs, not what the next request does; of the chosen
    // device alone.
    let worse = format!("{text}2 7 7 1 1\n4.25 0 7 1 1\n");
    assert!(message(&worse, "trace_device = \"all\"", 100).contains("of at least 7.000000 to"));
    assert!(message(&worse, "trace_device = 0", 100).contains("of at least 4.750000 to"));
    let window = "trace_device = \"all\"\nsort_ms = 1.25";
    assert!(message(&worse, window, 100).contains("of at least 7.000000 to"));
    let (_folder, path) = file(worse);
    assert!(replay(&path, "trace_device = \"all\"\nsort_ms = 7", 100).is_ok());
    let (_folder, path) = file(text);
    for window in ["1.5", "2", "1e11"] {
        let (requests, facts) = replay(&path, &format!("sort_ms = {window}"), 100).unwrap();
        assert_eq!(lbns(&requests), [1, 3, 5, 2, 4, 6]);
        assert_eq!((&facts["sorted"], &facts["sorted_most_ms"]), (&json!(2), &json!(1.5)));
        assert_eq!(facts["sort_ms"], json!(window.parse::<f64>().unwrap()));
    }
    let (some, facts) = replay(&path, "sort_ms = 2\nrequests = 3", 100).unwrap();
    assert_eq!((lbns(&some), &facts["requests"]), (vec![1, 3, 5], &json!(3)));
    // A bad line is named even if it is held back.
    let bad = format!("{text}8.5 0 99 2 1\n");
    assert!(message(bad, "sort_ms = 3", 100).starts_with("bad.trace:7: blocks 99 to 100: the"));
    // What is held is bounded.
    let many = "1 0 1 1 1\n".repeat(1_048_577);
    assert_eq!(
        message(many, "sort_ms = 1", 100),
        "bad.trace:1048577: more than 1048576 requests within sort_ms (--sort): it must be less"
    );
}

/// A request each ms, and one whose clock jumped to `odd` ms after so many.
fn with_a_glitch(after: u64, odd: u64) -> String {
    let line = |index: u64| match index == after {
        true => format!("{odd} 0 9 1 1\n"),
        false => format!("{}.5 0 {} 1 1\n", 10_000_000 + index, index % 9),
    };
    (0..300).map(line).collect()
}

#[test]
fn a_glitch_of_the_clock_is_reported_or_dropped() {
    // Ahead by 11 days and by 250 years, behind by 10,000 s.
    for (after, odd, here) in [
        (150, 1_000_000_000, "far above those of the requests around it"),
        (0, 1_000_000_000, "far above those of the requests around it"),
        (150, 8_000_000_000_000, "no sort_ms (--sort) can help"),
        (150, 0, "far below those of the requests around it"),
    ] {
        let text = with_a_glitch(after, odd);
        let found = message(&text, "", 100);
        let place = format!("bad.trace:{}: time {odd}.000000 ms is far", after + 1);
        assert!(found.starts_with(&place), "{found}");
        assert!(found.contains(here) && found.contains("(--drop-glitches)"), "{found}");
        let (_folder, path) = file(&text);
        let (requests, facts) = replay(&path, "glitches = \"drop\"", 100).unwrap();
        assert_eq!(requests.len(), 299);
        assert!(requests.iter().all(|request| request.lbn() < 9));
        assert_eq!(facts["glitches_dropped"], 1);
        let first = facts["first_glitch"].as_str().unwrap();
        let end = format!("bad.trace:{}: time {odd}.000000 ms", after + 1);
        assert!(first.ends_with(&end), "{first}");
    }
    // A pause is none, and a second one is an error that offers no dropping.
    let pause = "1.5 0 5 1 1\n2 0 5 1 1\n900000 0 5 1 1\n900001 0 5 1 1\n";
    let (_folder, path) = file(pause);
    let (requests, facts) = replay(&path, "glitches = \"drop\"", 100).unwrap();
    assert_eq!((requests.len(), &facts["glitches_dropped"]), (4, &json!(0)));
    let found = message(format!("{pause}3 0 5 1 1\n"), "glitches = \"drop\"", 100);
    assert!(found.starts_with("bad.trace:5: time 3.000000 ms is before"), "{found}");
    assert!(!found.contains("glitch"), "{found}");
    // A message names the line of the record handed out, not of the one read ahead.
    let beyond = "1.5 0 5 1 1\n900000 0 500 1 1\n900001 0 5 1 1\n";
    let found = message(beyond, "glitches = \"drop\"", 100);
    assert!(found.starts_with("bad.trace:2: block"), "{found}");
}

const CLOSED: &str = "R Hit 10 4 663.25 1000.5\nW Miss 20 1 9000 0\nR Trip 30 2 1 7\n";

#[test]
fn a_closed_trace_thinks_as_recorded() {
    let (_folder, path) = file(CLOSED);
    let run = |keys: &str| {
        let mut source = open(&path, keys, 100).unwrap();
        let mut seen = Vec::new();
        let mut now = 0;
        while let Some(at) = source.next_arrival().unwrap() {
            let request = source.take();
            assert_eq!(request.arrival, at);
            // One outstanding: nothing until it is complete.
            assert_eq!(source.next_arrival().unwrap(), None);
            seen.push((at.0, request.op, request.lbn(), request.blocks()));
            now = at.0 + 5_000;
            source.completed(request.id, Nanos(now));
        }
        assert!(now > 0);
        (seen, json!(source.facts()))
    };
    let (seen, facts) = run("");
    let expected =
        [(0, Op::Read, 10, 4), (5_000 + 1_000_500, Op::Write, 20, 1), (1_010_500, Op::Read, 30, 2)];
    assert_eq!(seen, expected);
    assert_eq!((&facts["queue_depth"], &facts["think_ms"]), (&json!(1), &Value::Null));
    // Twice as fast: half the think time.
    let (seen, _) = run("time_scale = 2");
    assert_eq!(seen[1].0, 5_000 + 500_250);
    // Think times of one's own.
    let (seen, facts) = run("think_ms = 2");
    assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 2_005_000, 4_010_000]);
    assert_eq!(facts["think_ms"], 2.0);
    for (key, name) in [("time_origin = \"first\"", "time_origin"), ("sort_ms = 3", "sort_ms")] {
        let wanted = format!(
            "{name}: has no effect with trace_format = \"disksim_validate\", which has no times of \
             arrival"
        );
        assert_eq!(message(CLOSED, key, 100), wanted);
    }
}

proptest! {
    /// Sorting within a window is a stable sort, or an error that names a
    /// window that would do for this line.
    #[test]
    fn sorting_is_a_stable_sort(
        times in prop::collection::vec(0_u64..60, 1..80),
        drift in 0_u64..3,
        window in 0_u64..70,
        origin in prop::sample::select(vec!["file", "first"]),
    ) {
        let times: Vec<u64> = times.iter().zip(0..).map(|(time, i)| time + drift * i * 10).collect();
        let text: String = times.iter().zip(0..)
            .map(|(time, i)| format!("{}.{} 0 {i} 1 1\n", time / 10, time % 10))
            .collect();
        let (_folder, path) = file(text);
        let keys = format!("sort_ms = {}.{}\ntime_origin = \"{origin}\"", window / 10, window % 10);
        let late: Vec<u64> = (0..times.len())
            .map(|i| times[..i].iter().max().unwrap_or(&0).saturating_sub(times[i]))
            .collect();
        let found = replay(&path, &keys, 1000);
        match late.iter().position(|by| *by > window) {
            Some(line) => {
                let error = found.unwrap_err().to_string();
                let wanted = format!("bad.trace:{}: time ", line + 1);
                prop_assert!(error.contains(&wanted), "{}", error);
                let most = late.iter().max().unwrap();
                let least = format!("at least {}.{}00000 ", most / 10, most % 10);
                prop_assert!(error.contains(&least), "{} {}", error, least);
            }
            None => {
                let (requests, facts) = found.unwrap();
                let mut sorted: Vec<(u64, u64)> = times.iter().copied().zip(0..).collect();
                sorted.sort_by_key(|(time, _)| *time);
                let from = if origin == "first" { sorted[0].0 } else { 0 };
                let expected: Vec<_> = sorted.iter().map(|(t, i)| ((t - from) * 100_000, *i)).collect();
                let seen: Vec<_> = requests.iter().map(|r| (r.arrival.0, r.lbn())).collect();
                prop_assert_eq!(seen, expected);
                prop_assert_eq!(&facts["sorted"], &json!(late.iter().filter(|by| **by > 0).count()));
            }
        }
    }
}
