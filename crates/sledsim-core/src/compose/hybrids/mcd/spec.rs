//! The keys of a caching tier.

use crate::compose::caches::PolicySpec;
use crate::compose::hybrids::placement::{Placement, PlacementSpec, blocks_of, need_blocks_of};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// The largest segment: 1 MiB, whose valid bits fit into a header block.
const MOST_SEGMENT_BLOCKS: u64 = 2048;

/// The default line of a controller's cache: 4 KiB.
const DEFAULT_LINE_BLOCKS: u32 = 8;

/// The largest number of segments.
const MOST_SLOTS: u64 = 1 << 26;

/// How much is fetched on a read miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// The aligned group of this many segments around the missed one, without those
    /// already in the front.
    Segments(u32),
    /// As many segments as would recently have cost least.
    Automatic,
}

/// The checked settings of a caching tier.
#[derive(Clone, Debug, PartialEq)]
pub struct McdSpec {
    /// Blocks of a segment.
    pub segment_blocks: u32,
    /// The placement of the segments on the front.
    pub placement: Placement,
    /// Whether every segment has a header block before its data on the front; if
    /// not, the table is in non-volatile memory.
    pub headers: bool,
    /// Blocks of the segment buffer.
    pub buffer_blocks: u64,
    /// Latency of the buffer before the first block.
    pub buffer_latency: Nanos,
    /// Transfer time per block.
    pub buffer_block_time: Nanos,
    /// Pending requests are served by the segment buffer.
    pub shortcut: bool,
    /// A segment is free as soon as its data are in the segment buffer.
    pub immediate_report: bool,
    /// Buffered data of an immediate report are written when no read of the back
    /// goes before them.
    pub read_priority: bool,
    /// Parts of segments are written without reading the rest.
    pub partial_write: bool,
    /// The replacement policy.
    pub policy: PolicySpec,
    /// How much is fetched on a read miss.
    pub fetch: Fetch,
    /// The most segments that one request to the back moves.
    pub exchange_segments: u32,
    /// Reads that continue a stream of this many blocks are not cached.
    pub bypass_after_blocks: Option<u64>,
    /// Dirty segments are written after the back has been idle this long.
    pub clean_after_idle: Option<Nanos>,
    /// Dirty segments are written, idle or not, while they exceed this share of
    /// all.
    pub clean_above: f64,
}

impl McdSpec {
    /// Reads the keys of a tier with a front and a back of these sizes.
    pub fn read(keys: &mut Keys, front_blocks: u64, back_blocks: u64) -> Result<Self> {
        let segment_blocks = segment_blocks(keys, "segment_kib")?;
        let headers = keys.opt_bool("headers")?.unwrap_or(true);
        let unit_blocks = u64::from(segment_blocks) + u64::from(headers);
        let placement = PlacementSpec::read(keys)?;
        let placement = placement.on(keys, front_blocks, unit_blocks, "segment")?;
        if placement.units * u64::from(segment_blocks) > back_blocks {
            let must = format!(
                "must not be larger than the back: it caches {} of {back_blocks} blocks; \
                 give front_mib, or swap them",
                placement.units * u64::from(segment_blocks)
            );
            return Err(keys.refuse("front", must));
        }
        let spec = Self {
            shortcut: keys.opt_bool("shortcut")?.unwrap_or(true),
            immediate_report: keys.opt_bool("immediate_report")?.unwrap_or(true),
            read_priority: keys.opt_bool("read_priority")?.unwrap_or(true),
            partial_write: keys.opt_bool("partial_write")?.unwrap_or(true),
            fetch: read_fetch(keys, segment_blocks)?,
            bypass_after_blocks: blocks_of(keys, "bypass_after_kib", 1024)?,
            ..Self::common(keys, segment_blocks, placement, headers)?
        };
        let fetched = match spec.fetch {
            Fetch::Segments(segments) => segments,
            Fetch::Automatic => 1,
        };
        if u64::from(fetched) * u64::from(segment_blocks) > spec.buffer_blocks {
            return Err(keys.refuse("fetch_kib", "must fit into the segment buffer (buffer_kib)"));
        }
        Ok(spec)
    }

    /// Reads the keys of a controller's cache: a tier whose front is memory of
    /// its own.
    pub fn read_controller(keys: &mut Keys, back_blocks: u64) -> Result<(Self, u64)> {
        let line_blocks = if keys.has("line_kib") {
            segment_blocks(keys, "line_kib")?
        } else {
            DEFAULT_LINE_BLOCKS
        };
        let blocks = need_blocks_of(keys, "cache_mib", 1 << 20)?;
        let lines = blocks / u64::from(line_blocks);
        if lines == 0 {
            let must = format!("must hold a line of {} KiB or more", f64::from(line_blocks) / 2.0);
            return Err(keys.refuse("cache_mib", must));
        }
        if lines * u64::from(line_blocks) > back_blocks {
            let must = format!("must not be larger than the {back_blocks} blocks behind it");
            return Err(keys.refuse("cache_mib", must));
        }
        let placement = Placement::dense(lines, u64::from(line_blocks));
        // A line occupies the cache until it has been written.
        let spec =
            Self { immediate_report: false, ..Self::common(keys, line_blocks, placement, false)? };
        Ok((spec, lines * u64::from(line_blocks)))
    }

    /// Reads the keys that both kinds share, with all techniques on.
    fn common(
        keys: &mut Keys,
        segment_blocks: u32,
        placement: Placement,
        headers: bool,
    ) -> Result<Self> {
        if placement.units > MOST_SLOTS {
            let must = format!("must hold at most {MOST_SLOTS} segments");
            return Err(keys.refuse("front", must));
        }
        let time_ms = Range::at_least(0.0).at_most(1e9);
        let idle_ms = Range::at_least(0.0).at_most(f64::INFINITY);
        let buffer_blocks = blocks_of(keys, "buffer_kib", 1024)?.unwrap_or(4096);
        if buffer_blocks < u64::from(segment_blocks) {
            let must =
                format!("must hold a segment of {} KiB or more", f64::from(segment_blocks) / 2.0);
            return Err(keys.refuse("buffer_kib", must));
        }
        let exchange_segments = match blocks_of(keys, "exchange_kib", 1024)? {
            None => 1,
            Some(blocks) if blocks < u64::from(segment_blocks) || blocks > buffer_blocks => {
                let must = "must be at least a segment and at most the segment buffer";
                return Err(keys.refuse("exchange_kib", must));
            }
            Some(blocks) => (blocks / u64::from(segment_blocks)) as u32,
        };
        Ok(Self {
            segment_blocks,
            placement,
            headers,
            buffer_blocks,
            buffer_latency: Nanos::from_ms(
                keys.opt_f64("buffer_latency_ms", time_ms)?.unwrap_or(1e-4),
            ),
            buffer_block_time: Nanos::from_ms(
                (keys.opt_f64("buffer_ms_per_block", time_ms)?).unwrap_or(3e-5),
            ),
            shortcut: true,
            immediate_report: true,
            read_priority: true,
            partial_write: true,
            policy: read_policy(keys)?,
            fetch: Fetch::Segments(1),
            exchange_segments,
            bypass_after_blocks: None,
            clean_after_idle: keys
                .opt_f64("clean_after_idle_ms", idle_ms)?
                .filter(|idle| idle.is_finite())
                .map(Nanos::from_ms),
            clean_above: keys
                .opt_f64("clean_above", Range::at_least(0.0).at_most(1.0))?
                .unwrap_or(1.0),
        })
    }
}

fn segment_blocks(keys: &mut Keys, name: &'static str) -> Result<u32> {
    let blocks = need_blocks_of(keys, name, 1024)?;
    if blocks > MOST_SEGMENT_BLOCKS {
        let must = format!("must be at most {} KiB", MOST_SEGMENT_BLOCKS / 2);
        return Err(keys.refuse(name, must));
    }
    Ok(blocks as u32)
}

fn read_policy(keys: &mut Keys) -> Result<PolicySpec> {
    match keys.opt_text("policy")? {
        None => Ok(PolicySpec::default()),
        Some(label) => PolicySpec::named(&label).map_err(|error| keys.refuse("policy", error)),
    }
}

fn read_fetch(keys: &mut Keys, segment_blocks: u32) -> Result<Fetch> {
    if keys.opt_text("fetch_kib").is_ok_and(|text| text.as_deref() == Some("auto")) {
        return Ok(Fetch::Automatic);
    }
    match blocks_of(keys, "fetch_kib", 1024)? {
        None => Ok(Fetch::Segments(1)),
        Some(blocks) if blocks.is_multiple_of(u64::from(segment_blocks)) => {
            Ok(Fetch::Segments((blocks / u64::from(segment_blocks)) as u32))
        }
        Some(_) => {
            let kib = f64::from(segment_blocks) / 2.0;
            Err(keys.refuse(
                "fetch_kib",
                format!("must be \"auto\" or a multiple of the segment's {kib} KiB"),
            ))
        }
    }
}
