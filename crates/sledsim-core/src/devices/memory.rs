//! A memory: every access takes a fixed latency and a time per block.
//!
//! Models RAM or non-volatile RAM, as a front or as a baseline. It has one port and
//! serves one request at a time; latencies and transfers do not overlap, so that
//! requests of n blocks complete at most once per `latency_ms` + n `ms_per_block`.
//! Model several banks as a `stripe` of memories. Addresses have no effect, and energy
//! is not modelled. Without a battery it forgets all data when power fails.

use super::kind::{Capacity, DeviceKind, KindEntry};
use crate::model::contents::Promise;
use crate::model::mechanism::{Mechanism, Media, Passes, Positions, Service, Span, Step, Tips};
use crate::model::{Background, BatchPlanner, Energy, Model};
use crate::queueing::controllers::{Interface, Station};
use crate::queueing::schedulers::Scheduler;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::Request;
use sledsim_base::row::{Parts, Row, UNKNOWN_ENERGY};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::sync::Arc;

/// A memory as a [`Mechanism`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Number of logical blocks.
    pub blocks: u64,
    /// Time before the first block of a request.
    pub latency: Nanos,
    /// Time per 512-byte block.
    pub block_time: Nanos,
    /// Whether its data outlive a power failure.
    pub battery: bool,
}

impl Memory {
    /// Reads the spec from `keys`.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let time = Range::at_least(0.0).at_most(1e9);
        Ok(Self {
            blocks: keys.u64("blocks", 1..=1 << 40)?,
            latency: Nanos::from_ms(keys.f64("latency_ms", time)?),
            block_time: Nanos::from_ms(keys.f64("ms_per_block", time)?),
            battery: keys.opt_bool("battery")?.unwrap_or(true),
        })
    }

    /// The service of a request of `blocks`.
    #[inline]
    fn service(&self, blocks: u32) -> Service {
        Service {
            parts: Parts {
                transfer: Nanos(self.block_time.0 * u64::from(blocks)),
                other: self.latency,
                ..Parts::default()
            },
            passes: 1,
            energy_nj: UNKNOWN_ENERGY,
            ..Service::default()
        }
    }

    /// Quantities derived from the spec, with units in their names.
    pub fn derived(&self) -> Derived {
        let rate_mb_s = 1e3 * BLOCK_BYTES as f64 / self.block_time.0 as f64;
        Derived {
            capacity: Capacity::of(self.blocks),
            streaming_mb_s: rate_mb_s.is_finite().then_some(rate_mb_s),
        }
    }
}

/// Quantities derived from the spec of a memory.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// What it holds.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// The rate of transfers; `None` if it has no limit.
    pub streaming_mb_s: Option<f64>,
}

impl Positions for Memory {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn estimate(&self, _at: Nanos, _request: &Request) -> Nanos {
        self.latency
    }

    fn target_cylinder(&self, _request: &Request) -> i64 {
        0
    }

    fn cylinder(&self, _at: Nanos) -> i64 {
        0
    }

    fn seek_lower_bound(&self, _at: Nanos, _cylinder: i64) -> Nanos {
        self.latency
    }
}

impl Media for Memory {
    fn end_of(&self, _lbn: u64, _span: Span) -> u64 {
        self.blocks
    }
}

impl Mechanism for Memory {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        None
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    fn background(&self) -> Option<&dyn Background> {
        None
    }

    fn rest(&mut self, at: Nanos) -> bool {
        let _ = at;
        false
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn pass_by(&mut self, _lbn: u64) {}

    fn access(&mut self, _at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        let service = self.service(request.blocks());
        passes.push(Step {
            transfer_s: service.parts.transfer.s(),
            lbn: request.lbn(),
            blocks: request.blocks(),
            end: service.parts.total(),
            ..Step::default()
        });
        service.set(row);
    }

    fn energy(&self, _until: Nanos) -> Option<Energy> {
        None
    }
}

/// Registers the device kind `memory`.
pub const KIND: KindEntry =
    KindEntry { name: "memory", read: |keys, _| Ok(Arc::new(Memory::read(keys)?)) };

impl DeviceKind for Memory {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(self.derived())
    }

    /// A composite that relies on a memory makes this promise; without a battery the
    /// memory breaks it.
    fn promise(&self, _children: &[Promise]) -> Promise {
        Promise::Completion
    }

    fn forgets(&self) -> bool {
        !self.battery
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        _children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        let interface = Interface::default();
        Box::new(Station::new(name, device, *self, scheduler(), interface))
    }
}
