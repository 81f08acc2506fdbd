//! Keys: reading, and the message of every mistake.
//!
//! In reading order:
//! - `values`: reading by type, and refused values.
//! - `lists`: lists of values and of tables.
//! - `sources`: files, variants, flags and arguments.
//! - `mistakes`: unknown names and bad TOML.

mod values;

mod lists;

mod sources;

mod mistakes;

use sledsim_base::keys::{Keys, Range};

const G2: &str = "\
# Second generation.
# A comment of two lines.

# Not part of it.
bit_cell_nm = 40        # [P] SIGMETRICS 2000, Table 1
travel_x_um = 100.0
spring_factor = 0.75
bidirectional = true
kinematics = \"analytic\" # ours

[power]
sled_mw = 100  # a mean
[power.tips]
active_mw = 1
";

fn g2() -> Keys {
    Keys::parse(G2, "g2.toml").unwrap()
}

fn parse(text: &str) -> Keys {
    Keys::parse(text, "my.toml").unwrap()
}

fn unit() -> Range {
    Range::at_least(0.0).below(1.0)
}

/// The message of a failure.
fn fails<T: std::fmt::Debug>(result: sledsim_base::error::Result<T>) -> String {
    result.unwrap_err().to_string()
}
