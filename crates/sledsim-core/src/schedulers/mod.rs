//! Schedulers: who goes next.

mod fcfs;

pub use fcfs::Fcfs;

use crate::error::{Error, Result};
use crate::mechanism::Mechanism;
use crate::request::Request;
use crate::units::Nanos;

/// A request waiting for the mechanism.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The request.
    pub request: Request,
    /// Requests ahead of it in the device when it arrived.
    pub queue_depth: u32,
    /// When it may be served: arrival, bus wait and command overhead passed.
    pub ready: Nanos,
    /// Writes: when its last byte has crossed the bus to the device.
    pub data_in: Nanos,
}

/// Holds the waiting requests and picks the next.
///
/// Everything pushed is ready at the instant of the next `pop`; picks depend
/// only on what was pushed and on the mechanism's state. Ties go to the
/// request that was pushed first.
pub trait Scheduler: Send {
    /// Takes a waiting request.
    fn push(&mut self, waiting: Waiting, mechanism: &dyn Mechanism);

    /// Removes and returns the request to serve at `at`.
    fn pop(&mut self, at: Nanos, mechanism: &dyn Mechanism) -> Option<Waiting>;
}

/// A scheduler by name.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its name in scenarios and results.
    pub name: &'static str,
    make: fn() -> Box<dyn Scheduler>,
}

impl Choice {
    /// All schedulers; the first is the default.
    pub const ALL: [Self; 1] = [Self {
        name: "fcfs",
        make: || Box::<Fcfs>::default(),
    }];

    /// The scheduler called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(name: &str) -> Result<Self> {
        let known = Self::ALL.iter().find(|choice| choice.name == name);
        known.copied().ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|choice| choice.name).collect();
            let names = names.join(", ");
            Error::Key(format!(
                "unknown scheduler '{name}': must be one of {names}"
            ))
        })
    }

    /// A scheduler with an empty queue.
    #[must_use]
    pub fn make(&self) -> Box<dyn Scheduler> {
        (self.make)()
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self::ALL[0]
    }
}
