//! Generates `src/v1.rs` from `proto/sledsim.proto`, with the digests of both.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let interface = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let proto = interface.join("proto/sledsim.proto");
    let made = env::temp_dir().join(format!("sledsim-proto-{}", std::process::id()));
    fs::create_dir_all(&made)?;
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::Codec")
        .bytes(".sledsim.v1.Write.data")
        .bytes(".sledsim.v1.Result.data")
        .out_dir(&made)
        .compile_fds(protox::compile([&proto], [interface.join("proto")])?)?;
    let code = fs::read_to_string(made.join("sledsim.v1.rs"))?;
    fs::remove_dir_all(&made)?;
    let text = format!(
        "// Made by `make proto`; do not edit.\n// sha256 of sledsim.proto: {}\n// sha256 of the lines below: {}\n{code}",
        sha256(&fs::read(&proto)?),
        sha256(code.as_bytes()),
    );
    fs::write(interface.join("src/v1.rs"), text)?;
    Ok(())
}
