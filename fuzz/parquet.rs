// Properties of reading any bytes as Parquet: the body of a fuzz target, and of
// a property test of sledsim-experiments (tests/any_bytes.rs).

use sledsim_experiments::formats::all;
use sledsim_traces::InfoSpec;
use std::path::Path;

/// A Parquet file of these bytes at `path`: read, or refused with its name, the
/// same each time.
pub fn parquet(data: &[u8], path: &Path) {
    std::fs::write(path, data).expect("the file can be written");
    let spec = InfoSpec {
        format: all().readers.get("parquet").copied(),
        quick: true,
        max_units: InfoSpec::MIN_UNITS,
        ..InfoSpec::new(path)
    };
    let read = || spec.read(&mut |_| Ok(())).map(|info| format!("{info:?}"));
    match (read(), read()) {
        (Ok(first), Ok(second)) => assert_eq!(first, second),
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string());
            let name = path.to_string_lossy();
            assert!(first.to_string().contains(&*name), "{first}");
        }
        _ => panic!("read once only"),
    }
}
