//! The questions of pages to the store, and the answers.

use std::collections::BTreeMap;

use icm_api::error::ServiceError;
use icm_api::{
    Basis, DiffPiece, EventDetail, LogEntry, LogRequest, Memory, RecallHit, Sort, Stats, Topics,
    UndoAnswer, UndoRequest, Version, Why,
};

use crate::timeline::Instant;

/// A question of a page. `at` is the moment, as `--at`; `None` for now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    /// The newest events.
    Now {
        at: Option<String>,
        limit: usize,
    },
    /// A list of memories, or the results of a search.
    Memories {
        of: Wanted,
        at: Option<String>,
    },
    Topics {
        at: Option<String>,
    },
    Log {
        filter: Box<LogRequest>,
        limit: usize,
        at: Option<String>,
    },
    /// One memory with all that is known of it.
    Memory {
        id: String,
        at: Option<String>,
    },
    /// One event, by position.
    Event {
        position: u64,
    },
    /// An undo, or its preview.
    Undo {
        request: Box<UndoRequest>,
    },
    /// Only the event that a moment means.
    Moment {
        at: Option<String>,
    },
    /// The moment before an event, or after it. The events of one command are one moment.
    Step {
        from: u64,
        on: bool,
    },
}

impl Ask {
    /// Returns `true` if the ask changes the store, so that it must not be left out.
    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Ask::Undo { request } if !request.dry_run)
    }
}

/// A selection of memories.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// Words of a search; `None` for a list.
    pub(crate) query: Option<String>,
    pub(crate) topic: Option<String>,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub(crate) enum Answer {
    Now(Basis, Vec<LogEntry>),
    Memories(Basis, Found),
    Topics(Topics),
    Log(Basis, Events),
    Memory(Basis, Box<Known>),
    Event(Box<EventDetail>),
    Undo(Box<UndoAnswer>),
    Moment(Basis),
}

impl Answer {
    /// Returns the moment that the answer is of.
    pub(crate) fn basis(&self) -> Option<&Basis> {
        match self {
            Answer::Now(basis, _)
            | Answer::Memories(basis, _)
            | Answer::Log(basis, _)
            | Answer::Memory(basis, _)
            | Answer::Moment(basis) => Some(basis),
            Answer::Topics(topics) => Some(&topics.basis),
            Answer::Event(_) | Answer::Undo(_) => None,
        }
    }
}

/// Memories that were found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The memories; without a search as results without a score.
    pub(crate) hits: Vec<RecallHit>,
    /// `true` if there are more.
    pub(crate) more: bool,
    /// The nearest memory, if none fits a search.
    pub(crate) nearest: Option<(String, String)>,
}

/// Events that were found.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) entries: Vec<LogEntry>,
    /// `true` if there are more.
    pub(crate) more: bool,
}

/// A memory and all that is known of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) memory: Memory,
    /// The versions up to the moment, oldest first, each with the words that differ from the one before.
    pub(crate) versions: Vec<(Version, Vec<DiffPiece>)>,
    pub(crate) why: Why,
    /// The first line of each linked memory, by id.
    pub(crate) linked: BTreeMap<String, String>,
}

/// Something that was learned without a page that asked for it.
#[derive(Debug)]
pub(crate) enum News {
    /// The answer to the ask with this number.
    Answer(u64, Result<Answer, ServiceError>),
    /// The position of the newest event.
    Newest(u64),
    /// Events of the log, in order.
    Events(Vec<Instant>),
    /// Numbers of the moment that they were asked for.
    Counts(Option<String>, Box<Counts>),
    /// Names of sessions, by id.
    Names(BTreeMap<String, String>),
    /// A line from the store: a view was rebuilt, a torn tail was set aside.
    Notice(String),
}

/// The numbers of the page *Now*.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) stats: Stats,
    /// Events of the day of the moment.
    pub(crate) today: Today,
    /// Sessions with an event in the hour before the moment, newest first.
    pub(crate) at_work: Vec<AtWork>,
}

/// The events of a day in numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Today {
    pub(crate) stored: u64,
    pub(crate) changed: u64,
    pub(crate) recalls: u64,
    /// Recalls of hooks and wake-up packs: shown without being asked for.
    pub(crate) unasked: u64,
    /// Tokens of all that was shown.
    pub(crate) tokens: u64,
}

/// A session at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AtWork {
    pub(crate) id: String,
    pub(crate) actor: String,
    /// Time of its newest event, RFC 3339.
    pub(crate) last_at: String,
    pub(crate) ended: bool,
    pub(crate) stored: u64,
    pub(crate) changed: u64,
    pub(crate) recalls: u64,
    pub(crate) tokens: u64,
}
