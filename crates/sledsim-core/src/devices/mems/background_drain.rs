//! Passes of their own for background tasks that are almost complete.

use crate::model::mechanism::Mechanism;
use crate::model::media_writes::MediaWrites;
use crate::model::{Background, CompletionSink, Model, PassRequest, Report, Rest};
use sledsim_base::request::{Flags, OWN_WORK, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A sled that gives a background task passes of its own once its remaining share falls
/// to its `tail`, while the device holds no request: one block at a time, with the
/// unused tips of the pass taking more. These passes take neither command overhead nor
/// bus. A request that arrives meanwhile waits for the end of the pass.
pub struct BackgroundDrain {
    child: Box<dyn Model>,
    in_flight: InFlight,
    asked: u64,
}

/// The first id of requests of tasks, above those of the own work of a layout around it.
const OF_TASKS: u64 = OWN_WORK | OWN_WORK >> 1;

/// The requests in the device.
#[derive(Default)]
struct InFlight {
    /// Requests whose completion time is not known yet.
    open: u64,
    /// When all others are complete.
    idle_from: Nanos,
}

/// Forwards completions, but for those of requests of tasks.
struct ForwardingSink<'a> {
    in_flight: &'a mut InFlight,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        self.in_flight.open -= 1;
        self.in_flight.idle_from = self.in_flight.idle_from.max(row.completion);
        if row.id < OF_TASKS {
            self.above.done(row);
        }
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl BackgroundDrain {
    /// Wraps `child` to serve its background tasks.
    pub fn new(child: Box<dyn Model>) -> Self {
        Self { child, in_flight: InFlight::default(), asked: 0 }
    }

    /// When a task gets a pass of its own, if no request arrives before.
    fn ask_at(&self) -> Option<Nanos> {
        let impatient = || self.child.background().is_some_and(Background::wants_own_pass);
        (self.in_flight.open == 0 && impatient()).then_some(self.in_flight.idle_from)
    }

    /// The request of a task for a pass of its own at `at`.
    fn own_request(&self, at: Nanos) -> Request {
        let mechanism = self.child.mechanism().expect("a sled is a mechanism");
        let positions = mechanism.positions();
        let request = |wanted: &PassRequest| {
            let mut request = Request::new(OF_TASKS + self.asked, at, wanted.op, wanted.lbn, 1);
            request.flags = Flags::BACKGROUND | Flags::FOR_TASK;
            request
        };
        let estimate = |wanted: &PassRequest| positions.estimate(at, &request(wanted));
        let cylinder = u32::try_from(positions.cylinder(at)).unwrap_or(0);
        let background = mechanism.background().expect("a sled with tasks knows them");
        request(&background.next_pass(cylinder, &estimate).expect("a task wants its own pass"))
    }

    fn give(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.in_flight.open += 1;
        let (in_flight, above) = (&mut self.in_flight, sink);
        self.child.submit(request, &mut ForwardingSink { in_flight, above });
    }
}

impl Model for BackgroundDrain {
    fn blocks(&self) -> u64 {
        self.child.blocks()
    }

    fn servers(&self) -> u64 {
        self.child.servers()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        self.give(request, sink);
    }

    fn next_event(&self) -> Option<Nanos> {
        let both = [self.ask_at(), self.child.next_event()];
        both.into_iter().flatten().min()
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if self.child.next_event() == Some(at) {
            let (in_flight, above) = (&mut self.in_flight, sink);
            self.child.wake(at, &mut ForwardingSink { in_flight, above });
        } else {
            let request = self.own_request(at);
            self.asked += 1;
            self.give(request, sink);
        }
    }

    fn rest(&mut self, now: Nanos) -> Rest {
        self.child.rest(now)
    }

    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        self.child.show_media_writes(writes)
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        self.child.mechanism()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.child.report(until, reports);
    }
}
