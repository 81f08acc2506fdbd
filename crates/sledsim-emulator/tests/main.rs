//! The integration tests of the emulator, linked once. What measures its whole
//! process is a binary of its own: see `[[test]]` in Cargo.toml.

mod export;
mod timeline;

/// The NBD server, from outside: raw clients that say each byte themselves.
mod nbd {
    mod addresses;
    mod bytes;
    mod client;
    mod commands;
    mod handshake;
    mod hostile;
    mod limits;
    mod metadata;
    mod random;
    mod stopping;
    mod tls;
}

/// Is a mounted export a file like any other, and as slow as its device?
mod fuse {
    mod bytes;
    mod ends;
    mod faces;
    mod mounted;
    mod times;
}
