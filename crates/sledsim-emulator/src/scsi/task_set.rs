//! The order of the tasks of a logical unit (SAM-5, section 8).
//!
//! SIMPLE tasks go to the export at once, whose scheduler orders them. An ORDERED task
//! starts after all earlier tasks have ended, and later ones start after it. HEAD OF QUEUE
//! tasks start at once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The task attribute of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attribute {
    /// In any order with other SIMPLE tasks.
    #[default]
    Simple,
    /// After all earlier tasks, and before all later ones.
    Ordered,
    /// Before all tasks that have not started.
    HeadOfQueue,
}

/// What starts a task.
type Job = Box<dyn FnOnce() + Send>;

/// When a task starts.
pub(super) enum Start<T> {
    /// Now.
    Now(T),
    /// After others.
    Later,
    /// Never: it has been aborted.
    Never(T),
}

struct Entry {
    nexus: u64,
    attribute: Attribute,
    /// The work of a task that may not start yet.
    waiting: Option<Job>,
}

#[derive(Default)]
struct TaskSetState {
    /// Tasks that have neither ended nor been aborted, in the order of their arrival.
    tasks: BTreeMap<u64, Entry>,
    next: u64,
    /// ORDERED ones among them.
    ordered: usize,
    /// Whether a thread is starting tasks.
    advancing: bool,
}

impl TaskSetState {
    /// Whether task `number` may start: no earlier task has to end before.
    fn may_start(&self, number: u64, attribute: Attribute) -> bool {
        if self.ordered == 0 || attribute == Attribute::HeadOfQueue {
            return true;
        }
        let earlier = self.tasks.range(..number).map(|(_, task)| task.attribute);
        match attribute {
            Attribute::Ordered => earlier.filter(|a| *a != Attribute::HeadOfQueue).count() == 0,
            _ => !earlier.into_iter().any(|a| a == Attribute::Ordered),
        }
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        let entry = self.tasks.remove(&number)?;
        self.ordered -= usize::from(entry.attribute == Attribute::Ordered);
        Some(entry)
    }

    /// The work of the first tasks that wait and may start now.
    fn startable(&mut self) -> Vec<Job> {
        let mut jobs = Vec::new();
        let (mut first, mut after_ordered) = (true, false);
        for task in self.tasks.values_mut() {
            let may = match task.attribute {
                Attribute::HeadOfQueue => true,
                Attribute::Simple => !after_ordered,
                Attribute::Ordered => first,
            };
            if may {
                jobs.extend(task.waiting.take());
            }
            match task.attribute {
                Attribute::HeadOfQueue => continue,
                Attribute::Ordered => after_ordered = true,
                Attribute::Simple => {}
            }
            if after_ordered {
                break;
            }
            first = false;
        }
        jobs
    }
}

/// The tasks of a logical unit.
#[derive(Default)]
pub(super) struct TaskSet(Mutex<TaskSetState>);

impl TaskSet {
    fn state(&self) -> MutexGuard<'_, TaskSetState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a task of a nexus; returns its number.
    pub(super) fn enter(&self, nexus: u64, attribute: Attribute) -> u64 {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.ordered += usize::from(attribute == Attribute::Ordered);
        let waiting = None;
        let entry = Entry { nexus, attribute, waiting };
        state.tasks.insert(number, entry);
        number
    }

    /// Decides whether a task may start now. If it has to wait, `later` makes of `work` the
    /// job that starts it, which is kept until then. Returns the work otherwise.
    pub(super) fn start<T>(&self, number: u64, work: T, later: impl FnOnce(T) -> Job) -> Start<T> {
        let mut state = self.state();
        let Some(attribute) = state.tasks.get(&number).map(|task| task.attribute) else {
            return Start::Never(work);
        };
        if state.may_start(number, attribute) {
            return Start::Now(work);
        }
        if let Some(task) = state.tasks.get_mut(&number) {
            task.waiting = Some(later(work));
        }
        Start::Later
    }

    /// Takes a task out of the order: no other waits for it any more.
    pub(super) fn hold(&self, number: u64) {
        let mut state = self.state();
        let Some(task) = state.tasks.get_mut(&number) else {
            return;
        };
        let before = std::mem::replace(&mut task.attribute, Attribute::HeadOfQueue);
        state.ordered -= usize::from(before == Attribute::Ordered);
        drop(state);
        self.advance();
    }

    /// Whether a task of a nexus waits for others.
    pub(super) fn has_waiting(&self, nexus: u64) -> bool {
        let state = self.state();
        let mut tasks = state.tasks.values();
        tasks.any(|task| task.nexus == nexus && task.waiting.is_some())
    }

    /// Whether a task has neither ended nor been aborted.
    pub(super) fn is_live(&self, number: u64) -> bool {
        self.state().tasks.contains_key(&number)
    }

    /// Ends a task; returns whether it is still in the set, so that its status is sent.
    /// [`TaskSet::advance`] must follow.
    pub(super) fn end(&self, number: u64) -> bool {
        self.state().remove(number).is_some()
    }

    /// Starts tasks that waited for ones that have ended. A task that ends at once while
    /// others start does not start more by itself: the stack would grow with the queue.
    pub(super) fn advance(&self) {
        let mut state = self.state();
        if state.advancing {
            return;
        }
        state.advancing = true;
        loop {
            let jobs = match state.tasks.is_empty() {
                true => Vec::new(),
                false => state.startable(),
            };
            if jobs.is_empty() {
                state.advancing = false;
                return;
            }
            drop(state);
            for job in jobs {
                job();
            }
            state = self.state();
        }
    }

    /// Aborts the tasks that `chosen` selects by number and nexus: no status is sent.
    /// Returns the nexuses of the aborted ones.
    pub(super) fn abort(&self, chosen: impl Fn(u64, u64) -> bool) -> Vec<u64> {
        let mut state = self.state();
        let all = state.tasks.iter();
        let numbers: Vec<u64> = all
            .filter(|(number, task)| chosen(**number, task.nexus))
            .map(|(number, _)| *number)
            .collect();
        let entries: Vec<Entry> = numbers.iter().filter_map(|n| state.remove(*n)).collect();
        drop(state);
        let nexuses = entries.iter().map(|entry| entry.nexus).collect();
        // Their work holds replies, which are dropped without the lock.
        drop(entries);
        self.advance();
        nexuses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn attributes() -> impl Strategy<Value = Attribute> {
        prop_oneof![
            3 => Just(Attribute::Simple),
            1 => Just(Attribute::Ordered),
            1 => Just(Attribute::HeadOfQueue),
        ]
    }

    proptest! {
        /// In any order of ends and aborts: when a task starts, no earlier
        /// ORDERED task is in the set, and an ORDERED one has no earlier task there but
        /// HEAD OF QUEUE ones; in the end all have started that were not aborted.
        #[test]
        fn tasks_start_in_the_order_of_their_attributes(
            tasks in prop::collection::vec(attributes(), 1..30),
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8), 0..60),
        ) {
            let set = TaskSet::default();
            let started = Arc::new(Mutex::new(Vec::new()));
            let (mut live, mut aborted) = (Vec::new(), Vec::new());
            for attribute in &tasks {
                let number = set.enter(7, *attribute);
                let job = {
                    let started = Arc::clone(&started);
                    move || started.lock().unwrap().push(number)
                };
                let later = job.clone();
                if let Start::Now(job) = set.start(number, job, |_| Box::new(later)) {
                    job();
                }
                live.push(number);
            }
            let check = |live: &[u64]| -> Result<(), TestCaseError> {
                for number in started.lock().unwrap().iter().filter(|n| live.contains(n)) {
                    let earlier = live.iter().filter(|other| *other < number);
                    for other in earlier.map(|other| tasks[*other as usize]) {
                        match tasks[*number as usize] {
                            Attribute::HeadOfQueue => {}
                            Attribute::Simple => prop_assert!(other != Attribute::Ordered),
                            Attribute::Ordered => prop_assert!(other == Attribute::HeadOfQueue),
                        }
                    }
                }
                Ok(())
            };
            check(&live)?;
            for (which, kind) in steps {
                if live.is_empty() {
                    break;
                }
                let at = which.index(live.len());
                let number = live[at];
                if kind == 0 {
                    live.remove(at);
                    aborted.push(number);
                    prop_assert_eq!(set.abort(|other, _| other == number), vec![7]);
                    prop_assert!(!set.end(number));
                } else if started.lock().unwrap().contains(&number) {
                    live.remove(at);
                    prop_assert!(set.end(number));
                    set.advance();
                }
                check(&live)?;
            }
            while let Some(at) = live.iter().position(|n| started.lock().unwrap().contains(n)) {
                let number = live.remove(at);
                prop_assert!(set.end(number));
                set.advance();
            }
            prop_assert!(live.is_empty());
            let mut all = started.lock().unwrap().clone();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), started.lock().unwrap().len());
            let missing = (0..tasks.len() as u64).filter(|n| !all.contains(n));
            prop_assert!(missing.into_iter().all(|n| aborted.contains(&n)));
        }
    }

    /// Tasks that end as they start, as many as clients may queue, need no deep stack.
    #[test]
    fn a_long_queue_of_ordered_tasks_needs_no_deep_stack() {
        let set = Arc::new(TaskSet::default());
        let first = set.enter(0, Attribute::Ordered);
        for _ in 0..20_000 {
            let number = set.enter(0, Attribute::Ordered);
            let inner = Arc::clone(&set);
            let job = move || {
                let padding = std::hint::black_box([0u8; 512]);
                assert!(inner.end(number));
                inner.advance();
                assert_eq!(std::hint::black_box(padding)[0], 0);
            };
            let started = set.start(number, job, |job| Box::new(job));
            assert!(matches!(started, Start::Later));
        }
        assert!(set.end(first));
        set.advance();
        assert!(set.state().tasks.is_empty());
    }
}
