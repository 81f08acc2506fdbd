//! The table `[faults]` of a disk.

use super::episodes::EpisodeSpec;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// The errors of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskFaults {
    /// Seed of all random numbers of faults.
    pub seed: u64,
    /// Probability that a reading pass over a track needs further revolutions.
    pub retry_rate: f64,
    /// The least and the most further revolutions of such a pass; all are as likely.
    pub revolutions: [u32; 2],
    /// Probability that such a pass takes the most revolutions and fails all the same.
    pub unrecovered_rate: f64,
    /// A head, and the rate for its tracks.
    pub weak_head: Option<(u32, f64)>,
    /// How many sectors are remapped.
    pub remapped: u32,
    /// Episodes in which the drive is slow.
    pub episodes: Option<EpisodeSpec>,
}

/// The most remapped sectors.
const MOST_REMAPPED: u64 = 1_000_000;

const HOUR_MS: f64 = 3.6e6;

impl DiskFaults {
    /// Reads the table `[faults]`, if there is one with any effect, of a disk with so many
    /// surfaces and blocks.
    ///
    /// # Errors
    /// A value out of range, or a key without the one that it belongs to.
    pub fn read(keys: &mut Keys, surfaces: u32, blocks: u64) -> Result<Option<Self>> {
        let Some(mut keys) = keys.take_table("faults") else {
            return Ok(None);
        };
        let rate = Range::at_least(0.0).at_most(1.0);
        if !keys.has("retry_rate") && !keys.has("weak_head") {
            for key in ["retry_revolutions", "unrecovered_rate"] {
                if keys.has(key) {
                    return Err(keys.refuse(key, "must come with retry_rate or weak_head"));
                }
            }
        }
        let seed = keys.opt_u64("seed", 0..=i64::MAX as u64)?.unwrap_or(1);
        let retry_rate = keys.opt_f64("retry_rate", rate)?.unwrap_or(0.0);
        let revolutions = read_revolutions(&mut keys)?;
        let unrecovered_rate = keys.opt_f64("unrecovered_rate", rate)?.unwrap_or(0.0);
        let weak_head = keys.opt_u32("weak_head", 0..=surfaces - 1)?;
        let weak_rate = keys.opt_f64("weak_head_retry_rate", rate)?;
        if weak_head.is_some() != weak_rate.is_some() {
            return Err(alone(&keys, ["weak_head", "weak_head_retry_rate"]));
        }
        let most = blocks.min(MOST_REMAPPED) as u32;
        let faults = Self {
            seed,
            retry_rate,
            revolutions,
            unrecovered_rate,
            weak_head: weak_head.zip(weak_rate),
            remapped: keys.opt_u32("remapped", 0..=most)?.unwrap_or(0),
            episodes: read_episodes(&mut keys)?,
        };
        keys.finish()?;
        Ok(faults.has_effect().then_some(faults))
    }

    fn has_effect(&self) -> bool {
        self.retry_rate > 0.0
            || self.weak_head.is_some_and(|(_, rate)| rate > 0.0)
            || self.remapped > 0
            || self.episodes.is_some()
    }
}

/// The refusal of one of two keys of which the other is missing.
fn alone(keys: &Keys, [one, other]: [&'static str; 2]) -> Error {
    let (given, missing) = if keys.has(one) { (one, other) } else { (other, one) };
    keys.refuse(given, format!("must come with {missing}"))
}

/// Reads the least and the most further revolutions.
fn read_revolutions(keys: &mut Keys) -> Result<[u32; 2]> {
    const KEY: &str = "retry_revolutions";
    let Some(given) = keys.opt_u64s(KEY, 1..=1000)? else {
        return Ok([1, 1]);
    };
    match given[..] {
        [least, most] if least <= most => Ok([least as u32, most as u32]),
        [least, _] => Err(keys.refuse_item(KEY, 1, format!("must be at least the {least} before"))),
        _ => Err(keys.refuse(KEY, "must be a list of 2 integers, the least and the most")),
    }
}

fn read_episodes(keys: &mut Keys) -> Result<Option<EpisodeSpec>> {
    let per_hour = keys.opt_f64("episodes_per_hour", Range::at_least(0.0).at_most(1e6))?;
    let length_ms = keys.opt_f64("episode_ms", Range::at_least(1e-3).at_most(HOUR_MS))?;
    let factor = keys.opt_f64("episode_factor", Range::at_least(1.0).at_most(1e6))?;
    let (Some(per_hour), Some(length_ms)) = (per_hour, length_ms) else {
        if factor.is_some() && per_hour.is_none() {
            return Err(keys.refuse("episode_factor", "must come with episodes_per_hour"));
        }
        let is_complete = per_hour.is_none() && length_ms.is_none();
        return match is_complete {
            true => Ok(None),
            false => Err(alone(keys, ["episodes_per_hour", "episode_ms"])),
        };
    };
    if per_hour * length_ms >= HOUR_MS {
        let must = format!("must be below {} with {per_hour} episodes an hour", HOUR_MS / per_hour);
        return Err(keys.refuse("episode_ms", must));
    }
    Ok((per_hour > 0.0).then(|| EpisodeSpec {
        mean_gap_ns: 1e6 * (HOUR_MS / per_hour - length_ms),
        length: Nanos::from_ms(length_ms),
        factor,
    }))
}
