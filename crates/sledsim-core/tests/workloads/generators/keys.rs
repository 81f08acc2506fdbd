//! All generators obey their keys, refuse bad ones, and report those in effect.

use super::{DEVICE, end, serve, try_source};
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

fn any_load() -> impl Strategy<Value = (String, String, u64)> {
    let blocks = prop_oneof![2_u64..200, 2_u64..100_000, Just(DEVICE), Just(1_u64 << 62)];
    let arrivals = prop_oneof![
        Just("rate = 500".to_owned()),
        Just("rate = 1e7\narrivals = \"constant\"".to_owned()),
        Just("rate = 900\non_ms = 3\noff_ms = 0.1".to_owned()),
        Just(
            "rate = 900\ntime_scale = 9\non_ms = 1\noff_ms = 9\nburst_lengths = \"fixed\""
                .to_owned()
        ),
        (1..40_u32).prop_map(|depth| format!("queue_depth = {depth}\nthink_ms = 0.5")),
        (1..40_u32).prop_map(|depth| format!(
            "queue_depth = {depth}\nthink_ms = 2\nthink = \"exponential\""
        )),
    ];
    let places = prop_oneof![
        Just(("random", String::new())),
        (0.0..4.0, 1..5_u64, any::<bool>()).prop_map(|(s, unit, scatter)| {
            let text =
                format!("zipf_exponent = {s}\nscatter = {scatter}\nunit_blocks = {{{unit}}}");
            ("zipf", text)
        }),
        (0.01..0.99, 1..5_u64, any::<bool>()).prop_map(|(h, unit, scatter)| {
            let text = format!("pareto_h = {h}\nscatter = {scatter}\nunit_blocks = {{{unit}}}");
            ("pareto", text)
        }),
        (0.01..0.99, 0.0..=1.0, 0.0..=1.0).prop_map(|(f, share, start)| {
            let start = start * (1.0 - f);
            ("hot_cold", format!("hot_fraction = {f}\nhot_share = {share}\nhot_start = {start}"))
        }),
        (2..9_u32, 0.0..=1.0, any::<bool>()).prop_map(|(streams, p, random)| {
            let way = if random { "random" } else { "round_robin" };
            let text =
                format!("streams = {streams}\ninterleave = \"{way}\"\nsequential_fraction = {p}");
            ("sequential", text)
        }),
    ];
    let region = (0.0..0.5, 0.0..=1.0, 1..20_u64, any::<u32>(), 0..3_usize, 0.5..70.0);
    (blocks, arrivals, places, region).prop_map(|(blocks, arrivals, (kind, places), region)| {
        let (first, last, blocking, seed, size, kib) = region;
        let first = (first * blocks as f64) as u64;
        let last = first + (last * (blocks - 1 - first) as f64) as u64;
        let last = last.min(blocks - 1).min(i64::MAX as u64);
        let size = ["geometric", "exponential", "fixed"][size];
        let places = places.replace('{', "").replace('}', &format!("_{blocking}"));
        let places = match places.split_once("unit_blocks = ") {
            Some((head, unit)) => {
                let unit: u64 = unit.split('_').map(|n| n.parse::<u64>().unwrap()).product();
                format!("{head}unit_blocks = {unit}")
            }
            None => places,
        };
        let text = format!(
            "requests = 400\nseed = {seed}\nsize = \"{size}\"\nmean_size_kib = {kib}\n\
             blocking = {blocking}\nfirst_lbn = {first}\nlast_lbn = {last}\n{arrivals}\n{places}"
        );
        (kind.to_owned(), text, blocks)
    })
}

fn number(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
    line.unwrap().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_request_keeps_to_its_keys((kind, text, blocks) in any_load()) {
        let (first, last) = (number(&text, "first_lbn"), number(&text, "last_lbn"));
        let blocking = number(&text, "blocking");
        match try_source(&kind, &text, blocks) {
            Err(error) => {
                // The only reasons there may be: the region is too small.
                let says = error.to_string();
                let room = (last + 1).saturating_sub(first.next_multiple_of(blocking)) / blocking;
                let expected = match room {
                    0 => "blocking",
                    1 if kind == "hot_cold" && !says.contains("mean_size_kib") => "hot_fraction",
                    _ if says.contains("unit_blocks") => "at most 4503599627370496 units",
                    _ => "KiB of the region",
                };
                prop_assert!(says.contains(expected), "{says} {expected}\n{text}");
                prop_assert!(room < 300 || says.contains("units"), "{says}\n{text}");
            }
            Ok(mut source) => {
                let mut twin = try_source(&kind, &text, blocks).unwrap();
                let mut time = Nanos::ZERO;
                let mut service = Stream::new(1, "test");
                let mut ids = 0..400;
                for (request, done) in serve(&mut source, 3, || Nanos(service.below(3_000_000))) {
                    prop_assert_eq!(Some(request.id), ids.next());
                    prop_assert!(request.arrival >= time && done >= request.arrival);
                    time = request.arrival;
                    prop_assert!(request.op == Op::Read || request.op == Op::Write);
                    prop_assert!(request.blocks() > 0);
                    prop_assert!(request.lbn() >= first && end(&request) <= last + 1, "{request:?}");
                    prop_assert_eq!(request.lbn() % blocking, 0);
                    prop_assert_eq!(u64::from(request.blocks()) % blocking, 0);
                }
                prop_assert!(ids.is_empty());
                // The same again.
                let mut service = Stream::new(1, "test");
                let again = serve(&mut twin, 3, || Nanos(service.below(3_000_000)));
                prop_assert_eq!(again.last().map(|(r, _)| r.arrival), Some(time));
            }
        }
    }
}

#[test]
fn bad_keys_are_refused_with_the_allowed_values() {
    for (kind, text, expected) in [
        ("zipf", "zipf_exponent = -1", ":1: zipf_exponent = -1: must be at least 0 and at most 10"),
        (
            "zipf",
            "unit_blocks = 12\nblocking = 8",
            ":1: unit_blocks = 12: must be a multiple of blocking (8)",
        ),
        ("zipf", "scatter = 1", ":1: scatter = 1: must be true or false"),
        (
            "zipf",
            "zipf_exponnt = 1",
            ":1: unknown key 'zipf_exponnt'; did you mean 'zipf_exponent'?",
        ),
        ("random", "zipf_exponent = 1", ":1: unknown key 'zipf_exponent'"),
        ("hot_cold", "hot_fraction = 0", ":1: hot_fraction = 0: must be above 0 and below 1"),
        ("hot_cold", "hot_fraction = 1", ":1: hot_fraction = 1: must be above 0 and below 1"),
        ("hot_cold", "hot_share = 1.5", ":1: hot_share = 1.5: must be at least 0 and at most 1"),
        (
            "hot_cold",
            "hot_fraction = 0.9\nhot_start = 0.2",
            ":2: hot_start = 0.2: must be at least 0 and at most 0.1",
        ),
        (
            "hot_cold",
            "last_lbn = 0\nmean_size_kib = 0.5",
            ": hot_fraction: must divide a region of two places",
        ),
        ("sequential", "streams = 0", ":1: streams = 0: must be an integer from 1"),
        (
            "sequential",
            "interleave = \"random\"",
            ":1: interleave = \"random\": needs streams = 2 or more",
        ),
        (
            "sequential",
            "streams = 2\ninterleave = \"rr\"",
            ":2: interleave = \"rr\": must be \"round_robin\" or \"random\"",
        ),
        (
            "sequential",
            "mean_run_requests = 0.5",
            ":1: mean_run_requests = 0.5: must be at least 1",
        ),
        (
            "sequential",
            "mean_run_requests = 2\nsequential_fraction = 0.5",
            ":1: mean_run_requests = 2: must not be given with sequential_fraction",
        ),
        (
            "random",
            "arrivals = \"poisson\"",
            ":1: arrivals = \"poisson\": shapes the arrivals of an open load and so needs rate",
        ),
        (
            "random",
            "rate = 1\narrivals = \"uniform\"",
            ":2: arrivals = \"uniform\": must be \"poisson\" or \"constant\"",
        ),
        (
            "random",
            "on_ms = 5\noff_ms = 5",
            ":1: on_ms = 5: shapes the arrivals of an open load and so needs rate",
        ),
        ("random", "rate = 9\non_ms = 5", ":2: on_ms = 5: needs off_ms"),
        ("random", "rate = 9\noff_ms = 5", ":2: off_ms = 5: needs on_ms"),
        ("random", "rate = 9\noff_ms = 0\non_ms = 5", ":2: off_ms = 0: must be above 0"),
        (
            "random",
            "rate = 9\nburst_lengths = \"fixed\"",
            ":2: burst_lengths = \"fixed\": needs on_ms and off_ms",
        ),
        (
            "random",
            "rate = 1\non_ms = 5\noff_ms = 4",
            ":2: on_ms = 5: must leave 0.01 requests or more to a burst in the mean, not 0.009",
        ),
        (
            "random",
            "think = \"exponential\"",
            ":1: think = \"exponential\": needs think_ms above 0",
        ),
        (
            "random",
            "think_ms = 0\nthink = \"fixed\"",
            ":2: think = \"fixed\": needs think_ms above 0",
        ),
        ("random", "rate = 9\nthink = \"fixed\"", ":2: think = \"fixed\": needs think_ms above 0"),
        (
            "random",
            "rate = 9\nthink_ms = 1\nthink = \"exponential\"",
            ":1: rate = 9: must not be given with think_ms",
        ),
        (
            "random",
            "think_ms = 1\nthink = \"long\"",
            ":2: think = \"long\": must be \"fixed\" or \"exponential\"",
        ),
        ("zipff", "", "unknown workload 'zipff'; did you mean 'zipf'?"),
    ] {
        let found = try_source(kind, text, DEVICE).unwrap_err().to_string();
        let found = found.strip_prefix("load.toml").unwrap_or(&found);
        assert!(found.starts_with(expected), "{text}\n found {found}\n wanted {expected}");
    }
    let found = try_source("zipf", "blocking = 1\nunit_blocks = 1", u64::MAX / 2);
    assert!(found.unwrap_err().to_string().contains("at most 4503599627370496 units"));
}
