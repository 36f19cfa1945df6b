//! The options that say how many entries of a list are shown.

use clap::Args;

use crate::ui::Ui;
use crate::values::how_many;

/// Entries that are shown if nothing else is asked for. The help names this number.
const DEFAULT: usize = 50;

/// How many entries of a list are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Args)]
pub(crate) struct LimitArgs {
    /// At most N [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl LimitArgs {
    /// Returns the most entries that are shown; `None` for all.
    pub(crate) fn most(&self) -> Option<usize> {
        let limit = self.limit.map_or(DEFAULT, |limit| limit as usize);
        (!self.all).then_some(limit)
    }

    /// Returns the most entries to ask for: one more than are shown, to notice that some are left out.
    pub(crate) fn asked(&self) -> Option<usize> {
        self.most().map(|most| most.saturating_add(1))
    }

    /// Cuts a list to what is shown. Returns `true` if entries are left out.
    pub(crate) fn cut<T>(&self, list: &mut Vec<T>) -> bool {
        let most = self.most().unwrap_or(usize::MAX);
        let is_cut = list.len() > most;
        list.truncate(most);
        is_cut
    }

    /// Says which entries are shown (`shown` is `first 50`) if others are left out, unless the user chose how many.
    pub(crate) fn tell_left_out(&self, ui: &Ui, is_cut: bool, shown: &str) {
        if is_cut && self.limit.is_none() {
            tell_rest(ui, shown);
        }
    }
}

/// Says which entries are shown (`shown` is `first 50`), and how to see the rest.
pub(crate) fn tell_rest(ui: &Ui, shown: &str) {
    ui.note(&format!(
        "only the {shown} are shown; see the rest with `--all` or `-l N`"
    ));
}
