//! Columns of numbers: as nanoseconds, bytes or device numbers.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};
use sledsim_traces::columns::{Quantity, scaled_float};

/// Stands for a null among numbers.
pub const NULL: u64 = u64::MAX;
/// Stands for a value that is not allowed.
pub const BAD: u64 = u64::MAX - 1;

/// The numbers in a column, in nanoseconds or bytes; [`NULL`] and [`BAD`].
pub fn numbers(array: &dyn Array, factor: u64, quantity: Option<Quantity>, found: &mut Vec<u64>) {
    let most = quantity.map_or(BAD - 1, Quantity::most);
    let rounds = quantity == Some(Quantity::Time);
    let whole = |value: Option<u64>| match value.and_then(|value| value.checked_mul(factor)) {
        Some(value) if value <= most => value,
        _ => BAD,
    };
    let rounded = |value: Option<(u64, bool)>| match value {
        Some((value, exact)) if value <= most && (exact || rounds) => value,
        _ => BAD,
    };
    found.clear();
    macro_rules! each {
        ($type:ty, $value:ident => $number:expr) => {
            found.extend(array.as_primitive::<$type>().values().iter().map(|$value| $number))
        };
    }
    match array.data_type() {
        DataType::Int8 => each!(Int8Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int16 => each!(Int16Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int32 => each!(Int32Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int64 => each!(Int64Type, v => whole(u64::try_from(*v).ok())),
        DataType::UInt8 => each!(UInt8Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt16 => each!(UInt16Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt32 => each!(UInt32Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt64 => each!(UInt64Type, v => whole(Some(*v))),
        DataType::Float32 => each!(Float32Type, v => rounded(scaled_float(f64::from(*v), factor))),
        DataType::Float64 => each!(Float64Type, v => rounded(scaled_float(*v, factor))),
        DataType::Decimal128(_, places) => {
            each!(Decimal128Type, v => rounded(scaled_decimal(*v, *places, factor)));
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => each!(TimestampSecondType, v => whole(u64::try_from(*v).ok())),
            TimeUnit::Millisecond => {
                each!(TimestampMillisecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Microsecond => {
                each!(TimestampMicrosecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Nanosecond => {
                each!(TimestampNanosecondType, v => whole(u64::try_from(*v).ok()));
            }
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => each!(DurationSecondType, v => whole(u64::try_from(*v).ok())),
            TimeUnit::Millisecond => {
                each!(DurationMillisecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Microsecond => {
                each!(DurationMicrosecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Nanosecond => {
                each!(DurationNanosecondType, v => whole(u64::try_from(*v).ok()));
            }
        },
        _ => found.resize(array.len(), BAD),
    }
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (value, there) in found.iter_mut().zip(nulls.iter()) {
            *value = if there { *value } else { NULL };
        }
    }
}

/// A decimal number of so many `places`, as [`scaled_float`].
fn scaled_decimal(value: i128, places: i8, factor: u64) -> Option<(u64, bool)> {
    let product = u128::try_from(value).ok()?.checked_mul(u128::from(factor))?;
    let power = 10_u128.checked_pow(u32::from(places.unsigned_abs()))?;
    if places <= 0 {
        let value = u64::try_from(product.checked_mul(power)?).ok()?;
        return Some((value, true));
    }
    let (value, rest) = (product / power, product % power);
    let rounded = value + u128::from(rest > 0 && rest >= power - rest);
    Some((u64::try_from(rounded).ok()?, rest == 0))
}
