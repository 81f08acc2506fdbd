//! The children of a composite: routing by index, events in order.

use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionQueue, CompletionSink, Energy, Model, Report};
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// The children of a composite, by index.
///
/// The composite asks [`Children::next_at`] for the next event, and calls
/// [`Children::step`] to do it. At one instant completions come first, in the
/// order of announcement, then wakes by index.
pub struct Children {
    models: Vec<Box<dyn Model>>,
    /// The next wake of each child, [`Nanos::MAX`] if it needs none.
    wakes: Vec<Nanos>,
    /// The first of these wakes, and its child: the lowest of those with one then.
    wake_at: Nanos,
    woken: usize,
    announced: Announced,
}

/// The completion of a request by a child.
#[derive(Default)]
pub(super) struct Done {
    pub(super) child: usize,
    pub(super) row: Row,
}

/// Completions that children have announced. Each row is copied once, in.
#[derive(Default)]
struct Announced {
    queue: CompletionQueue<Box<Done>>,
    #[expect(clippy::vec_box, reason = "they move to `queue` without a copy")]
    spare: Vec<Box<Done>>,
}

/// Collects the completions that one child announces.
struct Collector<'a> {
    announced: &'a mut Announced,
    child: usize,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for Collector<'_> {
    fn done(&mut self, row: &Row) {
        self.above.note(row);
        let mut done = self.announced.spare.pop().unwrap_or_default();
        done.child = self.child;
        done.row.clone_from(row);
        self.announced.queue.push(row.completion, done);
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl Children {
    /// Children in the order of their indices.
    pub fn new(models: Vec<Box<dyn Model>>) -> Self {
        let mut children = Self {
            wakes: Vec::new(),
            models,
            announced: Announced::default(),
            wake_at: Nanos::MAX,
            woken: 0,
        };
        children.forget();
        children
    }

    /// How many children there are.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// How many requests all of them can serve at once.
    pub fn servers(&self) -> u64 {
        self.models.iter().map(|model| model.servers()).sum()
    }

    /// Blocks of child `index`.
    pub fn blocks(&self, index: usize) -> u64 {
        self.models[index].blocks()
    }

    /// The mechanism of child `index`, if it is one.
    pub fn mechanism(&self, index: usize) -> Option<&dyn Mechanism> {
        self.models[index].mechanism()
    }

    /// The background tasks of child `index`, if it has any.
    pub fn background(&self, index: usize) -> Option<&dyn Background> {
        self.models[index].background()
    }

    /// The contents that child `index` keeps, if it does.
    pub fn contents(&mut self, index: usize) -> Option<&mut dyn Contents> {
        self.models[index].contents()
    }

    /// Drops all announced completions after a power failure, as the children
    /// restart.
    pub fn forget(&mut self) {
        self.announced = Announced::default();
        let wakes = self.models.iter().map(|model| model.next_event());
        self.wakes = wakes.map(|at| at.unwrap_or(Nanos::MAX)).collect();
        self.find_woken();
    }

    /// Calls [`Contents::lose_power`] for all children that keep contents.
    pub fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        for model in &mut self.models {
            if let Some(contents) = model.contents() {
                contents.lose_power(at, chance);
            }
        }
        self.forget();
    }

    /// Calls [`Contents::recover_until`] for all of them; returns when the last one
    /// takes requests.
    pub fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        let mut end = at;
        for model in &mut self.models {
            if let Some(contents) = model.contents() {
                end = end.max(contents.recover_until(at, until)?);
            }
        }
        self.forget();
        Some(end)
    }

    /// Submits `request` to child `index`.
    pub fn submit(&mut self, index: usize, request: Request, sink: &mut dyn CompletionSink) {
        self.call(index, sink, |model, sink| {
            model.submit(request, sink);
        });
    }

    /// Calls a child and collects the completions that it announces.
    #[inline]
    fn call(
        &mut self,
        child: usize,
        above: &mut dyn CompletionSink,
        action: impl FnOnce(&mut dyn Model, &mut Collector<'_>),
    ) {
        let mut collector = Collector { announced: &mut self.announced, child, above };
        let model = &mut *self.models[child];
        action(model, &mut collector);
        let wake_at = model.next_event().unwrap_or(Nanos::MAX);
        self.wakes[child] = wake_at;
        if (wake_at, child) < (self.wake_at, self.woken) {
            (self.wake_at, self.woken) = (wake_at, child);
        } else if child == self.woken {
            self.find_woken();
        }
    }

    /// Finds the first wake.
    fn find_woken(&mut self) {
        (self.wake_at, self.woken) = (Nanos::MAX, 0);
        for (child, wake_at) in self.wakes.iter().enumerate() {
            if *wake_at < self.wake_at {
                (self.wake_at, self.woken) = (*wake_at, child);
            }
        }
    }

    /// Whether the next event, if there is one, is the completion of a request.
    #[inline]
    pub fn completes_next(&self) -> bool {
        self.announced.queue.due() <= self.wake_at
    }

    /// Returns the time of the next event, or [`Nanos::MAX`] for no event.
    #[inline]
    pub(super) fn due(&self) -> Nanos {
        self.announced.queue.due().min(self.wake_at)
    }

    /// The time of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Nanos> {
        let due = self.due();
        (due != Nanos::MAX).then_some(due)
    }

    /// Does the next event due before `until`, or at it if `inclusive`. Returns
    /// `Some(None)` if a child was woken, `Some(Some(..))` with the child's index
    /// and the row if a child completed a request, `None` if nothing is due.
    pub fn step(
        &mut self,
        until: Nanos,
        inclusive: bool,
        sink: &mut dyn CompletionSink,
    ) -> Option<Option<(usize, Row)>> {
        let at = self.next_at()?;
        if at > until || (at == until && !inclusive) {
            return None;
        }
        if self.completes_next() {
            let done = self.next_completed();
            let (child, row) = (done.child, done.row);
            self.reuse(done);
            return Some(Some((child, row)));
        }
        self.wake_next(at, sink);
        Some(None)
    }

    /// The next event, which is a completion that is due. [`Children::reuse`] takes its
    /// memory back.
    #[inline]
    pub(super) fn next_completed(&mut self) -> Box<Done> {
        self.announced.queue.pop().expect("a completion is due").1
    }

    /// Takes back the memory of a completion.
    #[inline]
    pub(super) fn reuse(&mut self, done: Box<Done>) {
        self.announced.spare.push(done);
    }

    /// Wakes the child of the next event, which is a wake due at `at`.
    #[inline]
    pub(super) fn wake_next(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.call(self.woken, sink, |model, sink| model.wake(at, sink));
    }

    /// The report of the composite called `name`, which counted `counts`, then
    /// those of its children by index. A composite has no mechanism and spends no energy
    /// of its own.
    pub fn report(
        &self,
        name: &str,
        counts: Vec<(&'static str, u64)>,
        until: Nanos,
        reports: &mut Vec<Report>,
    ) {
        reports.push(Report {
            name: name.to_owned(),
            mechanisms: Vec::new(),
            energy: Some(Energy::default()),
            counts,
            ..Report::default()
        });
        for model in &self.models {
            model.report(until, reports);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes a row with its id at each of some instants.
    struct Timer(u64, Vec<u64>);

    impl Model for Timer {
        fn blocks(&self) -> u64 {
            0
        }

        fn submit(&mut self, _request: Request, _sink: &mut dyn CompletionSink) {}

        fn next_event(&self) -> Option<Nanos> {
            self.1.first().copied().map(Nanos)
        }

        fn happen(&mut self, _at: Nanos, sink: &mut dyn CompletionSink) {
            sink.note(&Row { id: self.0, ..Row::default() });
            self.1.remove(0);
        }

        fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
    }

    struct Noted(Vec<u64>);

    impl CompletionSink for Noted {
        fn done(&mut self, _row: &Row) {}

        fn note(&mut self, row: &Row) {
            self.0.push(row.id);
        }
    }

    #[test]
    fn children_wake_in_the_order_of_times_and_at_one_instant_by_index() {
        let instants = [vec![5, 20], vec![10, 20, 30], vec![10, 20], vec![7, 10]];
        let timers = (0..).zip(instants).map(|(id, at)| Box::new(Timer(id, at)) as Box<dyn Model>);
        let (mut children, mut noted) = (Children::new(timers.collect()), Noted(Vec::new()));
        while children.step(Nanos::MAX, true, &mut noted).is_some() {}
        assert_eq!(noted.0, [0, 3, 1, 2, 3, 0, 1, 2, 1]);
    }
}
