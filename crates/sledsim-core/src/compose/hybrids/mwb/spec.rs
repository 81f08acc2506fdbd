//! The keys of a MEMS write buffer.

use super::shape::Shape;
use crate::compose::hybrids::placement::{PlacementSpec, blocks_of};
use crate::devices::kind::Capacity;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// Blocks of a log of `log_kib` = 128, the default.
const LOG_BLOCKS: u64 = 256;
/// Blocks of the speed-matching buffer: 2 MB (MSST 2005, section 6).
const BUFFER_BLOCKS: u64 = 4096;
/// The largest log, 16 MiB: a summary has 15 bits for the blocks of an extent.
const MAX_LOG_BLOCKS: u64 = 1 << 15;
/// The largest buffer, 1 TiB: a request has 32 bits for its blocks.
const MAX_BUFFER_BLOCKS: u64 = 1 << 31;

/// The placement of the logs, and when they are cleaned. The paper gives no
/// thresholds; their defaults are sledsim's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MwbSpec {
    pub(super) shape: Shape,
    /// The most logs cleaned together.
    pub(super) clean_logs: u64,
    /// How long the back must have been without host requests.
    pub(super) idle_after: Nanos,
    /// Logs in use above which cleaning begins when the back is idle.
    pub(super) idle_above: u64,
    /// Logs in use above which cleaning begins in any case.
    pub(super) above: u64,
    /// Logs in use at which cleaning stops.
    pub(super) to: u64,
}

impl MwbSpec {
    /// Reads the keys of a buffer whose children have these sizes.
    pub fn read(keys: &mut Keys, front_blocks: u64, back_blocks: u64) -> Result<Self> {
        let placement_spec = PlacementSpec::read(keys)?;
        let log_blocks = blocks_of(keys, "log_kib", 1 << 10)?.unwrap_or(LOG_BLOCKS);
        let least = Shape::least_log_blocks(log_blocks);
        if !(least..=MAX_LOG_BLOCKS).contains(&log_blocks) {
            let must = format!(
                "must be {} (a summary, a header and data) to {} KiB",
                least as f64 / 2.0,
                MAX_LOG_BLOCKS / 2
            );
            return Err(keys.refuse("log_kib", must));
        }
        let placement = placement_spec.on(keys, front_blocks, log_blocks, "log")?;
        let logs = placement.units;
        let used = if keys.has("front_mib") { "front_mib" } else { "front" };
        if logs < 2 {
            let must = format!("must hold two logs of {} KiB or more", log_blocks as f64 / 2.0);
            return Err(keys.refuse(used, must));
        }
        if logs * log_blocks > back_blocks {
            let must =
                format!("must be at most the {} MiB of the back", back_blocks as f64 / 2048.0);
            return Err(keys.refuse(used, must));
        }
        let buffer_blocks = blocks_of(keys, "buffer_kib", 1 << 10)?.unwrap_or(BUFFER_BLOCKS);
        if !(log_blocks..=MAX_BUFFER_BLOCKS).contains(&buffer_blocks) {
            let must = format!(
                "must be {} (a log) to {} KiB",
                log_blocks as f64 / 2.0,
                MAX_BUFFER_BLOCKS / 2
            );
            return Err(keys.refuse("buffer_kib", must));
        }
        let most = buffer_blocks / log_blocks;
        let clean_logs = keys.opt_u64("clean_logs", 1..=most)?.unwrap_or(most);
        let idle_ms = Range::at_least(0.0).at_most(1e9);
        let idle_ms = keys.opt_f64("clean_after_idle_ms", idle_ms)?;
        let mut share = |name: &str, default: f64| -> Result<f64> {
            let given = keys.opt_f64(name, Range::above(0.0).at_most(1.0))?;
            Ok(given.unwrap_or(default))
        };
        let above = share("clean_above", 0.9)?;
        let idle_above = share("clean_idle_above", 0.5_f64.min(above))?;
        let to = share("clean_to", 0.5_f64.min(idle_above))?;
        if idle_above > above {
            let must = format!("must be at most clean_above, which is {above}");
            return Err(keys.refuse("clean_idle_above", must));
        }
        if to > idle_above {
            let must = format!("must be at most clean_idle_above, which is {idle_above}");
            return Err(keys.refuse("clean_to", must));
        }
        // More logs than a fraction means more than its integer part.
        let whole = |share: f64| (share * logs as f64) as u64;
        Ok(Self {
            shape: Shape::new(placement, log_blocks),
            clean_logs,
            idle_after: Nanos::from_ms(idle_ms.unwrap_or(50.0)),
            idle_above: whole(idle_above),
            above: whole(above),
            to: whole(to),
        })
    }

    /// Quantities derived from the spec of a device of `blocks`, with units in their names.
    pub fn derived(&self, blocks: u64) -> Derived {
        Derived {
            capacity: Capacity::of(blocks),
            logs: self.shape.logs(),
            log_bytes: self.shape.log_blocks() * BLOCK_BYTES,
            log_extents: self.shape.extents(),
            clean_logs: self.clean_logs,
            clean_after_idle_ms: self.idle_after.ms(),
            clean_idle_above_logs: self.idle_above,
            clean_above_logs: self.above,
            clean_to_logs: self.to,
        }
    }
}

/// Quantities derived from the spec of a MEMS write buffer.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// What the device holds.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// How many logs the front has.
    pub logs: u64,
    /// Bytes of a log.
    pub log_bytes: u64,
    /// The most extents in a log.
    pub log_extents: u64,
    /// The most logs cleaned together.
    pub clean_logs: u64,
    /// How long the back must have been without host requests.
    pub clean_after_idle_ms: f64,
    /// Logs in use above which cleaning begins when the back is idle.
    pub clean_idle_above_logs: u64,
    /// Logs in use above which cleaning begins in any case.
    pub clean_above_logs: u64,
    /// Logs in use at which cleaning stops.
    pub clean_to_logs: u64,
}
