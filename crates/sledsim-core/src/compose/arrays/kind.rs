//! The kinds `raid1`, `raid5`, `raid6` and `raid10` of devices.

use super::spec::ArraySpec;
use crate::devices::kind::{Child, Children, DeviceKind, KindEntry, table};
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::sync::Arc;

/// The most children of an array: a set of slots is a 64-bit mask.
const MAX_CHILDREN: u32 = 64;

/// The registration of mirrors.
pub const RAID1: KindEntry = KindEntry {
    name: "raid1",
    read: |keys, children| read(keys, children, 2, ArraySpec::read_raid1),
};

/// The registration of rotated parity.
pub const RAID5: KindEntry = KindEntry {
    name: "raid5",
    read: |keys, children| read(keys, children, 3, ArraySpec::read_raid5),
};

/// The registration of rotated double parity.
pub const RAID6: KindEntry = KindEntry {
    name: "raid6",
    read: |keys, children| read(keys, children, 4, ArraySpec::read_raid6),
};

/// The registration of stripes over pairs of mirrors.
pub const RAID10: KindEntry = KindEntry {
    name: "raid10",
    read: |keys, children| read(keys, children, 2, ArraySpec::read_raid10),
};

/// Reads an array of at least `least` children: `children` copies of one
/// `[child]`, or a list `[[child]]` of devices with the same number of blocks.
/// Spares are copies of the first child.
fn read(
    keys: &mut Keys,
    children: &mut dyn Children,
    least: u32,
    read: fn(&mut Keys, u32, u64) -> Result<ArraySpec>,
) -> Result<Arc<dyn DeviceKind>> {
    let tables = tables(keys, least)?;
    let spare = tables[0].clone();
    let mut all: Vec<Child> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let child = children.add(&format!("child{index}"), table)?;
        let (first, blocks) =
            (all.first().map_or(child.blocks, |child| child.blocks), child.blocks);
        if blocks != first {
            let must = format!(
                "must be devices of one size: child {index} offers {blocks} blocks, child 0 {first}"
            );
            return Err(keys.refuse("child", must));
        }
        all.push(child);
    }
    let spec = read(keys, all.len() as u32, all[0].blocks)?;
    if spec.reads_nearest() && !all.iter().any(|child| child.has_positions) {
        let must = "asks for positioning times, and no child has any; must be another rule";
        return Err(keys.refuse("reads", must));
    }
    for index in 0..spec.spares() {
        children.add(&format!("spare{index}"), spare.clone())?;
    }
    Ok(Arc::new(spec))
}

/// The tables of the children.
fn tables(keys: &mut Keys, least: u32) -> Result<Vec<Keys>> {
    if !keys.has("child[0]") {
        let children = keys.u32("children", least..=MAX_CHILDREN)?;
        return Ok(vec![table(keys, "child")?; children as usize]);
    }
    if keys.has("children") {
        let must = "must not be given with a list [[child]], which has its own length";
        return Err(keys.refuse("children", must));
    }
    let tables = keys.take_tables("child")?;
    if !(least as usize..=MAX_CHILDREN as usize).contains(&tables.len()) {
        let must = format!("must be {least} to {MAX_CHILDREN} tables [[child]]");
        return Err(keys.refuse("child", must));
    }
    Ok(tables)
}

impl DeviceKind for ArraySpec {
    fn kind(&self) -> &'static str {
        self.kind()
    }

    fn blocks(&self) -> u64 {
        self.blocks()
    }

    fn promise(&self, children: &[Promise]) -> Promise {
        Promise::of_all(children)
    }

    fn has_write_hole(&self) -> bool {
        true
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        self.build(name, device, children)
    }
}
