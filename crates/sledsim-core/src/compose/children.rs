//! The children of a composite: routing by index, events in order.

use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionQueue, CompletionSink, Model, Report};
use slab::Slab;
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// The children of a composite, by index.
///
/// The composite asks [`Children::next_at`] when something is due, and calls
/// [`Children::step`] for it; what is due at one instant comes completions
/// first, in the order of announcement, then wakes by index.
pub struct Children {
    models: Vec<Box<dyn Model>>,
    /// When each wakes, as it said last.
    wakes: Vec<Option<Nanos>>,
    /// What they announced: where in `rows` it is.
    announced: CompletionQueue<usize>,
    /// Rows with their child.
    rows: Slab<(usize, Row)>,
    /// When something is next due.
    next: Option<Nanos>,
}

/// Collects what one child announces.
struct Collector<'a> {
    announced: &'a mut CompletionQueue<usize>,
    rows: &'a mut Slab<(usize, Row)>,
    child: usize,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for Collector<'_> {
    fn done(&mut self, row: &Row) {
        self.above.note(row);
        let place = self.rows.insert((self.child, *row));
        self.announced.push(row.completion, place);
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl Children {
    /// Children in the order of their indices.
    #[must_use]
    pub fn new(models: Vec<Box<dyn Model>>) -> Self {
        let mut children = Self {
            wakes: Vec::new(),
            models,
            announced: CompletionQueue::default(),
            rows: Slab::new(),
            next: None,
        };
        children.forget();
        children
    }

    /// How many children there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// How many requests all of them can serve at once.
    #[must_use]
    pub fn servers(&self) -> u64 {
        self.models.iter().map(|model| model.servers()).sum()
    }

    /// Blocks of child `index`.
    #[must_use]
    pub fn blocks(&self, index: usize) -> u64 {
        self.models[index].blocks()
    }

    /// The mechanism of child `index`, if it is one.
    #[must_use]
    pub fn mechanism(&self, index: usize) -> Option<&dyn Mechanism> {
        self.models[index].mechanism()
    }

    /// The background tasks of child `index`, if it has any.
    #[must_use]
    pub fn background(&self, index: usize) -> Option<&dyn Background> {
        self.models[index].background()
    }

    /// The contents that child `index` keeps, if it does.
    pub fn contents(&mut self, index: usize) -> Option<&mut dyn Contents> {
        self.models[index].contents()
    }

    /// Forgets all that was announced: power failed, and the children begin
    /// anew.
    pub fn forget(&mut self) {
        self.announced = CompletionQueue::default();
        self.rows.clear();
        self.wakes = self.models.iter().map(|model| model.wake_at()).collect();
        self.find_next();
    }

    /// Power fails at `at` for all children that keep contents, as
    /// [`Contents::lose_power`] says.
    pub fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        for model in &mut self.models {
            if let Some(contents) = model.contents() {
                contents.lose_power(at, chance);
            }
        }
        self.forget();
    }

    /// Recovers all of them from `at` on, as [`Contents::recover_until`] says: when
    /// the last of them takes requests.
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

    /// Hands `request` to child `index`.
    pub fn submit(&mut self, index: usize, request: Request, sink: &mut dyn CompletionSink) {
        self.tell(index, sink, |model, sink| {
            model.submit(request, sink);
        });
    }

    /// Tells a child something, and collects what it announces.
    #[inline]
    fn tell(
        &mut self,
        child: usize,
        above: &mut dyn CompletionSink,
        told: impl FnOnce(&mut dyn Model, &mut Collector<'_>),
    ) {
        let mut collector = Collector {
            announced: &mut self.announced,
            rows: &mut self.rows,
            child,
            above,
        };
        let model = &mut *self.models[child];
        told(model, &mut collector);
        self.wakes[child] = model.wake_at();
        self.find_next();
    }

    fn find_next(&mut self) {
        let wakes = self.wakes.iter().copied().flatten();
        self.next = wakes.chain(self.announced.next_at()).min();
    }

    /// When the next completion is due that was announced.
    #[must_use]
    pub fn next_completion(&self) -> Option<Nanos> {
        self.announced.next_at()
    }

    /// When something is next due.
    #[must_use]
    pub fn next_at(&self) -> Option<Nanos> {
        self.next
    }

    /// Does the next thing due at `until` or before (before only, unless
    /// `inclusive`). `Some(None)` if a child was woken, `Some(Some(..))` if
    /// the child of that index completed the request of that row, `None` if
    /// nothing is due.
    pub fn step(
        &mut self,
        until: Nanos,
        inclusive: bool,
        sink: &mut dyn CompletionSink,
    ) -> Option<Option<(usize, Row)>> {
        let at = self.next?;
        if at > until || (at == until && !inclusive) {
            return None;
        }
        if self.announced.next_at() == Some(at)
            && let Some((_, place)) = self.announced.pop()
        {
            self.find_next();
            return Some(Some(self.rows.remove(place)));
        }
        let child = self.wakes.iter().position(|wake| *wake == Some(at))?;
        self.tell(child, sink, |model, sink| model.wake(at, sink));
        Some(None)
    }

    /// The report of the composite called `name`, which counted `counts`, then
    /// those of its children by index. A composite spends no energy of its own; its busy time is the
    /// mean over its children, so that the share of time stays one.
    pub fn report(
        &self,
        name: &str,
        counts: Vec<(&'static str, u64)>,
        until: Nanos,
        reports: &mut Vec<Report>,
    ) {
        let mut devices = Vec::new();
        for model in &self.models {
            model.report(until, &mut devices);
        }
        let busy: u64 = devices.iter().map(|report| report.busy.0).sum();
        reports.push(Report {
            name: name.to_owned(),
            busy: Nanos(busy / devices.len().max(1) as u64),
            counts,
            ..Report::default()
        });
        reports.extend(devices);
    }
}
