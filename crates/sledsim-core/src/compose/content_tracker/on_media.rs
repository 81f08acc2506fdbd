//! What survives as the leaf has written it to its media, pass by pass.

use super::survival::{Survival, WriteLog};
use crate::compose::media_record::{MediaRecord, PowerFailure};
use crate::compose::token_table::TokenTable;
use crate::model::Model;
use sledsim_base::random::Stream;
use sledsim_base::request::Extent;
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;

/// The media by the passes of the leaf: nothing is taken at random.
pub(super) struct OnMedia {
    /// Whether the leaf reports writes before they are on the media.
    volatile: bool,
    record: MediaRecord,
}

impl OnMedia {
    pub fn new(volatile: bool, failure: PowerFailure) -> Self {
        Self { volatile, record: MediaRecord::new(failure) }
    }
}

impl Survival for OnMedia {
    fn watch(&self, leaf: &mut dyn Model) {
        self.record.watch(leaf);
    }

    fn announced(&mut self, row: &Row, log: &mut WriteLog) {
        take_shown(&mut self.record, log);
        if let Some(index) = log.under_way.get(&row.id).filter(|_| row.status == Status::Ok) {
            let entry = &log.entries[*index];
            let held = self.volatile && entry.shown == 0;
            match entry.shown < entry.tokens.len() as u32 {
                true if held => self.record.hold(&entry.waiting()),
                true => self.record.land(&entry.waiting(), row.completion),
                false => {}
            }
        }
    }

    fn lose_power(
        &mut self,
        at: Nanos,
        log: &mut WriteLog,
        media: &mut TokenTable,
        _chance: &mut Stream,
    ) {
        take_shown(&mut self.record, log);
        self.record.lose_power(at, media);
    }

    fn forgets(&self) -> bool {
        self.record.failure.forgets
    }

    fn recovered(&self, at: Nanos, until: Nanos) -> Option<Nanos> {
        Some(at + self.record.failure.startup).filter(|ready| *ready <= until)
    }
}

/// Takes the writes to the media that the leaf has shown.
fn take_shown(record: &mut MediaRecord, WriteLog { entries, under_way }: &mut WriteLog) {
    let mut covered: Vec<usize> = Vec::new();
    let covers = |index: &usize, lbn: u64, by: Nanos| {
        let entry = &entries[*index];
        let has = |extent: &Extent| (extent.lbn..extent.end()).contains(&lbn);
        entry.arrival <= by && entry.extents.iter().any(has)
    };
    record.take_shown(
        |id| under_way.get(&id).copied(),
        |lbn, by| under_way.values().copied().find(|index| covers(index, lbn, by)),
        |index| entries[index].waiting(),
        |index| covered.push(index),
    );
    for index in covered {
        entries[index].shown += 1;
    }
}
