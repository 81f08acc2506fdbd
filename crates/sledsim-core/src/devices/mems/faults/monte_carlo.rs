//! Monte Carlo estimate of the losses when many tips fail.

use super::{Code, OutOfSpares, Tips};
use sledsim_base::error::{Error, Result};
use sledsim_base::random::Stream;

/// A device whose tips fail one after the other, each replaced and rebuilt before the
/// next one fails. The next one is drawn from all tips that have not failed, including
/// spare ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TipFailures {
    /// Tips of the device.
    pub tips: u32,
    /// Spare tips among them; tips left over after the last full square are spare, too.
    pub spares: u32,
    /// How blocks are coded.
    pub code: Code,
    /// What to give up when no spare tip is left.
    pub out_of_spares: OutOfSpares,
    /// Number of tips that fail.
    pub failed: u32,
    /// Number of devices simulated.
    pub trials: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The estimate, each list indexed by the number of failed tips from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TipFailureEstimate {
    /// Squares of the new device.
    pub squares: u32,
    /// Spare tips of the new device.
    pub spares: u32,
    /// Share of the new device's tip capacity that holds data.
    pub data_share: f64,
    /// Share of the devices that have lost any block.
    pub loss_probability: Vec<f64>,
    /// Mean share of the blocks that are lost.
    pub lost_share: Vec<f64>,
    /// Mean share of the blocks that have not been given up.
    pub capacity_share: Vec<f64>,
    /// Mean number of spare tips left.
    pub spares_left: Vec<f64>,
}

/// The most tips of an estimate.
const MOST_TIPS: u32 = 10_000_000;

/// The most failures in all devices of an estimate.
const MOST_FAILURES: u64 = 2_000_000_000;

impl TipFailures {
    fn squares(&self) -> Result<u32> {
        let refuse = |what: &str, value: u32, must: String| {
            Err(Error::argument(what, format!("{what} = {value}: {must}")))
        };
        let most = |most: u32| format!("must be an integer from 1 to {most}");
        if !(1..=MOST_TIPS).contains(&self.tips) {
            return refuse("tips", self.tips, most(MOST_TIPS));
        }
        if !(1..=self.tips).contains(&self.code.data) {
            return refuse("data_tips", self.code.data, most(self.tips));
        }
        if self.spares >= self.tips {
            let must = format!("must be below the {} tips", self.tips);
            return refuse("spare_tips", self.spares, must);
        }
        let squares = u64::from(self.tips - self.spares)
            / (u64::from(self.code.data) + u64::from(self.code.ecc));
        if squares == 0 {
            let room = self.tips - self.spares;
            let must = format!(
                "must leave {} data tips of a block room among the {room} tips that are not spare",
                self.code.data
            );
            return refuse("ecc_tips", self.code.ecc, must);
        }
        if self.failed > self.tips {
            let must = format!("must be at most the {} tips", self.tips);
            return refuse("failed_tips", self.failed, must);
        }
        let most = (MOST_FAILURES / u64::from(self.failed.max(1))).min(u64::from(u32::MAX));
        if self.trials == 0 || u64::from(self.trials) > most {
            let must =
                format!("must be an integer from 1 to {most} for {} failed tips", self.failed);
            return refuse("trials", self.trials, must);
        }
        Ok(squares as u32)
    }
}

/// Runs the trials. Calls `check` from time to time with the number of devices
/// simulated; its error ends the run.
///
/// # Errors
/// Parameters that make no device, or the error of `check`.
pub fn tip_failures(
    plan: &TipFailures,
    check: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<TipFailureEstimate> {
    let squares = plan.squares()?;
    let spares = plan.tips - squares * plan.code.tips();
    let new = Tips::new(plan.code, squares, spares, plan.out_of_spares);
    let steps = plan.failed as usize + 1;
    let mut sums = vec![[0_u64; 4]; steps];
    let mut stream = Stream::new(plan.seed, "tip failures");
    // The good tips come first.
    let mut order: Vec<u32> = (0..new.len()).collect();
    for trial in 0..plan.trials {
        let mut tips = new.clone();
        for (step, sum) in sums.iter_mut().enumerate() {
            if step > 0 {
                let good = order.len() - (step - 1);
                let drawn = stream.below(good as u64) as usize;
                order.swap(drawn, good - 1);
                tips.fail(order[good - 1], true);
            }
            sum[0] += u64::from(tips.lost() > 0);
            sum[1] += u64::from(tips.lost());
            sum[2] += u64::from(tips.given_up());
            sum[3] += u64::from(tips.spares());
        }
        if trial.is_multiple_of(16) {
            check(u64::from(trial))?;
        }
    }
    let trials = f64::from(plan.trials);
    let blocks = trials * f64::from(squares);
    let mean = |of: usize, by: f64| sums.iter().map(|sum| sum[of] as f64 / by).collect();
    let given_up: Vec<f64> = mean(2, blocks);
    Ok(TipFailureEstimate {
        squares,
        spares,
        data_share: f64::from(squares) * f64::from(plan.code.data) / f64::from(plan.tips),
        loss_probability: mean(0, trials),
        lost_share: mean(1, blocks),
        capacity_share: given_up.iter().map(|share| 1.0 - share).collect(),
        spares_left: mean(3, trials),
    })
}
