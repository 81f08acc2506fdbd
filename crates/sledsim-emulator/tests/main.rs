//! The integration tests of the emulator, linked as one binary. Tests that measure
//! their whole process are binaries of their own: see `[[test]]` in Cargo.toml.

mod export;
mod power;
mod scsi;
mod seeds;
#[path = "../../../fuzz/session.rs"]
mod session;
mod timeline;

/// Stores of the tip sectors of sleds whose tips fail.
mod tips {
    mod agreement;
    mod files;
    mod sled;
}

/// The NBD server as seen by raw clients, which send each byte explicitly.
mod nbd {
    mod addresses;
    mod bytes;
    pub mod client;
    mod commands;
    mod handshake;
    mod hostile;
    mod limits;
    mod metadata;
    mod pipelined;
    mod random;
    mod stopping;
    mod tls;
}

/// The iSCSI target as seen by raw initiators, which send each byte explicitly.
mod iscsi {
    mod bytes;
    mod client;
    mod ends;
    mod hostile;
    mod login;
    mod transfer;
}

/// The semantics and times of mounted exports.
mod fuse {
    mod attributes;
    mod bytes;
    mod mounted;
    mod times;
    mod unmounting;
}
