//! Background tasks that grow impatient.

use super::Children;
use crate::mechanism::Mechanism;
use crate::model::{Answers, Model, Report};
use crate::parallel::free::{Background, Wanted};
use crate::request::{Flags, Request};
use crate::row::Row;
use crate::units::Nanos;

/// A sled whose background tasks ask for passes of their own once little
/// enough is left, while no request is in the device: one block at a time, the
/// unused tips of its pass taking more. These passes take neither command
/// overhead nor bus. A request that comes meanwhile waits
/// for the end of that pass.
pub struct ActiveTail {
    child: Children,
    /// Requests of the load in the device.
    outstanding: u64,
    /// Since when there have been none.
    idle_since: Nanos,
    /// Whether a pass of a task's own is under way.
    asking: bool,
    asked: u64,
    /// The block to ask for next.
    wanted: Option<Request>,
}

/// The name space of requests of its own.
const OWN: u64 = 1 << 63;

impl ActiveTail {
    /// Impatience for the background tasks of `child`.
    #[must_use]
    pub fn new(child: Box<dyn Model>) -> Self {
        let mut tail = Self {
            child: Children::new(vec![child]),
            outstanding: 0,
            idle_since: Nanos::ZERO,
            asking: false,
            asked: 0,
            wanted: None,
        };
        tail.look(Nanos::ZERO);
        tail
    }

    /// Looks for a block to ask for when the device has fallen idle.
    fn look(&mut self, at: Nanos) {
        self.idle_since = at;
        self.wanted = self.child.mechanism(0).and_then(|mechanism| {
            let cylinder = u32::try_from(mechanism.major(at)).unwrap_or(0);
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
            let wanted = mechanism.background()?.wanted(cylinder, estimate)?;
            Some(request(&wanted))
        });
    }

    /// When it asks for a pass.
    fn ask_at(&self) -> Option<Nanos> {
        let idle = self.outstanding == 0 && !self.asking && self.wanted.is_some();
        idle.then_some(self.idle_since)
    }

    /// Does what is due before `until`, and at `until` too if `inclusive`:
    /// completions of one instant come before a pass of its own.
    fn advance(&mut self, until: Nanos, inclusive: bool, answers: &mut dyn Answers) {
        loop {
            let ask = self.ask_at();
            let next = self.child.next_at();
            if let Some(at) = ask
                && next.is_none_or(|next| at < next)
            {
                if at > until || (at == until && !inclusive) {
                    return;
                }
                if let Some(request) = self.wanted.take() {
                    self.asking = true;
                    self.asked += 1;
                    self.child.submit(0, request, &mut Quiet);
                }
                continue;
            }
            // Its own rows are nobody's business; those of the load go on as
            // the device announced them.
            match self.child.step(until, inclusive, &mut Quiet) {
                None => return,
                Some(None) => {}
                Some(Some((_, row))) => self.done(&row, answers),
            }
        }
    }

    fn done(&mut self, row: &Row, answers: &mut dyn Answers) {
        if row.id >= OWN {
            self.asking = false;
        } else {
            self.outstanding -= 1;
            answers.done(row);
        }
        if self.outstanding == 0 && !self.asking {
            self.look(row.completion);
        }
    }
}

/// Hears nothing.
struct Quiet;

impl Answers for Quiet {
    fn done(&mut self, _row: &Row) {}
    fn note(&mut self, _row: &Row) {}
}

impl Model for ActiveTail {
    fn blocks(&self) -> u64 {
        self.child.blocks(0)
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        self.advance(request.arrival, false, answers);
        self.outstanding += 1;
        self.child.submit(0, request, &mut Quiet);
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.advance(now, true, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        let both = [self.ask_at(), self.child.next_at()];
        both.into_iter().flatten().min()
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        self.child.mechanism(0)
    }

    fn background(&self) -> Option<&Background> {
        self.child.background(0)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.child.report_alone(until, reports);
    }
}
