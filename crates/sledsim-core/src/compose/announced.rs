//! Completions that children have announced, until they are due.

use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// The completion of a request by a child.
#[derive(Default)]
pub(super) struct Done {
    pub(super) child: usize,
    pub(super) row: Row,
}

/// Announced completions in the order of their times, those of one instant in the order
/// of their announcement. Each row is copied once, in.
pub(super) struct Announced {
    /// Few: about as many as there are children.
    due: VecDeque<(Nanos, Box<Done>)>,
    /// The time of the first completion, or [`Nanos::MAX`] for no completion.
    pub(super) next_at: Nanos,
    #[expect(clippy::vec_box, reason = "they move to `due` without a copy")]
    spare: Vec<Box<Done>>,
}

impl Default for Announced {
    fn default() -> Self {
        Self { due: VecDeque::new(), next_at: Nanos::MAX, spare: Vec::new() }
    }
}

impl Announced {
    /// Adds the completion of a request by a child.
    #[inline]
    pub(super) fn push(&mut self, child: usize, row: &Row) {
        let mut done = self.spare.pop().unwrap_or_default();
        done.child = child;
        done.row.clone_from(row);
        let at = row.completion;
        if self.due.back().is_none_or(|last| last.0 <= at) {
            self.due.push_back((at, done));
        } else {
            let place = self.due.partition_point(|other| other.0 <= at);
            self.due.insert(place, (at, done));
        }
        self.next_at = self.next_at.min(at);
    }

    /// Takes the next out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Box<Done>> {
        let (_, done) = self.due.pop_front()?;
        self.next_at = self.due.front().map_or(Nanos::MAX, |next| next.0);
        Some(done)
    }

    /// Takes back the memory of a completion.
    #[inline]
    pub(super) fn reuse(&mut self, done: Box<Done>) {
        self.spare.push(done);
    }
}

#[cfg(test)]
mod tests {
    use super::Announced;
    use sledsim_base::random::Stream;
    use sledsim_base::row::Row;
    use sledsim_base::units::Nanos;

    /// Random announcements beside a list that is searched for the first.
    #[test]
    fn completions_come_in_order() {
        let mut random = Stream::new(1, "announced");
        let (mut announced, mut list) = (Announced::default(), Vec::new());
        for id in 0..20_000 {
            if random.chance(0.5) {
                let completion = Nanos(id / 8 + random.below(12));
                let row = Row { id, completion, ..Row::default() };
                announced.push(id as usize % 3, &row);
                list.push((completion, id));
            }
            let first = list.iter().copied().min();
            assert_eq!(announced.next_at, first.map_or(Nanos::MAX, |first| first.0));
            if random.chance(0.5) {
                let done = announced.pop();
                let found = done.as_ref().map(|done| (done.row.completion, done.row.id));
                assert_eq!(found, first);
                list.retain(|other| Some(*other) != first);
                if let Some(done) = done {
                    announced.reuse(done);
                }
            }
        }
    }
}
