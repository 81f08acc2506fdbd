//! MEMS-based storage devices.
//!
//! In reading order:
//!
//! * [`geometry`]: bits, tip sectors and blocks under the tips.
//! * [`maps`]: the order of LBNs over the rows of a track.
//! * [`kinematics`]: travel and turnaround times along one axis.
//! * [`motion`]: seeks of the sled in X and Y.
//! * [`moves_ahead`]: moves in X known before the request that needs them.
//! * [`passes`]: the Y sweeps in which extents are read or written.
//! * [`access`]: the passes of a request with the seeks between them.
//! * `estimates`: seeks before requests that wait, from tables.
//! * [`power`]: power by state, and settings that save energy.
//! * [`idle`]: where a sled is while it has no work.
//! * `planning`: the plans of a sled that serves batches.
//! * [`sled`]: the sled as a mechanism.
//! * [`parallel`]: blocks accessed at once, batches and background tasks.
//! * [`background_drain`]: passes of their own for almost complete tasks.
//! * [`faults`]: failures of tips and media, and their handling.
//! * [`spec`]: the parameters of a device, read and checked.
//! * `build`: the model of a device.
//! * [`kind`]: the device kind `mems`.
//! * [`calculator`]: times of single seeks and accesses.
//! * [`path`]: where the sled is during an access, for those who draw it.

pub mod access;
pub mod background_drain;
mod build;
pub mod calculator;
mod estimates;
pub mod faults;
pub mod geometry;
pub mod idle;
pub mod kind;
pub mod kinematics;
pub mod maps;
pub mod motion;
pub mod moves_ahead;
pub mod parallel;
pub mod passes;
pub mod path;
mod planning;
pub mod power;
pub mod sled;
pub mod spec;
