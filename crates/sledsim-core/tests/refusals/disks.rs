//! Disks: each error is reported with its line and key.

use super::{read, refuse, replaced};
use crate::common::DISK_POWER;
use crate::devices::disk::spec::{HPL, SMALL};

#[test]
fn disks() {
    let table = r#"
    unused_cylinders = [10] -> => :34: zone[1].first_cylinder = 11: must be 10: cylinders between
        two zones are listed in unused_cylinders
    first_cylinder = 11 -> first_cylinder = 9 => :34: zone[1].first_cylinder = 9: must be 11:
        cylinders below are in zone[0]
    first_cylinder = 0 -> first_cylinder = 1 => :24: zone[0].first_cylinder = 1: must be 0
    last_cylinder = 9 -> last_cylinder = -1 => :25: zone[0].last_cylinder = -1: must be an integer
        from 0
    first_cylinder = 11 -> first_cylinder = 21 => :35: zone[1].last_cylinder = 20: must be an
        integer from 21
    cylinders = 21 -> cylinders = 20 => :35: zone[1].last_cylinder = 20: must be below the number
        of cylinders (20)
    cylinders = 21 -> cylinders = 23 => :4: cylinders = 23: must be 21, as the last zone ends there
    [10] -> [10, [3, 4]] => :8: unused_cylinders[1] = [3, 4]: must be below 21 and in no zone
    [10] -> [[10, 9]] => :8: unused_cylinders[0] = [10, 9]: must be a cylinder or a list
    [30, 31] -> [30, 420] => :30: zone[0].slips[1] = 420: must be below 420
    [30, 31] -> [30, 7, 30] => :30: zone[0].slips[2] = 30: must not be slipped twice
    [[40, 20]] -> [[30, 20]] => :31: zone[0].defects[0] = [30, 20]: must not overlap another defect
        or a slip
    [[40, 20]] -> [[40, 20], [40, 62]] => :31: zone[0].defects[1] = [40, 62]: must not overlap
    [[40, 20]] -> [[40, 20], ; [50, 20]] => :32: zone[0].defects[1] = [50, 20]: must end in a spare
        that replaces nothing else
    [[40, 20]] -> [[40, 19]] => must end in a spare
    [[40, 20]] -> [[40, 62], [62, 20]] => :31: zone[0].defects[0] = [40, 62]: must not end in a
        place that is bad itself
    [[40, 20]] -> [[40, 31]] => must not end in a place that is bad itself
    [[40, 20]] -> [[420, 20]] => must begin below 420
    [[40, 20]] -> [[40, 820]] => must end in a place of the drive
    [[40, 20]] -> [[40, 20, 1]] => must be a list of 2
    blocks = 759 -> blocks = 760 => :9: blocks = 760: must be 759, which is what the zones hold less
    spares = 1 -> spares = 21 => :29: zone[0].spares = 21: must be less than the 21 sectors of a
        range
    spares = 2 -> spares = 2 ; reserved_blocks = 399 => must leave blocks in the zone of 400 sectors
    blocks = 759 -> unused_end_blocks = 759 => :9: unused_end_blocks = 759: must leave blocks to
        the drive
    'track_end' -> 'none' => :29: zone[0].spares = 1: must be 0 if sparing is "none"
    'track_end' -> 'range_end' => : missing key 'sparing_range_cylinders'
    blocks = 759 -> sparing_range_cylinders = 2 => :9: sparing_range_cylinders = 2: must be left out
    'ascending' -> 'serpentine_bands' => : missing key 'band_cylinders'
    'ascending' -> 'ascending' ; band_cylinders = 2 => :7: band_cylinders = 2: must be left out
        unless mapping is "serpentine_bands"
    'ascending' -> 'serpentine_bands' ; band_cylinders = 0 => :7: band_cylinders = 0: must be an
        integer from 1 to 2097152
    ascending' ; sparing = 'track -> serpentine_bands' ; band_cylinders = 2 ; sparing = 'cylinder =>
        :8: sparing = 'cylinder_end': must be none, or by tracks, zones or the disk
    'table' -> 'datasheet' ; seek_min_ms = 1 ; seek_full_ms = 3 ; seek_two_cylinders_ms = 4 =>
        seek_two_cylinders_ms = 4: must be at least 1 and at most 3
    'table' -> 'table' ; seek_two_cylinders_ms = 2 => unknown key 'seek_two_cylinders_ms'
    'track_end' -> 'trak_end' => :7: sparing = 'trak_end': must be "none",
    track_skew_sectors = 3 -> track_skew_sectors = 21 => :27: zone[0].track_skew_sectors = 21: must
        be at least 0 and below 21
    track_skew_sectors = 3 -> => : missing key 'zone[0].track_skew_sectors' (a number
    track_skew_sectors = 3 -> track_skew_sectors = 3 ; track_skew_revolutions = 0.1 => :28:
        zone[0].track_skew_revolutions = 0.1: must not be given along with track_skew_sectors
    rpm = 6000 -> rpm = 6000 ; revolution_ms = 10 => :6: revolution_ms = 10: must not be given
        along with rpm
    rpm = 6000 -> => : missing key 'rpm'
    rpm = 6000 -> rpm = inf => :5: rpm = inf: must be at least 1
    [20, 2.5] -> [20, 2.4] => :20: seek_table_ms[2] = [20, 2.4]: must be at least the 2.5 ms for 10
        cylinders
    [20, 2.5] -> [10, 3] => :20: seek_table_ms[2] = [10, 3]: must be more than the 10 cylinders
        before it
    [1, 1.0] -> [0, 1.0] => :18: seek_table_ms[0] = [0, 1.0]: must be a list of 2
    [1, 1.0] -> [1, nan] => :18: seek_table_ms[0]
    'table' -> 'tabel' => :16: seek = 'tabel': must be "table", "three_part", "hpl" or "datasheet"
    'table' -> 'datasheet' => : 3 keys are missing: seek_min_ms, seek_full_ms
    spares = 2 -> sparse = 2 => :39: unknown key 'zone[1].sparse'; did you mean 'zone[1].spares'?
    [[zone]] -> [zone] => :33: duplicate key
    rpm = 6000 -> rpm = 6000 ; patience = 1 => :6: unknown key 'patience'
    "#;
    refuse(table, |change| read(&replaced(SMALL, change)));
    let (none, _) = SMALL.split_once("[[zone]]").expect("zones");
    refuse("=> : zone: missing; must be one table [[zone]] per zone", |_| read(none));
    refuse("seek_average_ms = 5.9 => seek_average_ms = 5.9: must be at least", |keys| {
        read(&format!("base = 'superdisk'\n{keys}"))
    });
}

#[test]
fn hpl_curves() {
    let table = r#"
    0.0059] -> 0.0059] ; seek_first_ms = [ ; 4.2, ; 4.0] =>
        :22: seek_first_ms[1] = 4.0: must not fall from 4.2 ms for 1 cylinders to 4 ms
    0.33 -> -0.33 => :18: seek_short_ms = [3.81, -0.33]: must not fall
    3.81 -> -9 => must give times of 0 to 1000 ms, not -8.67 for 1 cylinders
    [3.81, 0.33] -> [3.81] => seek_short_ms = [3.81]: must be a list of 2 numbers
    "#;
    let from = SMALL.find("seek =").expect("a seek");
    let to = SMALL.find("[[zone]]").expect("zones");
    let text = format!("{}{HPL}{}", &SMALL[..from], &SMALL[to..]);
    refuse(table, |change| read(&replaced(&text, change)));
}

#[test]
fn disks_of_several_actuators() {
    let table = r#"
    actuators = 1 ; child.base = 'atlas10k' => actuators = 1: must be an integer from 2 to 16
    actuators = 2 => child
    actuators = 2 ; child.base = 'g2' => child: must be a disk (kind "disk")
    actuators = 2 ; child.base = 'disk' => without [child.controller_cache]
    "#;
    refuse(table, |keys| read(&format!("title = 'Arms'\nkind = 'actuators'\n{keys}")));
    let table = r#"
    actuators = 2 -> actuators = 2 ; child.power.policy = 'immediate' =>
        child.power.policy = 'immediate': must be "never"
    seek_w = 12.5 -> seek_w = 7 => child.power.seek_w = 7: must be at least idle_w, the 7.5 W
    "#;
    let power = DISK_POWER.map(|(key, value)| format!("child.{key} = {value}\n")).concat();
    let arms = "title = 'Arms'\nkind = 'actuators'\nactuators = 2\nchild.base = 'atlas10k'\n";
    refuse(table, |change| read(&replaced(&format!("{arms}{power}"), change)));
}
