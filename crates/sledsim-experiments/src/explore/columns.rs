//! Columns of numbers as bytes, for typed arrays.

/// Columns by name: type (`f64`, `f32`, `u32`, `i32`, `u16`, `u8`) and little-endian bytes.
#[derive(Debug, Default)]
pub struct Columns(pub Vec<(String, &'static str, Vec<u8>)>);

impl Columns {
    /// Adds a column.
    pub fn add<T: Number>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let mut bytes = Vec::new();
        for value in values {
            value.append_to(&mut bytes);
        }
        self.0.push((name.to_owned(), T::NAME, bytes));
    }
}

/// A number of a column.
pub trait Number {
    /// The name of its type.
    const NAME: &'static str;
    /// Appends its bytes.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($type:ident)*) => {
        $(impl Number for $type {
            const NAME: &'static str = stringify!($type);
            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}
numbers!(f64 f32 u32 i32 u16 u8);

/// The nearest number of 32 bits: a time longer than 4.29 s in ns is cut.
pub(super) fn short(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A count of at most 65,535.
pub(super) fn count(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}
