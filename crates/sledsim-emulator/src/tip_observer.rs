//! Tells a store of tip sectors which writes its device has served.

use crate::log::Log;
use crate::timeline::CompletionObserver;
use sledsim_base::request::Op;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::faults::{TipEvent, TipFeed};
use std::sync::Arc;

/// Forwards completions to the log, and served writes to the feed of a device.
pub(crate) struct TipObserver {
    /// The statistics.
    pub log: Arc<Log>,
    /// What happens to the device.
    pub feed: Arc<TipFeed>,
}

impl CompletionObserver for TipObserver {
    fn answered(&self, row: &Row, lateness: Nanos) {
        self.log.answered(row, lateness);
    }

    fn decided(&self, row: &Row) {
        if row.op == Op::Write {
            self.feed.push(TipEvent::Written { lbn: row.lbn, blocks: row.blocks });
        }
    }
}
