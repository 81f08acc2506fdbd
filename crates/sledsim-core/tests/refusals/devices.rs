//! Devices, their buffers, power and faults.

use super::{named, read, refuse};

#[test]
fn devices() {
    let table = r#"
    g22 => unknown device 'g22' | g2
    hybrid => unknown device 'hybrid' | mwb ( | mcd (
    missing.toml => missing.toml | No such file
    g2 ; spring_facter = 0 => --set spring_facter | did you mean 'spring_factor'
    g2 ; spring_factor = 1 => spring_factor | below 1
    g2 ; travel_x_mm = 0.1 => travel_x_mm | travel_x_um
    g2 ; tips = 'many' => tips | integer
    flash ; units = 0 => units = 0 | from 1 to 65536
    flash ; link_mb_s = 0 => link_mb_s = 0 | at least 0.001
    flash ; power_unit_w = 1 => did you mean 'power_unit_mw' (in mW)
    flash ; erase_us = 1 => unknown key 'erase_us'
    g2 ; active_tips = 1000 => impossible geometry | active_tips = 1000 | 64
    g2 ; tips = 6000 => impossible geometry | tips = 6000 | 1280
    g2 ; travel_y_um = 1 => impossible geometry | travel_y_um = 1
    g2 ; tip_sector_bits = 10 => impossible geometry | 512 bytes
    g2 ; spring_reference_um = 20 => spring_reference_um | springs
    g2 ; kinematics = 'newton' => kinematics | analytic | piecewise | disksim
    g2 ; power.policy = 'timeout' ; power.timeout_ms = -1 => power.timeout_ms | -1 | 0
    g2 ; power.policy = 'always' => power.policy | always | immediate
    g2 ; power.timeout_ms = 5 => power.timeout_ms | policy
    g2 ; power.policy = 'timeout' ; power.break_even_ms = 5 => break_even_ms | adaptive
    g2 ; power.max_active_tips = 100 => max_active_tips | multiple | 64
    g2 ; power.max_active_tips = 1344 => max_active_tips | 1280
    g2 ; power.compressed_to = 1.5 => compressed_to | 1.5
    g2 ; power.on_at_ms = 5 => on_at_ms | starts
    atlas10k ; power.policy = 'timeout' => power.seek_w | missing
    power/disks.toml ; start = 'in_turn' => start | child.power
    "#;
    refuse(table, |given| named(given).map(drop));
    let table = r#"
    base = 'g2' ; turn = "in_place" ; kinematics = 'disksim' =>
        :2: turn = "in_place": must be "after_servo" with kinematics = "disksim"
    "#;
    refuse(table, read);
}

#[test]
fn buffers() {
    let table = r#"
    segments = 1 => missing key 'buffer.size_kib'
    size_kib = 64 => missing key 'buffer.segments'
    size_kib = 1 ; segments = 3 => buffer.segments = 3: must be at most the 2 blocks of size_kib
    size_kib = 64 ; segments = 4 ; write_back_segments = 4 => buffer.write_back_segments = 4: must
        be an integer from 0 to 3
    size_kib = 64 ; segments = 4 ; read_ahead = 'row' => an integer from 1 to 4294967295, or
        "none", "track", "cylinder" or "full"
    size_kb = 64 ; segments = 4 => size_kib
    size_kib = 64 ; segments = 4 ; write_back = true => 'buffer.write_back'
    "#;
    refuse(table, |keys| named(&format!("g2\n{}", below("buffer", keys))).map(drop));
}

#[test]
fn faults() {
    let table = r#"
    spare_tips = 6401 => must be an integer from 0 to 6400
    spare_tips = -1 => faults.spare_tips
    ecc_tips = 6401 => from 0 to 6400
    read_error_rate = 1.5 => faults.read_error_rate
    read_error_rate = -0.1 => faults.read_error_rate
    seek_error_rate = 2 => faults.seek_error_rate
    tip_failures_per_hour = -1 => tip_failures_per_hour
    failed_tips = 6401 => from 0 to 6400
    failed_tips = [6400] => from 0 to 6399
    failed_tips = [7, 8, 7] => faults.failed_tips[2]
    remap = 'nowhere' => elsewhere
    remap = 'elsewhere' => spare_cylinders
    remap = 'elsewhere' ; spare_cylinders = 2500 => 2499
    remap = 'elsewhere' ; spare_tips = 3 => left out
    spare_cylinders = 3 => elsewhere
    lost_at_ms = -1 => lost_at_ms
    ecc_tip = 1 => ecc_tips
    "#;
    refuse(table, |keys| named(&format!("g2\n{}", below("faults", keys))).map(drop));
    let table = r#"
    seed = -1 => faults.seed
    retry_rate = 1.5 => faults.retry_rate = 1.5
    retry_rate = -0.1 => faults.retry_rate = -0.1
    retry_revolutions = [1, 2] => must come with retry_rate or weak_head
    unrecovered_rate = 0.5 => must come with retry_rate or weak_head
    retry_rate = 0.1 ; unrecovered_rate = 2 => faults.unrecovered_rate = 2
    retry_rate = 0.1 ; retry_revolutions = [3, 2] => at least the 3
    retry_rate = 0.1 ; retry_revolutions = [0, 2] => from 1 to 1000
    retry_rate = 0.1 ; retry_revolutions = [1] => list of 2 integers
    retry_rate = 0.1 ; retry_revolutions = [1, 2, 3] => list of 2 integers
    retry_rate = 0.1 ; retry_revolutions = 4 => must be a list
    weak_head = 2 ; weak_head_retry_rate = 0.1 => from 0 to 1
    weak_head = 1 => must come with weak_head_retry_rate
    weak_head_retry_rate = 0.1 => must come with weak_head
    weak_head = 1 ; weak_head_retry_rate = 7 => weak_head_retry_rate = 7
    remapped = 2001 => from 0 to 2000
    remapped = -1 => from 0 to 2000
    episodes_per_hour = -1 => faults.episodes_per_hour = -1
    episodes_per_hour = 3 => must come with episode_ms
    episode_ms = 3 => must come with episodes_per_hour
    episode_factor = 3 => must come with episodes_per_hour
    episodes_per_hour = 3 ; episode_ms = 0 => faults.episode_ms = 0
    episodes_per_hour = 36 ; episode_ms = 100000 => below 100000 with 36
    episodes_per_hour = 3 ; episode_ms = 1 ; episode_factor = 0.5 => 0.5
    retry_rates = 0.1 => retry_rate
    ecc_tips = 1 => ecc_tips
    "#;
    let small = "devices/disk/small.toml";
    refuse(table, |keys| named(&format!("{small}\n{}", below("faults", keys))).map(drop));
}

/// Keys of a table.
fn below(table: &str, keys: &str) -> String {
    keys.lines().map(|key| format!("{table}.{key}\n")).collect()
}
