//! Background tasks that grow impatient.

use crate::model::mechanism::Mechanism;
use crate::model::{Answers, Background, Events, Model, Report, Wanted};
use sledsim_base::request::{Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A sled whose background tasks ask for passes of their own once little
/// enough is left, while no request is in the device: one block at a time, the
/// unused tips of its pass taking more. These passes take neither command
/// overhead nor bus. A request that comes meanwhile waits for the end of that
/// pass.
pub struct ActiveTail {
    child: Box<dyn Model>,
    desk: Desk,
    asked: u64,
}

/// The name space of requests of its own.
const OWN: u64 = 1 << 63;

/// What is known of the requests in the device.
#[derive(Default)]
struct Desk {
    /// Those of which it is not known when they will be complete.
    open: u64,
    /// When the others are complete.
    idle_from: Nanos,
}

/// Hands on the rows of the load; those of its own are nobody's business.
struct Hears<'a> {
    desk: &'a mut Desk,
    above: &'a mut dyn Answers,
}

impl Answers for Hears<'_> {
    fn done(&mut self, row: &Row) {
        self.desk.open -= 1;
        self.desk.idle_from = self.desk.idle_from.max(row.completion);
        if row.id < OWN {
            self.above.done(row);
        }
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl ActiveTail {
    /// Impatience for the background tasks of `child`.
    #[must_use]
    pub fn new(child: Box<dyn Model>) -> Self {
        Self {
            child,
            desk: Desk::default(),
            asked: 0,
        }
    }

    /// When a task asks for a pass, if nothing arrives before.
    fn ask_at(&self) -> Option<Nanos> {
        let impatient = || {
            self.child
                .background()
                .is_some_and(Background::is_impatient)
        };
        (self.desk.open == 0 && impatient()).then_some(self.desk.idle_from)
    }

    /// The request of a task that asks for a pass at `at`.
    fn own_request(&self, at: Nanos) -> Option<Request> {
        let mechanism = self.child.mechanism()?;
        let request = |wanted: &Wanted| {
            let mut request = Request::new(OWN + self.asked, at, wanted.op, wanted.lbn, 1);
            request.flags = Flags {
                background: true,
                for_task: true,
                ..Flags::default()
            };
            request
        };
        let estimate = |wanted: &Wanted| mechanism.estimate(at, &request(wanted));
        let cylinder = u32::try_from(mechanism.major(at)).unwrap_or(0);
        let wanted = mechanism.background()?.wanted(cylinder, &estimate)?;
        Some(request(&wanted))
    }

    fn give(&mut self, request: Request, answers: &mut dyn Answers) {
        self.desk.open += 1;
        let (desk, above) = (&mut self.desk, answers);
        self.child.submit(request, &mut Hears { desk, above });
    }
}

impl Events for ActiveTail {
    fn next_event(&self) -> Option<Nanos> {
        let both = [self.ask_at(), self.child.wake_at()];
        both.into_iter().flatten().min()
    }

    fn happen(&mut self, at: Nanos, answers: &mut dyn Answers) {
        if self.child.wake_at() == Some(at) {
            let (desk, above) = (&mut self.desk, answers);
            self.child.wake(at, &mut Hears { desk, above });
        } else if let Some(request) = self.own_request(at) {
            self.asked += 1;
            self.give(request, answers);
        }
    }
}

impl Model for ActiveTail {
    fn blocks(&self) -> u64 {
        self.child.blocks()
    }

    fn servers(&self) -> u64 {
        self.child.servers()
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        self.advance(request.arrival, false, answers);
        self.give(request, answers);
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.advance(now, true, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        self.child.mechanism()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.child.report(until, reports);
    }
}
