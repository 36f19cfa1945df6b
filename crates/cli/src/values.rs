//! Values of arguments that several commands take.

use std::str::FromStr;

use clap::ValueEnum;
use icm_api::{Importance, Trust};

use crate::ui::Ui;

/// How much a memory matters.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ImportanceArg {
    /// Must not be lost
    Critical,
    /// Matters more than most
    High,
    /// The usual
    Medium,
    /// Matters less than most
    Low,
}

impl From<ImportanceArg> for Importance {
    fn from(arg: ImportanceArg) -> Self {
        match arg {
            ImportanceArg::Critical => Importance::Critical,
            ImportanceArg::High => Importance::High,
            ImportanceArg::Medium => Importance::Medium,
            ImportanceArg::Low => Importance::Low,
        }
    }
}

/// Where a text came from.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TrustArg {
    /// A person typed it
    User,
    /// A person or an agent wrote it
    Agent,
    /// Wherever it came from
    External,
}

impl From<TrustArg> for Trust {
    fn from(arg: TrustArg) -> Self {
        match arg {
            TrustArg::User => Trust::User,
            TrustArg::Agent => Trust::Agent,
            TrustArg::External => Trust::External,
        }
    }
}

/// The words of a list argument: `-k a,b -k c` and `-k ''`, which is an empty list.
pub(crate) fn words(given: Vec<String>) -> Vec<String> {
    given
        .into_iter()
        .map(|word| word.trim().to_string())
        .filter(|word| !word.is_empty())
        .collect()
}

/// A number of things, from 1.
pub(crate) fn how_many(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number, 1 or more".into()),
        Ok(number) => Ok(number),
    }
}

/// A share, from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1".into()),
    }
}

/// Most results of one answer.
const RESULTS_MAX: u16 = 1_000;

/// How many results somebody wants, at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Results(u64);

impl FromStr for Results {
    type Err = String;

    fn from_str(text: &str) -> Result<Results, String> {
        let wanted = text.parse().ok().filter(|wanted| *wanted > 0);
        let why = || format!("give a whole number from 1 to {RESULTS_MAX}");
        wanted.map(Results).ok_or_else(why)
    }
}

impl Results {
    /// Returns as many of them as one answer has; a note says so if that is fewer.
    pub(crate) fn within(self, ui: &Ui) -> usize {
        if self.0 > u64::from(RESULTS_MAX) {
            ui.note(&format!(
                "`--limit` is from 1 to {RESULTS_MAX}: {RESULTS_MAX} was used, not {}",
                self.0
            ));
        }
        usize::try_from(self.0)
            .unwrap_or(usize::MAX)
            .min(RESULTS_MAX.into())
    }
}

/// A number of results, from 1 to 1000.
#[cfg(feature = "bench")]
pub(crate) fn how_many_results(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(number),
        _ => Err("give a whole number from 1 to 1000".into()),
    }
}
