//! The keys of a buffer, in the table `[buffer]` of a device.

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::units::BLOCK_BYTES;

/// How far to read ahead from the end of the last read. Read-ahead never
/// displaces blocks that the host has not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// Not at all.
    None,
    /// This many blocks, then on to the end of their row.
    Blocks(u32),
    /// To the end of the track.
    Track,
    /// To the end of the cylinder.
    Cylinder,
    /// Until the segment is full.
    Full,
}

/// When the bus and the media may transfer data of one request concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedMatching {
    /// Never: a read takes the bus when its last pass has ended, a write waits
    /// for the mechanism when its data are in.
    None,
    /// Pass by pass: the blocks of a read take the bus when their pass has
    /// ended; a write waits for the mechanism once its command has been
    /// processed, and ends no earlier than its data are in.
    Pass,
    /// As [`SpeedMatching::Pass`], but the blocks of a read arrive evenly over the
    /// time of their pass, and take the bus as they arrive.
    Block,
}

/// The settings of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// How many segments.
    pub segments: u32,
    /// Blocks in each.
    pub segment_blocks: u64,
    /// How far to read ahead.
    pub read_ahead: ReadAhead,
    /// How many segments may hold data not on the media yet; below `segments`. With
    /// 0, a write is complete when it is on the media.
    pub write_back_segments: u32,
    /// How bus and media overlap.
    pub speed_matching: SpeedMatching,
}

impl Buffer {
    /// Reads the table `[buffer]` of `keys`, if it is there.
    pub fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let Some(mut keys) = keys.take_table("buffer") else {
            return Ok(None);
        };
        let blocks = keys.u64("size_kib", 1..=1 << 30)? * 1024 / BLOCK_BYTES;
        let segments = keys.u32("segments", 1..=1024)?;
        if u64::from(segments) > blocks {
            let must = format!("must be at most the {blocks} blocks of size_kib");
            return Err(keys.refuse("segments", must));
        }
        let words = [
            ("none", ReadAhead::None),
            ("track", ReadAhead::Track),
            ("cylinder", ReadAhead::Cylinder),
            ("full", ReadAhead::Full),
        ];
        let read_ahead =
            keys.opt_u32_or_choice("read_ahead", 1..=u32::MAX, ReadAhead::Blocks, &words)?;
        let write_back_segments = keys.opt_u32("write_back_segments", 0..=segments - 1)?;
        let speed_matching = keys.opt_choice(
            "speed_matching",
            &[
                ("none", SpeedMatching::None),
                ("pass", SpeedMatching::Pass),
                ("block", SpeedMatching::Block),
            ],
        )?;
        keys.finish()?;
        Ok(Some(Self {
            segments,
            segment_blocks: (blocks / u64::from(segments)).min(u64::from(u32::MAX)),
            read_ahead: read_ahead.unwrap_or(ReadAhead::None),
            write_back_segments: write_back_segments.unwrap_or(0),
            speed_matching: speed_matching.unwrap_or(SpeedMatching::Pass),
        }))
    }
}
