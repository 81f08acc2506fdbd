//! The NBD server, from outside: raw clients that say each byte themselves.

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
