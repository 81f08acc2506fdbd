//! The SCSI target as an initiator sees it, without a transport.

mod cdbs;
mod concurrent;
mod data;
mod data_model;
mod information;
mod initiator;
mod modes;
mod power;
mod random;
mod reported;
mod rests;
mod sleds;
mod steps;
