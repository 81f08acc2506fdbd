//! Whether the first records make more sense in other units.
//!
//! A format may fit a file whose numbers are in other units. Times, places and lengths are
//! judged apart: by the calendar, rates, gaps and responses, by digits that the unit has no
//! use for, and by the sizes and multiples of requests. Nothing is changed: a doubt is a caution.

use crate::record::Record;
use crate::units::{B, BLOCKS, GivenUnits, MS, NS, S, US, Unit};
use serde::{Deserialize, Serialize};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::borrow::Cow;

/// A unit that makes more sense than the one read in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitDoubt {
    /// The key that names the unit, of [`GivenUnits::KEYS`].
    pub key: Cow<'static, str>,
    /// The unit read in.
    pub unit: String,
    /// The unit that makes more sense.
    pub likelier: Cow<'static, str>,
    /// The doubt in a sentence.
    pub text: String,
}

/// How the units are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user or the file tells.
    Stated,
    /// The format has them, and nothing in the file says which format it is.
    Assumed,
}

/// Fewer records than this tell nothing by their rates and sizes.
const LEAST_RECORDS: usize = 3;
/// Seconds from 1970 to 1990 and to 2035: the dates of recordings.
const DATES_S: std::ops::Range<f64> = 6.3e8..2.05e9;
/// Usual rates of assumed units, in requests per s.
const USUAL_RATES: std::ops::RangeInclusive<f64> = 0.05..=50_000.0;
/// Possible rates.
const POSSIBLE_RATES: std::ops::RangeInclusive<f64> = 0.01..=1e6;
/// A middling rate: that of a busy disk.
const DISK_RATE: f64 = 100.0;
/// No host sends a tenth of its requests closer together, in s.
const SHORTEST_GAP_S: f64 = 1e-7;
/// Requests come in bursts: a tenth of them, of many, is closer together, in s.
const LONGEST_NEAR_S: f64 = 0.2;
const ENOUGH_GAPS: usize = 20;
/// Half of the responses lie within.
const RESPONSES_S: std::ops::RangeInclusive<f64> = 1e-6..=100.0;
/// No drive is larger.
const LARGEST_DRIVE_BYTES: u64 = 200_000_000_000_000;
/// Requests as long in the mean are rare.
const LONG_BYTES: f64 = 1_048_576.0;

const TIMES: [(&str, u64); 4] = [S, MS, US, NS];

/// The doubts about `units` (of times, places and lengths) in which `records` were read,
/// `rounded` of whose times had digits below a nanosecond.
pub fn doubts(records: &[Record], units: &[Unit; 3], trust: Trust, rounded: u64) -> Vec<UnitDoubt> {
    let times = of_times(records, &units[0], trust, rounded);
    let mut found: Vec<_> = times.map(|found| (0, found)).into_iter().collect();
    found.extend(of_bytes(records, &units[1], &units[2]));
    let doubt = |(index, (likelier, why)): (usize, (&'static str, String))| {
        let (key, unit) = (GivenUnits::KEYS[index], units[index].name.clone().into_owned());
        let what = key.trim_end_matches("_unit");
        let text = format!("each {what} was read in {unit}, but may be in {likelier}: {why}");
        UnitDoubt { key: key.into(), unit, likelier: likelier.into(), text }
    };
    found.into_iter().map(doubt).collect()
}

/// The unit in which times make more sense, and why.
fn of_times(records: &[Record], unit: &Unit, trust: Trust, rounded: u64) -> Likelier {
    let mut times: Vec<f64> = records.iter().map(|record| record.time.s()).collect();
    times.sort_by(f64::total_cmp);
    let (first, last) = (*times.first()?, *times.last()?);
    let others = || {
        let others = TIMES.into_iter().filter(|(_, ns)| *ns != unit.factor);
        others.map(|(name, ns)| (name, ns as f64 / unit.factor as f64))
    };
    let own = &unit.name;
    if DATES_S.contains(&first) {
        return None;
    }
    // Records that are all at one time have no rate.
    let rate = (last > first).then(|| (records.len() - 1) as f64 / (last - first));
    let in_unit = |times: f64| rate.map(|rate| rate / times);
    let is_usual = |times: f64| in_unit(times).is_some_and(|rate| USUAL_RATES.contains(&rate));
    let dated =
        |times: f64| DATES_S.contains(&(first * times)) && (rate.is_none() || is_usual(times));
    if let Some((name, times)) = others().find(|(_, times)| dated(*times)) {
        let year = 1970.0 + (first * times / 31_556_952.0).floor();
        let why = format!("in {name} the first is of {year}, a date of recordings");
        return Some((name, why));
    }
    let likeliest = |usable: &dyn Fn(f64) -> bool| {
        let from_disk = |times: f64| (in_unit(times).unwrap_or(0.0) / DISK_RATE).log10().abs();
        let usable = others().filter(|(_, times)| usable(*times) && is_usual(*times));
        usable.min_by(|one, other| from_disk(one.1).total_cmp(&from_disk(other.1)))
    };
    let rates = |times: f64| {
        let [own_rate, other_rate] = [1.0, times].map(|times| in_unit(times).unwrap_or(0.0));
        format!("requests come at {own_rate:.3} per s in {own}, at {other_rate:.3} per s")
    };
    if trust == Trust::Assumed
        && rounded as usize * 2 > records.len()
        && let Some((name, times)) = likeliest(&|times| times > 1.0)
    {
        let rates = rates(times);
        return Some((name, format!("times have digits below 1 ns, and {rates} in {name}")));
    }
    if records.len() < LEAST_RECORDS {
        return None;
    }
    let allowed = match trust {
        Trust::Stated => POSSIBLE_RATES,
        Trust::Assumed => USUAL_RATES,
    };
    if rate.is_some_and(|rate| !allowed.contains(&rate))
        && let Some((name, times)) = likeliest(&|_| true)
    {
        return Some((name, format!("{} in {name}", rates(times))));
    }
    let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.retain(|gap| *gap > 0.0);
    gaps.sort_by(f64::total_cmp);
    if let Some(&gap) = gaps.get(gaps.len() / 10) {
        let near = SHORTEST_GAP_S..LONGEST_NEAR_S;
        let is_odd = gap < near.start || gaps.len() >= ENOUGH_GAPS && gap >= near.end;
        if trust == Trust::Assumed
            && is_odd
            && let Some((name, _)) = likeliest(&|times| near.contains(&(gap * times)))
        {
            let seconds = format!("{gap:.1e} s");
            let why = match gap < near.start {
                true => format!("a tenth of the requests come within {seconds} of another"),
                false => format!("no tenth of the requests comes within {seconds} of another"),
            };
            return Some((name, why));
        }
    }
    let mut responses: Vec<f64> =
        records.iter().filter_map(|record| record.response).map(Nanos::s).collect();
    responses.retain(|response| *response > 0.0);
    responses.sort_by(f64::total_cmp);
    let median = *responses.get(responses.len() / 2)?;
    if RESPONSES_S.contains(&median) {
        return None;
    }
    let (name, _) = others().find(|(_, times)| RESPONSES_S.contains(&(median * times)))?;
    Some((name, format!("half of the responses take {median:.1e} s or less")))
}

/// A likelier unit, and why.
type Likelier = Option<(&'static str, String)>;

/// The bytes of this many blocks of 512 bytes are a whole number of blocks themselves.
const BLOCK_OF_BLOCKS: u64 = BLOCK_BYTES * BLOCK_BYTES;

fn is_block(unit: &Unit) -> bool {
    unit.factor == BLOCK_BYTES
}

fn is_byte(unit: &Unit) -> bool {
    unit.factor == 1
}

/// The units in which places (1) and lengths (2) make more sense, and why.
fn of_bytes(
    records: &[Record],
    place: &Unit,
    length: &Unit,
) -> Vec<(usize, (&'static str, String))> {
    let moving: Vec<&Record> = records.iter().filter(|record| record.bytes > 0).collect();
    if moving.len() < LEAST_RECORDS {
        return Vec::new();
    }
    let mut lengths: Vec<u64> = moving.iter().map(|record| record.bytes).collect();
    lengths.sort_unstable();
    let mut places: Vec<u64> = moving.iter().map(|record| record.offset).collect();
    places.sort_unstable();
    places.dedup();
    places.retain(|place| *place > 0);
    let of_lengths = of_lengths(&lengths, length);
    let of_places = of_places(&places, &lengths, place, of_lengths.is_some());
    let found = [of_places, of_lengths];
    (1..).zip(found).filter_map(|(index, found)| Some((index, found?))).collect()
}

fn of_lengths(sorted: &[u64], unit: &Unit) -> Likelier {
    let mean = sorted.iter().map(|bytes| *bytes as f64).sum::<f64>() / sorted.len() as f64;
    if is_byte(unit) && sorted[sorted.len() / 2] < BLOCK_BYTES {
        let why = format!("half of the requests are shorter than {BLOCK_BYTES} bytes");
        return Some((BLOCKS.0, why));
    }
    let whole = sorted.iter().all(|bytes| bytes.is_multiple_of(BLOCK_OF_BLOCKS));
    (is_block(unit) && whole && mean >= LONG_BYTES).then(|| {
        let mib = mean / LONG_BYTES;
        let why = format!("all lengths are multiples of 512 blocks, {mib:.1} MiB in the mean");
        (B.0, why)
    })
}

/// By the distinct `places` above zero, in order, and whether lengths are doubted.
fn of_places(places: &[u64], lengths: &[u64], unit: &Unit, doubted: bool) -> Likelier {
    let highest = *places.last()?;
    if is_block(unit) && highest > LARGEST_DRIVE_BYTES {
        let tb = highest as f64 / 1e12;
        return Some((B.0, format!("the highest is at {tb:.0} TB, beyond any drive")));
    }
    let apart = |of: u64| places.iter().filter(|place| !place.is_multiple_of(of)).count();
    let short = lengths.last().is_some_and(|longest| *longest < BLOCK_OF_BLOCKS);
    let many = places.len() >= LEAST_RECORDS;
    if is_block(unit) && many && apart(BLOCK_OF_BLOCKS) == 0 && (short || doubted) {
        let why = "all are multiples of 256 KiB, and requests are shorter";
        return Some((B.0, why.to_owned()));
    }
    let whole = lengths.iter().all(|bytes| bytes.is_multiple_of(BLOCK_BYTES));
    let odd = is_byte(unit) && 2 * apart(BLOCK_BYTES) > places.len() && (whole || doubted);
    odd.then(|| (BLOCKS.0, "most are no multiples of 512 bytes".to_owned()))
}
