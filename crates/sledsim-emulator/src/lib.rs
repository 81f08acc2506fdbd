//! sledsim-emulator: simulated devices under the real clock, served to real
//! programs.
//!
//! A [`timeline::Timeline`] runs the model of a device, the same object as in
//! simulation: it says *when* a request is complete. A [`store::Store`] keeps the
//! bytes: it says *what* a read returns. An [`export::Export`] is the two
//! together; front ends hand it the requests of their clients: [`nbd`] those
//! that come through a socket, [`fuse`] those to a file; more may be added
//! ([`front_end::FrontEnd`]), [`listen`] being where those with sockets meet their
//! clients.
//!
//! Linux only.

pub mod errno;
pub mod export;
pub mod front_end;
pub mod fuse;
pub mod listen;
pub mod log;
pub mod nbd;
pub mod server;
pub mod store;
pub mod timeline;
