//! Values of arguments that several commands share.

use std::str::FromStr;

use clap::ValueEnum;
use icm_api::{Importance, Trust};

use crate::ui::Ui;

/// The importance of a memory.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ImportanceArg {
    /// Must not be lost
    Critical,
    /// Matters more than most
    High,
    /// The default
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

/// The source of a text.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TrustArg {
    /// Only texts typed by a person
    User,
    /// Also texts written by an agent
    Agent,
    /// Texts of any source
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

/// Returns the words of a list argument: `-k a,b -k c`, or `-k ''` for an empty list.
pub(crate) fn words(given: Vec<String>) -> Vec<String> {
    given
        .into_iter()
        .map(|word| word.trim().to_string())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Parses a whole number, 1 or more.
pub(crate) fn how_many(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number, 1 or more".into()),
        Ok(number) => Ok(number),
    }
}

/// Parses a share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1".into()),
    }
}

/// Most results of one answer. Raised, an answer can be too long for its reader.
const RESULTS_MAX: u16 = 1_000;

/// A wanted number of results, 1 or more.
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
    /// Returns the number, at most that of one answer; a note reports a lower number.
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

/// Parses a number of results from 1 to 1000.
#[cfg(feature = "bench")]
pub(crate) fn how_many_results(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(number),
        _ => Err("give a whole number from 1 to 1000".into()),
    }
}
