//! What survives as a host may assume it: what was promised, and of the rest any version.

use super::survival::{Entry, Survival, WriteLog};
use crate::compose::token_table::TokenTable;
use crate::model::Model;
use sledsim_base::random::Stream;
use sledsim_base::request::lbns;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// Writes survive once they are complete or, of a volatile leaf, once they are durable.
/// Others may be on the media, whole or in part.
pub(super) struct Promised {
    /// Whether the leaf reports writes before they are on the media.
    pub volatile: bool,
}

impl Survival for Promised {
    fn watch(&self, _leaf: &mut dyn Model) {}

    fn announced(&mut self, _row: &Row, _log: &mut WriteLog) {}

    fn lose_power(
        &mut self,
        at: Nanos,
        log: &mut WriteLog,
        media: &mut TokenTable,
        chance: &mut Stream,
    ) {
        let arrived = log.entries.iter().filter(|entry| entry.arrival <= at);
        let (mut complete, mut under_way): (Vec<&Entry>, Vec<&Entry>) =
            arrived.partition(|entry| entry.completion.is_some_and(|(end, _)| end <= at));
        complete.sort_by_key(|entry| entry.completion);
        // The versions that may be on the media, with their completions.
        let mut versions: BTreeMap<u64, Vec<(Nanos, u64)>> = BTreeMap::new();
        for entry in complete {
            let end = entry.completion.map_or(Nanos::ZERO, |(end, _)| end);
            for (lbn, token) in lbns(&entry.extents).zip(&entry.tokens) {
                let on_media = media.get(lbn);
                let block_versions =
                    (versions.entry(lbn)).or_insert_with(|| vec![(Nanos::ZERO, on_media)]);
                if entry.fua || !self.volatile {
                    block_versions.clear();
                }
                block_versions.push((end, *token));
            }
            if entry.extents.is_empty() {
                for block_versions in versions.values_mut() {
                    let durable = block_versions.iter().rposition(|(end, _)| *end <= entry.arrival);
                    block_versions.drain(..durable.unwrap_or(0));
                }
            }
        }
        for (lbn, block_versions) in versions {
            media.set(lbn, block_versions[chance.below(block_versions.len() as u64) as usize].1);
        }
        // The device may have served the requests under way in any order.
        for last in (1..under_way.len()).rev() {
            under_way.swap(last, chance.below(last as u64 + 1) as usize);
        }
        for entry in under_way {
            let blocks = entry.tokens.len() as u64;
            let (first, end) = match chance.below(4) {
                0 => (0, 0),
                1 => (0, blocks),
                // A prefix.
                2 => (0, chance.below(blocks + 1)),
                _ => (blocks, blocks),
            };
            for (index, (lbn, token)) in lbns(&entry.extents).zip(&entry.tokens).enumerate() {
                let index = index as u64;
                let at_random = first == blocks && chance.chance(0.5);
                if (first..end).contains(&index) || at_random {
                    media.set(lbn, *token);
                }
            }
        }
    }

    fn forgets(&self) -> bool {
        false
    }

    fn recovered(&self, at: Nanos, _until: Nanos) -> Option<Nanos> {
        Some(at)
    }
}
