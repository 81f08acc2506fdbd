//! Schedulers, tasks in the background and policies of caches, chosen by their labels.

use super::{named, refuse};
use sledsim_core::compose::caches::PolicySpec;
use sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec;
use sledsim_core::queueing::schedulers::SchedulerSpec;

#[test]
fn schedulers() {
    let table = r#"
    sstf => unknown scheduler 'sstf'; did you mean 'sstf_lbn'?
    elevator => unknown scheduler 'elevator': 'scan' goes from edge to edge, 'look' turns
    look(direction=left) => direction
    fcfs(host=scan) => a host cannot move the arm to an edge
    deadline(fifo_batch=0) => fifo_batch
    deadline(read_expire_ms=-1) => read_expire_ms
    sptf( => must be NAME or NAME(key=value; key=value)
    sptf(age_weight=1) => age_weight
    c_look(from=middle) => from
    aged_sptf(age_weight=-1) => age_weight
    zone_sptf(zones=0) => zones
    fcfs(device_depth=0; host=sptf) => device_depth
    fcfs(host=fcfs(host=fcfs)) => host
    sptf(host) => key=value
    "#;
    refuse(table, |label| SchedulerSpec::named(label).map(drop));
    // Those that ask for positions, on devices that have none.
    let table = r#"
    memory ; sptf => fcfs, sstf_lbn, c_look | memory
    flash ; aged_sptf => fcfs, sstf_lbn, c_look | flash
    memory ; fcfs(host=zone_sptf) => fcfs, sstf_lbn, c_look | memory
    "#;
    refuse(table, |given| {
        let (name, label) = given.split_once('\n').expect("a device and a label");
        named(name)?.build_with(&SchedulerSpec::named(label).expect(label)).map(drop)
    });
}

#[test]
fn tasks_in_the_background() {
    // The label, a device and its keys.
    let table = r#"
    scam ; cmu2003 => did you mean 'scan'
    scan(first_lbn=6750000) ; cmu2003 => LBNs 0 to 6749999
    scan(first_lbn=1; blocks=6750000) ; cmu2003 => blocks = 6750000
    scan(blocks=0) ; cmu2003 => blocks = 0
    scan(tail=1.5) ; cmu2003 => tail = 1.5
    scan(buffer_mib=1) ; cmu2003 => unknown key 'buffer_mib'
    refresh(buffer_mib=1e-9) ; cmu2003 => at least one block
    scan ; atlas10k => only a single sled
    scan(tail=0.1) ; cmu2003 ; buffer.size_kib = 64 ; buffer.segments = 1 => without [buffer]
    "#;
    refuse(table, |given| {
        let (label, device) = given.split_once('\n').expect("a label and a device");
        named(device).expect(device).with_background(&[TaskSpec::named(label)?]).map(drop)
    });
}

#[test]
fn policies() {
    let table = r#"
    lur => unknown policy 'lur'; did you mean 'lru'?
    mru2 => unknown policy 'mru2'; known are lru, lfuda, slru, arc, s3fifo
    opt => policy 'opt': needs to know all accesses
    slru(protect=0.5) => did you mean 'protected'?
    slru(protected=1.5) => at least 0 and at most 1
    slru(segments=0) => an integer from 1 to 16
    slru(segments=17) => an integer from 1 to 16
    slru(segments=4; protected=0.5) => must not be given with protected
    lfuda(age=none) => each_hit
    s3fifo(fill=none) => small
    lru(protected=0.5) => unknown key 'protected'
    arc( => must be NAME or NAME(key=value
    "#;
    refuse(table, |label| PolicySpec::named(label).map(drop));
}
