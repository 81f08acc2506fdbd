//! Maps the addresses of a trace to the device.

use super::footprint::{Compact, Footprint};
use serde::{Deserialize, Serialize};
use sledsim_traces::Record;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// The handling of addresses beyond the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    /// An error.
    #[default]
    Error,
    /// Taken modulo the size of the region.
    Wrap,
    /// The address range of the trace is scaled to the region.
    Scale,
    /// The touched blocks come one after the other, without gaps.
    Compact,
}

impl Address {
    /// All rules by name.
    pub const CHOICES: [(&'static str, Self); 4] = [
        ("error", Self::Error),
        ("wrap", Self::Wrap),
        ("scale", Self::Scale),
        ("compact", Self::Compact),
    ];

    /// The name used in keys and results.
    pub fn name(self) -> &'static str {
        Self::CHOICES[self as usize].0
    }
}

/// The address ranges of the devices of a trace, from the whole file.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// One past the highest block of each device.
    pub ends: BTreeMap<u32, u64>,
    /// The touched blocks, for `Compact`.
    pub footprint: Option<Footprint>,
    /// The number of requests.
    pub requests: u64,
}

impl Spans {
    /// Adds a request.
    ///
    /// # Errors
    /// Too many extents.
    #[inline]
    pub fn add(&mut self, record: &Record) -> Result<(), String> {
        let (first, end) = record.blocks();
        let highest = self.ends.entry(record.device).or_default();
        *highest = end.max(*highest);
        self.requests += 1;
        match &mut self.footprint {
            Some(footprint) if record.bytes > 0 => footprint.add(record.device, first, end),
            _ => Ok(()),
        }
    }
}

/// Devices laid end to end begin on multiples of this many blocks, so that
/// requests aligned to 4 KiB stay aligned.
const ALIGN_BLOCKS: u64 = 8;

/// The problem of a request that the first reading did not find.
const CHANGED: &str = "not there at the first reading: the file has changed";

/// Maps the requests of a trace onto a region of the device, from an offset
/// to its end.
#[derive(Clone, Debug)]
pub struct Mapping {
    address: Address,
    /// First block of the region.
    offset: u64,
    /// Blocks of the region.
    size: u64,
    /// One past the highest block of the trace, for `Scale`.
    span: Option<u64>,
    /// The places of touched blocks, for `Compact`.
    compact: Option<Compact>,
    /// The start of each device in the address space of the trace; `None` if
    /// they share one.
    bases: Option<BTreeMap<u32, u64>>,
    /// The device looked up last, and its start.
    last: Option<(u32, u64)>,
}

/// The place of a request on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedRequest {
    /// First block on the device.
    pub lbn: u64,
    /// The number of blocks.
    pub blocks: u32,
    /// Whether it was unaligned and was widened to whole blocks.
    pub widened: bool,
    /// Whether it was beyond the region and was taken modulo its size.
    pub wrapped: bool,
    /// Whether scaling changed its address.
    pub scaled: bool,
    /// Whether closing gaps changed its address.
    pub compacted: bool,
    /// Whether it crossed the end of the region and was moved to end there.
    pub moved: bool,
}

/// The number of requests changed by the mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub widened: u64,
    pub wrapped: u64,
    pub scaled: u64,
    pub compacted: u64,
    pub moved: u64,
}

impl Changes {
    /// Counts a request.
    #[inline]
    pub fn count(&mut self, place: &MappedRequest) {
        self.widened += u64::from(place.widened);
        self.wrapped += u64::from(place.wrapped);
        self.scaled += u64::from(place.scaled);
        self.compacted += u64::from(place.compacted);
        self.moved += u64::from(place.moved);
    }
}

impl AddAssign for Changes {
    fn add_assign(&mut self, other: Self) {
        self.widened += other.widened;
        self.wrapped += other.wrapped;
        self.scaled += other.scaled;
        self.compacted += other.compacted;
        self.moved += other.moved;
    }
}

impl Mapping {
    /// A mapping to the region from `offset` to the end of a device of
    /// `device_blocks` blocks. `Scale`, `Compact` and `separate` need `spans`.
    pub fn new(
        address: Address,
        offset: u64,
        device_blocks: u64,
        separate: bool,
        spans: Option<&Spans>,
    ) -> Self {
        let mut end = 0;
        let mut bases = BTreeMap::new();
        for (device, blocks) in spans.iter().flat_map(|spans| &spans.ends) {
            if separate {
                let base = u64::next_multiple_of(end, ALIGN_BLOCKS);
                bases.insert(*device, base);
                end = base + blocks;
            } else {
                end = end.max(*blocks);
            }
        }
        let footprint = spans.and_then(|spans| spans.footprint.as_ref());
        let base = |device| bases.get(&device).copied().unwrap_or_default();
        let compact = footprint.map(|footprint| Compact::new(footprint, base));
        Self {
            address,
            compact,
            offset,
            size: device_blocks.saturating_sub(offset),
            span: spans.map(|_| end),
            bases: separate.then_some(bases),
            last: None,
        }
    }

    /// One past the highest block of the trace, if the whole file was read.
    pub fn span(&self) -> Option<u64> {
        self.span
    }

    /// The touched blocks, for `address = "compact"`.
    pub fn compact(&self) -> Option<&Compact> {
        self.compact.as_ref()
    }

    /// A footprint that is larger than the region.
    pub fn too_large(&self) -> Option<String> {
        let blocks = self.compact.as_ref()?.blocks;
        (blocks > self.size).then(|| {
            let (size, after) = (self.size, self.after_offset());
            format!(
                "address = \"compact\": the trace touches {blocks} blocks, and the device has \
                 {size}{after}"
            )
        })
    }

    /// The start of a device in the address space of the trace.
    pub fn base(&self, device: u32) -> Option<u64> {
        match &self.bases {
            Some(bases) => bases.get(&device).copied(),
            None => Some(0),
        }
    }

    /// Maps a request with data.
    #[inline(always)] // hot: once a request
    pub fn place(&mut self, record: &Record) -> Result<MappedRequest, String> {
        let (first, end) = record.blocks();
        let Ok(blocks) = u32::try_from(end - first) else {
            return Err(format!("{} bytes: must be at most 2 TiB", record.bytes));
        };
        let mut place = MappedRequest {
            lbn: first + self.base_of(record.device)?,
            blocks,
            widened: !record.is_aligned(),
            ..MappedRequest::default()
        };
        let count = u64::from(blocks);
        if count > self.size {
            return Err(self.too_long(count));
        }
        let last = self.size - count;
        match (self.address, self.span) {
            (Address::Scale, Some(span)) => {
                let scaled = u128::from(place.lbn) * u128::from(self.size) / u128::from(span);
                place.scaled = scaled != u128::from(place.lbn);
                place.lbn = scaled as u64;
            }
            (Address::Compact, _) => {
                let at = (self.compact.as_ref()).and_then(|compact| compact.place(place.lbn));
                let at = at.filter(|at| *at <= last).ok_or(CHANGED)?;
                place.compacted = at != place.lbn;
                place.lbn = at;
            }
            (Address::Wrap, _) if place.lbn >= self.size => {
                place.wrapped = true;
                place.lbn %= self.size;
            }
            (Address::Error, _) if place.lbn > last => {
                return Err(self.outside(place.lbn, count));
            }
            _ => {}
        }
        if place.lbn > last {
            place.moved = true;
            place.lbn = last;
        }
        place.lbn += self.offset;
        Ok(place)
    }

    #[inline]
    fn base_of(&mut self, device: u32) -> Result<u64, String> {
        let Some(bases) = &self.bases else {
            return Ok(0);
        };
        match self.last {
            Some((last, base)) if last == device => Ok(base),
            _ => {
                let base = bases.get(&device).copied();
                let base = base.ok_or(CHANGED)?;
                self.last = Some((device, base));
                Ok(base)
            }
        }
    }

    #[cold]
    fn too_long(&self, blocks: u64) -> String {
        let (size, after) = (self.size, self.after_offset());
        format!("{blocks} blocks: the device has {size}{after}")
    }

    #[cold]
    fn outside(&self, lbn: u64, blocks: u64) -> String {
        let (size, after) = (self.size, self.after_offset());
        let end = lbn + blocks - 1;
        format!(
            "blocks {lbn} to {end}: the device has {size}{after}; give address = \"wrap\", \
             address = \"scale\" or address = \"compact\" to fit the trace to the device"
        )
    }

    fn after_offset(&self) -> String {
        match self.offset {
            0 => String::new(),
            offset => format!(" from address_offset = {offset} on"),
        }
    }
}
