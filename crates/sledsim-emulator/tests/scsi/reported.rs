//! The commands that a logical unit reports.

use super::initiator::{
    INVALID_FIELD, Initiator, LUN_1, Target, be16, be32, key_and_code, pointer,
};

/// A command in the list of all.
pub struct Reported {
    pub opcode: u8,
    pub action: Option<u16>,
    /// Its usage map.
    pub usage: Vec<u8>,
}

impl Reported {
    /// A CDB with its operation code and its service action, zero otherwise.
    pub fn cdb(&self) -> Vec<u8> {
        let mut cdb = vec![0; self.usage.len()];
        cdb[0] = self.opcode;
        if let Some(action) = self.action {
            match self.opcode {
                0x7f => cdb[8..10].copy_from_slice(&action.to_be_bytes()),
                _ => cdb[1] = action as u8,
            }
        }
        cdb
    }

    /// The bits of byte `at` that choose a command.
    pub fn chosen_by(&self, at: usize) -> u8 {
        match (self.opcode, self.action, at) {
            (_, _, 0) | (0x7f, Some(_), 8 | 9) => 0xff,
            (0x7f, ..) | (_, None, _) => 0,
            (_, Some(_), 1) => 0x1f,
            _ => 0,
        }
    }
}

fn report(options: u8, opcode: u8, action: u16, allocation: u32) -> Vec<u8> {
    let mut cdb = vec![0xa3, 0x0c, options, opcode];
    cdb.extend(action.to_be_bytes());
    cdb.extend(allocation.to_be_bytes());
    cdb.extend([0, 0]);
    cdb
}

/// All commands of a logical unit.
pub fn reported(initiator: &Initiator, lun: u64) -> Vec<Reported> {
    let list = initiator.read(lun, &report(0, 0, 0, u32::MAX));
    assert_eq!(be32(&list, 0) as usize, list.len() - 4);
    let commands = list[4..].chunks(8).map(|entry| {
        let (opcode, action) = (entry[0], be16(entry, 2) as u16);
        let action = (entry[5] == 1).then_some(action);
        let options = if action.is_some() { 2 } else { 1 };
        let one = report(options, opcode, action.unwrap_or(0), u32::MAX);
        let one = initiator.read(lun, &one);
        assert_eq!(one[..2], [0, 3]);
        assert_eq!((be16(&one, 2), one.len()), (be16(entry, 6), 4 + be16(entry, 6)));
        let any = report(3, opcode, action.unwrap_or(0), u32::MAX);
        assert_eq!(initiator.read(lun, &any), one);
        Reported { opcode, action, usage: one[4..].to_vec() }
    });
    commands.collect()
}

#[test]
fn every_reported_command_refuses_other_bits() {
    let target = Target::two();
    let initiator = target.initiator();
    for lun in [0, LUN_1] {
        let commands = reported(&initiator, lun);
        assert!(commands.len() >= 23);
        assert_eq!(commands.iter().any(|command| command.opcode == 0xc0), lun == LUN_1);
        for command in &commands {
            assert_eq!(command.usage[0], command.opcode);
            for (at, usage) in command.usage.iter().enumerate().skip(1) {
                for bit in (0..8).map(|bit| 1 << bit) {
                    if (usage | command.chosen_by(at)) & bit != 0 {
                        continue;
                    }
                    let mut cdb = command.cdb();
                    cdb[at] |= bit;
                    let refused = initiator.run(lun, &cdb, &[]);
                    assert_eq!(key_and_code(&refused.sense), INVALID_FIELD, "{cdb:02x?}");
                    assert_eq!(pointer(&refused.sense), (true, at as u16), "{cdb:02x?}");
                }
            }
        }
    }
}

#[test]
fn reports_of_commands_have_options() {
    let target = Target::two();
    let initiator = target.initiator();
    let read =
        |options, opcode, action| initiator.read(0, &report(options, opcode, action, u32::MAX));
    // Timeouts.
    let list = read(0x80, 0, 0);
    assert_eq!((list.len() - 4) / 20, read(0, 0, 0)[4..].len() / 8);
    for entry in list[4..].chunks(20) {
        assert_eq!(entry[5] & 2, 2);
        assert_eq!(entry[8..], [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    let usage = [0x12, 1, 255, 255, 255, 0];
    assert_eq!(read(1, 0x12, 0), [&[0, 3, 0, 6][..], &usage].concat());
    let timeouts = [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let expected = [&[0, 0x83, 0, 6][..], &usage, &timeouts].concat();
    assert_eq!(read(0x81, 0x12, 0), expected);
    // Unknown commands.
    for (options, opcode, action) in [(1, 0xee, 0), (2, 0xee, 0), (2, 0xa3, 1), (3, 0x12, 1)] {
        assert_eq!(read(options, opcode, action), [0, 1, 0, 0]);
    }
    for (options, opcode) in [(1, 0xa3), (2, 0x12), (4, 0), (7, 0)] {
        let cdb = report(options, opcode, 0x0c, 99);
        assert_eq!(initiator.sense(0, &cdb, &[]), INVALID_FIELD);
    }
    for allocation in 0..20 {
        let cdb = report(0, 0, 0, allocation);
        assert_eq!(initiator.read(0, &cdb), read(0, 0, 0)[..allocation as usize]);
    }
    let functions = |repd| initiator.read(0, &[0xa3, 0x0d, repd, 0, 0, 0, 0, 0, 0, 99, 0, 0]);
    assert_eq!(functions(0), [0xda, 0, 0, 0]);
    let long = [0xda, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(functions(0x80), long);
}
