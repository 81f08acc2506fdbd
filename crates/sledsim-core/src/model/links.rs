//! Linked requests: which of them form a batch (CMU-CS-03-125, section 3.4).
//!
//! The requests of a stream from one that is marked as linked to the first
//! without the mark are a batch: reads and writes of blocks that nothing else of
//! the batch touches. Requests of other streams may come in between; they are no
//! part of it.

use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, Flags, Request};
use std::collections::BTreeMap;

/// How a model treats linked requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// They are an error: the model cannot batch requests, or has more than one device.
    #[default]
    Refused,
    /// Each is a request like any other.
    Ignored,
    /// Each batch is served as a whole.
    Served,
}

/// Incomplete batches by stream, with their blocks so far.
#[derive(Debug, Default)]
pub struct Chains(BTreeMap<u32, Chain>);

#[derive(Debug, Default)]
struct Chain {
    last: u64,
    /// By first block: the extent and the id of its request.
    taken: BTreeMap<u64, (Extent, u64)>,
}

impl Chains {
    /// Whether any batch is not complete.
    pub fn are_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// Adds the next request, for a model that treats links as `links`.
    ///
    /// # Errors
    /// [`Error::Request`] if the request is linked and the model refuses that,
    /// or if the request may not be part of its batch.
    pub fn take(&mut self, request: &Request, links: Links) -> Result<()> {
        let (id, stream) = (request.id, request.stream);
        let linked = request.flags.contains(Flags::LINKED);
        if linked && links == Links::Refused {
            return Err(Error::Request(format!(
                "request {id} is linked to the next one of stream {stream}: a batch must go to a \
                 single sled, without a buffer, background tasks, a host's queue, a stripe or a cache"
            )));
        }
        if !linked && !self.0.contains_key(&stream) {
            return Ok(());
        }
        if !request.op.moves_data() || request.flags.contains(Flags::BACKGROUND) {
            let op = request.op.name();
            return Err(Error::Request(format!(
                "request {id} is a {op} within a batch of stream {stream}: must be a read or write"
            )));
        }
        let chain = self.0.entry(stream).or_default();
        chain.last = id;
        for &extent in &request.extents {
            if let Some((other, of)) = chain.overlapping(extent) {
                return Err(Error::Request(format!(
                    "request {id} (LBNs {} to {}) overlaps request {of} (LBNs {} to {}) of the \
                     same batch: must be apart",
                    extent.lbn,
                    extent.end() - 1,
                    other.lbn,
                    other.end() - 1
                )));
            }
            chain.taken.insert(extent.lbn, (extent, id));
        }
        if !linked {
            self.0.remove(&stream);
        }
        Ok(())
    }

    /// Checks at the end of the source that no batch is incomplete.
    ///
    /// # Errors
    /// [`Error::Request`] if a batch is not complete.
    pub fn end(&self) -> Result<()> {
        let Some((stream, chain)) = self.0.first_key_value() else {
            return Ok(());
        };
        let id = chain.last;
        Err(Error::Request(format!(
            "request {id} is linked to the next one of stream {stream}, and there is none: the last \
             request of a batch must not be linked"
        )))
    }
}

impl Chain {
    /// The extent taken earlier that overlaps `extent`, and the id of its request.
    fn overlapping(&self, extent: Extent) -> Option<(Extent, u64)> {
        let before = self.taken.range(..extent.end()).next_back();
        let (_, &(other, of)) = before?;
        (other.end() > extent.lbn).then_some((other, of))
    }
}

/// The first two of `extents` that overlap, if any do.
pub fn overlapping(extents: &[Extent]) -> Option<(Extent, Extent)> {
    let mut chain = Chain::default();
    for &extent in extents {
        if let Some((other, _)) = chain.overlapping(extent) {
            return Some((other, extent));
        }
        chain.taken.insert(extent.lbn, (extent, 0));
    }
    None
}
