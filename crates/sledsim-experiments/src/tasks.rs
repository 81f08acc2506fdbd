//! Independent tasks on several threads.

use crate::panics::{catch_panic, internal_error};
use sledsim_base::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The longest time between two calls of `check`.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// A task under way.
pub(crate) struct Task<'a> {
    /// Which of the tasks, from 0.
    pub index: usize,
    /// Tasks from this index on are abandoned.
    abandoned_from: &'a AtomicUsize,
}

impl Task<'_> {
    /// Fails if the result of this task is not wanted any more. Long tasks ask now and then.
    pub fn check(&self) -> Result<()> {
        match self.index < self.abandoned_from.load(Relaxed) {
            true => Ok(()),
            false => Err(Error::Interrupted),
        }
    }
}

/// Does `count` tasks on up to `threads` threads, on one for each processor if 0.
/// Returns their results in order. `check` is called now and then, in the calling thread.
///
/// # Errors
/// `check`'s, or that of the first task in order which fails. A panic is an error.
pub(crate) fn run_tasks<T: Send>(
    count: usize,
    threads: usize,
    work: &(dyn Fn(&Task<'_>) -> Result<T> + Sync),
    check: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<T>> {
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let (next, abandoned_from) = (AtomicUsize::new(0), &AtomicUsize::new(usize::MAX));
    let begin = || {
        let task = Task { index: next.fetch_add(1, Relaxed), abandoned_from };
        (task.index < count && task.check().is_ok()).then_some(task)
    };
    let mut results: Vec<Option<Result<T>>> = (0..count).map(|_| None).collect();
    let mut checked = Ok(());
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.min(count) {
            let (sender, begin) = (sender.clone(), &begin);
            scope.spawn(move || {
                while let Some(task) = begin() {
                    let result = catch_panic(|| work(&task))
                        .unwrap_or_else(|said| Err(Error::System(internal_error(&said))));
                    if result.is_err() {
                        // One before may fail too: its error is reported then.
                        abandoned_from.fetch_min(task.index + 1, Relaxed);
                    }
                    let _ = sender.send((task.index, result)); // the receiver waits for all
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(CHECK_EVERY) {
                Ok((index, result)) => results[index] = Some(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if checked.is_ok() {
                checked = check();
                if checked.is_err() {
                    abandoned_from.store(0, Relaxed);
                }
            }
        }
    });
    checked?;
    results.into_iter().map(|result| result.unwrap_or(Err(Error::Interrupted))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn never() -> Result<()> {
        Ok(())
    }

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        for (count, threads) in [(0, 3), (1, 3), (100, 1), (100, 3), (3, 100), (100, 0)] {
            let slow_first = |task: &Task<'_>| {
                thread::sleep(Duration::from_micros((100 - task.index as u64) * 10));
                Ok(task.index * task.index)
            };
            let squares = run_tasks(count, threads, &slow_first, &mut never).unwrap();
            assert!(squares.into_iter().eq((0..count).map(|index| index * index)));
        }
    }

    /// Whichever fails first on the clock.
    #[test]
    fn the_error_is_that_of_the_first_failing_task() {
        let fail = |task: &Task<'_>| match task.index {
            10 => {
                thread::sleep(Duration::from_millis(20));
                task.check().expect("is wanted, as it comes before");
                Err(Error::Key("ten".to_owned()))
            }
            11 => panic!("eleven"),
            index => Ok(index),
        };
        let done = run_tasks(50, 4, &fail, &mut never);
        assert_eq!(done.unwrap_err().to_string(), "ten");
        let panics = |task: &Task<'_>| fail(&Task { index: task.index + 11, ..*task });
        let said = run_tasks(2, 1, &panics, &mut never).unwrap_err().to_string();
        assert!(said.contains("report it: eleven; tasks.rs:"), "{said}");
    }

    /// Tasks that would go on for ever end when `check` fails, or one before does.
    #[test]
    fn tasks_are_abandoned() {
        let endless = |task: &Task<'_>| loop {
            task.check()?;
            thread::yield_now();
        };
        let mut calls = 0;
        let mut check = || {
            calls += 1;
            match calls {
                3 => Err(Error::Key("enough".to_owned())),
                _ => Ok(()),
            }
        };
        let stopped: Result<Vec<()>> = run_tasks(5, 2, &endless, &mut check);
        assert_eq!(stopped.unwrap_err().to_string(), "enough");

        let begun = AtomicBool::new(false);
        let second_is_endless = |task: &Task<'_>| match task.index {
            0 => {
                while !begun.load(Relaxed) {
                    thread::yield_now();
                }
                Err(Error::Key("the first".to_owned()))
            }
            _ => {
                begun.store(true, Relaxed);
                endless(task)
            }
        };
        let stopped: Result<Vec<()>> = run_tasks(5, 2, &second_is_endless, &mut never);
        assert_eq!(stopped.unwrap_err().to_string(), "the first");
    }
}
