//! The extension module `sledsim._core`: Python types in, Arrow out.
//!
//! The public interface is in the Python package around it; names and signatures
//! here are internal. In reading order:
//!
//! * `arguments`: converts Python arguments to keys.
//! * `error`: converts errors to Python exceptions.
//! * `boundary`: releases the interpreter and catches panics.
//! * `check`: signals and progress during long calls.
//! * `names`: the lists of the core, by name.
//! * `rows`: rows in memory, as an Arrow table.
//! * `device`, `sled`, `disk`: devices and their calculators.
//! * `layouts`: layouts of blocks on a device.
//! * `simulation`: loads and runs.
//! * `failure`: the first exception of objects that the core calls.
//! * `own_scheduler`: schedulers written in Python.
//! * `perfetto`: rows as a trace for Perfetto.
//! * `explore`: a run as a page shows it.
//! * `parts`: traces split into parts, and the parts as one run.
//! * `traces`: information, conversion and generation of traces.
//! * `study`: tables of many runs.
//! * `validation`, `crash`, `faults`, `caches`: studies.
//! * `policies`: replacement policies written in Python.
//! * `tables`: tables on a sled.
//! * `emulator`: servers of emulated devices.
//! * `power_cut`: recordings with data, and devices after a power cut.
//! * `remote`: clients of RPC servers.

mod arguments;
mod boundary;
mod caches;
mod check;
mod crash;
mod device;
mod disk;
#[cfg(target_os = "linux")]
mod emulator;
mod error;
mod explore;
mod failure;
mod faults;
mod layouts;
mod names;
mod own_scheduler;
mod parts;
mod perfetto;
mod policies;
#[cfg(target_os = "linux")]
mod power_cut;
#[cfg(target_os = "linux")]
mod remote;
mod rows;
mod simulation;
mod sled;
mod study;
mod tables;
mod traces;
mod validation;

use pyo3::prelude::*;

/// The Rust side of sledsim.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::caches::{Cache, hit_ratios};
    #[pymodule_export]
    use crate::crash::crash_test;
    #[pymodule_export]
    use crate::device::{Device, rising};
    #[pymodule_export]
    use crate::disk::Disk;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulator::Server;
    #[pymodule_export]
    use crate::error::{OutputError, RemoteError, SledsimError, SpecError, TraceError, brief};
    #[pymodule_export]
    use crate::explore::explored;
    #[pymodule_export]
    use crate::faults::tip_failures;
    #[pymodule_export]
    use crate::layouts::Layout;
    #[pymodule_export]
    use crate::names::{known_keys, names, split_device_name};
    #[pymodule_export]
    use crate::own_scheduler::{OwnScheduler, Queue};
    #[pymodule_export]
    use crate::parts::{Parts, partition, run_part, trace_of};
    #[pymodule_export]
    use crate::perfetto::{check_perfetto_file, perfetto_of_file, perfetto_of_rows};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::power_cut::{Cut, DataRecording, image_digest};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::remote::{Pipeline, Remote, RemoteAnswer, RpcClient};
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::simulation::{
        Load, Statistics, check_table_file, refuse_overwriting, run, scenario, scheduler_label,
        summary_schema, workload_show, write_atomically,
    };
    #[pymodule_export]
    use crate::sled::Sled;
    #[pymodule_export]
    use crate::study::StudyTable;
    #[pymodule_export]
    use crate::tables::Table;
    #[pymodule_export]
    use crate::traces::{
        load_info, trace_convert, trace_generate, trace_info, workload_of_settings,
    };
    #[pymodule_export]
    use crate::validation::{Validation, validate};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const NUMBERS: &str = sledsim_experiments::NUMBERS;
    #[pymodule_export]
    const FRAMES: &str = sledsim_traces::frames::FOLDER;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::prepare(module.py())
    }
}
