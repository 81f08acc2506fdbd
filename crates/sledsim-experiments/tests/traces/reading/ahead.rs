//! Reading ahead shows nowhere: neither in facts, nor in when an error is met.

use super::{file, open};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_core::model::Source;
use std::fmt::Write;

const KEYS: &str = "trace_format = \"fio_iolog\"\ntrace_device = \"all\"\n";

/// A line of fio's log: a request of a file, or another action.
#[derive(Clone, Copy, Debug)]
struct Line {
    is_request: bool,
    file: u8,
    gap_us: u64,
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let line = (prop::bool::weighted(0.8), 0..4_u8, 0..99_u64);
    let line = line.prop_map(|(is_request, file, gap_us)| Line { is_request, file, gap_us });
    prop::collection::vec(line, 2..300)
}

/// The text of a trace of `lines`, up to request number `until`.
fn text(lines: &[Line], until: usize) -> String {
    let mut text = "fio version 3 iolog\n".to_owned();
    let (mut now, mut requests) = (0, 0);
    for line in lines {
        now += line.gap_us;
        let (file, offset) = (line.file, 512 * (now % 90));
        let added = match line.is_request {
            true => writeln!(text, "{now} f{file} read {offset} 512"),
            false => writeln!(text, "{now} f{file} open"),
        };
        added.unwrap();
        requests += usize::from(line.is_request);
        if requests > until {
            break;
        }
    }
    text
}

/// The requests taken of a trace, `most` of them unless an error comes first; the facts
/// then; and the error.
fn taken(text: &str, keys: &str, most: usize) -> (usize, Value, Option<String>) {
    let (_folder, path) = file(text);
    let mut source = open(&path, keys, 100).unwrap();
    let mut error = None;
    let mut count = 0;
    while count < most {
        match source.next_arrival() {
            Ok(Some(at)) => {
                let request = source.take();
                source.completed(request.id, at);
            }
            Ok(None) => break,
            Err(said) => {
                error = Some(said.to_string().replace(&path.display().to_string(), ""));
                break;
            }
        }
        count += 1;
    }
    let mut facts = json!(source.facts());
    facts["path"] = Value::Null;
    (count, facts, error)
}

proptest! {
    /// A request is read when the one before it was taken: what follows does not count.
    #[test]
    fn facts_are_those_of_a_trace_that_ends_there(
        lines in lines(),
        closed in any::<bool>(),
        share in 0.0..1.0_f64,
    ) {
        let keys = format!("{KEYS}{}", if closed { "queue_depth = 1" } else { "" });
        let requests = lines.iter().filter(|line| line.is_request).count();
        prop_assume!(requests > 0);
        let most = (share * requests as f64) as usize;
        let (count, facts, error) = taken(&text(&lines, usize::MAX), &keys, most);
        prop_assert_eq!((count, error), (most, None));
        prop_assert_eq!(facts, taken(&text(&lines, most), &keys, most).1);
    }

    /// Reports an error of a request when its arrival is asked for, not earlier, and leaves
    /// the facts before it as they are.
    #[test]
    fn errors_are_met_where_they_are(lines in lines(), kind in 0..4_usize, share in 0.0..1.0_f64) {
        let until = lines.iter().filter(|line| line.is_request).count();
        prop_assume!(until > 1);
        let good = text(&lines, usize::MAX);
        // Bad text, a place outside the device, a file never seen, a falling time.
        let bad = [
            "x f1 read 0 512",
            "30000 f1 read 51200 512",
            "30000 new read 51200 512",
            "0 f1 read 0 512",
        ];
        let bad = format!("{good}{}\n30000 f1 read 0 512\n", bad[kind]);
        let last = good.lines().rfind(|line| line.contains("read")).unwrap();
        prop_assume!(kind < 3 || !last.starts_with("0 "));
        let (count, _, error) = taken(&bad, KEYS, usize::MAX);
        prop_assert_eq!(count, until);
        let line = format!(":{}: ", good.lines().count() + 1);
        prop_assert!(error.as_ref().unwrap().starts_with(&line), "{:?}", error);
        let most = (share * (until - 1) as f64) as usize;
        prop_assert_eq!(taken(&bad, KEYS, most), taken(&text(&lines, most), KEYS, most));
    }
}
