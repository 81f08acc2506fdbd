//! Values are read from pages as written.

use super::{KINDS, batch, binary, bytes, drive, settings, small, table, whole};
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int8Array,
    Int64Array, RecordBatch, StringArray, StringViewArray, UInt16Array,
};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use serde_json::json;
use sledsim_experiments::relational::{PageSettings, SledTable, TableLayoutKind};
use std::sync::Arc;

#[test]
fn the_error_about_a_null_names_its_record_in_all_the_data() {
    let good: Int64Array = (0..5).map(Some).collect();
    let bad: Int64Array = [Some(1), None].into_iter().collect();
    let field = Field::new("n", DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batches = [good, bad].map(|n| RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(n)]));
    let mut reader = arrow_array::RecordBatchIterator::new(batches, Arc::clone(&schema));
    let error = SledTable::load(&mut reader, drive(&small(2)), settings(TableLayoutKind::Normal));
    let error = error.err().expect("refused").to_string();
    assert!(error.starts_with("column 'n', record 6: is null"), "{error}");
}

/// A table of several types, strings among them.
fn mixed(records: usize, seed: u64) -> RecordBatch {
    let any = bytes(seed, records);
    let word =
        |byte: &u8| ["x", "yy", "", "a longer string than twelve bytes", "ü"][*byte as usize % 5];
    let keys: DictionaryArray<Int64Type> = any.iter().map(word).collect();
    batch(vec![
        ("flag", Arc::new(any.iter().map(|b| Some(b % 3 == 0)).collect::<BooleanArray>())),
        ("key", Arc::new(keys)),
        ("n", Arc::new(any.iter().map(|b| i64::from(*b) - 100).collect::<Int64Array>())),
        ("word", Arc::new(StringArray::from_iter_values(any.iter().map(word)))),
        ("view", Arc::new(StringViewArray::from_iter_values(any.iter().rev().map(word)))),
        ("blob", binary(77, records, seed)),
        ("small", Arc::new(any.iter().map(|b| *b as i8).collect::<Int8Array>())),
    ])
}

/// What is said of records alike, whatever keys a dictionary gives its strings.
fn text(batch: &RecordBatch) -> Vec<Vec<String>> {
    let columns = batch.columns().iter();
    let cells = |column: &ArrayRef| -> Vec<String> {
        let any = column.as_any();
        let dictionary = any.downcast_ref::<DictionaryArray<Int64Type>>();
        let keyed = dictionary.map(|d| d.downcast_dict::<StringArray>().expect("strings"));
        let cell = |i: usize| {
            if let Some(keyed) = &keyed {
                keyed.value(i).to_owned()
            } else if let Some(flags) = any.downcast_ref::<BooleanArray>() {
                flags.value(i).to_string()
            } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
                numbers.value(i).to_string()
            } else if let Some(numbers) = any.downcast_ref::<Int8Array>() {
                numbers.value(i).to_string()
            } else if let Some(texts) = any.downcast_ref::<StringArray>() {
                texts.value(i).to_owned()
            } else if let Some(texts) = any.downcast_ref::<StringViewArray>() {
                texts.value(i).to_owned()
            } else {
                let blobs = any.downcast_ref::<FixedSizeBinaryArray>();
                format!("{:?}", blobs.expect("a known type").value(i))
            }
        };
        (0..column.len()).map(cell).collect()
    };
    columns.map(cells).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn appends_and_updates_leave_what_a_plain_list_would(
        kind in 0_usize..3,
        split: bool,
        start in 0_usize..400,
        changes in prop::collection::vec((any::<bool>(), 0_usize..300, 0_usize..400, any::<u64>(), 1_usize..128), 1..5),
    ) {
        let settings = PageSettings { split, ..settings(KINDS[kind]) };
        // Whole capsules must fit the tracks of a cylinder: no narrow and wide columns.
        let of_table = if split { vec![0, 1, 2, 3, 4, 5, 6] } else { vec![1, 2, 3, 4] };
        let some_of = |records, seed| mixed(records, seed).project(&of_table).expect("columns");
        let first = some_of(start, 5);
        let mut kept = text(&first);
        let mut table = table(&first, &small(30), settings);
        for (is_append, count, at, seed, some) in changes {
            let data = some_of(count, seed);
            let records = table.records() as usize;
            if is_append {
                table.append(std::slice::from_ref(&data)).expect("room");
                for (column, new) in kept.iter_mut().zip(text(&data)) {
                    column.extend(new);
                }
            } else {
                let columns: Vec<usize> = (0..of_table.len()).filter(|c| some >> c & 1 == 1).collect();
                if columns.is_empty() {
                    continue;
                }
                let at = at.min(records);
                let data = data.project(&columns).expect("columns");
                let data = data.slice(0, count.min(records - at));
                table.update(at as u64, std::slice::from_ref(&data)).expect("records");
                for (column, new) in columns.into_iter().zip(text(&data)) {
                    kept[column].splice(at..at + new.len(), new);
                }
            }
            let now = whole(&mut table);
            prop_assert_eq!(now.schema(), first.schema());
            prop_assert_eq!(&text(&now), &kept);
        }
    }
}

#[test]
fn tables_may_be_empty_and_grow() {
    for kind in KINDS {
        let data = batch(vec![("n", Arc::new(UInt16Array::from(vec![7_u16; 50])))]);
        let mut table = table(&data.slice(0, 0), &small(2), settings(kind));
        assert_eq!(whole(&mut table).num_rows(), 0);
        assert_eq!(json!(table.facts().expect("facts"))["blocks"], 0);
        let error = table.read(&[0], &[0]).expect_err("nothing").to_string();
        assert_eq!(error, "record 0: the table is empty");
        table.append(std::slice::from_ref(&data)).expect("room");
        assert_eq!(whole(&mut table), data);
    }
}

#[test]
fn strings_that_come_again_in_an_append_keep_their_codes() {
    let words = |words: &[&str]| {
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(words));
        batch(vec![("w", array)])
    };
    let mut table = table(&words(&["a", "d"]), &small(4), settings(TableLayoutKind::Capsule));
    table.append(&[words(&["b", "c", "b", "a", "c"])]).expect("room");
    assert_eq!(whole(&mut table), words(&["a", "d", "b", "c", "b", "a", "c"]));
}
