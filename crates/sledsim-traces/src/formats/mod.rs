//! The formats, one a file.

mod alibaba;
mod blkparse;
mod csv;
mod disksim_ascii;
mod disksim_validate;
mod fio_iolog;
mod five_words;
mod hp_srt;
mod mqsim;
mod msr;
pub(super) mod oracle_general;
mod spc;
mod systor;
mod tencent;
mod vscsi;

use super::bytes::Bytes;
use super::commas::Commas;
use super::{Clock, Format, Lines};
use five_words::FiveWords;

/// All formats, in the order in which they are listed.
pub const FORMATS: [Format; 14] = [
    Format {
        name: "disksim_ascii",
        about: "DiskSim ascii: time in ms, device, block, blocks, flags",
        endings: &["trace", "disksim", "ascii"],
        clock: Clock::Start,
        by_columns: false,
        by_action: false,
        open: |input, _| {
            Ok(Box::new(FiveWords::<disksim_ascii::DisksimAscii>::new(
                Lines::new(input),
            )))
        },
    },
    Format {
        name: "mqsim",
        about: "MQSim and SSDsim: time in ns, device, block, blocks, type (1 is a read)",
        endings: &["mqsim", "ssdsim", "trace"],
        clock: Clock::Start,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(FiveWords::<mqsim::Mqsim>::new(Lines::new(input)))),
    },
    Format {
        name: "disksim_validate",
        about: "DiskSim validate: R/W, Hit/Miss, block, blocks, service and think time in us",
        endings: &["validate"],
        clock: Clock::Closed,
        by_columns: false,
        by_action: false,
        open: |input, _| {
            Ok(Box::new(disksim_validate::DisksimValidate::new(
                Lines::new(input),
            )))
        },
    },
    Format {
        name: "fio_iolog",
        about: "fio's I/O log, version 2 or 3: file, action, offset and length in bytes",
        endings: &["iolog", "fio"],
        clock: Clock::Start,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(fio_iolog::FioIolog::new(Lines::new(input)))),
    },
    Format {
        name: "blkparse",
        about: "blkparse's text: the queued (or issued, or completed) events of blktrace",
        endings: &["blkparse", "blktrace"],
        clock: Clock::Start,
        by_columns: false,
        by_action: true,
        open: |input, options| {
            let action = options.blk_action.unwrap_or_default();
            Ok(Box::new(blkparse::Blkparse::new(Lines::new(input), action)))
        },
    },
    Format {
        name: "hp_srt",
        about: "HP SRT 1.x, binary: time in us, disk, sector, bytes, flags, measured response",
        endings: &["srt"],
        clock: Clock::Start,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(hp_srt::HpSrt::new(Bytes::new(input))?)),
    },
    Format {
        name: "spc",
        about: "SPC (Financial, WebSearch): ASU, block, bytes, op, seconds",
        endings: &["spc"],
        clock: Clock::Start,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(Commas::new(input, spc::Spc))),
    },
    Format {
        name: "msr",
        about: "MSR Cambridge: ticks of 100 ns, host, disk, type, offset, bytes, response",
        endings: &["csv"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(Commas::new(input, msr::Msr::default()))),
    },
    Format {
        name: "systor",
        about: "SYSTOR '17: seconds, response, type, LUN, offset, bytes",
        endings: &["csv"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(Commas::new(input, systor::Systor))),
    },
    Format {
        name: "alibaba",
        about: "Alibaba 2020: device, R or W, offset, bytes, us",
        endings: &["csv"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(Commas::new(input, alibaba::Alibaba))),
    },
    Format {
        name: "tencent",
        about: "Tencent CBS 2018: whole seconds, block, blocks, type (1 is a write), volume",
        endings: &["csv"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(Commas::new(input, tencent::Tencent))),
    },
    Format {
        name: "vscsi",
        about: "VMware vscsiStats, binary, versions 1 and 2",
        endings: &["vscsi", "vscsitrace", "vscsi1", "vscsi2"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| Ok(Box::new(vscsi::Vscsi::new(Bytes::new(input))?)),
    },
    Format {
        name: "oracle_general",
        about: "oracleGeneral (cache traces): known in order to be refused with the reason",
        endings: &["oraclegeneral"],
        clock: Clock::Calendar,
        by_columns: false,
        by_action: false,
        open: |input, _| oracle_general::open(input),
    },
    Format {
        name: "csv",
        about: "any CSV, its columns named by the key columns; sledsim's own needs no key",
        endings: &["csv", "tsv", "txt"],
        clock: Clock::Start,
        by_columns: true,
        by_action: false,
        open: |input, options| Ok(Box::new(csv::Csv::new(Lines::new(input), options)?)),
    },
];
