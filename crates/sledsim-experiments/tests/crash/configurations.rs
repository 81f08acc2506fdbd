//! Crash tests of many configurations of a kind of device, drawn at random.

use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, Report, test};
use sledsim_experiments::load::Load;

/// Keys with the values to draw from, as in TOML; an empty one leaves the key
/// out.
pub type Choices<'a> = &'a [(&'a str, &'a [&'a str])];

/// What is drawn from, beside the keys that every configuration has.
pub struct Configurations<'a> {
    /// TOML of the device.
    pub device: &'a str,
    pub device_keys: Choices<'a>,
    /// A workload.
    pub workload: &'a str,
    pub load_keys: Choices<'a>,
    pub schedulers: &'a [&'a str],
}

/// A load on few blocks: they are written again and again, and many requests
/// are under way at once.
pub const SMALL_LOADS: Choices<'_> = &[
    ("requests", &["400", "1500"]),
    ("read_fraction", &["0.2", "0.5", "0.8"]),
    ("last_lbn", &["40", "150", "900"]),
    ("queue_depth", &["1", "2", "6", "20"]),
    ("mean_size_kib", &["0.5", "2", "4"]),
    ("think_ms", &["0", "1", "50"]),
];

/// Whether the catalog knows this kind; if not, one line says so.
pub fn is_known(kind: &str) -> bool {
    let known = Device::kinds().any(|name| name == kind);
    if !known {
        println!("skipped: the catalog has no devices of kind '{kind}'");
    }
    known
}

impl Configurations<'_> {
    /// Crashes `runs` configurations, as planned; each with a seed of its own,
    /// from that of the plan on.
    ///
    /// # Panics
    /// When all have been crashed, with those that lost something and what that
    /// was; with a configuration that is refused.
    pub fn crash(&self, runs: u64, plan: &Plan) -> Vec<Report> {
        let mut reports = Vec::new();
        let mut wrong = Vec::new();
        for seed in plan.seed..plan.seed + runs {
            let mut draw = Stream::new(seed, "configuration");
            let mut told = String::new();
            let device = keys(self.device, "device", self.device_keys, &mut draw, &mut told);
            let load = keys("", "load", self.load_keys, &mut draw, &mut told);
            let scheduler = self.schedulers[draw.below(self.schedulers.len() as u64) as usize];
            let what = format!("configuration {seed}: {told}scheduler = {scheduler}");
            let refused = |error| -> ! { panic!("{what}: refused: {error}") };
            let device = Device::from_keys(device, None).unwrap_or_else(|error| refused(error));
            let load = Load::workload(self.workload, load).unwrap_or_else(|error| refused(error));
            let scheduler = SchedulerSpec::named(scheduler).unwrap_or_else(|error| refused(error));
            let plan = Plan { seed, ..plan.clone() };
            let report = test(&device, &load, &scheduler, &plan, &mut |_| Ok(()));
            let report = report.unwrap_or_else(|error| refused(error));
            if let Some(first) = report.shown.first() {
                let violations = report.violations;
                wrong.push(format!("{what}: {violations} violations, the first: {first}"));
            }
            reports.push(report);
        }
        assert!(wrong.is_empty(), "{} of {runs}:\n{}", wrong.len(), wrong.join("\n"));
        reports
    }
}

/// The keys in `text`, with one value of each choice; what was drawn is told.
fn keys(
    text: &str,
    what: &str,
    choices: Choices<'_>,
    draw: &mut Stream,
    told: &mut String,
) -> Keys {
    let mut keys = Keys::parse(text, what).expect("TOML");
    for (key, values) in choices {
        let value = values[draw.below(values.len() as u64) as usize];
        if !value.is_empty() {
            keys.set_text(key, value, what).expect("a TOML value");
            told.push_str(&format!("{what}.{key} = {value}, "));
        }
    }
    keys
}
