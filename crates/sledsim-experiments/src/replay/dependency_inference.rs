//! Infers which completion each request of a recording waited for.
//!
//! A recording does not contain dependencies. They are inferred from the
//! completions that the program had seen when it sent a request:
//!
//! - the request waited for the latest completion that has released no request
//!   yet; of several seen at one instant, that of the later request first;
//! - if every completion has, it waited for the latest one, which then releases
//!   several;
//! - if the program had nothing outstanding, it waited for all completions
//!   together: only the latest can release requests from then on.
//!
//! So a program with a constant number of outstanding requests keeps it (each
//! completion releases one, also if several are seen at once), and so does a
//! program that sends several requests and waits for all of them. The first
//! requests of a stream wait for the latest completion of any stream; requests
//! before any completion wait for none.

use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Infers dependencies, request by request in the order of arrival. Memory is
/// proportional to the outstanding requests.
pub struct DependencyInference {
    /// The number of requests taken, which is the number of the next one.
    requests: u64,
    /// The outstanding requests: time at which the completion is seen, number
    /// and stream.
    under_way: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    streams: BTreeMap<u32, Stream>,
    /// Streams that go on and have seen no completion.
    starting: usize,
    /// The completion seen last, while `starting` streams may wait for it, and
    /// whether it is in the list of its stream.
    latest: Option<(u64, bool)>,
    any_seen: bool,
    /// Requests that no later request can have waited for.
    pub over: Vec<u64>,
}

/// A stream of requests: one thread of control.
#[derive(Debug, Default)]
struct Stream {
    /// The number of requests still to come.
    left: u64,
    /// The number of outstanding requests.
    outstanding: u64,
    /// Completions that a later request may have waited for, the latest one
    /// last. All others have released no request.
    seen: Vec<u64>,
    /// Whether the latest one has released a request.
    answered: bool,
}

impl DependencyInference {
    /// For a recording with these numbers of requests by stream.
    pub fn new(streams: BTreeMap<u32, u64>) -> Self {
        let stream = |(number, left)| {
            let stream = Stream { left, ..Stream::default() };
            (number, stream)
        };
        Self {
            requests: 0,
            under_way: BinaryHeap::new(),
            starting: streams.len(),
            streams: streams.into_iter().map(stream).collect(),
            latest: None,
            any_seen: false,
            over: Vec::new(),
        }
    }

    /// Whether a later request may wait for none.
    pub fn nothing_seen(&self) -> bool {
        !self.any_seen
    }

    /// Takes the next request of the recording, which arrived at `arrival` and
    /// was seen complete at `seen`; returns the number of the request it waited
    /// for.
    pub fn take(&mut self, stream: u32, arrival: Nanos, seen: Nanos) -> Option<u64> {
        while let Some(&Reverse((at, request, of))) = self.under_way.peek()
            && at <= arrival
        {
            self.under_way.pop();
            self.observe(request, of);
        }
        let request = self.requests;
        self.requests += 1;
        self.under_way.push(Reverse((seen, request, stream)));
        let of = self.streams.entry(stream).or_default();
        if of.outstanding == 0 && of.seen.len() > 1 {
            let last = of.seen.len() - 1;
            self.over.extend(of.seen.drain(..last));
        }
        of.outstanding += 1;
        of.left = of.left.saturating_sub(1);
        let cause = match of.seen.as_slice() {
            [] => self.latest.map(|(latest, _)| latest),
            [.., unanswered, _] if of.answered => {
                let unanswered = *unanswered;
                of.seen.remove(of.seen.len() - 2);
                self.over.push(unanswered);
                Some(unanswered)
            }
            [.., last] => {
                of.answered = true;
                Some(*last)
            }
        };
        if of.left == 0 {
            if of.seen.is_empty() {
                self.starting = self.starting.saturating_sub(1);
            }
            let seen = std::mem::take(&mut of.seen);
            for request in seen {
                self.remove_from_stream(request);
            }
            self.forget_latest();
        }
        cause
    }

    /// Records that a completion is seen.
    fn observe(&mut self, request: u64, stream: u32) {
        self.any_seen = true;
        let of = self.streams.entry(stream).or_default();
        of.outstanding = of.outstanding.saturating_sub(1);
        let goes_on = of.left > 0;
        let mut before = None;
        if goes_on {
            if of.seen.is_empty() {
                self.starting = self.starting.saturating_sub(1);
            }
            if of.answered {
                before = of.seen.pop();
            }
            of.seen.push(request);
            of.answered = false;
        }
        if let Some(before) = before {
            self.remove_from_stream(before);
        }
        if let Some((latest, listed)) = self.latest.replace((request, goes_on))
            && !listed
        {
            self.over.push(latest);
        }
        self.forget_latest();
    }

    /// Removes a request from the list of its stream.
    fn remove_from_stream(&mut self, request: u64) {
        match &mut self.latest {
            Some((latest, listed)) if *latest == request => *listed = false,
            _ => self.over.push(request),
        }
    }

    /// Drops the latest completion once all streams have started.
    fn forget_latest(&mut self) {
        if self.starting == 0
            && let Some((latest, listed)) = self.latest.take()
            && !listed
        {
            self.over.push(latest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The request that each of `requests` (stream, arrival, seen) waited for.
    fn causes(requests: &[(u32, u64, u64)]) -> Vec<Option<u64>> {
        let mut streams = BTreeMap::new();
        for (stream, ..) in requests {
            *streams.entry(*stream).or_default() += 1;
        }
        let mut causes = DependencyInference::new(streams);
        let take = |&(stream, arrival, seen): &(u32, u64, u64)| {
            causes.take(stream, Nanos(arrival), Nanos(seen))
        };
        let found = requests.iter().map(take).collect();
        let all = requests.len() as u64;
        causes.over.extend(causes.under_way.iter().map(|due| due.0.1));
        causes.over.sort_unstable();
        let each: Vec<u64> = (0..all).collect();
        assert_eq!(causes.over, each, "each is over once");
        found
    }

    #[test]
    fn a_sequential_program_waits_for_the_request_before() {
        let found = causes(&[(0, 5, 9), (0, 9, 11), (0, 20, 30), (0, 31, 40)]);
        assert_eq!(found, [None, Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_completion_at_the_arrival_was_seen_and_a_later_one_was_not() {
        let found = causes(&[(0, 0, 10), (0, 0, 12), (0, 10, 30), (0, 11, 30)]);
        assert_eq!(found, [None, None, Some(0), Some(0)]);
    }

    #[test]
    fn several_completions_seen_at_once_release_one_request_each() {
        // Of four outstanding, three are seen before the program goes on.
        let found = causes(&[
            (0, 0, 10),
            (0, 0, 11),
            (0, 0, 11),
            (0, 0, 50),
            (0, 12, 60),
            (0, 13, 60),
            (0, 14, 60),
            (0, 15, 60),
        ]);
        assert_eq!(found[4..], [Some(2), Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn a_program_that_waits_for_all_waits_for_the_last_completion() {
        // One, then two at once, then one when both are complete, and so on.
        let found =
            causes(&[(0, 0, 10), (0, 10, 15), (0, 10, 18), (0, 18, 20), (0, 20, 21), (0, 20, 22)]);
        assert_eq!(
            found,
            [None, Some(0), Some(0), Some(2), Some(3), Some(3)],
            "1 is over when nothing is outstanding"
        );
    }

    #[test]
    fn streams_wait_for_their_own_completions_and_start_after_any() {
        let found = causes(&[
            (7, 0, 10),
            (8, 5, 30),
            (7, 12, 20),
            (9, 21, 40), // starts: the latest of any stream is 2
            (8, 31, 60),
            (7, 35, 70), // long after its own
            (9, 41, 50),
        ]);
        assert_eq!(found, [None, None, Some(0), Some(2), Some(1), Some(2), Some(3)]);
    }
}
