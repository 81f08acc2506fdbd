//! The units of times, places and lengths in text traces.

use crate::number;
use crate::record::{END_BYTES, LATEST_NS};
use crate::scaled::scaled;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use std::borrow::Cow;
use std::cell::Cell;

/// The quantity of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, in nanoseconds.
    Time,
    /// A length or an offset, in bytes.
    Size,
}

impl Quantity {
    /// The allowed units, for messages.
    pub fn units(self) -> &'static str {
        match self {
            Self::Time => "s, ms, us, ns, or a number of one such as 100ns",
            Self::Size => "B, KiB, MiB, GiB, or a number of one such as 512B",
        }
    }

    /// The highest value accepted, in nanoseconds or bytes. Times since 1601
    /// fit; [`crate::LATEST_NS`] limits them after the origin is subtracted.
    pub fn most(self) -> u64 {
        match self {
            Self::Time => u64::MAX - 2,
            Self::Size => END_BYTES,
        }
    }
}

/// The nanoseconds or bytes of a unit, which may have a number before it.
pub fn factor(unit: &str, quantity: Quantity) -> Option<u64> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (count, name) = unit.split_at(digits);
    let count = match count {
        "" => 1,
        count => number::integer(count.as_bytes()).filter(|&count| count > 0)?,
    };
    let one: u64 = match (quantity, name.trim()) {
        (Quantity::Time, "ns") | (Quantity::Size, "B") => 1,
        (Quantity::Time, "us") => 1_000,
        (Quantity::Time, "ms") => 1_000_000,
        (Quantity::Time, "s") => 1_000_000_000,
        (Quantity::Size, "KiB") => 1 << 10,
        (Quantity::Size, "MiB") => 1 << 20,
        (Quantity::Size, "GiB") => 1 << 30,
        _ => return None,
    };
    count.checked_mul(one).filter(|&factor| factor <= 1 << 50)
}

/// A unit as written, and its nanoseconds or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name, as in `512B`.
    pub name: Cow<'static, str>,
    /// The nanoseconds or bytes of one.
    pub factor: u64,
}

impl Unit {
    /// Several of it, for messages.
    fn several(&self) -> String {
        match &*self.name {
            "s" => "seconds".to_owned(),
            "ms" => "milliseconds".to_owned(),
            "us" => "microseconds".to_owned(),
            "ns" => "nanoseconds".to_owned(),
            "100ns" => "100 ns ticks".to_owned(),
            "B" => "bytes".to_owned(),
            "512B" => "512-byte blocks".to_owned(),
            name => format!("units of {name}"),
        }
    }
}

/// The units of a text format: of times, of places (first bytes) and of lengths, each by
/// name and with its nanoseconds or bytes.
pub type OwnUnits = [(&'static str, u64); 3];

/// Units that the user gives, in the order of [`OwnUnits`].
#[derive(Clone, Debug, Default)]
pub struct GivenUnits(pub [Option<Unit>; 3]);

impl GivenUnits {
    /// Their keys.
    pub const KEYS: [&'static str; 3] = ["time_unit", "place_unit", "length_unit"];

    /// Reads the keys; `value` returns the text of one.
    ///
    /// # Errors
    /// [`Error::Key`] for an unknown unit, or that of `value`.
    pub fn read(mut value: impl FnMut(&str) -> Result<Option<String>>) -> Result<Self> {
        let mut given = Self::default();
        let quantities = [Quantity::Time, Quantity::Size, Quantity::Size];
        for ((key, quantity), unit) in Self::KEYS.iter().zip(quantities).zip(&mut given.0) {
            let Some(name) = value(key)? else {
                continue;
            };
            let Some(factor) = factor(&name, quantity) else {
                let units = quantity.units();
                return Err(Error::Key(format!("{key} = \"{name}\": must be {units}")));
            };
            let name = name.into();
            *unit = Some(Unit { name, factor });
        }
        Ok(given)
    }

    /// The first key given.
    pub fn first_key(&self) -> Option<&'static str> {
        let mut keys = Self::KEYS.into_iter().zip(&self.0);
        keys.find_map(|(key, given)| given.is_some().then_some(key))
    }

    /// These, and the format's own where none is given.
    pub fn or(&self, own: OwnUnits) -> [Unit; 3] {
        let mut given = self.0.iter().cloned();
        own.map(|(name, factor)| {
            let name = Cow::Borrowed(name);
            given.next().flatten().unwrap_or(Unit { name, factor })
        })
    }
}

/// Reads the numbers of a text trace in their units.
#[derive(Debug)]
pub struct Scale {
    units: [Unit; 3],
    /// Whether the units are those of the format.
    pub(crate) is_own: bool,
    /// The number of times rounded to nanoseconds so far.
    rounded: Cell<u64>,
}

impl Scale {
    /// Reads in the units of a format where no others are given.
    pub fn new(own: OwnUnits, given: &GivenUnits) -> Self {
        Self { units: given.or(own), is_own: given.first_key().is_none(), rounded: Cell::new(0) }
    }

    /// A time, rounded to the nearest nanosecond; `None` for other text and for more than
    /// [`LATEST_NS`].
    #[inline]
    pub fn time(&self, text: &[u8]) -> Option<Nanos> {
        let (ns, whole) = scaled(text, self.units[0].factor)?;
        self.count(whole);
        (ns <= LATEST_NS).then_some(Nanos(ns))
    }

    /// As [`Scale::time`], in formats whose times are whole numbers.
    #[inline]
    pub fn whole_time(&self, text: &[u8]) -> Option<Nanos> {
        let ns = self.whole_ns(text)?;
        (ns <= LATEST_NS).then_some(Nanos(ns))
    }

    /// As [`Scale::whole_time`], to 2^64.
    #[inline]
    pub(crate) fn whole_ns(&self, text: &[u8]) -> Option<u64> {
        let (ns, whole) = self.read(text, 0)?;
        self.count(whole);
        Some(ns)
    }

    /// A number in one of the units: a whole one in the format's own.
    #[inline]
    fn read(&self, text: &[u8], unit: usize) -> Option<(u64, bool)> {
        let factor = self.units[unit].factor;
        match self.is_own {
            true => Some((number::integer(text)?.checked_mul(factor)?, true)),
            false => scaled(text, factor),
        }
    }

    /// Counts a time that is no whole number of nanoseconds.
    #[inline]
    pub(crate) fn count(&self, whole: bool) {
        if !whole {
            self.rounded.set(self.rounded.get() + 1);
        }
    }

    /// A first byte, at most [`END_BYTES`].
    #[inline]
    pub fn place(&self, text: &[u8]) -> Option<u64> {
        let (bytes, whole) = self.read(text, 1)?;
        (whole && bytes <= END_BYTES).then_some(bytes)
    }

    /// A number of bytes, perhaps zero, from `offset` to [`END_BYTES`] at most.
    #[inline]
    pub fn length(&self, text: &[u8], offset: u64) -> Option<u64> {
        let (bytes, whole) = self.read(text, 2)?;
        (whole && bytes <= END_BYTES - offset).then_some(bytes)
    }

    /// As [`Scale::length`], and at least one.
    #[inline]
    pub fn some_length(&self, text: &[u8], offset: u64) -> Option<u64> {
        self.length(text, offset).filter(|bytes| *bytes > 0)
    }

    /// The number of times that were rounded.
    pub fn rounded(&self) -> u64 {
        self.rounded.get()
    }

    /// Puts the units in the place of `{time}`, `{place}` and `{length}`.
    pub(crate) fn named(&self, text: &str) -> String {
        let [time, place, length] = &self.units;
        // In other units than the format's own, numbers need not be whole.
        let whole = if self.is_own { "a whole number" } else { "a number" };
        text.replace("a whole number of {", &format!("{whole} of {{"))
            .replace("{time}", &time.several())
            .replace("{place}", &place.several())
            .replace("{length}", &length.several())
    }
}

/// Seconds, for [`OwnUnits`].
pub(crate) const S: (&str, u64) = ("s", 1_000_000_000);
/// Milliseconds.
pub(crate) const MS: (&str, u64) = ("ms", 1_000_000);
/// Microseconds.
pub(crate) const US: (&str, u64) = ("us", 1_000);
/// Ticks of Windows.
pub(crate) const TICKS: (&str, u64) = ("100ns", 100);
/// Nanoseconds.
pub(crate) const NS: (&str, u64) = ("ns", 1);
/// Bytes.
pub(crate) const B: (&str, u64) = ("B", 1);
/// Blocks of 512 bytes.
pub(crate) const BLOCKS: (&str, u64) = ("512B", 512);

/// What [`Scale::time`] allows, for messages.
pub(crate) const TIMES: &str = "a number of {time} from 0 to 9e9 s";
/// What [`Scale::whole_time`] allows.
pub(crate) const WHOLE_TIMES: &str = "a whole number of {time} from 0 to 9e9 s";
/// What [`Scale::place`] allows.
pub(crate) const PLACES: &str = "a whole number of {place} from 0 to byte 2^63";
/// What [`Scale::length`] allows.
pub(crate) const LENGTHS: &str = "a whole number of {length} from 0 on, ending by byte 2^63";
/// What [`Scale::some_length`] allows.
pub(crate) const SOME_LENGTHS: &str = "a whole number of {length} from 1 on, ending by byte 2^63";
