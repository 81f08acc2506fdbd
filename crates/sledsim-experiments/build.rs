//! Sets `SLEDSIM_NUMBERS`: the version of the package, and a digest of the sources
//! that decide simulated numbers.
//!
//! These are the files of the crates base, traces, core and run, without tests,
//! and the versions of the packages they depend on, as in `Cargo.lock`. A folder
//! that is missing has no files: the build works without.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of sources, from the folder of this crate.
const FOLDERS: [&str; 6] = [
    "../sledsim-base/src",
    "../sledsim-traces/src",
    "../sledsim-core/src",
    "../sledsim-core/data",
    "../sledsim-experiments/src",
    "../sledsim-experiments/data",
];

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=build.rs");
    let mut digest = Fnv::default();
    for folder in FOLDERS.map(|folder| own.join(folder)) {
        let mut files = BTreeMap::new();
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            list(&folder, "", &mut files)?;
        }
        for (name, path) in files {
            digest.add(name.as_bytes());
            digest.add(&fs::read(path)?);
        }
    }
    let lock = own.join("../../Cargo.lock");
    if let Ok(text) = fs::read_to_string(&lock) {
        println!("cargo::rerun-if-changed={}", lock.display());
        for package in dependencies(&text) {
            digest.add(package.as_bytes());
        }
    }
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rustc-env=SLEDSIM_NUMBERS={version}+{:016x}", digest.0);
    Ok(())
}

/// Lists the files under `folder`, without tests, by their names from there with
/// `/` between parts.
fn list(folder: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{own}");
        if own == "tests" || own == "tests.rs" || own.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            list(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, path);
        }
    }
    Ok(())
}

/// Name and version of each package that this crate depends on by way of any
/// number of others.
fn dependencies(lock: &str) -> BTreeSet<String> {
    let mut packages: BTreeMap<&str, Vec<(&str, Vec<&str>)>> = BTreeMap::new();
    for block in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let mut lines = block.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            value.map(|value| value.trim_matches('"'))
        };
        let (Some(name), Some(version)) = (field("name"), field("version")) else {
            continue;
        };
        let needs = block.lines().filter_map(|line| line.strip_prefix(" \""));
        let needs = needs.filter_map(|line| line.split([' ', '"']).next());
        let package = (version, needs.collect());
        packages.entry(name).or_default().push(package);
    }
    let (mut found, mut queue) = (BTreeSet::new(), vec!["sledsim-experiments"]);
    while let Some(name) = queue.pop() {
        for (version, needs) in packages.remove(name).unwrap_or_default() {
            found.insert(format!("{name} {version}"));
            queue.extend(needs);
        }
    }
    found
}

/// The hash FNV-1a of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes, and how many there are.
    fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
