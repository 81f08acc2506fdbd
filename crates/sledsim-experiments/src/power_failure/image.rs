//! What a device holds after a power failure, as runs of blocks.

use super::history::Epoch;
use sledsim_base::request::Op;
use sledsim_core::model::torn_blocks::TornBlocks;

/// The content of a run of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// What was there before the first recorded write.
    Initial,
    /// The data of writes: this token and the following ones.
    Written(u64),
    /// One torn block, by its token.
    Torn(u64),
}

/// Blocks in a row whose contents belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRun {
    /// First block.
    pub lbn: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// What they hold.
    pub content: Content,
}

/// The content of all blocks that were ever written, in the order of their LBNs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    runs: Vec<ContentRun>,
}

/// Tokens from this on stand for torn blocks.
const TORN: u64 = 1 << 63;

impl Image {
    /// Asks for the token of each block that the epochs wrote.
    pub(super) fn of<'a>(
        epochs: impl IntoIterator<Item = &'a Epoch>,
        token: &mut dyn FnMut(u64) -> u64,
    ) -> Self {
        let requests = epochs.into_iter().flat_map(|epoch| &epoch.requests);
        let writes = requests.filter(|request| request.op == Op::Write && request.blocks > 0);
        let mut spans: Vec<(u64, u64)> =
            writes.map(|write| (write.lbn, write.extent().end())).collect();
        spans.sort_unstable();
        let (mut runs, mut next) = (Vec::<ContentRun>::new(), 0);
        for (first, end) in spans {
            for lbn in first.max(next)..end {
                let content = match token(lbn) {
                    0 => Content::Initial,
                    token if token >= TORN => Content::Torn(token),
                    token => Content::Written(token),
                };
                match runs.last_mut() {
                    Some(last) if last.end() == lbn && last.goes_on(content) => {
                        last.blocks += 1;
                    }
                    _ => runs.push(ContentRun { lbn, blocks: 1, content }),
                }
            }
            next = next.max(end);
        }
        Self { runs }
    }

    /// Its runs.
    pub fn runs(&self) -> &[ContentRun] {
        &self.runs
    }

    /// The torn blocks that cannot be read.
    pub fn unreadable(&self, torn: &TornBlocks) -> impl Iterator<Item = u64> {
        let runs = self.runs.iter().filter(|run| match run.content {
            Content::Torn(token) => torn.get(token).is_some_and(|torn| torn.detected),
            _ => false,
        });
        runs.map(|run| run.lbn)
    }

    /// The blocks from `lbn` on, at most up to `end`, that belong together; those that were
    /// never written are as they were at first.
    pub fn piece(&self, lbn: u64, end: u64) -> ContentRun {
        let after = self.runs.partition_point(|run| run.lbn <= lbn);
        let run = after.checked_sub(1).map(|index| self.runs[index]);
        let (content, to) = match run.filter(|run| lbn < run.end()) {
            None => {
                let next = self.runs.get(after).map_or(end, |run| run.lbn);
                (Content::Initial, next)
            }
            Some(run) => {
                let content = match run.content {
                    Content::Written(first) => Content::Written(first + (lbn - run.lbn)),
                    other => other,
                };
                (content, run.end())
            }
        };
        ContentRun { lbn, blocks: to.min(end) - lbn, content }
    }
}

impl ContentRun {
    /// One past its last block.
    pub fn end(&self) -> u64 {
        self.lbn + self.blocks
    }

    /// Whether a next block with this content belongs to it.
    fn goes_on(&self, content: Content) -> bool {
        match (self.content, content) {
            (Content::Initial, Content::Initial) => true,
            (Content::Written(first), Content::Written(next)) => first + self.blocks == next,
            _ => false,
        }
    }
}
