//! Caches and write buffers before another device.

use super::{keys, read, refuse};
use sledsim_core::compose::hybrids::controllers;
use sledsim_core::compose::hybrids::mcd::McdSpec;

#[test]
fn caches_of_controllers() {
    let table = r#"
    => cache_mib | missing
    cache_mib = 0.001953125 => cache_mib | must hold 1 to
    cache_mib = 100 => cache_mib | as the device
    cache_mib = 4.015625 => cache_mib | whole lines
    cache_mib = 4 ; line_kib = 2048 => line_kib | at most 1024
    cache_mib = 4 ; bit_blocks = 3 => bit_blocks | divide
    cache_mib = 4 ; bit_blocks = 65 => bit_blocks | 65
    cache_mib = 4 ; exchange_kib = 48 => exchange_kib | whole lines
    cache_mib = 4 ; scheme = 'behind' => scheme | through
    cache_mib = 4 ; allocate = 'newest' => allocate | clean_first
    cache_mib = 4 ; prefetch = 'some' => prefetch | rest
    cache_mib = 4 ; prefetch = 'all' ; bit_blocks = 64 => prefetch | none
    cache_mib = 4 ; scheme = 'sync' ; clean_every_ms = 5 => clean_every_ms | back
    cache_mib = 4 ; scheme = 'through' ; clean_after_idle_ms = 5 => clean_after_idle_ms | back
    cache_mib = 4 ; scheme = 'sync' ; allocate = 'clean_first' => allocate | back
    cache_mib = 4 ; clean_above = 0.5 => clean_above | unknown
    "#;
    let controller = |text: &str| {
        let mut keys = keys(text)?;
        controllers::read(&mut keys, 100_000)?;
        keys.finish()
    };
    refuse(table, |keys| controller(&format!("controller = 'disksim'\n{keys}")));
    refuse("controller = 'raid' ; cache_mib = 4 => disksim", controller);
    let table = r#"
    base = "g2" ; [controller_cache] ; line_kib = 4 => cache_mib
    base = "g2" ; [controller_cache] ; cache_mib = 0.001953125 => cache_mib
    base = "memory" ; [controller_cache] ; cache_mib = 1e9 => cache_mib
    base = "g2" ; [controller_cache] ; cache_mib = 1 ; segment_kib = 4 => segment_kib
    base = "g2" ; [controller_cache] ; cache_mib = 1 ; headers = true => headers
    base = "g2" ; [controller_cache] ; cache_mib = 1 ; fetch = 4 => fetch
    "#;
    refuse(table, |keys| read(&format!("title = 'x'\n{keys}")));
    let table = r#"
    front.blocks = 1073741824 => front: must offer at most
    front.blocks = 4096 ; back.spring_facter = 0.5 => back.spring_facter | spring_factor
    "#;
    let cached = "title = 'Cached'\nkind = 'read_cache'\nfront.base = 'memory'\nback.base = 'g2'\n";
    refuse(table, |keys| read(&format!("{cached}{keys}")));
}

#[test]
fn caching_tiers() {
    let table = r#"
    => missing key 'segment_kib'
    segment_kib = 0 => segment_kib
    segment_kib = 2048 => segment_kib
    segment_kib = 0.3 => segment_kib
    segment_kib = 1024 => segment
    segment_kib = 8 ; front_mib = 2 => front_mib
    segment_kib = 64 ; front_mib = 0.0625 => front_mib
    segment_kib = 8 ; front_placement = "last" => front_placement
    segment_kib = 8 ; buffer_kib = 4 => buffer_kib
    segment_kib = 8 ; exchange_kib = 4 => exchange_kib
    segment_kib = 8 ; exchange_kib = 4096 => exchange_kib
    segment_kib = 8 ; fetch_kib = 12 => fetch_kib
    segment_kib = 8 ; fetch_kib = "some" => fetch_kib
    segment_kib = 8 ; fetch_kib = 4096 => fetch_kib
    segment_kib = 8 ; policy = "lrru" => policy
    segment_kib = 8 ; clean_above = 1.5 => clean_above
    segment_kib = 8 ; clean_after_idle_ms = -1 => clean_after_idle_ms
    segment_kib = 8 ; buffer_latency_ms = -1 => buffer_latency_ms
    segment_kib = 8 ; bypass_after_kib = 0 => bypass_after_kib
    segment_kib = 8 ; shortcut = 1 => shortcut
    segment_kib = 8 ; short_cut = true => short_cut
    "#;
    // A front of 1 MiB and a back of 4.
    refuse(table, |text| {
        let mut keys = keys(text)?;
        McdSpec::read(&mut keys, 2048, 8192)?;
        keys.finish()
    });
    let table = "front.base = 'atlas10k' ; back.base = 'g2' => front | swap";
    refuse(table, |keys| read(&format!("title = 'x'\nkind = 'mcd'\nsegment_kib = 8\n{keys}")));
}

#[test]
fn write_buffers() {
    // The blocks of front and back, then keys.
    let table = r#"
    511 9000 => front | two logs of 128 KiB
    100 9000 => front | 128 KiB
    9000 9000 ; front_mib = 0.125 => :3: front_mib | two logs
    9000 9000 ; front_mib = 100 => front_mib | 4.39
    9000 8000 => front | 3.90 | of the back
    9000 8000 ; front_mib = 4 => front_mib = 4 | 3.90
    900 9000 ; log_kib = 0.3 => log_kib | multiple of 512 bytes
    900 9000 ; log_kib = 1 => log_kib | 1.5 | 16384 KiB
    900 9000 ; log_kib = 0 => log_kib
    4194304 4194304 ; log_kib = 32768 => log_kib | 16384 KiB
    900 9000 ; buffer_kib = 127 => buffer_kib | 128 (a log)
    900 9000 ; buffer_kib = 0 => buffer_kib
    9000 9000 ; clean_logs = 17 => clean_logs | 1 to 16
    900 9000 ; clean_above = 1.1 => clean_above | 1
    900 9000 ; clean_to = 0 => clean_to
    900 9000 ; clean_above = 0.3 ; clean_idle_above = 0.4 => :4: clean_idle_above
        | at most clean_above, which is 0.3
    900 9000 ; clean_to = 0.6 => clean_to | at most clean_idle_above, which is 0.5
    900 9000 ; clean_after_idle_ms = -1 => clean_after_idle_ms
    "#;
    refuse(table, |given| {
        let (sizes, keys) = given.split_once('\n').unwrap_or((given, ""));
        let (front, back) = sizes.split_once(' ').expect("two sizes");
        read(&format!(
            "title = 'M'\nkind = 'mwb'\n{keys}\n[front]\nbase = 'memory'\nblocks = {front}\n\
             [back]\nbase = 'memory'\nblocks = {back}\n"
        ))
    });
    let table = "front.base = 'memory' => back | missing; must be a table";
    refuse(table, |keys| read(&format!("title = 'M'\nkind = 'mwb'\n{keys}")));
}
