//! sledsim-emulator: simulated devices under the real clock, served to real
//! programs.
//!
//! A timeline runs the model of a device, the same object as in a simulation,
//! and determines *when* a request completes. A store keeps the bytes and
//! determines *what* a read returns. An export combines the two; front ends
//! submit the requests of their clients to it.
//!
//! In reading order:
//!
//! * [`timeline`]: a model under the real clock.
//! * [`store`]: the bytes of a device.
//! * [`log`]: statistics and recordings of requests.
//! * [`command`]: commands of clients.
//! * `tip_observer`: tells a store which writes its device has served.
//! * [`errno`]: error numbers for failed requests.
//! * [`export`]: a timeline with a store, under a name.
//! * [`power_failure`]: power failures of an export, and recordings from which images are rebuilt.
//! * [`front_end`]: the interface of front ends.
//! * [`net`]: servers of clients at sockets.
//! * [`nbd`]: exports through sockets.
//! * [`parallel_interface`]: the parallel interface in the block numbers of an export.
//! * [`scsi`]: exports as the logical units of a SCSI target.
//! * [`iscsi`]: that target through sockets.
//! * [`fuse`]: exports as files.
//! * [`server`]: exports with their front ends.
//!
//! Linux only.

pub mod command;
pub mod errno;
pub mod export;
pub mod front_end;
pub mod fuse;
pub mod iscsi;
pub mod log;
pub mod nbd;
pub mod net;
pub mod parallel_interface;
pub mod power_failure;
pub mod scsi;
pub mod server;
pub mod store;
pub mod timeline;
mod tip_observer;
