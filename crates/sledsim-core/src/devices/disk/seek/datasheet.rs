//! A curve from the three seek times of a datasheet: single cylinder, average
//! and full stroke.
//!
//! The curve is `a + b sqrt(distance) + c distance` (the form of Lee and Katz,
//! 1993), solved so that it meets all three, the average being the mean over
//! all moves between two different cylinders. It may begin at two cylinders, with a time of
//! its own: a track that is next needs less settling than all others.

/// Seek times of a datasheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datasheet {
    /// One cylinder.
    pub min_ms: f64,
    /// Two cylinders, if the curve begins there.
    pub two_ms: Option<f64>,
    /// All cylinders.
    pub full_ms: f64,
    /// The number of cylinders of a full stroke: at least 3, or 4 with `two_ms`.
    pub longest: u32,
}

impl Datasheet {
    /// Time in ms for each distance, from 1 on, with this average.
    pub fn times_ms(&self, average_ms: f64) -> Vec<f64> {
        let (start, start_ms) = self.start();
        let means = Means::over(start, self.longest);
        let (near, far) = (f64::from(start), f64::from(self.longest));
        // b root + c line = full - start at the far end, = average - start on average.
        let (root, line) = (far.sqrt() - near.sqrt(), far - near);
        let determinant = root * means.line - line * means.root;
        let average = self.average_from_start_ms(average_ms) - start_ms;
        let full = self.full_ms - start_ms;
        let b = (full * means.line - average * line) / determinant;
        let c = (average * root - full * means.root) / determinant;
        let time = |distance: u32| {
            let distance = f64::from(distance);
            start_ms + b * (distance.sqrt() - near.sqrt()) + c * (distance - near)
        };
        let before = (1..start).map(|_| self.min_ms);
        before.chain((start..=self.longest).map(time)).collect()
    }

    /// The least and the greatest average for which the curve never falls.
    pub fn average_limits_ms(&self) -> (f64, f64) {
        let (start, start_ms) = self.start();
        let means = Means::over(start, self.longest);
        let (near, far) = (f64::from(start), f64::from(self.longest));
        // The first step, or the last, takes no time.
        let average = |b: f64, c: f64| {
            let rise = b * (far.sqrt() - near.sqrt()) + c * (far - near);
            let from_start =
                start_ms + (self.full_ms - start_ms) * (b * means.root + c * means.line) / rise;
            self.average_ms(from_start)
        };
        let (first, last) = ((near + 1.0).sqrt() - near.sqrt(), far.sqrt() - (far - 1.0).sqrt());
        (average(-1.0, first), average(1.0, -last))
    }

    /// Where the curve begins, and its time there.
    fn start(&self) -> (u32, f64) {
        self.two_ms.map_or((1, self.min_ms), |two_ms| (2, two_ms))
    }

    /// The share of all moves that is by one cylinder, if the curve begins at two.
    fn before_start(&self) -> f64 {
        self.two_ms.map_or(0.0, |_| 2.0 / (f64::from(self.longest) + 1.0))
    }

    fn average_from_start_ms(&self, average_ms: f64) -> f64 {
        let before = self.before_start();
        (average_ms - before * self.min_ms) / (1.0 - before)
    }

    fn average_ms(&self, from_start_ms: f64) -> f64 {
        let before = self.before_start();
        before * self.min_ms + (1.0 - before) * from_start_ms
    }
}

/// Means over all moves of `start` cylinders or more, of what the square root of the distance
/// and the distance are beyond `start`.
struct Means {
    root: f64,
    line: f64,
}

impl Means {
    fn over(start: u32, longest: u32) -> Self {
        let (mut root, mut line, mut weights) = (0.0, 0.0, 0.0);
        let near = f64::from(start);
        for distance in start..=longest {
            let weight = f64::from(longest + 1 - distance);
            root += weight * (f64::from(distance).sqrt() - near.sqrt());
            line += weight * (f64::from(distance) - near);
            weights += weight;
        }
        Self { root: root / weights, line: line / weights }
    }
}
