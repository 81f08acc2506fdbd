//! A memory: every access takes a fixed latency and a time per block.
//!
//! Models RAM or flash as a front or a yardstick. It does not model channels,
//! erasure, or anything that depends on the address.

use crate::mechanism::{Mechanism, Place, Service, Step};
use crate::model::Energy;
use crate::request::Request;
use crate::row::Parts;
use crate::units::Nanos;

/// A memory as a [`Mechanism`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Logical blocks.
    pub blocks: u64,
    /// Time before the first block of a request.
    pub latency: Nanos,
    /// Time per 512-byte block.
    pub block_time: Nanos,
}

impl Mechanism for Memory {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn estimate(&self, _at: Nanos, _request: &Request) -> Nanos {
        self.latency
    }

    fn serve(&mut self, _at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        let transfer = Nanos(self.block_time.0 * u64::from(request.blocks()));
        steps.push(Step {
            transfer_s: transfer.s(),
            lbn: request.lbn(),
            blocks: request.blocks(),
            end: self.latency + transfer,
            ..Step::default()
        });
        Service {
            parts: Parts {
                transfer,
                other: self.latency,
                ..Parts::default()
            },
            passes: 1,
            ..Service::default()
        }
    }

    fn place(&self, request: &Request) -> Place {
        Place {
            major: 0,
            minor: request.lbn() as i64,
        }
    }

    fn at_least(&self, _at: Nanos, _major: i64) -> Nanos {
        self.latency
    }

    fn energy(&self, _until: Nanos) -> Energy {
        Energy::default()
    }
}
