//! The `mix` workload against its parts run alone, and from scenarios.

use serde_json::json;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{GeneratorSpec, Mix, MixSpec};
use sledsim_experiments::run::{RowsTo, run};
use sledsim_experiments::scenario::{Additions, Scenario};
use std::collections::BTreeSet;

const DEVICE: u64 = 6_750_000;

fn spec(text: &str) -> Result<MixSpec> {
    let mut keys = Keys::parse(text, "load.toml")?;
    let spec = MixSpec::read(&mut keys)?;
    keys.finish()?;
    Ok(spec)
}

fn mix(text: &str) -> Mix {
    spec(text).and_then(|spec| spec.source(DEVICE)).unwrap_or_else(|error| panic!("{error}"))
}

/// A part alone, with the seed that the mix says it has.
fn alone(mix: &Mix, part: &str, keys: &str) -> Box<dyn Source> {
    let seed = json!(mix)["part"][part]["seed"].as_u64().unwrap();
    let text = format!("{keys}\nseed = {seed}\nrequests = 1_000_000");
    let mut keys = Keys::parse(&text, "part.toml").unwrap();
    let kind = keys.opt_text("kind").unwrap();
    let spec = GeneratorSpec::read(kind.as_deref().unwrap_or("random"), &mut keys).unwrap();
    keys.finish().unwrap();
    Box::new(spec.source(DEVICE).unwrap())
}

/// What a part asks for, whoever numbers it.
fn content(request: &Request) -> (Nanos, bool, u64, u32) {
    let reads = request.op == sledsim_base::request::Op::Read;
    (request.arrival, reads, request.lbn(), request.blocks())
}

const ZIPF: &str = "kind = \"zipf\"\nrate = 300";
const BURSTS: &str = "rate = 200\non_ms = 5\noff_ms = 50\nread_fraction = 0";
const SCAN: &str = "kind = \"sequential\"\nstreams = 3\nrate = 77\narrivals = \"constant\"";

#[test]
fn open_parts_superpose_as_they_are_alone() {
    let n = 20_000;
    let text =
        format!("requests = {n}\n[part.hot]\n{ZIPF}\n[part.log]\n{BURSTS}\n[part.scan]\n{SCAN}");
    let mut mix = mix(&text);
    assert_eq!(mix.requests(), Some(n));
    let mut parts =
        [alone(&mix, "hot", ZIPF), alone(&mix, "log", BURSTS), alone(&mix, "scan", SCAN)];
    for id in 0..n {
        // The merge of the parts, by a search of its own.
        let mut first = 0;
        for part in 1..3 {
            let at = |part: &mut Box<dyn Source>| part.next_arrival().unwrap().unwrap();
            if at(&mut parts[part]) < at(&mut parts[first]) {
                first = part;
            }
        }
        let expected = parts[first].take();
        assert_eq!(mix.next_arrival().unwrap(), Some(expected.arrival));
        let request = mix.take();
        assert_eq!((request.id, request.stream as usize), (id, first));
        assert_eq!(content(&request), content(&expected));
        // Answers to open parts change nothing.
        mix.completed(id, request.arrival + Nanos(5));
    }
    assert_eq!(mix.next_arrival().unwrap(), None);
}

/// Runs a mix on a device that answers in random order; gives the requests
/// with their completions, in the order of completion.
fn answer(mix: &mut Mix) -> (Vec<Request>, Vec<(u64, Nanos)>) {
    let mut service = Stream::new(5, "service");
    let mut under_way: BTreeSet<(Nanos, u64)> = BTreeSet::new();
    let (mut requests, mut completions) = (Vec::new(), Vec::new());
    loop {
        let arrival = mix.next_arrival().unwrap();
        if let Some(&(at, id)) = under_way.first()
            && arrival.is_none_or(|arrival| at <= arrival)
        {
            under_way.pop_first();
            mix.completed(id, at);
            completions.push((id, at));
        } else if arrival.is_some() {
            let request = mix.take();
            assert_eq!(Some(request.arrival), arrival);
            let done = request.arrival + Nanos::from_s(service.exponential(4e-3));
            under_way.insert((done, request.id));
            requests.push(request);
        } else {
            return (requests, completions);
        }
    }
}

const BUSY: &str = "queue_depth = 4";
const SLOW: &str = "kind = \"hot_cold\"\nqueue_depth = 9\nthink_ms = 3\nthink = \"exponential\"";

#[test]
fn completions_find_their_closed_part() {
    let n = 30_000;
    let text =
        format!("requests = {n}\n[part.busy]\n{BUSY}\n[part.hot]\n{ZIPF}\n[part.slow]\n{SLOW}");
    let mut mix = mix(&text);
    let mut parts =
        [alone(&mix, "busy", BUSY), alone(&mix, "hot", ZIPF), alone(&mix, "slow", SLOW)];
    let (requests, completions) = answer(&mut mix);
    assert_eq!(requests.len(), n);
    // Each part alone, answered when it was answered in the mix, asks for the
    // same at the same time; and never has more outstanding than its depth.
    let mut outstanding = [0_i32; 3];
    let mut most = [0_i32; 3];
    let mut sink = completions.iter().peekable();
    for request in &requests {
        while let Some((id, at)) = sink.next_if(|(_, at)| *at <= request.arrival) {
            let part = requests[*id as usize].stream as usize;
            parts[part].completed(*id, *at);
            outstanding[part] -= 1;
        }
        let part = request.stream as usize;
        assert_eq!(parts[part].next_arrival().unwrap(), Some(request.arrival));
        assert_eq!(content(&parts[part].take()), content(request));
        outstanding[part] += 1;
        most[part] = most[part].max(outstanding[part]);
    }
    assert_eq!(most[0], 4, "without a pause all four are always out");
    assert!(most[2] <= 9 && most[2] > 4);
    for stream in 0..3 {
        assert!(requests.iter().filter(|r| r.stream == stream).count() > 1000);
    }
}

#[test]
fn the_requests_of_a_part_do_not_depend_on_other_parts() {
    let pick = |text: String, stream: u32| -> Vec<_> {
        let mut mix = mix(&format!("requests = 30_000\n{text}"));
        let mut found = Vec::new();
        while mix.next_arrival().unwrap().is_some() {
            let request = mix.take();
            if request.stream == stream {
                found.push(content(&request));
            }
        }
        found.truncate(5000);
        assert_eq!(found.len(), 5000);
        found
    };
    let two = format!("[part.hot]\n{ZIPF}\n[part.log]\n{BURSTS}\n");
    let hot = pick(two.clone(), 0);
    let log = pick(two.clone(), 1);
    assert_eq!(hot, pick(format!("[part.hot]\n{ZIPF}"), 0));
    assert_eq!(hot, pick(format!("{two}[part.scan]\n{SCAN}"), 0));
    assert_eq!(log, pick(format!("{two}[part.scan]\n{SCAN}"), 1));
    assert_eq!(log, pick(format!("[part.scan]\n{SCAN}\n{two}"), 2));
    // The name and the seed of the mix make the seed, unless it is given.
    assert_ne!(hot, pick(format!("[part.warm]\n{ZIPF}"), 0));
    assert_ne!(hot, pick(format!("seed = 2\n{two}"), 0));
    let given = format!("[part.hot]\n{ZIPF}\nseed = 5\n");
    assert_eq!(pick(given.clone(), 0), pick(format!("seed = 2\n{given}"), 0));
    // Parts alike but for their names are not copies of each other.
    let twins = format!("[part.a]\n{ZIPF}\n[part.b]\n{ZIPF}\n");
    let (a, b) = (pick(twins.clone(), 0), pick(twins, 1));
    assert!(a.iter().zip(&b).filter(|(a, b)| a.0 == b.0).count() < 5);
}

#[test]
fn other_seeds_and_no_end() {
    let text = format!("[part.hot]\n{ZIPF}\n[part.log]\n{BURSTS}\nseed = 40");
    let shifted = spec(&format!("seed = 6\n{text}")).unwrap().with_seed_offset(3);
    let mut shifted = shifted.source(DEVICE).unwrap();
    let mut expected = mix(&format!("seed = 9\n{}", text.replace("seed = 40", "seed = 43")));
    assert_eq!(json!(shifted), json!(expected));
    for _ in 0..10_000 {
        assert_eq!(shifted.take(), expected.take());
    }
    assert_eq!(shifted.next_arrival().unwrap(), None);
    let mut endless = spec(&text).unwrap();
    assert!(endless.extend_to(u64::MAX));
    let mut endless = endless.source(DEVICE).unwrap();
    assert!(endless.requests() > Some(1_000_000_000));
    (0..50_000).for_each(|_| drop(endless.take()));
    assert!(!spec(&format!("requests = 5\n{text}")).unwrap().extend_to(u64::MAX));
}

#[test]
fn parts_are_in_the_order_of_the_file() {
    // A part that says nothing is a part.
    let facts = json!(mix("[part.b]\n[part.c]\nrate = 5\n[part.a]"));
    assert_eq!(facts["part"]["b"]["queue_depth"], 1);
    let names: Vec<_> = facts["part"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["b", "c", "a"]);
}

#[test]
fn mixes_take_overrides_and_are_reported_in_full() {
    let additions = Additions {
        device: Some("g2".into()),
        workload: Some("mix".into()),
        set: [
            "part.hot.kind=zipf",
            "part.hot.rate=100",
            "part.log.queue_depth=2",
            "part.log.think_ms=40",
            "requests=500",
        ]
        .map(String::from)
        .to_vec(),
        ..Additions::default()
    };
    let scenario = Scenario::resolve(None, &additions).unwrap();
    let done = run(
        &scenario.device,
        &scenario.load,
        scenario.scheduler,
        &RowsTo::Nowhere,
        &mut |_| Ok(()),
    )
    .unwrap();
    assert_eq!(json!(done.document)["summary"]["requests"], 500);
    let workload = &json!(done.document)["workload"];
    assert_eq!((&workload["workload"], &workload["requests"]), (&"mix".into(), &500.into()));
    let hot = &workload["part"]["hot"];
    assert_eq!(
        (&hot["workload"], &hot["rate"], &hot["shortened"]),
        (&"zipf".into(), &100.0.into(), &0.into())
    );
    assert!(hot.get("requests").is_none());
    assert_eq!(workload["part"]["log"]["queue_depth"], 2);
    let wrong = |key: &str| {
        let additions = Additions { set: vec![key.into()], ..additions.clone() };
        Scenario::resolve(None, &additions).unwrap_err().to_string()
    };
    let found = wrong("part.hot.kind=zip");
    assert!(
        found
            .starts_with("--set part.hot.kind: workload.part.hot.kind = \"zip\": must be a workload; did you mean 'zipf'?"),
        "{found}"
    );
    let single = Additions { workload: Some("zipf".into()), ..additions.clone() };
    let found = Scenario::resolve(None, &single).unwrap_err().to_string();
    assert!(found.contains("workload.part: must come with the workload mix only"), "{found}");
    let unknown = Additions { workload: Some("hotcold".into()), ..additions.clone() };
    let found = Scenario::resolve(None, &unknown).unwrap_err().to_string();
    assert_eq!(found, "unknown workload 'hotcold'; did you mean 'hot_cold'?");
}
