//! The keys of the controller, and the kind of a device behind it.

use super::{Cached, ENTRY, Nanos};
use crate::compose::hybrids::placement::{blocks_of, need_blocks_of};
use crate::devices::kind::DeviceKind;
use crate::model::{Model, contents::Promise};
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};

/// When a host write goes to the device: when its line is given up or cleaned, or at once.
/// It is complete in the cache, or with `SYNC` when the device says so.
pub(super) const BACK: usize = 0;
pub(super) const SYNC: usize = 2;
const SCHEMES: [&str; 3] = ["back", "through", "sync"];

/// The controller before a device.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// Blocks of the device.
    pub(super) blocks: u64,
    pub(super) lines: u64,
    pub(super) line_blocks: u64,
    /// Blocks for which there are one valid and one dirty bit.
    pub(super) bit_blocks: u64,
    /// Whether a fetch reads the front of its first line, and the rest of its last.
    pub(super) prefetch: (bool, bool),
    /// Whether a clean line is taken before an older dirty one.
    pub(super) clean_first: bool,
    /// An index of [`SCHEMES`].
    pub(super) scheme: usize,
    /// The most lines of a fetch, or of a write of neighbouring lines.
    pub(super) exchange_lines: u64,
    /// The most blocks of adjacent requests that are joined.
    pub(super) joined_blocks: u64,
    pub(super) clean_after_idle: Option<Nanos>,
    pub(super) clean_every: Option<Nanos>,
    /// Whether its writes pass the device's buffer.
    pub(super) fua: bool,
}

impl Spec {
    /// Reads the keys.
    ///
    /// # Errors
    /// A key that is missing or not allowed, or that has no effect.
    pub(super) fn read(keys: &mut Keys, blocks: u64) -> Result<Self> {
        let line_blocks = blocks_of(keys, "line_kib", 1024)?.unwrap_or(64);
        let cache = need_blocks_of(keys, "cache_mib", 1 << 20)?;
        let lines = cache / line_blocks;
        let exchange = blocks_of(keys, "exchange_kib", 1024)?.unwrap_or(8 * line_blocks);
        let prefetch = choice(keys, "prefetch", ["none", "rest", "front", "all"])?;
        let spec = Self {
            blocks,
            lines,
            line_blocks,
            bit_blocks: (keys.opt_u64("bit_blocks", 1..=line_blocks)?).unwrap_or(1),
            prefetch: (prefetch & 2 != 0, prefetch & 1 != 0),
            clean_first: choice(keys, "allocate", ["oldest", "clean_first"])? == 1,
            scheme: choice(keys, "scheme", SCHEMES)?,
            exchange_lines: exchange / line_blocks,
            joined_blocks: blocks_of(keys, "buffer_kib", 1024)?.unwrap_or(128),
            clean_after_idle: time_of(keys, "clean_after_idle_ms", 0.0)?,
            clean_every: time_of(keys, "clean_every_ms", 1e-3)?,
            fua: keys.opt_bool("fua")?.unwrap_or(false),
        };
        let is_back = spec.scheme == BACK;
        let has_bits = spec.bit_blocks < line_blocks;
        let back = "must be left out: only scheme = \"back\" has dirty lines";
        let few = (1..=1 << 20).contains(&lines) && lines * line_blocks <= blocks;
        let held = "must hold 1 to 1048576 lines (line_kib), at most as much as the device";
        let whole = "must be \"none\" where one bit (bit_blocks) covers a line";
        let (idle, every) = (spec.clean_after_idle, spec.clean_every);
        let rules = [
            ("line_kib", line_blocks <= 2048, "must be at most 1024"),
            ("cache_mib", few, held),
            ("cache_mib", cache % line_blocks == 0, "must be whole lines (line_kib)"),
            ("bit_blocks", line_blocks % spec.bit_blocks == 0, "must divide a line's blocks"),
            ("exchange_kib", exchange % line_blocks == 0, "must be whole lines (line_kib)"),
            ("buffer_kib", spec.joined_blocks <= 1 << 20, "must be at most 524288"),
            ("prefetch", has_bits || prefetch == 0, whole),
            ("allocate", is_back || !spec.clean_first, back),
            ("clean_after_idle_ms", is_back || idle.is_none(), back),
            ("clean_every_ms", is_back || every.is_none(), back),
        ];
        let broken = rules.iter().find(|(_, holds, _)| !holds);
        broken.map_or(Ok(spec), |(key, _, must)| Err(keys.refuse(key, must)))
    }
}

/// The index of the name given, 0 if none is.
fn choice<const N: usize>(keys: &mut Keys, key: &str, names: [&str; N]) -> Result<usize> {
    let choices: [_; N] = std::array::from_fn(|index| (names[index], index));
    Ok(keys.opt_choice(key, &choices)?.unwrap_or(0))
}

/// A time of at most 1e9 ms; none if it is not given.
fn time_of(keys: &mut Keys, key: &str, least_ms: f64) -> Result<Option<Nanos>> {
    let time_ms = keys.opt_f64(key, Range::at_least(least_ms).at_most(1e9))?;
    Ok(time_ms.map(Nanos::from_ms))
}

impl DeviceKind for Spec {
    fn kind(&self) -> &'static str {
        ENTRY.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Blocks in the device's buffer may no longer be in the cache.
    fn promise(&self, children: &[Promise]) -> Promise {
        Promise::early(!self.fua && children.contains(&Promise::Flush))
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        Box::new(Cached::new(name, device, self.clone(), children))
    }
}
