//! The settings of a process: the treatment of what is stored, and the shape of its answers.

use icm_projections::ranking::Ranking;
use icm_vectors::GRAPH_ROWS_MIN;

use icm_api::{DecayPolicy, Dedup, Summarizer};
use icm_guard::secrets::Policy;

/// The default of [`Settings::hint_over`].
pub(crate) const HINT_OVER: u64 = 7;

/// Settings of one process; a store keeps none.
pub(crate) struct Settings {
    /// `true` if the first write may go into a folder that holds other files.
    pub(crate) any_folder: bool,
    /// The treatment of secrets.
    pub(crate) secrets: Policy,
    /// The treatment of a text that is similar to one in the store.
    pub(crate) dedup: Dedup,
    /// The pace at which memories fade.
    pub(crate) decay: DecayPolicy,
    /// Living memories of a topic beyond which a receipt says how many there are; 0: never.
    pub(crate) hint_over: u64,
    /// The maker of summaries, if a request names none.
    pub(crate) summarizer: Option<Summarizer>,
    /// The command that decides whether a new memory replaces an older one, if the rules are in doubt.
    pub(crate) judge: Option<Summarizer>,
    /// The weights by which memories are ranked.
    pub(crate) ranking: Ranking,
    /// `true` if links have a say in recalls.
    pub(crate) links: bool,
    /// Row versions from which on a graph of their vectors is made.
    pub(crate) graph_rows_min: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            any_folder: false,
            secrets: Policy::default(),
            dedup: Dedup::default(),
            decay: DecayPolicy::default(),
            hint_over: HINT_OVER,
            summarizer: None,
            judge: None,
            ranking: Ranking::default(),
            links: true,
            graph_rows_min: if cfg!(feature = "graph") {
                GRAPH_ROWS_MIN
            } else {
                u64::MAX
            },
        }
    }
}
