//! The recorded requests of a device, from power-on to power-on.

use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use sledsim_base::units::Nanos;

/// A recorded request. Times are on the clock of the recording, which goes on while power
/// is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its id; ids rise with the arrivals.
    pub id: u64,
    /// Its operation.
    pub op: Op,
    /// First block; 0 for a flush.
    pub lbn: u64,
    /// Number of blocks; 0 for a flush.
    pub blocks: u32,
    /// Whether it completes only when durable.
    pub fua: bool,
    /// Whether more commands of its batch follow.
    pub linked: bool,
    /// The client's stream.
    pub stream: u32,
    /// When it arrived.
    pub arrival: Nanos,
    /// When the device completed it, if it did.
    pub completion: Option<Nanos>,
    /// The token of its first block, if it is a write; the others follow.
    pub first_token: u64,
}

impl Recorded {
    /// Its blocks.
    pub fn extent(&self) -> Extent {
        Extent { lbn: self.lbn, blocks: self.blocks }
    }

    /// The tokens of a write, block by block.
    pub fn tokens(&self) -> Vec<u64> {
        (self.first_token..).take(self.blocks as usize).collect()
    }

    /// The request for a model whose clock began at `zero`.
    pub fn request(&self, zero: Nanos) -> Request {
        Request {
            id: self.id,
            arrival: self.arrival.since(zero),
            op: self.op,
            flags: Flags::FUA.when(self.fua) | Flags::LINKED.when(self.linked),
            stream: self.stream,
            extents: match self.op {
                Op::Flush => Extents::new(),
                _ => Extents::from_buf([self.extent()]),
            },
            ..Request::default()
        }
    }
}

/// The requests between two power failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    /// When power came on: zero of the device's clock.
    pub zero: Nanos,
    /// The requests in the order of arrival.
    pub requests: Vec<Recorded>,
    /// When power failed, if it did.
    pub cut: Option<Nanos>,
}

impl Epoch {
    /// Notes when a request was complete; one of another time with power is left out.
    pub fn complete(&mut self, id: u64, at: Nanos) {
        let Some(first) = self.requests.first().map(|first| first.id) else {
            return;
        };
        let index = id.checked_sub(first).and_then(|index| usize::try_from(index).ok());
        if let Some(request) = index.and_then(|index| self.requests.get_mut(index)) {
            request.completion = Some(at);
        }
    }
}

/// All recorded requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// In the order of time; the last one has not ended if power is on.
    pub epochs: Vec<Epoch>,
}
