//! Arrays.

use super::{read, refuse};

const SOME: &str = "children = 5\nunit_blocks = 8\nchild.base = 'g2'\n";

#[test]
fn arrays() {
    let table = r#"
    children = 2 ; unit_blocks = 8 ; child.base = 'g2' =>
        children = 2: must be an integer from 3 to 64
    children = 5 ; unit_blocks = 0 ; child.base = 'g2' => unit_blocks = 0
    children = 5 ; unit_blocks = 7000000 ; child.base = 'g2' => at most the 6750000 blocks
    children = 5 ; unit_blocks = 8 => child: missing; must be a table
    children = 5 ; unit_blocks = 8 ; [[child]] ; base = 'g2' =>
        children = 5: must not be given with a list
    unit_blocks = 8 ; [[child]] ; base = 'g2' ; [[child]] ; base = 'g2' => must be 3 to 64 tables
    unit_blocks = 8 ; [[child]] ; base = 'g2' ; [[child]] ; base = 'g2' ; [[child]] ; base = 'g1' =>
        one size: child 2 offers
    "#;
    refuse(table, |keys| read(&format!("title = 'a'\nkind = 'raid5'\n{keys}")));
    let table = r#"
    fail_child = 5 ; fail_at_ms = 1 => fail_child = 5: must be an integer from 0 to 4
    fail_child = [0, 7] ; fail_at_ms = [1, 2] => fail_child[1] = 7
    fail_child = [1, 1] ; fail_at_ms = [1, 2] => name each child once
    fail_child = 1 ; fail_at_ms = -1 => fail_at_ms = -1
    fail_child = 1 ; fail_at_ms = [1, 2] => must say for each of the 1
    fail_child = [1, 2] ; fail_at_ms = [1, -2] => fail_at_ms[1] = -2
    fail_child = 1 => fail_at_ms
    fail_at_ms = 1 => fail_at_ms = 1
    spares = 17 => spares = 17
    rebuild_after_ms = 17 => without spares is not rebuilt
    spares = 1 ; rebuild_after_ms = -1 => rebuild_after_ms = -1
    spares = 1 ; rebuild_min_mb_s = -1 => rebuild_min_mb_s = -1
    spares = 1 ; rebuild_idle_ms = nan => rebuild_idle_ms = nan
    spares = 1 ; rebuild_unit_blocks = 100 => multiple of unit_blocks = 8
    reads = 'nearest' => reads
    "#;
    refuse(table, |keys| read(&format!("title = 'a'\nkind = 'raid5'\n{SOME}{keys}")));
    let table = r#"
    kind = 'raid1' ; children = 1 ; child.base = 'g2' => children = 1
    kind = 'raid1' ; children = 2 ; reads = 'best' ; child.base = 'g2' => reads = 'best'
    kind = 'raid1' ; children = 2 ; reads = 'nearest' ; child.base = 'memory' => no child has any
    kind = 'raid1' ; children = 2 ; unit_blocks = 8 ; child.base = 'g2' => unit_blocks
    kind = 'raid6' ; children = 3 ; unit_blocks = 8 ; child.base = 'g2' =>
        children = 3: must be an integer from 4 to 64
    kind = 'raid6' ; unit_blocks = 8 ; [[child]] ; base = 'g2' => must be 4 to 64 tables
    kind = 'raid6' ; children = 5 ; unit_blocks = 8 ; child.base = 'g2' ; reads = 'nearest' => reads
    kind = 'raid10' ; children = 1 ; unit_blocks = 8 ; child.base = 'g2' =>
        children = 1: must be an integer from 2 to 64
    kind = 'raid10' ; children = 5 ; unit_blocks = 8 ; child.base = 'g2' ; reads = 'best' =>
        reads = 'best'
    kind = 'raid10' ; children = 4 ; unit_blocks = 8 ; reads = 'nearest' ; child.base = 'memory' =>
        no child has any
    kind = 'raid10' ; children = 4 ; unit_blocks = 7000000 ; child.base = 'g2' =>
        at most the 6750000 blocks
    kind = 'stripe' ; children = 2 ; unit_blocks = 7000000 ; child.base = 'g2' =>
        unit_blocks = 7000000
    "#;
    refuse(table, |keys| read(&format!("title = 'a'\n{keys}")));
}
