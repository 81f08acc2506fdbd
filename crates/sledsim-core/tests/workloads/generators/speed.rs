//! How fast requests are drawn.

use super::{DEVICE, try_source};
use sledsim_core::model::source::Source;

#[test]
#[ignore = "measures speed"]
fn speed() {
    for (kind, text) in [
        ("random", "rate = 500"),
        ("random", "queue_depth = 1"),
        ("random", "rate = 500\non_ms = 10\noff_ms = 90"),
        ("random", "queue_depth = 100\nthink_ms = 9\nthink = \"exponential\""),
        ("zipf", "queue_depth = 1"),
        ("hot_cold", "queue_depth = 1"),
        ("sequential", "queue_depth = 1\nstreams = 4"),
    ] {
        let (mut best, n) = (f64::MAX, 5_000_000);
        for _ in 0..5 {
            let text = format!("requests = {n}\n{text}");
            let source: &mut dyn Source = &mut try_source(kind, &text, DEVICE).unwrap();
            let start = std::time::Instant::now();
            while let Some(at) = source.next_arrival().unwrap() {
                let request = source.take();
                source.completed(request.id, at);
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
        }
        println!("{:6.1} ns a request: {kind} {text:?}", best * 1e9);
    }
}
