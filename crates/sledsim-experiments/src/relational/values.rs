//! Converts Arrow columns to the bytes of pages and back.

use super::schema::{CODE_BYTES, Column, Content};
use super::strings::Dictionary;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, LargeStringArray, PrimitiveArray, StringArray,
    StringViewArray, make_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use sledsim_base::error::{Error, Result};
use std::sync::Arc;

/// Encodes the values of `array` for pages; strings that `known` lacks are added
/// to `fresh`. `first` is the record number of the array's first value, for
/// messages.
///
/// # Errors
/// [`Error::Key`] for another type than the column's, a null, or more strings
/// than the type of a dictionary's keys can tell apart.
pub(super) fn encode(
    column: &Column,
    array: &dyn Array,
    first: u64,
    known: &Dictionary,
    fresh: &mut Dictionary,
) -> Result<Buffer> {
    let name = column.name();
    let wanted = column.field.data_type();
    let given = array.data_type();
    let fits = match column.content {
        Content::Text => is_text(given),
        _ => given == wanted,
    };
    if !fits {
        return Err(Error::Key(format!(
            "column '{name}' is of type {given}: must be {wanted}, as in the table"
        )));
    }
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        let at = nulls.iter().position(|valid| !valid).unwrap_or(0);
        return Err(Error::Key(format!(
            "column '{name}', record {}: is null, and pages have no room for nulls; fill them first",
            first + at as u64
        )));
    }
    match column.content {
        Content::Fixed => {
            let data = array.to_data();
            let width = column.width as usize;
            Ok(data.buffers()[0].slice_with_length(data.offset() * width, data.len() * width))
        }
        Content::Bool => {
            let bits = array.as_boolean().values();
            Ok(Buffer::from_vec(bits.iter().map(u8::from).collect()))
        }
        Content::Text => {
            let codes = codes(array, known, fresh);
            let strings = known.strings().len() + fresh.strings().len();
            check_keys(column, strings)?;
            Ok(Buffer::from_vec(codes))
        }
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, text) => is_text(text),
        _ => false,
    }
}

/// Checks that the key type of a dictionary can number this many strings.
fn check_keys(column: &Column, strings: usize) -> Result<()> {
    let most: u64 = match column.field.data_type() {
        DataType::Dictionary(keys, _) => match **keys {
            DataType::Int8 => 1 << 7,
            DataType::UInt8 => 1 << 8,
            DataType::Int16 => 1 << 15,
            DataType::UInt16 => 1 << 16,
            DataType::Int32 => 1 << 31,
            _ => 1 << 32,
        },
        _ => 1 << 32,
    };
    if strings as u64 <= most {
        return Ok(());
    }
    Err(Error::Key(format!(
        "column '{}' has {strings} different strings: its type, {}, allows {most}",
        column.name(),
        column.field.data_type()
    )))
}

/// The code of every string.
fn codes(array: &dyn Array, known: &Dictionary, fresh: &mut Dictionary) -> Vec<u32> {
    let mut each = |text: Option<&str>| known.code(fresh, text.unwrap_or_default());
    match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(each).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(each).collect(),
        // The values may be empty.
        DataType::Dictionary(..) if array.is_empty() => Vec::new(),
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            let keys = array.normalized_keys();
            // Only strings that occur in a record get a code.
            let mut used = vec![false; array.values().len()];
            for &key in &keys {
                used[key] = true;
            }
            let texts = texts(array.values().as_ref());
            let codes: Vec<u32> = (texts.iter().zip(used))
                .map(|(text, used)| if used { each(*text) } else { 0 })
                .collect();
            keys.into_iter().map(|key| codes[key]).collect()
        }
        _ => array.as_string::<i32>().iter().map(each).collect(),
    }
}

fn texts(array: &dyn Array) -> Vec<Option<&str>> {
    match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        _ => array.as_string::<i32>().iter().collect(),
    }
}

/// So many values of `column` as an Arrow array, `fill` reading their bytes out
/// of the pages.
pub(super) fn decode(
    column: &Column,
    values: usize,
    strings: &Dictionary,
    fill: impl FnOnce(&mut [u8]),
) -> Result<ArrayRef> {
    let mut bytes = MutableBuffer::from_len_zeroed(values * column.width as usize);
    fill(bytes.as_slice_mut());
    let kind = column.field.data_type();
    match column.content {
        Content::Fixed => {
            let data = ArrayData::builder(kind.clone()).len(values).add_buffer(bytes.into());
            Ok(make_array(data.build().map_err(|error| broken(column, &error))?))
        }
        Content::Bool => {
            let bytes = bytes.as_slice();
            let bits = BooleanBuffer::collect_bool(values, |i| bytes[i] != 0);
            Ok(Arc::new(BooleanArray::new(bits, None)))
        }
        Content::Text => {
            debug_assert_eq!(column.width, CODE_BYTES);
            text(column, bytes.typed_data::<u32>(), strings)
        }
    }
}

fn broken(column: &Column, error: &dyn std::fmt::Display) -> Error {
    Error::Key(format!("column '{}': {error}", column.name()))
}

/// Strings of the column's type from their codes.
fn text(column: &Column, codes: &[u32], known: &Dictionary) -> Result<ArrayRef> {
    let strings = known.strings();
    if let Some(code) = codes.iter().find(|code| **code as usize >= strings.len()) {
        return Err(Error::Key(format!(
            "column '{}': a page has the code {code}, and {} strings are known: another client wrote to it",
            column.name(),
            strings.len()
        )));
    }
    let all = || strings.iter().map(|text| &**text);
    let each = || codes.iter().map(|code| &*strings[*code as usize]);
    let plain = |kind: &DataType, all_of_them: bool| -> ArrayRef {
        match (kind, all_of_them) {
            (DataType::LargeUtf8, true) => Arc::new(LargeStringArray::from_iter_values(all())),
            (DataType::LargeUtf8, false) => Arc::new(LargeStringArray::from_iter_values(each())),
            (DataType::Utf8View, true) => Arc::new(StringViewArray::from_iter_values(all())),
            (DataType::Utf8View, false) => Arc::new(StringViewArray::from_iter_values(each())),
            (_, true) => Arc::new(StringArray::from_iter_values(all())),
            (_, false) => Arc::new(StringArray::from_iter_values(each())),
        }
    };
    let DataType::Dictionary(keys, values) = column.field.data_type() else {
        return Ok(plain(column.field.data_type(), false));
    };
    let values = plain(values, true);
    match **keys {
        DataType::Int8 => keyed::<Int8Type>(column, codes, values),
        DataType::Int16 => keyed::<Int16Type>(column, codes, values),
        DataType::Int64 => keyed::<Int64Type>(column, codes, values),
        DataType::UInt8 => keyed::<UInt8Type>(column, codes, values),
        DataType::UInt16 => keyed::<UInt16Type>(column, codes, values),
        DataType::UInt32 => keyed::<UInt32Type>(column, codes, values),
        DataType::UInt64 => keyed::<UInt64Type>(column, codes, values),
        _ => keyed::<Int32Type>(column, codes, values),
    }
}

fn keyed<K: ArrowDictionaryKeyType>(
    column: &Column,
    codes: &[u32],
    values: ArrayRef,
) -> Result<ArrayRef> {
    let key = |code: &u32| K::Native::usize_as(*code as usize);
    let keys = PrimitiveArray::<K>::from_iter_values(codes.iter().map(key));
    let array = DictionaryArray::<K>::try_new(keys, values);
    Ok(Arc::new(array.map_err(|error| broken(column, &error))?))
}
