//! Closed replay of a recording: each request arrives as long after the
//! completion it waited for as in the recording.

use super::dependency_inference::DependencyInference;
use rustc_hash::FxBuildHasher;
use slab::Slab;
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// The requests of a recording, each waiting for the completion of another.
///
/// Requests are read ahead only as far as needed: an unread request arrived in
/// the recording no earlier than the one read last, so in the replay it arrives
/// no earlier than that instant moved by the least `shift` of the requests it
/// may wait for. Memory is proportional to the requests between one request and
/// the next of its stream, and to the lead of one stream over another.
pub struct DependencyReplay<T> {
    causes: DependencyInference,
    /// Requests that are outstanding, waiting, or may be waited for.
    known: HashMap<u64, Known, FxBuildHasher>,
    slots: Slab<Slot<T>>,
    /// Known arrivals with their slots; at equal times in the order of the
    /// recording.
    due: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    /// The shifts of completed requests that may be waited for.
    shifts: BTreeSet<(i128, u64)>,
    /// The numbers in the recording of outstanding requests, by id.
    sent: HashMap<u64, u64, FxBuildHasher>,
    read: u64,
    /// The arrival in the recording of the request read last.
    latest: Nanos,
    ended: bool,
    /// The number of requests that waited for none.
    pub free_requests: u64,
    /// The sum of all think times, in ns.
    pub think_ns: u128,
    /// The sum of all latenesses, in ns.
    pub lateness_ns: u128,
    /// The first arrival and the last completion as seen, in the recording.
    pub recorded: Option<(Nanos, Nanos)>,
}

/// A request read.
struct Known {
    /// When its completion was seen in the recording.
    seen: Nanos,
    /// When it completes in the replay.
    completion: Option<Nanos>,
    /// The first slot of the linked list of requests that wait for it.
    waiting: Option<usize>,
    /// Whether no later request can wait for it.
    over: bool,
}

/// Holds a request until it arrives.
struct Slot<T> {
    item: T,
    request: u64,
    think: Nanos,
    next: Option<usize>,
}

/// A request of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    pub stream: u32,
    /// Arrival and the completion as it was seen, in the file.
    pub arrival: Nanos,
    pub seen: Nanos,
    /// The same two on the clock of the replay.
    pub arrival_at: Nanos,
    pub seen_at: Nanos,
    /// From completion to when it was seen, in the file.
    pub lateness: Nanos,
}

impl<T> DependencyReplay<T> {
    pub fn new(causes: DependencyInference) -> Self {
        Self {
            causes,
            known: HashMap::default(),
            slots: Slab::new(),
            due: BinaryHeap::new(),
            shifts: BTreeSet::new(),
            sent: HashMap::default(),
            read: 0,
            latest: Nanos::ZERO,
            ended: false,
            free_requests: 0,
            think_ns: 0,
            lateness_ns: 0,
            recorded: None,
        }
    }

    /// The number of requests read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Whether a request not yet read may arrive before the next one known.
    pub fn wants_more(&self) -> bool {
        if self.ended {
            return false;
        }
        let waited_for = self.shifts.first().map(|(shift, _)| *shift);
        let at_its_time = self.causes.nothing_seen().then_some(0);
        let Some(shift) = waited_for.into_iter().chain(at_its_time).min() else {
            return false;
        };
        let earliest = i128::from(self.latest.0) + shift;
        let due = self.due.peek();
        due.is_none_or(|Reverse((at, ..))| earliest < i128::from(at.0))
    }

    /// Marks the end of the recording.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Takes the next request of the recording.
    pub fn push(&mut self, recorded: Recorded, item: T) {
        let Recorded { arrival_at, .. } = recorded;
        let request = self.read;
        self.read += 1;
        self.latest = arrival_at;
        self.lateness_ns += u128::from(recorded.lateness.0);
        let (_, end) = (self.recorded).get_or_insert((recorded.arrival, recorded.seen));
        *end = recorded.seen.max(*end);
        let cause = (self.causes).take(recorded.stream, recorded.arrival, recorded.seen);
        let slot = self.slots.insert(Slot { item, request, think: Nanos::ZERO, next: None });
        match cause.and_then(|cause| self.known.get_mut(&cause)) {
            None => {
                self.free_requests += 1;
                self.due.push(Reverse((arrival_at, request, slot)));
            }
            Some(cause) => {
                let think = arrival_at.since(cause.seen);
                self.think_ns += u128::from(think.0);
                match cause.completion {
                    Some(at) => self.due.push(Reverse((later(at, think), request, slot))),
                    None => {
                        let waits = &mut self.slots[slot];
                        waits.think = think;
                        waits.next = cause.waiting.replace(slot);
                    }
                }
            }
        }
        let known = Known { seen: recorded.seen_at, completion: None, waiting: None, over: false };
        self.known.insert(request, known);
        for request in self.causes.over.drain(..) {
            let Some(known) = self.known.get_mut(&request) else {
                continue;
            };
            known.over = true;
            if let Some(at) = known.completion {
                self.shifts.remove(&(shift(at, known.seen), request));
                self.known.remove(&request);
            }
        }
    }

    /// The arrival of the next known request.
    pub fn due(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next known request.
    pub fn next(&self) -> Option<&T> {
        let Reverse((.., slot)) = self.due.peek()?;
        Some(&self.slots[*slot].item)
    }

    /// Sends the next known request as `id`.
    pub fn take(&mut self, id: u64) {
        if let Some(Reverse((_, request, slot))) = self.due.pop() {
            self.sent.insert(id, request);
            self.slots.remove(slot);
        }
    }

    /// The request that was sent as `id` completed at `at`.
    pub fn completed(&mut self, id: u64, at: Nanos) {
        let Some(request) = self.sent.remove(&id) else {
            return;
        };
        let Some(known) = self.known.get_mut(&request) else {
            return;
        };
        known.completion = Some(at);
        let mut waiting = known.waiting.take();
        while let Some(slot) = waiting {
            let waits = &self.slots[slot];
            let due = later(at, waits.think);
            self.due.push(Reverse((due, waits.request, slot)));
            waiting = waits.next;
        }
        if known.over {
            self.known.remove(&request);
        } else {
            self.shifts.insert((shift(at, known.seen), request));
        }
    }
}

fn later(at: Nanos, by: Nanos) -> Nanos {
    Nanos(at.0.saturating_add(by.0))
}

/// The completion in the replay minus the completion seen in the recording.
fn shift(at: Nanos, seen: Nanos) -> i128 {
    i128::from(at.0) - i128::from(seen.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Replays a recording (stream, arrival, seen) in which each request takes
    /// `service` alone; returns the most read ahead of what was sent.
    fn most_ahead(recording: &[(u32, u64, u64)], service: u64) -> u64 {
        let mut streams = BTreeMap::new();
        for (stream, ..) in recording {
            *streams.entry(*stream).or_default() += 1;
        }
        let mut paced = DependencyReplay::new(DependencyInference::new(streams));
        let mut rest = recording.iter();
        let mut under_way = BinaryHeap::new();
        let (mut sent, mut now, mut most) = (0, Nanos::ZERO, 0);
        loop {
            while paced.wants_more() {
                match rest.next() {
                    None => paced.end(),
                    Some(&(stream, arrival, seen)) => {
                        let (arrival, seen) = (Nanos(arrival), Nanos(seen));
                        let recorded = Recorded {
                            stream,
                            arrival,
                            seen,
                            arrival_at: arrival,
                            seen_at: seen,
                            lateness: Nanos::ZERO,
                        };
                        paced.push(recorded, ());
                    }
                }
            }
            most = most.max(paced.read() - sent);
            let done = under_way.peek().map(|Reverse((at, _))| *at);
            match (paced.due(), done) {
                (None, None) => break,
                (Some(due), done) if done.is_none_or(|done| due < done) => {
                    assert!(due >= now, "arrivals fall: {due} after {now}");
                    now = due;
                    paced.take(sent);
                    under_way.push(Reverse((Nanos(due.0 + service), sent)));
                    sent += 1;
                }
                _ => {
                    let Reverse((at, id)) = under_way.pop().unwrap();
                    now = at;
                    paced.completed(id, at);
                }
            }
        }
        assert_eq!(sent, recording.len() as u64, "none is lost");
        most
    }

    #[test]
    fn read_ahead_is_small_on_a_device_of_any_speed() {
        // One request at a time; a second stream rests for a hundred of them,
        // and a third ends early.
        let mut recording = Vec::new();
        for round in 0..5_000_u64 {
            let at = 10 * round;
            recording.push((0, at, at + 7));
            if round % 100 == 0 {
                recording.push((1, at + 1, at + 3));
            }
            if round < 5 {
                recording.push((2, at + 2, at + 4));
            }
        }
        for service in [1, 6] {
            let most = most_ahead(&recording, service);
            assert!((50..220).contains(&most), "{service}: {most}");
        }
        // The second stream rests as long as it did, and runs ahead.
        assert!(most_ahead(&recording, 3_000) > 3_000);
        let alone: Vec<_> = recording.into_iter().filter(|row| row.0 == 0).collect();
        for service in [1, 6, 50, 3_000] {
            assert!(most_ahead(&alone, service) <= 2);
        }
    }
}
