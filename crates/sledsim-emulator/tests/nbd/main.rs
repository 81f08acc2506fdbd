//! The NBD server, from outside: raw clients that say each byte themselves.

mod client;
mod handshake;
