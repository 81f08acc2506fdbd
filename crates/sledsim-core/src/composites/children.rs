//! The children of a composite: routing by index, events in order.

use crate::contents::Contents;
use crate::mechanism::Mechanism;
use crate::model::{Answers, Model, Report};
use crate::parallel::free::Background;
use crate::request::Request;
use crate::row::Row;
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A child's announced completion, ordered by (time, sequence).
struct Due {
    at: Nanos,
    sequence: u64,
    child: usize,
    row: Row,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.sequence) == (other.at, other.sequence)
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

/// The children of a composite, by index.
///
/// The composite asks [`Children::next_at`] when something is due, and calls
/// [`Children::step`] for it; what is due at one instant comes completions
/// first, in the order of announcement, then wakes by index.
pub struct Children {
    models: Vec<Box<dyn Model>>,
    /// When each wakes, as it said last.
    wakes: Vec<Option<Nanos>>,
    due: BinaryHeap<Reverse<Due>>,
    sequence: u64,
}

/// Collects what one child announces.
struct Desk<'a> {
    due: &'a mut BinaryHeap<Reverse<Due>>,
    sequence: &'a mut u64,
    child: usize,
    above: &'a mut dyn Answers,
}

impl Answers for Desk<'_> {
    fn done(&mut self, row: &Row) {
        self.above.note(row);
        let (at, sequence, child) = (row.completion, *self.sequence, self.child);
        *self.sequence += 1;
        self.due.push(Reverse(Due {
            at,
            sequence,
            child,
            row: *row,
        }));
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl Children {
    /// Children in the order of their indices.
    #[must_use]
    pub fn new(models: Vec<Box<dyn Model>>) -> Self {
        Self {
            wakes: models.iter().map(|model| model.wake_at()).collect(),
            models,
            due: BinaryHeap::new(),
            sequence: 0,
        }
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
    pub fn background(&self, index: usize) -> Option<&Background> {
        self.models[index].background()
    }

    /// The contents that child `index` keeps, if it does.
    pub fn contents(&mut self, index: usize) -> Option<&mut dyn Contents> {
        self.models[index].contents()
    }

    /// Forgets all that was announced: power failed, and the children begin
    /// anew.
    pub fn forget(&mut self) {
        self.due.clear();
        self.wakes = self.models.iter().map(|model| model.wake_at()).collect();
    }

    /// Hands `request` to child `index`.
    pub fn submit(&mut self, index: usize, request: Request, answers: &mut dyn Answers) {
        let mut desk = Desk {
            due: &mut self.due,
            sequence: &mut self.sequence,
            child: index,
            above: answers,
        };
        let model = &mut self.models[index];
        model.submit(request, &mut desk);
        self.wakes[index] = model.wake_at();
    }

    /// The child that wakes first, and when.
    fn first_wake(&self) -> Option<(Nanos, usize)> {
        let wakes = self.wakes.iter().enumerate();
        wakes
            .filter_map(|(index, wake)| Some(((*wake)?, index)))
            .min()
    }

    /// When the next completion is due that was announced.
    #[must_use]
    pub fn next_completion(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse(due)| due.at)
    }

    /// When something is next due.
    #[must_use]
    pub fn next_at(&self) -> Option<Nanos> {
        let completion = self.next_completion();
        let wake = self.first_wake().map(|(at, _)| at);
        [completion, wake].into_iter().flatten().min()
    }

    /// Does the next thing due at `until` or before (before only, unless
    /// `inclusive`). `Some(None)` if a child was woken, `Some(Some(..))` if
    /// the child of that index completed the request of that row, `None` if
    /// nothing is due.
    pub fn step(
        &mut self,
        until: Nanos,
        inclusive: bool,
        answers: &mut dyn Answers,
    ) -> Option<Option<(usize, Row)>> {
        let at = self.next_at()?;
        if at > until || (at == until && !inclusive) {
            return None;
        }
        if self.due.peek().is_some_and(|Reverse(due)| due.at == at) {
            return self
                .due
                .pop()
                .map(|Reverse(due)| Some((due.child, due.row)));
        }
        let (_, child) = self.first_wake()?;
        let mut desk = Desk {
            due: &mut self.due,
            sequence: &mut self.sequence,
            child,
            above: answers,
        };
        let model = &mut self.models[child];
        model.wake(at, &mut desk);
        self.wakes[child] = model.wake_at();
        Some(None)
    }

    /// The report of the composite called `name`, then those of its children
    /// by index. A composite spends no energy of its own; its busy time is the
    /// mean over its children, so that the share of time stays one.
    pub fn report(&self, name: &str, until: Nanos, reports: &mut Vec<Report>) {
        let mut devices = Vec::new();
        for model in &self.models {
            model.report(until, &mut devices);
        }
        let busy: u64 = devices.iter().map(|report| report.busy.0).sum();
        reports.push(Report {
            name: name.to_owned(),
            busy: Nanos(busy / devices.len().max(1) as u64),
            ..Report::default()
        });
        reports.extend(devices);
    }
}
