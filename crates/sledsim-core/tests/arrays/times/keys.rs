//! Error messages for invalid arrays.

use super::resolve;

#[test]
fn invalid_arrays_are_refused() {
    let raid5 = |keys: &str| format!("title = 'a'\nkind = 'raid5'\n{keys}");
    let some = "children = 5\nunit_blocks = 8\nchild.base = 'g2'\n";
    let cases = [
        (
            raid5("children = 2\nunit_blocks = 8\nchild.base = 'g2'"),
            "children = 2: must be an integer from 3 to 64",
        ),
        (raid5("children = 5\nunit_blocks = 0\nchild.base = 'g2'"), "unit_blocks = 0"),
        (
            raid5("children = 5\nunit_blocks = 7000000\nchild.base = 'g2'"),
            "at most the 6750000 blocks",
        ),
        (raid5("children = 5\nunit_blocks = 8"), "child: missing; must be a table"),
        (
            raid5("children = 5\nunit_blocks = 8\n[[child]]\nbase = 'g2'"),
            "children = 5: must not be given with a list",
        ),
        (
            raid5("unit_blocks = 8\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'g2'"),
            "must be 3 to 64 tables",
        ),
        (
            raid5(
                "unit_blocks = 8\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'g2'\n[[child]]\nbase = 'atlas10k'",
            ),
            "one size: child 2 offers",
        ),
        (
            raid5(&format!("{some}fail_child = 5\nfail_at_ms = 1")),
            "fail_child = 5: must be an integer from 0 to 4",
        ),
        (raid5(&format!("{some}fail_child = [0, 7]\nfail_at_ms = [1, 2]")), "fail_child[1] = 7"),
        (raid5(&format!("{some}fail_child = [1, 1]\nfail_at_ms = [1, 2]")), "name each child once"),
        (raid5(&format!("{some}fail_child = 1\nfail_at_ms = -1")), "fail_at_ms = -1"),
        (
            raid5(&format!("{some}fail_child = 1\nfail_at_ms = [1, 2]")),
            "must say for each of the 1",
        ),
        (raid5(&format!("{some}fail_child = [1, 2]\nfail_at_ms = [1, -2]")), "fail_at_ms[1] = -2"),
        (raid5(&format!("{some}fail_child = 1")), "fail_at_ms"),
        (raid5(&format!("{some}fail_at_ms = 1")), "fail_at_ms = 1"),
        (raid5(&format!("{some}spares = 17")), "spares = 17"),
        (raid5(&format!("{some}rebuild_after_ms = 17")), "without spares is not rebuilt"),
        (raid5(&format!("{some}spares = 1\nrebuild_after_ms = -1")), "rebuild_after_ms = -1"),
        (raid5(&format!("{some}spares = 1\nrebuild_min_mb_s = -1")), "rebuild_min_mb_s = -1"),
        (raid5(&format!("{some}spares = 1\nrebuild_idle_ms = nan")), "rebuild_idle_ms = nan"),
        (
            raid5(&format!("{some}spares = 1\nrebuild_unit_blocks = 100")),
            "multiple of unit_blocks = 8",
        ),
        (raid5(&format!("{some}reads = 'nearest'")), "reads"),
        ("title = 'a'\nkind = 'raid1'\nchildren = 1\nchild.base = 'g2'".to_owned(), "children = 1"),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nreads = 'best'\nchild.base = 'g2'"
                .to_owned(),
            "reads = \"best\"",
        ),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nreads = 'nearest'\nchild.base = 'memory'"
                .to_owned(),
            "no child has any",
        ),
        (
            "title = 'a'\nkind = 'raid1'\nchildren = 2\nunit_blocks = 8\nchild.base = 'g2'"
                .to_owned(),
            "unit_blocks",
        ),
        (
            raid5("children = 3\nunit_blocks = 8\nchild.base = 'g2'").replace("raid5", "raid6"),
            "children = 3: must be an integer from 4 to 64",
        ),
        (
            raid5("unit_blocks = 8\n[[child]]\nbase = 'g2'").replace("raid5", "raid6"),
            "must be 4 to 64 tables",
        ),
        (
            raid5("children = 1\nunit_blocks = 8\nchild.base = 'g2'").replace("raid5", "raid10"),
            "children = 1: must be an integer from 2 to 64",
        ),
        (raid5(some).replace("raid5", "raid10") + "reads = 'best'", "reads = \"best\""),
        (
            raid5("children = 4\nunit_blocks = 8\nreads = 'nearest'\nchild.base = 'memory'")
                .replace("raid5", "raid10"),
            "no child has any",
        ),
        (
            raid5("children = 4\nunit_blocks = 7000000\nchild.base = 'g2'")
                .replace("raid5", "raid10"),
            "at most the 6750000 blocks",
        ),
        (raid5(&format!("{some}reads = 'nearest'")).replace("raid5", "raid6"), "reads"),
    ];
    for (text, says) in cases {
        let message = resolve(&text).expect_err(&text).replace('\'', "\"");
        assert!(message.contains(&says.replace('\'', "\"")), "{text}\n{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
