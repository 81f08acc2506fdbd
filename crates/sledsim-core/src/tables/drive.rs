//! The host: hands requests to the device's model, the next when the one before
//! is complete.

use crate::devices::Device;
use crate::error::{Error, Result};
use crate::links::Links;
use crate::model::{Answers, Model};
use crate::request::{Extent, Flags, Op, Request};
use crate::row::Row;
use crate::schedulers::Choice;
use crate::units::{BLOCK_BYTES, Nanos};
use std::ops::AddAssign;

/// What a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Simulated time from the first request to the end of the last.
    pub time: Nanos,
    /// Blocks of 512 bytes that were read and written.
    pub blocks: u64,
    /// Requests.
    pub requests: u64,
}

impl Cost {
    /// Bytes that were read and written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.time += other.time;
        self.blocks += other.blocks;
        self.requests += other.requests;
    }
}

/// A device and its clock.
pub(super) struct Drive {
    model: Box<dyn Model>,
    /// When the last request was complete, or until when the device idled.
    pub clock: Nanos,
    next_id: u64,
}

/// Keeps when the only request under way is complete.
#[derive(Default)]
struct Done(Option<Nanos>);

impl Answers for Done {
    fn done(&mut self, row: &Row) {
        self.0 = Some(row.completion);
    }

    fn note(&mut self, _: &Row) {}
}

impl Drive {
    /// A host of `device` at time zero.
    ///
    /// # Errors
    /// [`Error::Key`] for anything but a single plain sled.
    pub fn new(device: &Device) -> Result<Self> {
        let (model, _) = device.build_with(&Choice::default())?;
        if model.links() == Links::Refused || device.layout().is_some() {
            return Err(Error::Key(format!(
                "device '{}': a table must be on a single sled (kind \"mems\"), without a layout, a \
                 buffer or background tasks",
                device.name()
            )));
        }
        Ok(Self {
            model,
            clock: Nanos::ZERO,
            next_id: 0,
        })
    }

    /// Serves one request, a batch if it has several extents, and waits for its
    /// end.
    ///
    /// # Errors
    /// [`Error::Request`] if the device never completes it.
    pub fn serve(&mut self, op: Op, extents: &[Extent]) -> Result<Cost> {
        let request = Request {
            id: self.next_id,
            arrival: self.clock,
            op,
            flags: Flags {
                gathered: extents.len() > 1,
                ..Flags::default()
            },
            extents: extents.into(),
            ..Request::default()
        };
        let blocks = u64::from(request.blocks());
        let mut done = Done::default();
        self.model.submit(request, &mut done);
        let completion = loop {
            if let Some(completion) = done.0 {
                break completion;
            }
            let Some(at) = self.model.wake_at() else {
                let id = self.next_id;
                return Err(Error::Request(format!("request {id}: was never completed")));
            };
            self.model.wake(at, &mut done);
        };
        let time = completion.since(self.clock);
        self.clock = self.clock.max(completion);
        self.next_id += 1;
        Ok(Cost {
            time,
            blocks,
            requests: 1,
        })
    }
}
