//! The `postmark` workload: PostMark on a file system of its time.
//!
//! Modules in reading order:
//! - `groups`: cylinder groups, where inodes and blocks are allocated;
//! - `buffers`: the buffer cache, which turns accesses into requests;
//! - `file_system`: what creating, reading, appending and deleting access;
//! - `run`: the benchmark, as a source of requests.

mod groups;

mod buffers;

mod file_system;

mod run;

pub use run::PostMark;

use super::generator::read_seed;
use super::{ENDLESS, bounded};
use file_system::{BLOCK, DIRECT, DataWrites, FRAGMENT, FileSystem};
use groups::{FRAGMENTS, Groups, INODES_IN_BLOCK};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::BLOCK_BYTES;

/// The name of the workload.
pub(super) const NAME: &str = "postmark";

/// Bytes of a MiB, and of the file system for each inode.
const MIB: u64 = 1 << 20;
const BYTES_PER_INODE: u32 = 4096;

/// The largest file system if none is given, in MiB: larger ones differ in nothing.
const LARGEST_MIB: u64 = 16_384;

const DATA_WRITES: [(&str, DataWrites); 3] = [
    ("full_blocks", DataWrites::FullBlocks),
    ("close", DataWrites::Close),
    ("delayed", DataWrites::Delayed),
];

/// Whether metadata are written at once where their order matters.
const METADATA_WRITES: [(&str, bool); 2] = [("synchronous", true), ("delayed", false)];

/// The keys of the workload.
#[derive(Clone, Debug)]
pub struct PostMarkSpec {
    /// [`ENDLESS`] without a bound.
    requests: u64,
    seed: u64,
    files: u32,
    transactions: u32,
    subdirectories: u32,
    min_bytes: u32,
    max_bytes: u32,
    compute_ms: f64,
    file_system_mib: Option<u64>,
    group_mib: u32,
    cache_mib: f64,
    data: DataWrites,
    is_synchronous: bool,
    update_s: f64,
    /// The keys with the origin of each value, for messages.
    keys: Keys,
}

impl PostMarkSpec {
    /// Reads the keys; the caller finishes `keys`.
    ///
    /// # Errors
    /// A key out of range, or sizes that contradict each other.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let requests = keys.opt_u64("requests", 1..=i64::MAX as u64)?;
        let subdirectories = keys.opt_u32("subdirectories", 0..=10_000)?.unwrap_or(0);
        if subdirectories == 1 {
            let problem = "must be 0, or at least 2: PostMark makes no single one";
            return Err(keys.refuse("subdirectories", problem));
        }
        let min_bytes = keys
            .opt_u32("min_bytes", 1..=DIRECT * BLOCK)?
            .unwrap_or(500);
        let max_bytes = keys
            .opt_u32("max_bytes", 1..=DIRECT * BLOCK)?
            .unwrap_or(10_000);
        if min_bytes > max_bytes {
            let problem = format!("must be at most the {max_bytes} of max_bytes");
            return Err(keys.refuse("min_bytes", problem));
        }
        let time = |most| Range::at_least(0.0).at_most(most);
        let synchronous = keys.opt_choice("metadata_writes", &METADATA_WRITES)?;
        let cache = keys.opt_f64("cache_mib", Range::at_least(0.25).at_most(4096.0))?;
        let data = keys.opt_choice("data_writes", &DATA_WRITES)?;
        Ok(Self {
            requests: requests.unwrap_or(ENDLESS),
            seed: read_seed(keys)?.unwrap_or(1),
            files: keys.opt_u32("files", 1..=500_000)?.unwrap_or(500),
            transactions: keys.opt_u32("transactions", 0..=u32::MAX)?.unwrap_or(500),
            subdirectories,
            min_bytes,
            max_bytes,
            compute_ms: keys.opt_f64("compute_ms", time(1e9))?.unwrap_or(0.0),
            file_system_mib: keys.opt_u64("file_system_mib", 1..=131_072)?,
            group_mib: keys.opt_u32("group_mib", 1..=32)?.unwrap_or(16),
            cache_mib: cache.unwrap_or(32.0),
            data: data.unwrap_or(DataWrites::FullBlocks),
            is_synchronous: synchronous.unwrap_or(true),
            update_s: keys.opt_f64("update_s", time(1e6))?.unwrap_or(30.0),
            keys: keys.clone(),
        })
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same load with its seed increased by `k`, modulo 2^64.
    #[must_use]
    pub fn with_seed_offset(&self, k: u64) -> Self {
        let seed = self.seed.wrapping_add(k);
        Self {
            seed,
            ..self.clone()
        }
    }

    /// The workload on a device of `device_blocks` blocks.
    ///
    /// # Errors
    /// A file system outside the device, or too small for the files.
    pub fn source(&self, device_blocks: u64) -> Result<PostMark> {
        let device_mib = device_blocks * BLOCK_BYTES / MIB;
        let mib = self.file_system_mib.unwrap_or(device_mib.min(LARGEST_MIB));
        if mib > device_mib {
            let problem = format!("must be at most the {device_mib} MiB of the device");
            return Err(self.keys.refuse("file_system_mib", problem));
        }
        let count = (mib / u64::from(self.group_mib)) as u32;
        let blocks = self.group_mib * (MIB as u32 / BLOCK);
        let per_block = BYTES_PER_INODE * INODES_IN_BLOCK;
        let inodes = (self.group_mib * MIB as u32).div_ceil(per_block) * INODES_IN_BLOCK;
        // With so many blocks, each file and directory finds one even if no two share one.
        let in_file = u64::from(self.max_bytes.div_ceil(BLOCK));
        let entries = self.most_files() + 2 * u64::from(self.subdirectories) + 4;
        let needed = self.most_files() * in_file + entries;
        let data = u64::from(count) * u64::from(blocks - Groups::data_from(inodes));
        let most_inodes = u64::from(count) * u64::from(inodes);
        if needed * 10 > data * 9 || entries > most_inodes {
            let problem = format!(
                "must fit in 90 % of the file system: up to {} files of {in_file} blocks of 8 KiB, \
                 in {data} blocks and {most_inodes} inodes in {count} groups of {} MiB; raise \
                 file_system_mib",
                self.most_files(),
                self.group_mib
            );
            return Err(self.keys.refuse("files", problem));
        }
        let cache = (self.cache_mib * f64::from(MIB as u32 / FRAGMENT)) as u32;
        let file_system = FileSystem::new(
            Groups::new(count, blocks, inodes),
            cache.min(count * blocks * FRAGMENTS),
            self.data,
            self.is_synchronous,
        )?;
        let mut facts = self.to_json();
        facts["file_system_mib"] = json!(u64::from(count) * u64::from(self.group_mib));
        Ok(PostMark::new(self, file_system, facts))
    }

    /// The most files at a time: the program's table has room for twice as many as it
    /// begins with.
    fn most_files(&self) -> u64 {
        let (files, transactions) = (u64::from(self.files), u64::from(self.transactions));
        files + transactions.min(files)
    }

    /// Whether the requests depend on how long others take.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        self.update_s > 0.0
    }

    /// Every key with its value in effect.
    fn to_json(&self) -> Value {
        let data = DATA_WRITES.iter().find(|(_, data)| *data == self.data);
        let metadata = METADATA_WRITES
            .iter()
            .find(|(_, at_once)| *at_once == self.is_synchronous);
        json!({
            "workload": NAME,
            "requests": bounded(self.requests),
            "seed": self.seed,
            "files": self.files,
            "transactions": self.transactions,
            "subdirectories": self.subdirectories,
            "min_bytes": self.min_bytes,
            "max_bytes": self.max_bytes,
            "compute_ms": self.compute_ms,
            "file_system_mib": self.file_system_mib,
            "group_mib": self.group_mib,
            "cache_mib": self.cache_mib,
            "data_writes": data.map(|(name, _)| *name),
            "metadata_writes": metadata.map(|(name, _)| *name),
            "update_s": self.update_s,
        })
    }
}
