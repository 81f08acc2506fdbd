//! Errors about data that a table cannot hold.

use super::{KINDS, batch, binary, check_places, drive, of_widths, settings, small, table, whole};
use crate::common;
use arrow_array::{
    Array, DictionaryArray, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use serde_json::json;
use sledsim_core::catalog::Device;
use sledsim_experiments::relational::{Cost, Drive, PageSettings, SledTable, TableLayoutKind};
use std::sync::Arc;

fn refused(data: &RecordBatch, device: &Device, settings: PageSettings) -> String {
    let mut reader = arrow_array::RecordBatchIterator::new([Ok(data.clone())], data.schema());
    let made = Drive::new(device)
        .and_then(|drive| SledTable::load(&mut reader, Box::new(drive), settings));
    match made {
        Ok(_) => panic!("should be refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bad_data_are_refused_by_name_and_change_nothing() {
    let device = small(2);
    let data = of_widths(&[8, 16], 5000, 1);
    for kind in KINDS {
        let mut table = table(&data, &device, settings(kind));
        let clock = table.clock();
        let room =
            json!(table.facts().expect("facts"))["capacity_records"].as_u64().expect("a number");
        let says = |result: sledsim_base::error::Result<Cost>| match result {
            Ok(_) => panic!("should be refused"),
            Err(error) => error.to_string(),
        };
        let too_many = of_widths(&[8, 16], (room - 5000 + 1) as usize, 1);
        let error = says(table.append(&[too_many]));
        let wanted = format!(
            "{} records: device 'cmu2003' has room for {room} of them from LBN 0 on",
            room + 1
        );
        assert_eq!(error, wanted);
        let nulls: Int64Array = [Some(1), None].into_iter().collect();
        let error =
            says(table.append(&[batch(vec![("a1", Arc::new(nulls)), ("a2", binary(16, 2, 0))])]));
        assert_eq!(
            error,
            "column 'a1' is of type Int64: must be FixedSizeBinary(8), as in the table"
        );
        let null = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
            [Some([1; 8]), None].into_iter(),
            8,
        )
        .expect("two");
        let error = says(table.append(&[
            data.slice(0, 3),
            batch(vec![("a1", Arc::new(null)), ("a2", binary(16, 2, 0))]),
        ]));
        assert_eq!(
            error,
            "column 'a1', record 4: is null, and pages have no room for nulls; fill them first"
        );
        let error = says(table.append(&[of_widths(&[8], 3, 1)]));
        assert_eq!(error, "the data lack column 'a2': records must have all columns");
        let error = says(table.append(&[of_widths(&[8, 16, 4], 3, 1)]));
        assert_eq!(error, "column 'a3' is not in the table: must be one of a1, a2");
        let error = says(table.update(4999, &[data.slice(0, 2)]));
        assert_eq!(error, "records 4999 to 5000: the table has records 0 to 4999");
        let error = table.scan(&[0], 5000, 1).expect_err("past the last").to_string();
        assert_eq!(error, "record 5000: the table has records 0 to 4999");
        let error = table.read(&[0], &[3, 5000]).expect_err("past the last").to_string();
        assert_eq!(error, "record 5000: the table has records 0 to 4999");
        assert_eq!(table.clock(), clock, "no request was made");
        assert_eq!(whole(&mut table), data);
    }
}

#[test]
fn unsupported_columns_are_refused_by_name() {
    let device = small(20);
    let wide = |width| of_widths(&[8, width], 10, 1);
    for kind in [TableLayoutKind::Capsule, TableLayoutKind::Vertical] {
        assert_eq!(
            refused(&wide(481), &device, settings(kind)),
            "column 'a2' is 481 bytes wide: a page of 512 bytes has room for 480"
        );
        check_places(&wide(480), &device, settings(kind));
    }
    assert_eq!(
        refused(&wide(8169), &device, settings(TableLayoutKind::Normal)),
        "a record is 8177 bytes wide: a page of 8192 bytes has room for 8176"
    );
    check_places(&wide(8168), &device, settings(TableLayoutKind::Normal));
    let list = Field::new("l", DataType::new_list(DataType::Int8, false), false);
    let error = SledTable::new(
        &Schema::new(vec![list]),
        drive(&device),
        settings(TableLayoutKind::Capsule),
    );
    let error = error.err().expect("refused").to_string();
    assert!(error.starts_with("column 'l' is of type List("), "{error}");
    let whole = PageSettings { split: false, ..settings(TableLayoutKind::Capsule) };
    let error = refused(&of_widths(&[8, 400], 10, 1), &device, whole);
    assert_eq!(
        error,
        "split = false: a capsule has 61 pages, and a class of the device has room for 10, one for \
         each track of a cylinder"
    );
    let late = PageSettings { first_lbn: 54_000, ..settings(TableLayoutKind::Normal) };
    let error = refused(&wide(8), &device, late);
    assert_eq!(error, "first_lbn = 54000: must be from 0 to 53999");
    let atlas = common::device("atlas10k", &[]);
    let error = refused(&wide(8), &atlas, settings(TableLayoutKind::Normal));
    assert!(error.contains("must be on a single sled"), "{error}");
}

#[test]
fn keys_of_a_dictionary_must_suffice() {
    let device = small(4);
    let words: Vec<String> = (0..200).map(|i| format!("w{i}")).collect();
    let narrow = |from: usize, count: usize| {
        let words = words[from..from + count].iter().map(String::as_str);
        let array: DictionaryArray<arrow_array::types::Int8Type> = words.collect();
        batch(vec![("w", Arc::new(array))])
    };
    let mut table = table(&narrow(0, 100), &device, settings(TableLayoutKind::Capsule));
    let error = table.append(&[narrow(100, 29)]).expect_err("129").to_string();
    assert!(error.contains("has 129 different strings"), "{error}");
    table.append(&[narrow(100, 28)]).expect("128 of them");
    let back = whole(&mut table);
    let back =
        back.column(0).as_any().downcast_ref::<DictionaryArray<arrow_array::types::Int8Type>>();
    let typed = back.expect("keys").downcast_dict::<StringArray>().expect("strings");
    let back: Vec<&str> = typed.into_iter().flatten().collect();
    assert_eq!(back, words[..128].iter().map(String::as_str).collect::<Vec<_>>());
}
