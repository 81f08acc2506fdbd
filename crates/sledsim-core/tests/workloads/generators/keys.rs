//! All generators obey their keys.

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
