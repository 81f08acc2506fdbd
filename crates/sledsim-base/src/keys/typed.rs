//! Reads values by type: each method names the key and its allowed values.

use super::questions::Type;
use super::range::number;
use super::refusals::without_unit;
use super::{Keys, Range, add_once};
use crate::error::{Error, Missing, Origin, Result};
use std::ops::RangeInclusive;
use toml_edit::Value;

const BOOL: &str = "true or false";
const TEXT: &str = "a string in quotes";

impl Keys {
    /// A number; integers are taken too.
    pub fn f64(&mut self, key: &str, allowed: Range) -> Result<f64> {
        let value = self.opt_f64(key, allowed)?;
        self.require(key, value, || allowed.wanted())
    }

    /// A number, if given; integers are taken too.
    pub fn opt_f64(&mut self, key: &str, allowed: Range) -> Result<Option<f64>> {
        let Some(number) = self.read(key, Type::Number, || allowed.wanted(), number)? else {
            return Ok(None);
        };
        if allowed.contains(number) {
            Ok(Some(number))
        } else if number == f64::INFINITY && allowed.high == f64::MAX {
            Err(self.refuse(key, format_args!("must be {allowed} and finite")))
        } else {
            Err(self.refuse(key, format_args!("must be {allowed}")))
        }
    }

    /// An integer.
    pub fn u64(&mut self, key: &str, allowed: RangeInclusive<u64>) -> Result<u64> {
        let value = self.opt_u64(key, allowed.clone())?;
        self.require(key, value, || integer(&allowed))
    }

    /// An integer, if given.
    pub fn opt_u64(&mut self, key: &str, allowed: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.read(key, Type::Integer, || integer(&allowed), |value| integer_in(value, &allowed))
    }

    /// An integer of 32 bits.
    pub fn u32(&mut self, key: &str, allowed: RangeInclusive<u32>) -> Result<u32> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        self.u64(key, wide).map(|number| number as u32)
    }

    /// An integer of 32 bits, if given.
    pub fn opt_u32(&mut self, key: &str, allowed: RangeInclusive<u32>) -> Result<Option<u32>> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        Ok(self.opt_u64(key, wide)?.map(|number| number as u32))
    }

    /// The name of something that may be named by a number: a string, or an
    /// integer of 32 bits, if given.
    pub fn opt_name(&mut self, key: &str) -> Result<Option<String>> {
        let wanted = || format!("an integer from 0 to {}, or {TEXT}", u32::MAX);
        let read = |value: &Value| match value.as_integer() {
            Some(number) => Some(u32::try_from(number).ok()?.to_string()),
            None => value.as_str().map(str::to_owned),
        };
        self.read(key, Type::IntegerOrText, wanted, read)
    }

    /// An integer of 32 bits or one of several names, if given.
    pub fn opt_u32_or_choice<T: Clone>(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u32>,
        number: fn(u32) -> T,
        choices: &[(&str, T)],
    ) -> Result<Option<T>> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        let wanted = || format!("{}, or {}", integer(&wide), quoted_names(choices));
        let read = |value: &Value| {
            if let Some(name) = value.as_str() {
                let found = choices.iter().find(|choice| choice.0 == name)?;
                return Some(found.1.clone());
            }
            integer_in(value, &wide).map(|given| number(given as u32))
        };
        self.read(key, Type::IntegerOr(names(choices)), wanted, read)
    }

    /// A list, if given, each item read by `read`; `wanted` describes an item
    /// in messages, as in `an integer`.
    pub fn opt_list<T>(
        &mut self,
        key: &str,
        wanted: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        let list = || format!("a list; an item is {wanted}");
        let items = |value: &Value| Some(value.as_array()?.iter().map(&read).collect());
        let Some(items): Option<Vec<Option<T>>> = self.read(key, Type::List, list, items)? else {
            return Ok(None);
        };
        let item = |(index, item): (usize, Option<T>)| {
            item.ok_or_else(|| self.refuse_item(key, index, format_args!("must be {wanted}")))
        };
        items.into_iter().enumerate().map(item).collect::<Result<_>>().map(Some)
    }

    /// A list of numbers, if given; integers are taken too.
    pub fn opt_f64s(&mut self, key: &str, allowed: Range) -> Result<Option<Vec<f64>>> {
        self.opt_list(key, &allowed.wanted(), |value| allowed.number(value))
    }

    /// A list of integers, if given.
    pub fn opt_u64s(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<Vec<u64>>> {
        self.opt_list(key, &integer(&allowed), |value| integer_in(value, &allowed))
    }

    /// A list of lists of one number for each of `allowed`, if given; integers
    /// are taken too.
    pub fn opt_f64_rows<const N: usize>(
        &mut self,
        key: &str,
        allowed: [Range; N],
    ) -> Result<Option<Vec<[f64; N]>>> {
        let wanted = allowed.map(|range| range.wanted()).join(", ");
        self.opt_list(key, &format!("a list of {N}: {wanted}"), |value| {
            let row = value.as_array().filter(|row| row.len() == N)?;
            let mut numbers = [0.0; N];
            for ((number, value), range) in numbers.iter_mut().zip(row).zip(allowed) {
                *number = range.number(value)?;
            }
            Some(numbers)
        })
    }

    /// A list of lists of `N` integers, if given.
    pub fn opt_u64_rows<const N: usize>(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<Vec<[u64; N]>>> {
        let wanted = format!("a list of {N}, each {}", integer(&allowed));
        self.opt_list(key, &wanted, |value| {
            let row = value.as_array().filter(|row| row.len() == N)?;
            let mut numbers = [0; N];
            for (number, value) in numbers.iter_mut().zip(row) {
                *number = integer_in(value, &allowed)?;
            }
            Some(numbers)
        })
    }

    /// `true` or `false`.
    pub fn bool(&mut self, key: &str) -> Result<bool> {
        let value = self.opt_bool(key)?;
        self.require(key, value, || BOOL.to_owned())
    }

    /// `true` or `false`, if given.
    pub fn opt_bool(&mut self, key: &str) -> Result<Option<bool>> {
        self.read(key, Type::Boolean, || BOOL.to_owned(), Value::as_bool)
    }

    /// A string.
    pub fn text(&mut self, key: &str) -> Result<String> {
        let value = self.opt_text(key)?;
        self.require(key, value, || TEXT.to_owned())
    }

    /// A string, if given.
    pub fn opt_text(&mut self, key: &str) -> Result<Option<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.read(key, Type::Text, || TEXT.to_owned(), text)
    }

    /// One of several names, each standing for a value.
    pub fn choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let value = self.opt_choice(key, choices)?;
        self.require(key, value, || quoted_names(choices))
    }

    /// One of several names, if given.
    pub fn opt_choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        self.read(
            key,
            Type::OneOf(names(choices)),
            || quoted_names(choices),
            |value| {
                let name = value.as_str()?;
                let found = choices.iter().find(|choice| choice.0 == name)?;
                Some(found.1.clone())
            },
        )
    }

    /// The error that a key or table is missing, which takes `takes`: `a list of tables`.
    pub fn missing(&self, key: &str, takes: &str) -> Error {
        self.must_have(key);
        let (origin, key) = (self.what.clone(), format!("{}{key}", self.prefix));
        let message = format!("{origin}: {key}: missing; must be {takes}");
        missing(origin, key, takes.to_owned(), message)
    }

    fn read<T>(
        &mut self,
        key: &str,
        r#type: Type,
        wanted: impl Fn() -> String,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        add_once(&mut self.known, key);
        self.asks(key, r#type, &wanted);
        match self.table.value(key) {
            None => Ok(None),
            Some(entry) => match read(&entry.value) {
                Some(value) => Ok(Some(value)),
                None => {
                    let without = without_unit(key, &entry.value);
                    Err(self.refuse(key, format_args!("must be {}{without}", wanted())))
                }
            },
        }
    }

    fn require<T>(&self, key: &str, value: Option<T>, wanted: impl Fn() -> String) -> Result<T> {
        self.must_have(key);
        value.ok_or_else(|| {
            let (origin, key) = (self.what.clone(), format!("{}{key}", self.prefix));
            let takes = wanted();
            let message = format!("{origin}: missing key '{key}' ({takes})");
            missing(origin, key, takes, message)
        })
    }
}

/// The value as an integer, if allowed. `1e6` is one.
fn integer_in(value: &Value, allowed: &RangeInclusive<u64>) -> Option<u64> {
    let number = match value {
        Value::Float(float) => exact_integer(*float.value())?,
        _ => u64::try_from(value.as_integer()?).ok()?,
    };
    allowed.contains(&number).then_some(number)
}

/// The number as an integer, if it is one without rounding.
fn exact_integer(number: f64) -> Option<u64> {
    const INEXACT: f64 = 9_007_199_254_740_992.0; // 2^53 + 1 rounds to this, too
    let whole = number.fract() == 0.0 && (0.0..INEXACT).contains(&number);
    whole.then_some(number as u64)
}

fn integer(allowed: &RangeInclusive<u64>) -> String {
    match (*allowed.start(), *allowed.end()) {
        (low, high) if high >= i64::MAX as u64 => format!("an integer of at least {low}"),
        (low, high) => format!("an integer from {low} to {high}"),
    }
}

fn missing(origin: Origin, key: String, takes: String, message: String) -> Error {
    Error::Missing(Box::new(Missing { origin, key, takes, message, lines: Vec::new() }))
}

fn names<T>(choices: &[(&str, T)]) -> Vec<String> {
    choices.iter().map(|choice| choice.0.to_owned()).collect()
}

fn quoted_names<T>(choices: &[(&str, T)]) -> String {
    let quoted: Vec<String> = choices.iter().map(|c| format!("\"{}\"", c.0)).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
