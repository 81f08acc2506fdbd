//! Turns the interface into Rust; `protoc` is not needed.

use std::error::Error;

const PROTO: &str = "proto/sledsim.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO}");
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::Codec")
        .bytes(".sledsim.v1.Write.data")
        .bytes(".sledsim.v1.Result.data")
        .compile_fds(protox::compile([PROTO], ["proto"])?)?;
    Ok(())
}
