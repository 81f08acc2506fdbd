//! Values of any type, for messages.

use super::cells::{dictionary_keys, text};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use sledsim_traces::lines::excerpt;

/// A value, for messages.
#[cold]
pub fn shown(array: &dyn Array, row: usize) -> String {
    fn plain<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> String {
        format!("{:?}", array.as_primitive::<T>().value(row))
    }
    if array.is_null(row) {
        return "null".to_owned();
    }
    match array.data_type() {
        DataType::Int8 => plain::<Int8Type>(array, row),
        DataType::Int16 => plain::<Int16Type>(array, row),
        DataType::Int32 => plain::<Int32Type>(array, row),
        DataType::Int64 => plain::<Int64Type>(array, row),
        DataType::UInt8 => plain::<UInt8Type>(array, row),
        DataType::UInt16 => plain::<UInt16Type>(array, row),
        DataType::UInt32 => plain::<UInt32Type>(array, row),
        DataType::UInt64 => plain::<UInt64Type>(array, row),
        DataType::Float32 => plain::<Float32Type>(array, row),
        DataType::Float64 => plain::<Float64Type>(array, row),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Dictionary(..) => {
            let mut keys = Vec::new();
            dictionary_keys(array, &mut keys);
            shown(&**array.as_any_dictionary().values(), keys[row])
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => plain::<TimestampSecondType>(array, row),
            TimeUnit::Millisecond => plain::<TimestampMillisecondType>(array, row),
            TimeUnit::Microsecond => plain::<TimestampMicrosecondType>(array, row),
            TimeUnit::Nanosecond => plain::<TimestampNanosecondType>(array, row),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => plain::<DurationSecondType>(array, row),
            TimeUnit::Millisecond => plain::<DurationMillisecondType>(array, row),
            TimeUnit::Microsecond => plain::<DurationMicrosecondType>(array, row),
            TimeUnit::Nanosecond => plain::<DurationNanosecondType>(array, row),
        },
        other => match text(array, row) {
            Some(text) => format!("'{}'", excerpt(text)),
            None => format!("a {other}"),
        },
    }
}
