//! Tables: are values where the paper says, does each have bytes of its own, do
//! pages give back what went in, does the device do as much as it must and no
//! more?

use crate::common::{self, device};
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int8Array,
    Int64Array, RecordBatch, StringArray, StringViewArray, UInt16Array,
};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::parallel::Parallel;
use sledsim_run::tables::{Cost, Drive, Kind, Settings, Table};
use std::collections::BTreeSet;
use std::sync::Arc;

const KINDS: [Kind; 3] = [Kind::Normal, Kind::Vertical, Kind::Capsule];

fn settings(kind: Kind) -> Settings {
    Settings {
        kind,
        ..Settings::default()
    }
}

/// Any bytes, which the seed fixes.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Binaries of that width.
fn binary(width: usize, records: usize, seed: u64) -> ArrayRef {
    let values = bytes(seed, width * records);
    let chunks = values.chunks_exact(width);
    if records == 0 {
        return arrow_array::new_empty_array(&DataType::FixedSizeBinary(width as i32));
    }
    Arc::new(FixedSizeBinaryArray::try_from_iter(chunks).expect("of one width"))
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("of one length")
}

/// Columns of these widths, any bytes in them.
fn of_widths(widths: &[usize], records: usize, seed: u64) -> RecordBatch {
    let names: Vec<String> = (1..=widths.len()).map(|i| format!("a{i}")).collect();
    let columns = widths.iter().enumerate();
    let columns = columns.map(|(i, w)| binary(*w, records, seed + i as u64));
    batch(names.iter().map(String::as_str).zip(columns).collect())
}

fn drive(device: &Device) -> Box<Drive> {
    Box::new(Drive::new(device).expect("a single sled"))
}

fn table(data: &RecordBatch, device: &Device, settings: Settings) -> Table {
    let mut reader = arrow_array::RecordBatchIterator::new([Ok(data.clone())], data.schema());
    Table::load(&mut reader, drive(device), settings).expect("a table")
}

fn refused(data: &RecordBatch, device: &Device, settings: Settings) -> String {
    let mut reader = arrow_array::RecordBatchIterator::new([Ok(data.clone())], data.schema());
    let made =
        Drive::new(device).and_then(|drive| Table::load(&mut reader, Box::new(drive), settings));
    match made {
        Ok(_) => panic!("should be refused"),
        Err(error) => error.to_string(),
    }
}

fn all(table: &Table) -> Vec<usize> {
    (0..table.columns().len()).collect()
}

/// All of a table, in one batch.
fn whole(table: &mut Table) -> RecordBatch {
    let (batches, _) = table
        .scan(&all(table), 0, table.records())
        .expect("all of it");
    assert_eq!(batches.len(), 1, "a small table");
    batches[0].clone()
}

fn parallel(device: &Device) -> Parallel {
    device.mems().expect("a sled").parallel.clone()
}

/// The report's device with few cylinders: 2,700 blocks in each.
fn small(cylinders: u32) -> Device {
    let travel = format!("{}", f64::from(cylinders) * 0.04);
    let device = device("cmu2003", &[("travel_x_um", &travel)]);
    assert_eq!(device.blocks(), u64::from(cylinders) * 2700);
    device
}

#[test]
fn figure_6_has_its_attributes_where_the_report_says() {
    let device = device("cmu2003", &[]);
    let parallel = parallel(&device);
    let data = of_widths(&[8, 16], 2 * 270 * 64, 1);
    let bare = Settings {
        page_header_bytes: Some(0),
        ..settings(Kind::Capsule)
    };
    let first = data.slice(0, 270 * 64);
    let one = table(&first, &device, bare);
    // The caption: a1 spans LBNs 0 to 269, a2 270 to 539 and 540 to 809.
    assert_eq!(one.lbns(&[0]).expect("ranges"), [(0, 269)]);
    assert_eq!(one.lbns(&[1]).expect("ranges"), [(270, 809)]);
    let facts = one.facts().expect("facts");
    assert_eq!(facts["records_per_capsule"], 64);
    assert_eq!(facts["capsule_blocks"], 3);
    let two = table(&data, &device, bare);
    assert_eq!(two.lbns(&[0]).expect("ranges"), [(0, 269), (810, 1079)]);
    for capsule in 0..270 {
        let (lbn, _) = two.place(capsule * 64, 0).expect("a place");
        assert_eq!(lbn, capsule, "capsules follow each other");
        // a2 at offsets p and 2 p in the class.
        let class = parallel.equivalent(lbn, Nanos::ZERO).expect("a class");
        let at = class.iter().position(|l| *l == lbn).expect("itself");
        for (half, record) in [(1, capsule * 64), (2, capsule * 64 + 32)] {
            let place = two.place(record, 1).expect("a place");
            assert_eq!(place, (class[at + half * 10], 0));
        }
    }
    assert_eq!(two.place(65, 0).expect("a place"), (1, 8));
}

#[test]
fn the_reports_table_has_its_pages() {
    // Section 5.2.6: 115 records a page of 8 KB; capsules of 9 pages and 60 records.
    let data = of_widths(&[8, 32, 15, 16], 6000, 3);
    let device = device("cmu2003", &[]);
    let facts = |kind| {
        table(&data, &device, settings(kind))
            .facts()
            .expect("facts")
    };
    assert_eq!(facts(Kind::Normal)["records_per_page"], 115);
    assert_eq!(facts(Kind::Normal)["blocks"], 6000_u64.div_ceil(115) * 16);
    let capsule = facts(Kind::Capsule);
    assert_eq!(capsule["records_per_capsule"], 60);
    assert_eq!(capsule["capsule_blocks"], 9);
    assert_eq!(capsule["blocks"], 100 * 9);
    // Values per page of 480 bytes: 60, 15, 32, 30.
    let pages: u64 = [60, 15, 32, 30].map(|v| 6000_u64.div_ceil(v)).iter().sum();
    assert_eq!(facts(Kind::Vertical)["blocks"], pages);
}

/// Checks that each value has bytes of its own, within its page and the device.
fn check_places(data: &RecordBatch, device: &Device, settings: Settings) {
    let widths: Vec<u64> = (data.columns().iter())
        .map(|c| c.data_type().primitive_width().unwrap_or_else(|| width(c)) as u64)
        .collect();
    let table = table(data, device, settings);
    let parallel = parallel(device);
    let in_cylinder = parallel.geometry.tracks as usize;
    let pages = table.facts().expect("facts")["capsule_blocks"].as_u64();
    let most = pages.unwrap_or(0) as usize / in_cylinder + 2;
    let header = settings.page_header_bytes.map(u64::from);
    let mut taken = Vec::new();
    for record in 0..table.records() {
        let mut classes = BTreeSet::new();
        for (column, width) in widths.iter().enumerate() {
            let (lbn, offset) = table.place(record, column).expect("a place");
            let at = lbn * BLOCK_BYTES + offset;
            assert!(lbn >= settings.first_lbn && offset < BLOCK_BYTES);
            assert!(at + width <= device.blocks() * BLOCK_BYTES);
            let (within, page, usual) = match settings.kind {
                Kind::Normal => (at - settings.first_lbn * BLOCK_BYTES, 8192, 16),
                _ => (at, BLOCK_BYTES, 32),
            };
            let from = within % page;
            assert!(from >= header.unwrap_or(usual), "not in the header");
            assert!(from + width <= page, "no value crosses a page");
            taken.push((at, at + width));
            let spot = parallel.spot(lbn);
            classes.insert((spot.cylinder, spot.row));
        }
        if settings.kind == Kind::Capsule {
            let first = table.place(record, 0).expect("a place").0;
            let class = parallel.equivalent(first, Nanos::ZERO).expect("a class");
            let inside = |column| class.contains(&table.place(record, column).expect("a place").0);
            let outside = (0..widths.len()).filter(|c| !inside(*c)).count();
            assert!(settings.split || outside == 0, "all pages in one class");
            assert!(classes.len() <= most, "no more cylinders than needed");
        }
    }
    taken.sort_unstable();
    let overlap = taken.windows(2).find(|pair| pair[0].1 > pair[1].0);
    assert_eq!(overlap, None, "each value has bytes of its own");
}

fn width(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::FixedSizeBinary(width) => *width as usize,
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_value_has_bytes_of_its_own(
        widths in prop::collection::vec(1_usize..200, 1..5),
        records in 1_usize..9000,
        kind in 0_usize..3,
        split: bool,
        header in prop::option::of(0_u32..100),
        first_lbn in prop_oneof![Just(0_u64), 0_u64..6000],
        // Even and odd numbers of tracks in a cylinder.
        tips in prop_oneof![Just("6400"), Just("7040")],
        map in prop_oneof![Just("'serpentine'"), Just("'ascending'")],
        reach in prop_oneof![Just("0"), Just("5")],
    ) {
        let device = device("cmu2003", &[
            ("travel_x_um", "3"),
            ("tips", tips),
            ("lbn_map", map),
            ("micropositioning_cylinders", reach),
        ]);
        let data = of_widths(&widths, records, 7);
        let settings = Settings { kind: KINDS[kind], page_header_bytes: header, split, first_lbn };
        let room = 512 - u64::from(header.unwrap_or(32));
        let most = room / *widths.iter().min().expect("one") as u64;
        let pages: u64 = widths.iter().map(|w| most.div_ceil(room / *w as u64)).sum();
        prop_assume!(split || pages <= 10);
        check_places(&data, &device, settings);
    }
}

#[test]
fn whole_capsules_leave_tracks_empty_and_split_ones_do_not() {
    // 4 tracks a group, 10 in a cylinder.
    let data = of_widths(&[40, 40, 40, 40], 12 * 270 * 5, 2);
    let device = small(8);
    for (split, wasted) in [(true, 0), (false, 2 * 2 * 270)] {
        let settings = Settings {
            split,
            ..settings(Kind::Capsule)
        };
        check_places(&data, &device, settings);
        let facts = table(&data, &device, settings).facts().expect("facts");
        assert_eq!(facts["wasted_blocks"], wasted);
        let tracks = 5 * 4 + wasted / 270;
        assert_eq!(facts["last_lbn"], tracks * 270 - 1);
        // Room for so many: 8 cylinders of 10 tracks, or of 2 groups.
        let groups = if split { 8 * 10 / 4 } else { 8 * 2 };
        assert_eq!(facts["capacity_records"], groups * 270 * 12);
    }
    // Groups 0 and 1 fill tracks 0 to 7; of group 2 half is in the next cylinder.
    let split = table(&data, &device, settings(Kind::Capsule));
    let parallel = parallel(&device);
    let cylinder = |column| {
        let (lbn, _) = split.place(2 * 270 * 12 + 5, column).expect("a place");
        parallel.spot(lbn).cylinder
    };
    assert_eq!([0, 1, 2, 3].map(cylinder), [0, 0, 1, 1]);
}

#[test]
fn a_record_of_a_capsule_takes_one_pass_and_of_a_split_one_two() {
    let data = of_widths(&[40, 40, 40, 40], 12 * 270 * 5, 2);
    let device = small(8);
    let mut table = table(&data, &device, settings(Kind::Capsule));
    let mut read = |record: u64, columns: &[usize]| {
        table.idle(Nanos::from_s(1.0)); // parked
        let cost = table.read(columns, &[record]).expect("a record").1;
        assert_eq!(cost.requests, 1);
        assert_eq!(cost.blocks, columns.len() as u64);
        cost.time.0 as i64
    };
    // 0.00512 ms a block on the bus, and nothing else for the other columns.
    let more = read(7, &[0, 1, 2, 3]) - read(7, &[0]);
    assert!((more - 3 * 5120).abs() <= 2, "{more}");
    let split = 2 * 270 * 12 + 5;
    let more = read(split, &[0, 1, 2, 3]) - read(split, &[0]);
    // A settle and another row (0.2154 and 0.1286 ms) at least.
    assert!(more > 340_000, "{more}");
}

#[test]
fn columns_of_their_own_take_a_request_each_and_row_pages_sixteen_blocks() {
    let data = of_widths(&[8, 32, 15, 16], 10_000, 3);
    let device = device("cmu2003", &[]);
    for (kind, requests, blocks) in [(Kind::Vertical, 4, 4), (Kind::Normal, 1, 16)] {
        let mut table = table(&data, &device, settings(kind));
        let columns = all(&table);
        let (row, cost) = table.read(&columns, &[1234]).expect("a record");
        assert_eq!((cost.requests, cost.blocks), (requests, blocks));
        assert_eq!(row, data.slice(1234, 1));
    }
}

#[test]
fn a_scan_of_whole_groups_is_track_sized_and_sequential() {
    let data = of_widths(&[8, 32, 15, 16], 60 * 270 * 3, 3);
    let mut capsules = table(&data, &device("cmu2003", &[]), settings(Kind::Capsule));
    for (columns, pages) in [
        (vec![0], 1),
        (vec![1], 4),
        (vec![0, 1], 5),
        (vec![0, 1, 2, 3], 9),
    ] {
        let cost = capsules.scan(&columns, 0, 60 * 270 * 3).expect("all").1;
        assert_eq!((cost.requests, cost.blocks), (3 * pages, 3 * pages * 270));
        // No faster than the media: 27 rows of 0.12857 ms a track, and 0.2 ms
        // overhead; nor slower than with the longest turnaround twice a track.
        let tracks = (3 * pages) as f64;
        let media = tracks * (27.0 * 0.128_571 + 0.2);
        assert!(cost.time.ms() > media, "{}", cost.time.ms());
        assert!(
            cost.time.ms() < media + tracks * 2.0 * 0.28 + 1.0,
            "{}",
            cost.time.ms()
        );
    }
}

#[test]
fn requests_of_row_pages_end_where_tracks_do() {
    // 16 pages of 16 blocks from LBN 100 on: 170 of track 0 and 86 of track 1.
    let data = of_widths(&[8, 32, 15, 16], 16 * 115, 3);
    let settings = Settings {
        first_lbn: 100,
        ..settings(Kind::Normal)
    };
    let mut table = table(&data, &small(2), settings);
    assert_eq!(table.lbns(&[0]).expect("ranges"), [(100, 355)]);
    let cost = table.scan(&[0], 0, 16 * 115).expect("all").1;
    assert_eq!((cost.requests, cost.blocks), (2, 256));
}

#[test]
fn a_null_is_named_by_its_place_in_all_the_data() {
    let good: Int64Array = (0..5).map(Some).collect();
    let bad: Int64Array = [Some(1), None].into_iter().collect();
    let field = Field::new("n", DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batches = [good, bad].map(|n| RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(n)]));
    let mut reader = arrow_array::RecordBatchIterator::new(batches, Arc::clone(&schema));
    let error = Table::load(&mut reader, drive(&small(2)), settings(Kind::Normal));
    let error = error.err().expect("refused").to_string();
    assert!(
        error.starts_with("column 'n', record 6: is null"),
        "{error}"
    );
}

#[test]
fn a_short_scan_moves_the_blocks_that_its_values_lie_in() {
    let data = of_widths(&[8, 32, 15, 16], 30_000, 3);
    for kind in KINDS {
        let mut table = table(&data, &small(40), settings(kind));
        for (columns, first, count) in [
            (vec![0], 600, 100),
            (vec![0, 1], 59, 2),
            (vec![3, 1], 16_190, 3000),
            (vec![2], 29_999, 1),
            (vec![2], 60, 3),
            (vec![0, 1, 2, 3], 100, 1000),
        ] {
            let (batches, cost) = table.scan(&columns, first, count).expect("some");
            let wanted = data.project(&columns).expect("columns");
            let wanted = wanted.slice(first as usize, count as usize);
            assert_eq!(batches, [wanted]);
            let mut blocks = BTreeSet::new();
            for record in first..first + count {
                for &column in &columns {
                    let (lbn, _) = table.place(record, column).expect("a place");
                    match kind {
                        Kind::Normal => blocks.extend(lbn / 16 * 16..lbn / 16 * 16 + 16),
                        _ => blocks.extend([lbn]),
                    }
                }
            }
            assert_eq!(
                cost.blocks,
                blocks.len() as u64,
                "{kind:?} {columns:?} {first}"
            );
        }
    }
}

#[test]
fn appends_and_updates_read_what_stays_in_their_pages() {
    let data = of_widths(&[8, 32, 15, 16], 60 * 300, 3);
    let device = small(20);
    let cost = |kind, records: usize, change: &dyn Fn(&mut Table) -> Cost| {
        let mut table = table(&data.slice(0, records), &device, settings(kind));
        let cost = change(&mut table);
        (cost.requests, cost.blocks)
    };
    let append = |from: usize, count: usize| {
        let more = data.slice(from, count);
        move |table: &mut Table| table.append(std::slice::from_ref(&more)).expect("room")
    };
    // Capsules: 600 records fill ten; one more capsule takes 9 pages.
    assert_eq!(cost(Kind::Capsule, 600, &append(600, 60)), (1, 9));
    // 590 do not fill the tenth; the next ten records lie in the last of the
    // pages of each column, which are read before.
    assert_eq!(cost(Kind::Capsule, 590, &append(590, 10)), (2, 4 + 4));
    // A row page: 16 blocks read, 16 written; a fresh one is written only.
    assert_eq!(cost(Kind::Normal, 100, &append(100, 15)), (2, 32));
    assert_eq!(cost(Kind::Normal, 115, &append(115, 115)), (1, 16));
    // Columns of their own: of 120 records pages of 60, 15, 32, 30 are full but
    // the third's.
    assert_eq!(cost(Kind::Vertical, 120, &append(120, 1)), (5, 5));
    let update = |first: u64, count: usize, columns: &[usize]| {
        let new = data.slice(5, count).project(columns).expect("columns");
        move |table: &mut Table| {
            table
                .update(first, std::slice::from_ref(&new))
                .expect("records")
        }
    };
    // One column of one capsule: 4 pages, written whole.
    assert_eq!(cost(Kind::Capsule, 600, &update(60, 60, &[1])), (1, 4));
    // Of row pages, never: read and written.
    assert_eq!(cost(Kind::Normal, 600, &update(115, 115, &[1])), (2, 32));
    assert_eq!(
        cost(Kind::Normal, 600, &update(115, 115, &[0, 1, 2, 3])),
        (1, 16)
    );
    // Two pages of 15, one of them in part.
    assert_eq!(cost(Kind::Vertical, 600, &update(30, 20, &[1])), (2, 1 + 2));
}

/// A table of several types, strings among them.
fn mixed(records: usize, seed: u64) -> RecordBatch {
    let any = bytes(seed, records);
    let word =
        |byte: &u8| ["x", "yy", "", "a longer string than twelve bytes", "ü"][*byte as usize % 5];
    let keys: DictionaryArray<Int64Type> = any.iter().map(word).collect();
    batch(vec![
        (
            "flag",
            Arc::new(
                any.iter()
                    .map(|b| Some(b % 3 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        ("key", Arc::new(keys)),
        (
            "n",
            Arc::new(
                any.iter()
                    .map(|b| i64::from(*b) - 100)
                    .collect::<Int64Array>(),
            ),
        ),
        (
            "word",
            Arc::new(StringArray::from_iter_values(any.iter().map(word))),
        ),
        (
            "view",
            Arc::new(StringViewArray::from_iter_values(
                any.iter().rev().map(word),
            )),
        ),
        ("blob", binary(77, records, seed)),
        (
            "small",
            Arc::new(any.iter().map(|b| *b as i8).collect::<Int8Array>()),
        ),
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
        let settings = Settings { split, ..settings(KINDS[kind]) };
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
fn bad_data_are_refused_by_name_and_change_nothing() {
    let device = small(2);
    let data = of_widths(&[8, 16], 5000, 1);
    for kind in KINDS {
        let mut table = table(&data, &device, settings(kind));
        let clock = table.clock();
        let room = table.facts().expect("facts")["capacity_records"]
            .as_u64()
            .expect("a number");
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
        let error = says(table.append(&[batch(vec![
            ("a1", Arc::new(nulls)),
            ("a2", binary(16, 2, 0)),
        ])]));
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
        assert_eq!(
            error,
            "the data lack column 'a2': records must have all columns"
        );
        let error = says(table.append(&[of_widths(&[8, 16, 4], 3, 1)]));
        assert_eq!(
            error,
            "column 'a3' is not in the table: must be one of a1, a2"
        );
        let error = says(table.update(4999, &[data.slice(0, 2)]));
        assert_eq!(
            error,
            "records 4999 to 5000: the table has records 0 to 4999"
        );
        let error = table
            .scan(&[0], 5000, 1)
            .expect_err("past the last")
            .to_string();
        assert_eq!(error, "record 5000: the table has records 0 to 4999");
        let error = table
            .read(&[0], &[3, 5000])
            .expect_err("past the last")
            .to_string();
        assert_eq!(error, "record 5000: the table has records 0 to 4999");
        assert_eq!(table.clock(), clock, "no request was made");
        assert_eq!(whole(&mut table), data);
    }
}

#[test]
fn what_no_page_holds_is_refused_by_name() {
    let device = small(20);
    let wide = |width| of_widths(&[8, width], 10, 1);
    for kind in [Kind::Capsule, Kind::Vertical] {
        assert_eq!(
            refused(&wide(481), &device, settings(kind)),
            "column 'a2' is 481 bytes wide: a page of 512 bytes has room for 480"
        );
        check_places(&wide(480), &device, settings(kind));
    }
    assert_eq!(
        refused(&wide(8169), &device, settings(Kind::Normal)),
        "a record is 8177 bytes wide: a page of 8192 bytes has room for 8176"
    );
    check_places(&wide(8168), &device, settings(Kind::Normal));
    let list = Field::new("l", DataType::new_list(DataType::Int8, false), false);
    let error = Table::new(
        &Schema::new(vec![list]),
        drive(&device),
        settings(Kind::Capsule),
    );
    let error = error.err().expect("refused").to_string();
    assert!(error.starts_with("column 'l' is of type List("), "{error}");
    let whole = Settings {
        split: false,
        ..settings(Kind::Capsule)
    };
    let error = refused(&of_widths(&[8, 400], 10, 1), &device, whole);
    assert_eq!(
        error,
        "split = false: a capsule has 61 pages, and a class of the device has room for 10, one for \
         each track of a cylinder"
    );
    let late = Settings {
        first_lbn: 54_000,
        ..settings(Kind::Normal)
    };
    let error = refused(&wide(8), &device, late);
    assert_eq!(error, "first_lbn = 54000: must be from 0 to 53999");
    let atlas = common::device("atlas10k", &[]);
    let error = refused(&wide(8), &atlas, settings(Kind::Normal));
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
    let mut table = table(&narrow(0, 100), &device, settings(Kind::Capsule));
    let error = table
        .append(&[narrow(100, 29)])
        .expect_err("129")
        .to_string();
    assert!(error.contains("has 129 different strings"), "{error}");
    table.append(&[narrow(100, 28)]).expect("128 of them");
    let back = whole(&mut table);
    let back = back
        .column(0)
        .as_any()
        .downcast_ref::<DictionaryArray<arrow_array::types::Int8Type>>();
    let typed = back
        .expect("keys")
        .downcast_dict::<StringArray>()
        .expect("strings");
    let back: Vec<&str> = typed.into_iter().flatten().collect();
    assert_eq!(
        back,
        words[..128].iter().map(String::as_str).collect::<Vec<_>>()
    );
}

#[test]
fn tables_may_be_empty_and_grow() {
    for kind in KINDS {
        let data = batch(vec![("n", Arc::new(UInt16Array::from(vec![7_u16; 50])))]);
        let mut table = table(&data.slice(0, 0), &small(2), settings(kind));
        assert_eq!(whole(&mut table).num_rows(), 0);
        assert_eq!(table.facts().expect("facts")["blocks"], 0);
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
    let mut table = table(&words(&["a", "d"]), &small(4), settings(Kind::Capsule));
    table
        .append(&[words(&["b", "c", "b", "a", "c"])])
        .expect("room");
    assert_eq!(
        whole(&mut table),
        words(&["a", "d", "b", "c", "b", "a", "c"])
    );
}

#[test]
fn a_full_device_still_has_bytes_for_each_value() {
    for kind in KINDS {
        let device = small(4);
        let few = of_widths(&[150, 40, 90], 10, 1);
        let facts = table(&few, &device, settings(kind)).facts().expect("facts");
        let room = facts["capacity_records"].as_u64().expect("a number") as usize;
        let full = of_widths(&[150, 40, 90], room, 1);
        check_places(&full, &device, settings(kind));
        assert_eq!(whole(&mut table(&full, &device, settings(kind))), full);
    }
}
