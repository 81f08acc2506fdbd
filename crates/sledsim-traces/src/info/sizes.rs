//! Request sizes by operation.

use super::by_op::ByOp;
use serde::Serialize;
use sledsim_base::distribution::Distribution;
use sledsim_base::request::Op;

/// The distribution of sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct SizeSummary {
    /// The number of requests.
    pub requests: u64,
    /// The sum; the greatest number if it is above.
    pub total_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// The 10th percentile.
    pub p10_bytes: u64,
    /// The median.
    pub p50_bytes: u64,
    /// The 90th percentile.
    pub p90_bytes: u64,
    /// The 99th percentile.
    pub p99_bytes: u64,
    /// The greatest.
    pub max_bytes: u64,
}

/// The number of requests with sizes from one power of two to the next.
#[derive(Clone, Debug, Serialize)]
pub struct SizeBin {
    /// The least size.
    pub from_bytes: u64,
    /// The greatest size.
    pub to_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
}

/// Sizes in bytes; flushes have none.
pub(super) struct Sizes {
    by_op: [Distribution; Op::ALL.len()],
    pub requests: [u64; Op::ALL.len()],
    /// By operation: the number of sizes from each power of two to the next.
    octaves: [[u64; 64]; Op::ALL.len()],
    bytes: [u128; Op::ALL.len()],
    pub blocks: u64,
    pub most_blocks: u64,
    pub unaligned: u64,
}

impl Sizes {
    pub fn new() -> Self {
        Self {
            by_op: std::array::from_fn(|_| Distribution::new()),
            requests: [0; Op::ALL.len()],
            octaves: [[0; 64]; Op::ALL.len()],
            bytes: [0; Op::ALL.len()],
            blocks: 0,
            most_blocks: 0,
            unaligned: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, op: Op, bytes: u64, blocks: u64, is_aligned: bool) {
        self.requests[op as usize] += 1;
        if bytes == 0 {
            return;
        }
        self.by_op[op as usize].record(bytes);
        self.octaves[op as usize][bytes.ilog2() as usize] += 1;
        self.bytes[op as usize] += u128::from(bytes);
        self.blocks = self.blocks.saturating_add(blocks);
        self.most_blocks = self.most_blocks.max(blocks);
        self.unaligned += u64::from(!is_aligned);
    }

    /// The `sizes` of the document: by operation, and of all.
    pub fn summary(&self) -> ByOp<SizeSummary> {
        let mut all = Distribution::new();
        let (mut requests, mut bytes) = (0, 0);
        let by_op = Op::ALL.map(|op| {
            let at = op as usize;
            if op == Op::Flush {
                return None;
            }
            all.merge(&self.by_op[at]);
            requests += self.requests[at];
            bytes += self.bytes[at];
            distribution(&self.by_op[at], self.requests[at], self.bytes[at])
        });
        ByOp::new(by_op, distribution(&all, requests, bytes))
    }

    /// The `size_histogram` of the document: powers of two.
    pub fn histogram(&self) -> Vec<SizeBin> {
        let of = |op: Op, power: usize| self.octaves[op as usize][power];
        let any = |power: &usize| Op::ALL.iter().any(|op| of(*op, *power) > 0);
        let Some(first) = (0..64).find(any) else {
            return Vec::new();
        };
        let last = (0..64).rfind(any).unwrap_or(first);
        let bin = |power: usize| {
            let [reads, writes, _, trims] = Op::ALL.map(|op| of(op, power));
            let (from_bytes, to_bytes) = (1 << power, (2_u64 << power).wrapping_sub(1));
            SizeBin { from_bytes, to_bytes, reads, writes, trims }
        };
        (first..=last).map(bin).collect()
    }

    /// The `mean_size_blocks` of the document, over all requests.
    pub fn mean_blocks(&self) -> f64 {
        self.blocks as f64 / self.requests.iter().sum::<u64>() as f64
    }
}

fn distribution(sizes: &Distribution, requests: u64, bytes: u128) -> Option<SizeSummary> {
    if requests == 0 {
        return None;
    }
    // The lower edges of cells, as sizes are whole blocks.
    let low = |bytes: u64| {
        let width = bytes.max(1).ilog2().saturating_sub(10);
        bytes >> width << width
    };
    let percentiles = sizes.report(requests).percentiles_ns([1_000, 5_000, 9_000, 9_900]);
    let [p10_bytes, p50_bytes, p90_bytes, p99_bytes] = percentiles.map(low);
    Some(SizeSummary {
        requests,
        total_bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        mean_bytes: bytes as f64 / requests as f64,
        p10_bytes,
        p50_bytes,
        p90_bytes,
        p99_bytes,
        max_bytes: sizes.max_ns(),
    })
}
