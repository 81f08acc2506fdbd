//! Closed replay of a recording: each request arrives as long after the
//! completion it waited for as in the recording.

use super::{Ahead, ArrivalFacts, Arrivals, Placed};
use crate::replay::dependency_inference::DependencyInference;
use crate::replay::dependency_replay::{DependencyReplay, Recorded};
use crate::replay::facts::RecordedFacts;
use crate::replay::spec::{DEPENDS_ON, DependsOn, name_of};
use sledsim_base::error::Result;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// Requests that wait for completions, read ahead as far as
/// [`DependencyReplay`] needs.
pub struct Dependent {
    depends_on: DependsOn,
    paced: DependencyReplay<Placed>,
}

impl Dependent {
    /// For a recording with this inference.
    pub fn new(depends_on: DependsOn, causes: DependencyInference) -> Self {
        let paced = DependencyReplay::new(causes);
        Self { depends_on, paced }
    }

    /// The times of a request that [`DependencyReplay`] needs.
    fn recorded(&self, placed: &Placed, ahead: &Ahead) -> Recorded {
        let record = &placed.record;
        let lateness = record.lateness.unwrap_or_default();
        let took = record.response.unwrap_or_default();
        let seen = Nanos((record.time.0.saturating_add(took.0)).saturating_add(lateness.0));
        Recorded {
            stream: self.depends_on.stream(record),
            arrival: record.time,
            seen,
            arrival_at: placed.arrival,
            seen_at: ahead.feed.on_clock(seen),
            lateness,
        }
    }
}

impl Arrivals for Dependent {
    fn due(&mut self, ahead: &mut Ahead) -> Result<Option<Nanos>> {
        while self.paced.wants_more() {
            ahead.advance()?;
            match ahead.current() {
                Some(&placed) => self.paced.push(self.recorded(&placed, ahead), placed),
                None => self.paced.end(),
            }
        }
        Ok(self.paced.due())
    }

    fn next<'a>(&'a self, _ahead: &'a Ahead) -> Option<&'a Placed> {
        self.paced.next()
    }

    fn upcoming<'a>(&self, _ahead: &'a mut Ahead) -> &'a [Extent] {
        &[]
    }

    fn sent(&mut self, id: u64, _at: Nanos, _ahead: &mut Ahead) -> Result<()> {
        self.paced.take(id);
        Ok(())
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.paced.completed(id, at);
    }

    fn facts(&self) -> Option<ArrivalFacts> {
        let paced = &self.paced;
        let waited = paced.read() - paced.free_requests;
        let mean_ms = |sum: u128, of: u64| (of > 0).then(|| sum as f64 / of as f64 * 1e-6);
        let recorded = RecordedFacts {
            mean_think_ms: mean_ms(paced.think_ns, waited),
            mean_lateness_ms: mean_ms(paced.lateness_ns, paced.read()),
            recorded_duration_s: paced.recorded.map(|(start, end)| end.since(start).s()),
        };
        Some(ArrivalFacts::Recorded {
            think: "recorded".to_owned(),
            depends_on: name_of(&DEPENDS_ON, self.depends_on),
            waited,
            recorded: Some(recorded),
        })
    }
}
