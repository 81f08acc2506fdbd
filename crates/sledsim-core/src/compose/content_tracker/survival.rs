//! What of the writes to a leaf survives a power failure.

use crate::compose::media_record::Waiting;
use crate::compose::token_table::TokenTable;
use crate::model::Model;
use sledsim_base::random::Stream;
use sledsim_base::request::Extents;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// A write, or a flush, which has no extents.
pub(super) struct Entry {
    pub arrival: Nanos,
    /// Time and number of the announcement.
    pub completion: Option<(Nanos, u64)>,
    pub fua: bool,
    pub extents: Extents,
    pub tokens: Vec<u64>,
    /// Blocks that the leaf has shown to be written.
    pub shown: u32,
}

impl Entry {
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting { extents: &self.extents, tokens: &self.tokens }
    }
}

/// The writes and flushes since power-on.
#[derive(Default)]
pub(super) struct WriteLog {
    /// In the order of arrival.
    pub entries: Vec<Entry>,
    /// Those under way by their ids: indices of entries.
    pub under_way: BTreeMap<u64, usize>,
}

/// What of the writes to a leaf survives a power failure.
pub(super) trait Survival: Send {
    /// Watches a leaf, which has no requests yet.
    fn watch(&self, leaf: &mut dyn Model);

    /// The leaf announces the completion of a request.
    fn announced(&mut self, row: &Row, log: &mut WriteLog);

    /// Changes the tokens of `media`, which are those at power-on, to those on the media if
    /// power fails at `at`.
    fn lose_power(
        &mut self,
        at: Nanos,
        log: &mut WriteLog,
        media: &mut TokenTable,
        chance: &mut Stream,
    );

    /// Whether all data are lost when power fails.
    fn forgets(&self) -> bool;

    /// When a leaf that gets power at `at` has recovered; `None` if that is after `until`.
    fn recovered(&self, at: Nanos, until: Nanos) -> Option<Nanos>;
}
