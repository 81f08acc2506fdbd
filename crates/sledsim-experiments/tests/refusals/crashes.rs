//! Devices that a crash test does not take.

use crate::common::refusals::refuse;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, test};
use sledsim_experiments::load::Load;

#[test]
fn devices() {
    let table = r#"
    kind = 'raid5' ; @ => write hole | raid5
    kind = 'raid1' ; children = 2 ; child.base = 'g2' => write hole | raid1
    kind = 'raid6' ; @ => write hole | raid6
    kind = 'raid10' ; @ => write hole | raid10
    kind = 'stripe' ; children = 2 ; unit_blocks = 4 ; [child] ; title = 'r' ; kind = 'raid5' ; @ =>
        write hole | raid5
    kind = 'read_cache' ; front.base = 'memory' ; front.blocks = 100 ; back.base = 'g2' =>
        of kind 'read_cache'
    "#;
    let load = Load::workload("random", Keys::empty("load")).expect("a load");
    refuse(table, |keys| {
        let keys = keys.replace('@', "children = 4\nunit_blocks = 2\nchild.base = 'memory'");
        let keys = Keys::parse(&format!("title = 'a'\n{keys}"), "test.toml")?;
        let device = Device::from_keys(keys, None)?;
        test(&device, &load, &SchedulerSpec::default(), &Plan::default(), &mut |_| Ok(())).map(drop)
    });
}
