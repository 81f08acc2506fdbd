//! The Zipf distribution, without a table.

use super::Stream;

/// The Zipf distribution on 1..=n: k has a probability proportional to
/// k^-exponent. With exponent 0 all are equally likely.
///
/// Drawn by rejection-inversion (Hörmann and Derflinger 1996): a point under
/// the curve x^-exponent by inversion, kept if it lies in the column of the
/// nearest integer. The result is exact but for the rounding of the
/// arithmetic, and takes the same time whatever n is. The elementary functions
/// are those of `libm`; `rand_distr` uses the platform's if another crate
/// enables `num-traits/std`, as Arrow does.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    n: f64,
    exponent: f64,
    /// The area up to the start of the column of 1.
    low: f64,
    /// The area up to n + 1/2.
    high: f64,
    /// A point at most this far below its integer is always kept.
    safe: f64,
}

impl Zipf {
    /// The largest n: above it, `f64` cannot represent n + 1/2.
    pub const MOST: u64 = 1 << 52;

    /// On 1..=n; n is limited to 1..=[`Zipf::MOST`].
    pub fn new(n: u64, exponent: f64) -> Self {
        let n = n.clamp(1, Self::MOST) as f64;
        let mut zipf = Self { n, exponent, low: 0.0, high: 0.0, safe: 0.0 };
        zipf.low = zipf.area(1.5) - 1.0;
        zipf.high = zipf.area(n + 0.5);
        zipf.safe = 2.0 - zipf.at_area(zipf.area(2.5) - zipf.height(2.0));
        zipf
    }

    /// One number.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.high + stream.unit() * (self.low - self.high);
            let x = self.at_area(area);
            let k = libm::floor(x + 0.5).clamp(1.0, self.n);
            if k - x <= self.safe || area >= self.area(k + 0.5) - self.height(k) {
                return k as u64;
            }
        }
    }

    /// x^-exponent.
    #[inline]
    fn height(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// The area under x^-exponent from 1 to `x`: (x^q - 1) / q with
    /// q = 1 - exponent, in a form that stays exact around q = 0.
    #[inline]
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let y = (1.0 - self.exponent) * log;
        log * if y == 0.0 { 1.0 } else { libm::expm1(y) / y }
    }

    /// The inverse of [`Zipf::area`].
    #[inline]
    fn at_area(&self, area: f64) -> f64 {
        let y = (1.0 - self.exponent) * area;
        libm::exp(area * if y == 0.0 { 1.0 } else { libm::log1p(y) / y })
    }
}
