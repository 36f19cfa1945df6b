//! Numbers of a candidate relative to all candidates.

/// The least and the largest of some numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Span {
        let (low, high) = numbers
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        Span { low, high }
    }

    /// Returns 0 for the least number and 1 for the largest. If all are equal, returns 1 for any number above 0.
    pub(crate) fn share(&self, number: f64) -> f64 {
        match self.high > self.low {
            true => ((number - self.low) / (self.high - self.low)).clamp(0.0, 1.0),
            false => f64::from(u8::from(number > 0.0)),
        }
    }

    /// Returns a number as a part of the largest, 0 to 1.
    pub(crate) fn part(&self, number: f64) -> f64 {
        match self.high > 0.0 {
            true => (number / self.high).clamp(0.0, 1.0),
            false => 0.0,
        }
    }
}
