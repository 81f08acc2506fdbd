//! Ranges: the numbers a key allows, and their wording in messages.

use std::fmt;
use toml_edit::Value;

/// The values allowed for a number: an interval without `nan`.
///
/// `Range::at_least(0.0).below(1.0)`. Without an upper bound every finite
/// number is below it; infinity must be allowed by name
/// (`.at_most(f64::INFINITY)`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    low_inside: bool,
    pub(super) high: f64,
    high_inside: bool,
}

impl Range {
    /// Any finite number.
    pub const fn any() -> Self {
        Self::at_least(f64::MIN)
    }

    /// `low` or more.
    pub const fn at_least(low: f64) -> Self {
        Self { low, low_inside: true, high: f64::MAX, high_inside: true }
    }

    /// More than `low`.
    pub const fn above(low: f64) -> Self {
        Self { low_inside: false, ..Self::at_least(low) }
    }

    /// And `high` or less.
    pub const fn at_most(self, high: f64) -> Self {
        Self { high, high_inside: true, ..self }
    }

    /// And less than `high`.
    pub const fn below(self, high: f64) -> Self {
        Self { high, high_inside: false, ..self }
    }

    /// Whether `number` is allowed.
    pub fn contains(&self, number: f64) -> bool {
        (number > self.low || self.low_inside && number == self.low)
            && (number < self.high || self.high_inside && number == self.high)
    }

    /// The value as a number, if allowed.
    pub(super) fn number(&self, value: &Value) -> Option<f64> {
        number(value).filter(|number| self.contains(*number))
    }

    pub(super) fn wanted(&self) -> String {
        if *self == Self::any() { "a finite number".to_owned() } else { format!("a number {self}") }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_inside { "at least" } else { "above" };
        let high = if self.high_inside { "at most" } else { "below" };
        match (self.low, self.high) {
            (f64::MIN, f64::MAX) => write!(f, "a finite number"),
            (f64::MIN, end) => write!(f, "{high} {end}"),
            (start, f64::MAX) => write!(f, "{low} {start}"),
            (start, f64::INFINITY) => write!(f, "{low} {start}, or inf"),
            (start, end) => write!(f, "{low} {start} and {high} {end}"),
        }
    }
}

/// The value as a number; integers are taken too.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer.value() as f64),
        _ => value.as_float(),
    }
}
