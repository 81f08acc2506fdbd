//! Which completion each request of a recording waited for.
//!
//! Nothing in a recording says so. What is known is what the program had seen
//! when it sent a request, and so the rule is:
//!
//! - it waited for the latest completion that has released no request yet: of
//!   those seen at one instant, that of the later request first;
//! - if each has, it waited for the latest one, which then releases several;
//! - if the program had nothing outstanding, all before the latest one are
//!   over: it waited for them together, and the latest was the last of them.
//!
//! So a program that keeps so many requests outstanding keeps them (each
//! completion releases one, also where several are seen at once), and one that
//! sends several, waits for all of them and goes on does that. The first
//! requests of a stream wait for the latest completion of any stream, those
//! before any completion for none.

use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Finds them, request by request in the order of arrival. Memory is that of
/// the requests outstanding at any time.
pub struct DependencyInference {
    /// How many requests were taken; the next one has this number.
    requests: u64,
    /// When each request under way is seen complete, its number and stream.
    under_way: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    streams: BTreeMap<u32, Stream>,
    /// Streams that go on and have seen no completion.
    starting: usize,
    /// The completion seen last, while `starting` streams may wait for it, and
    /// whether it is in the list of its stream.
    latest: Option<(u64, bool)>,
    any_seen: bool,
    /// Requests that none to come can have waited for.
    pub over: Vec<u64>,
}

/// One thread of control.
#[derive(Debug, Default)]
struct Stream {
    /// Requests to come.
    left: u64,
    /// Requests sent and not seen complete.
    outstanding: u64,
    /// Those seen complete that one to come may have waited for. The last one
    /// is the latest; of the others, none has released a request.
    seen: Vec<u64>,
    /// Whether the latest has.
    answered: bool,
}

impl DependencyInference {
    /// Of a recording with so many requests of each stream.
    pub fn new(streams: BTreeMap<u32, u64>) -> Self {
        let stream = |(number, left)| {
            let stream = Stream {
                left,
                ..Stream::default()
            };
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

    /// Whether a request to come may wait for none.
    pub fn nothing_seen(&self) -> bool {
        !self.any_seen
    }

    /// Takes the next request of the recording, which arrived at `arrival` and
    /// was seen complete at `seen`: the number of the one it waited for.
    pub fn take(&mut self, stream: u32, arrival: Nanos, seen: Nanos) -> Option<u64> {
        while let Some(&Reverse((at, request, of))) = self.under_way.peek()
            && at <= arrival
        {
            self.under_way.pop();
            self.see(request, of);
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
                self.unlist(request);
            }
            self.forget_latest();
        }
        cause
    }

    /// A request of a stream is seen complete.
    fn see(&mut self, request: u64, stream: u32) {
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
            self.unlist(before);
        }
        if let Some((latest, listed)) = self.latest.replace((request, goes_on))
            && !listed
        {
            self.over.push(latest);
        }
        self.forget_latest();
    }

    /// A request leaves the list of its stream.
    fn unlist(&mut self, request: u64) {
        match &mut self.latest {
            Some((latest, listed)) if *latest == request => *listed = false,
            _ => self.over.push(request),
        }
    }

    /// Once no stream starts, only lists count.
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

    /// What each of some requests waited for: (stream, arrival, seen).
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
        causes
            .over
            .extend(causes.under_way.iter().map(|due| due.0.1));
        causes.over.sort_unstable();
        let each: Vec<u64> = (0..all).collect();
        assert_eq!(causes.over, each, "each is over once");
        found
    }

    #[test]
    fn one_after_the_other_waits_for_the_one_before() {
        let found = causes(&[(0, 5, 9), (0, 9, 11), (0, 20, 30), (0, 31, 40)]);
        assert_eq!(found, [None, Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_completion_at_the_instant_of_an_arrival_was_seen_a_later_one_was_not() {
        let found = causes(&[(0, 0, 10), (0, 0, 12), (0, 10, 30), (0, 11, 30)]);
        assert_eq!(found, [None, None, Some(0), Some(0)]);
    }

    #[test]
    fn several_seen_at_once_release_one_each() {
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
    fn a_program_that_waits_for_all_waits_for_the_last() {
        // One, then two at once, then one when both are complete, and so on.
        let found = causes(&[
            (0, 0, 10),
            (0, 10, 15),
            (0, 10, 18),
            (0, 18, 20),
            (0, 20, 21),
            (0, 20, 22),
        ]);
        assert_eq!(
            found,
            [None, Some(0), Some(0), Some(2), Some(3), Some(3)],
            "1 is over when nothing is outstanding"
        );
    }

    #[test]
    fn streams_wait_for_their_own_and_start_after_any() {
        let found = causes(&[
            (7, 0, 10),
            (8, 5, 30),
            (7, 12, 20),
            (9, 21, 40), // starts: the latest of any stream is 2
            (8, 31, 60),
            (7, 35, 70), // long after its own
            (9, 41, 50),
        ]);
        assert_eq!(
            found,
            [None, None, Some(0), Some(2), Some(1), Some(2), Some(3)]
        );
    }
}
