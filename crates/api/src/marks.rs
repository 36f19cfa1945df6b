//! Marks: how often a memory was called useful and wrong.

use serde::{Deserialize, Serialize};

/// A judgement of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The memory was wrong.
    Wrong,
    /// The memory was right, and helped.
    Useful,
}

impl Verdict {
    /// Returns `wrong` or `useful`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Wrong => "wrong",
            Verdict::Useful => "useful",
        }
    }
}

/// The number of sessions (or else actors) that called a memory useful, and that called it wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// They called it useful.
    pub useful: u64,
    /// They called it wrong.
    pub wrong: u64,
}

impl Marks {
    /// Returns `true` if nobody judged the memory.
    pub fn is_empty(&self) -> bool {
        *self == Marks::default()
    }

    /// Returns the marks in words, for instance `called useful 2 times, wrong once`; `None` if there are none.
    pub fn told(&self) -> Option<String> {
        let times = |count| match count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let mut told = Vec::new();
        for (name, count) in [("useful", self.useful), ("wrong", self.wrong)] {
            if count > 0 {
                told.push(format!("{name} {}", times(count)));
            }
        }
        (!told.is_empty()).then(|| format!("called {}", told.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_words() {
        for (useful, wrong, told) in [
            (0, 0, None),
            (2, 0, Some("called useful 2 times")),
            (0, 1, Some("called wrong once")),
            (1, 3, Some("called useful once, wrong 3 times")),
        ] {
            assert_eq!(Marks { useful, wrong }.told().as_deref(), told);
        }
    }
}
