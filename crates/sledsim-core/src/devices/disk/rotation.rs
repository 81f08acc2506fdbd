//! Rotation: the angle under the heads at any instant, without drift.
//!
//! Angles are fractions of a revolution in units of 2^-64 (`u64`, wrapping); turns that
//! may exceed one revolution are the same in `u128`. The speed has a resolution of
//! 2^-128 revolutions per nanosecond, so that over the whole range of [`Nanos`], 584
//! years, the angle is off by at most one unit.

use sledsim_base::units::Nanos;

/// A whole revolution.
pub const REVOLUTION: u128 = 1 << 64;

/// A sector whose start has passed by less than this is still accessed: 2^-40
/// revolutions, some millionths of a nanosecond. It covers every rounding of
/// [`Rotation::time`], so that a pass that ends with one sector can continue with the
/// next.
const LATE: u64 = 1 << 24;

/// Added before the time of a turn is truncated to whole nanoseconds, so that a turn of
/// a whole number of nanoseconds is not truncated to one less.
const SLACK: u128 = 1 << 20;

/// Heads over media that turn at constant speed from time zero on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// Revolutions per nanosecond, in units of 2^-128.
    speed: u128,
    /// Nanoseconds per revolution, in units of 2^-shift; below 2^60.
    period: u64,
    shift: u32,
    /// Angle at time zero.
    start: u64,
}

impl Rotation {
    /// At `rpm` (1 to 1,000,000) revolutions a minute, taken exactly.
    pub fn of_rpm(rpm: f64, start: u64) -> Self {
        // rpm = mantissa / 2^52 * 2^exponent, exponent 0 to 19.
        let bits = rpm.clamp(1.0, 1e6).to_bits();
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let exponent = (bits >> 52) - 1023;
        Self::new(u128::from(mantissa), 60_000_000_000 << (52 - exponent), start)
    }

    /// At one revolution in `period_ps` picoseconds (60,000 to 6 x 10^13).
    pub fn of_period_ps(period_ps: u64, start: u64) -> Self {
        let period_ps = period_ps.clamp(60_000_000, 60_000_000_000_000);
        Self::new(1000, u128::from(period_ps), start)
    }

    /// At `turns` revolutions in `ns` nanoseconds, more than one each.
    fn new(turns: u128, ns: u128, start: u64) -> Self {
        let whole = ns / turns;
        let shift = 60 - (128 - whole.leading_zeros());
        let period = (whole << shift) | binary(ns % turns, turns, shift);
        Self { speed: binary(turns, ns, 128), period: period as u64, shift, start }
    }

    /// The angle under the heads at `at`.
    #[inline]
    pub fn angle(&self, at: Nanos) -> u64 {
        let (high, low) = ((self.speed >> 64) as u64, self.speed as u64);
        let carried = (u128::from(at.0) * u128::from(low)) >> 64;
        (at.0.wrapping_mul(high)).wrapping_add(carried as u64).wrapping_add(self.start)
    }

    /// The rotation from `angle` to `target`: less than a revolution, and zero if the
    /// target has passed by a rounding error only.
    #[inline]
    pub fn until(angle: u64, target: u64) -> u64 {
        let turn = target.wrapping_sub(angle).wrapping_add(LATE);
        turn.saturating_sub(LATE)
    }

    /// The rotation from `target` to `angle`; zero if less than a rounding error.
    #[inline]
    pub fn past(angle: u64, target: u64) -> u64 {
        angle.wrapping_sub(target).saturating_sub(LATE)
    }

    /// How many sectors of a track of `sectors` pass completely within `turn`, give or
    /// take a rounding error.
    #[inline]
    pub fn sectors_within(turn: u64, sectors: u32) -> u32 {
        (((u128::from(turn) + u128::from(LATE)) * u128::from(sectors)) >> 64) as u32
    }

    /// The time of `turn` (at most four revolutions), truncated to nanoseconds.
    #[inline]
    pub fn time(&self, turn: u128) -> Nanos {
        let product = (turn + SLACK) * u128::from(self.period);
        Nanos((product >> (64 + self.shift)) as u64)
    }

    /// The time of whole revolutions, truncated to nanoseconds.
    pub fn revolutions(&self, count: u32) -> Nanos {
        // `count` covers the truncation of the period.
        let product = u128::from(count) * u128::from(self.period) + u128::from(count);
        Nanos((product >> self.shift) as u64)
    }

    /// Duration of a revolution in s.
    pub fn revolution_s(&self) -> f64 {
        self.period as f64 / (1_u64 << self.shift) as f64 * 1e-9
    }
}

/// The first `digits` binary digits of `part / whole`, which is below one;
/// `whole` is below 2^127.
fn binary(part: u128, whole: u128, digits: u32) -> u128 {
    let (mut rest, mut quotient) = (part, 0_u128);
    for _ in 0..digits {
        rest <<= 1;
        quotient <<= 1;
        if rest >= whole {
            rest -= whole;
            quotient |= 1;
        }
    }
    quotient
}

/// A fraction of a revolution as an angle; whole revolutions are dropped.
pub fn angle_of(revolutions: f64) -> u64 {
    let part = revolutions - revolutions.floor();
    // The largest fraction below one still fits; one itself wraps to zero.
    ((part * 9_223_372_036_854_775_808.0) as u64).wrapping_mul(2)
}

/// `part` of `whole` as an angle, to the nearest unit; `part` may have
/// fractions, `whole` is an integer.
pub fn share(part: f64, whole: u32) -> u64 {
    let (whole_part, fraction) = (part.floor(), part - part.floor());
    let units = ((whole_part as u128) << 64) + u128::from(angle_of(fraction));
    let whole = u128::from(whole);
    ((units + whole / 2) / whole) as u64
}
