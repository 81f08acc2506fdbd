//! The keys of a drive's electronics: bus, overheads and buffer. They are described in
//! `docs/reference/disks.md`.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;

/// Bus, overheads and buffer of a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerSettings {
    /// Command processing of every request; occupies the bus.
    pub command: Nanos,
    /// The bus.
    pub bus: BusTimes,
    /// Overheads by kind of request.
    pub overheads: Overheads,
    /// The buffer; a drive without one holds only data in transfer.
    pub buffer: Option<Buffer>,
    /// The queue in the drive, if it has one.
    pub queue: Option<QueueSettings>,
    /// The write cache of a drive of today, if it has one.
    pub cache: Option<CacheSettings>,
    /// Blocks of a physical sector, a power of two.
    pub sector_blocks: u32,
}

/// The queue in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// The most requests in it.
    pub entries: u32,
    /// Time to spare with which a sector counts as reached.
    pub margin: Nanos,
    /// A request that has been in it for so long comes first.
    pub age_limit: Nanos,
}

/// A write cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheSettings {
    /// Blocks that it holds.
    pub blocks: u64,
    /// Runs of blocks that it holds.
    pub runs: u32,
    /// The share of either from which on it does not wait for requests.
    pub high_water: f64,
    /// How long nothing has been asked when it begins to write.
    pub idle: Nanos,
    /// That of the queue.
    pub margin: Nanos,
}

/// Bus times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BusTimes {
    /// Time of a block to the host, in ns.
    pub read_ns_per_block: f64,
    /// Time of a block to the drive, in ns.
    pub write_ns_per_block: f64,
    /// Whether reads keep the bus from their first block to their last.
    pub hold_reads: bool,
    /// Whether a request occupies the bus from its arrival to its completion.
    pub never_disconnect: bool,
}

/// Overheads by operation and by the operation before it: `[after a read, after a
/// write]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// A read whose blocks are in the buffer, or being read into it.
    pub read_hit: [Nanos; 2],
    /// Any other read.
    pub read_miss: [Nanos; 2],
    /// A write that is complete when it is in the buffer.
    pub write_hit: [Nanos; 2],
    /// A write that is complete when it is on the media.
    pub write_miss: [Nanos; 2],
    /// After the last block of a read.
    pub read_completion: Nanos,
    /// After the last block of a write.
    pub write_completion: Nanos,
    /// Reconnecting to the bus for data read.
    pub reselect: Nanos,
}

/// The blocks that a buffer keeps for later reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All blocks that pass through it.
    #[default]
    All,
    /// All but the blocks of the read just served.
    Ahead,
    /// None: it only matches speeds. There is no read-ahead either, and a write is
    /// complete when it is on the media.
    Nothing,
}

/// How far a drive reads ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadAhead {
    /// Not at all.
    #[default]
    None,
    /// To the end of the track.
    Track,
    /// To the end of the cylinder.
    Cylinder,
    /// To the end of the segment's capacity.
    Segment,
    /// By whole tracks: to the end of the track, if a segment holds one; of the next
    /// one, if it holds two. If it holds none, only a read that continues the previous
    /// read is followed, and gets the whole buffer.
    Tracks,
}

/// Which writes are complete when their data are in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteBack {
    /// None.
    #[default]
    None,
    /// Those of a run in which each continues the one before, while no other
    /// request waits.
    Appends,
    /// All.
    All,
}

/// The reference of the high water mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// The request.
    #[default]
    Request,
    /// The segment.
    Segment,
}

/// A buffer of several segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Buffer {
    /// Number of segments.
    pub segments: u32,
    /// Blocks in each.
    pub segment_blocks: u64,
    /// The blocks that are kept.
    pub keep: Keep,
    /// How far to read ahead.
    pub read_ahead: ReadAhead,
    /// The least number of blocks read ahead, overriding other settings.
    pub least_ahead: u64,
    /// The most blocks read ahead.
    pub most_ahead: u64,
    /// Whether read-ahead may replace blocks that the host has read: the segment is
    /// then a sliding window.
    pub over_requested: bool,
    /// Whether a hit starts read-ahead.
    pub ahead_on_hit: bool,
    /// Whether read-ahead may end inside a sector.
    pub stops_in_sector: bool,
    /// Whether read-ahead continues after a write into the buffer.
    pub ahead_after_write: bool,
    /// Whether blocks that pass before the request are kept.
    pub free_blocks: bool,
    /// Whether read-ahead completes the track of the request.
    pub whole_track: bool,
    /// Which writes are complete when they are in the buffer.
    pub write_back: WriteBack,
    /// Whether a write that continues the last one shares its segment.
    pub append: bool,
    /// The most segments with written data.
    pub write_segments: u32,
    /// Whether one segment is reserved for written data.
    pub own_write_segment: bool,
    /// Whether reads hit written data, and writes leave read data alone.
    pub read_written: bool,
    /// Whether the held part of a read crosses the bus at once.
    pub partial_at_once: bool,
    /// The share of blocks that must have been read before the bus is taken.
    pub high_water: f64,
    /// The reference of that share.
    pub high_water_of: Share,
}

impl ControllerSettings {
    /// Reads the keys of the electronics among those of a drive.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let milliseconds = Range::at_least(0.0).at_most(1e9);
        let command = Nanos::from_ms(keys.f64("command_overhead_ms", milliseconds)?);
        let read_ms = keys.f64("bus_ms_per_block", milliseconds)?;
        let write_ms = keys.opt_f64("bus_write_ms_per_block", milliseconds)?;
        Ok(Self {
            command,
            bus: BusTimes {
                read_ns_per_block: 1e6 * read_ms,
                write_ns_per_block: 1e6 * write_ms.unwrap_or(read_ms),
                hold_reads: flag(keys, "hold_bus_reads", false)?,
                never_disconnect: flag(keys, "never_disconnect", false)?,
            },
            overheads: read_overheads(keys)?,
            ..Self::read_buffers(keys)?
        })
    }

    fn read_buffers(keys: &mut Keys) -> Result<Self> {
        let queue = read_queue(keys)?;
        let cache = read_cache(keys, queue.map_or(Nanos::ZERO, |queue| queue.margin))?;
        let buffer = read_buffer(keys)?;
        if cache.is_some() && buffer.is_some_and(|buffer| buffer.write_back != WriteBack::None) {
            let must = "must be left out with a buffer that writes back (buffer.write_back)";
            return Err(keys.refuse("cache", must));
        }
        let sector_blocks = keys.opt_u32("physical_sector_blocks", 1..=32)?.unwrap_or(1);
        if !sector_blocks.is_power_of_two() {
            return Err(keys.refuse("physical_sector_blocks", "must be a power of two, up to 32"));
        }
        Ok(Self { buffer, queue, cache, sector_blocks, ..Self::default() })
    }

    /// The physical sectors that hold these blocks.
    pub fn sectors_of(&self, extent: Extent) -> Extent {
        let mask = u64::from(self.sector_blocks.max(1)) - 1;
        let (lbn, end) = (extent.lbn & !mask, (extent.end() + mask) & !mask);
        Extent { lbn, blocks: (end - lbn) as u32 }
    }
}

fn read_queue(keys: &mut Keys) -> Result<Option<QueueSettings>> {
    let Some(mut keys) = keys.take_table("queue") else {
        return Ok(None);
    };
    let times_ms = Range::at_least(0.0).at_most(1e9);
    let margin_ms = keys.opt_f64("margin_ms", times_ms)?.unwrap_or(0.0);
    let limit_ms = keys.opt_f64("age_limit_ms", times_ms)?;
    let queue = QueueSettings {
        entries: keys.u32("entries", 1..=1024)?,
        margin: Nanos::from_ms(margin_ms),
        age_limit: limit_ms.map_or(Nanos::MAX, Nanos::from_ms),
    };
    keys.finish()?;
    Ok(Some(queue))
}

fn read_cache(keys: &mut Keys, margin: Nanos) -> Result<Option<CacheSettings>> {
    let Some(mut keys) = keys.take_table("cache") else {
        return Ok(None);
    };
    let idle_ms = keys.opt_f64("idle_ms", Range::at_least(0.0).at_most(1e9))?.unwrap_or(0.0);
    let share = Range::at_least(0.0).at_most(1.0);
    let cache = CacheSettings {
        blocks: keys.u64("blocks", 1..=u64::from(u32::MAX))?,
        runs: keys.opt_u32("runs", 1..=1 << 20)?.unwrap_or(1 << 20),
        high_water: keys.opt_f64("high_water", share)?.unwrap_or(0.75),
        idle: Nanos::from_ms(idle_ms),
        margin,
    };
    keys.finish()?;
    Ok(Some(cache))
}

fn flag(keys: &mut Keys, key: &str, default: bool) -> Result<bool> {
    Ok(keys.opt_bool(key)?.unwrap_or(default))
}

fn read_overheads(keys: &mut Keys) -> Result<Overheads> {
    let Some(mut keys) = keys.take_table("overheads") else {
        return Ok(Overheads::default());
    };
    let mut ms = |key: &str| -> Result<Nanos> {
        let given = keys.opt_f64(key, Range::at_least(0.0).at_most(1000.0))?;
        Ok(Nanos::from_ms(given.unwrap_or(0.0)))
    };
    let overheads = Overheads {
        read_hit: [ms("read_hit_after_read_ms")?, ms("read_hit_after_write_ms")?],
        read_miss: [ms("read_miss_after_read_ms")?, ms("read_miss_after_write_ms")?],
        write_hit: [ms("write_hit_after_read_ms")?, ms("write_hit_after_write_ms")?],
        write_miss: [ms("write_miss_after_read_ms")?, ms("write_miss_after_write_ms")?],
        read_completion: ms("read_completion_ms")?,
        write_completion: ms("write_completion_ms")?,
        reselect: ms("reselect_ms")?,
    };
    keys.finish()?;
    Ok(overheads)
}

fn read_buffer(keys: &mut Keys) -> Result<Option<Buffer>> {
    let Some(mut keys) = keys.take_table("buffer") else {
        return Ok(None);
    };
    let most_blocks = u64::from(u32::MAX);
    let segments = keys.u32("segments", 1..=1024)?;
    let segment_blocks = keys.u64("segment_blocks", 1..=most_blocks)?;
    let keep = [("all", Keep::All), ("ahead", Keep::Ahead), ("nothing", Keep::Nothing)];
    let read_ahead = [
        ("none", ReadAhead::None),
        ("track", ReadAhead::Track),
        ("cylinder", ReadAhead::Cylinder),
        ("segment", ReadAhead::Segment),
        ("tracks", ReadAhead::Tracks),
    ];
    let write_back =
        [("none", WriteBack::None), ("appends", WriteBack::Appends), ("all", WriteBack::All)];
    let shares = [("request", Share::Request), ("segment", Share::Segment)];
    let most_ahead = keys.opt_u64("read_ahead_max_blocks", 0..=most_blocks)?;
    let most_ahead = most_ahead.unwrap_or(most_blocks);
    let least_ahead = keys.opt_u64("read_ahead_min_blocks", 0..=segment_blocks.min(most_ahead))?;
    let own_write_segment = flag(&mut keys, "own_write_segment", false)?;
    // At least one segment is left for reads.
    let most_write = segments - u32::from(own_write_segment);
    if most_write == 0 {
        let must = "must be false if there is one segment";
        return Err(keys.refuse("own_write_segment", must));
    }
    let buffer = Buffer {
        segments,
        segment_blocks,
        keep: keys.opt_choice("keep", &keep)?.unwrap_or_default(),
        read_ahead: (keys.opt_choice("read_ahead", &read_ahead)?).unwrap_or_default(),
        least_ahead: least_ahead.unwrap_or(0),
        most_ahead,
        over_requested: flag(&mut keys, "read_ahead_over_requested", false)?,
        ahead_on_hit: flag(&mut keys, "read_ahead_on_hit", false)?,
        stops_in_sector: flag(&mut keys, "read_ahead_stops_in_sector", false)?,
        ahead_after_write: flag(&mut keys, "read_ahead_after_write_hit", false)?,
        free_blocks: flag(&mut keys, "read_free_blocks", false)?,
        whole_track: flag(&mut keys, "whole_track", false)?,
        write_back: (keys.opt_choice("write_back", &write_back)?).unwrap_or_default(),
        append: flag(&mut keys, "append_writes", true)?,
        write_segments: keys.opt_u32("write_segments", 1..=most_write)?.unwrap_or(1),
        own_write_segment,
        read_written: flag(&mut keys, "read_written", true)?,
        partial_at_once: flag(&mut keys, "partial_hits_at_once", true)?,
        high_water: (keys.opt_f64("high_water", Range::at_least(0.0).at_most(1.0))?).unwrap_or(0.0),
        high_water_of: (keys.opt_choice("high_water_of", &shares)?).unwrap_or_default(),
    };
    keys.finish()?;
    Ok(Some(buffer))
}
