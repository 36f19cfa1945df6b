//! One page on the screen: its question, its answer, its rows, and the place in them.

use icm_api::{LogRequest, Sort, UndoRequest};

use crate::ask::{Answer, Ask, Counts, Wanted};
use crate::pages::{Page, Scene, event, help, log, memories, memory, now, time, topics, undo};
use crate::row::{Look, Row, Target, paragraph};
use crate::timeline::Timeline;

/// Rows of a list that are asked for at first. Raised, the first look at a large store is slower.
pub(crate) const ROWS: usize = 200;

/// Rows before the end of a list at which more are loaded. Raised, more is loaded than is looked at.
const LOAD_BEFORE: usize = 20;

/// Memories or events of a list at most. Raised, a list takes more memory than a person looks through.
const ROWS_MAX: usize = 20_000;

/// The subject of a view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Now,
    Memories(Wanted),
    /// The filter as it was typed, and as it was read.
    Log(String, Box<LogRequest>, usize),
    Time,
    Topics,
    /// A memory, by its id.
    Memory(String),
    /// An event, by its position.
    Event(u64),
    Undo(Box<UndoRequest>),
    Help,
}

impl Kind {
    /// Returns the list of all memories.
    pub(crate) fn memories() -> Kind {
        Kind::Memories(Wanted {
            query: None,
            topic: None,
            sort: Sort::Created,
            limit: ROWS,
        })
    }

    /// Returns the log without a filter.
    pub(crate) fn log() -> Kind {
        Kind::Log(String::new(), Box::default(), ROWS)
    }

    /// Returns `true` if only rows with a target are moved to.
    pub(crate) fn is_list(&self) -> bool {
        matches!(
            self,
            Kind::Now | Kind::Memories(_) | Kind::Log(..) | Kind::Time | Kind::Topics
        )
    }

    /// Returns `true` if new events may change the page.
    pub(crate) fn is_live(&self) -> bool {
        matches!(
            self,
            Kind::Now | Kind::Memories(_) | Kind::Log(..) | Kind::Topics | Kind::Memory(_)
        )
    }

    /// Returns the name of the view in the line of pages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Now => "Now",
            Kind::Memories(_) => "Memories",
            Kind::Log(..) => "Log",
            Kind::Time => "Time",
            Kind::Topics => "topics",
            Kind::Memory(_) => "memory",
            Kind::Event(_) => "event",
            Kind::Undo(_) => "undo",
            Kind::Help => "help",
        }
    }

    /// Returns the keys for the line at the bottom, the most useful first. `no_changes` leaves out those that change the
    /// store.
    pub(crate) fn keys(&self, no_changes: bool) -> Vec<(&'static str, &'static str)> {
        let mut keys = match self {
            Kind::Now => vec![
                ("j k", "move"),
                ("Enter", "open"),
                ("/", "search"),
                ("[ ]", "step"),
                ("{ }", "day"),
            ],
            Kind::Memories(_) => {
                vec![
                    ("/", "search"),
                    ("Enter", "open"),
                    ("t", "topics"),
                    ("s", "sort"),
                    ("[ ]", "step"),
                    ("Esc", "all"),
                ]
            }
            Kind::Log(..) => vec![
                ("/", "filter"),
                ("Enter", "open"),
                ("a", "as of this"),
                ("[ ]", "step"),
                ("Esc", "all"),
            ],
            Kind::Time => vec![
                ("Enter", "go there"),
                ("@", "date"),
                ("[ ]", "step"),
                ("{ }", "day"),
                ("n", "now"),
            ],
            Kind::Topics => vec![("Enter", "choose"), ("Esc", "back")],
            Kind::Memory(_) => vec![
                ("j k", "move"),
                ("Enter", "open"),
                ("a", "as of this"),
                ("[ ]", "step"),
                ("Esc", "back"),
            ],
            Kind::Event(_) => vec![
                ("[ ]", "event before, after"),
                ("a", "as of this"),
                ("Esc", "back"),
            ],
            Kind::Undo(_) => vec![
                ("y", "undo"),
                ("Esc", "leave it"),
                ("o", "only this"),
                ("c", "later ones, too"),
            ],
            Kind::Help => vec![("j k", "move"), ("Esc", "back")],
        };
        let has_undo = matches!(
            self,
            Kind::Now | Kind::Log(..) | Kind::Memory(_) | Kind::Event(_)
        );
        if has_undo && !no_changes {
            keys.insert(2, ("u", "undo"));
        }
        keys
    }

    /// Returns the question to the store; `None` if none is needed.
    pub(crate) fn ask(&self, at: &Option<String>) -> Option<Ask> {
        let at = at.clone();
        Some(match self {
            Kind::Now => Ask::Now { at, limit: ROWS },
            Kind::Memories(of) => Ask::Memories { of: of.clone(), at },
            Kind::Log(_, filter, limit) => Ask::Log {
                filter: filter.clone(),
                limit: *limit,
                at,
            },
            Kind::Topics => Ask::Topics { at },
            Kind::Memory(id) => Ask::Memory { id: id.clone(), at },
            Kind::Event(position) => Ask::Event {
                position: *position,
            },
            Kind::Undo(request) => Ask::Undo {
                request: request.clone(),
            },
            Kind::Time => Ask::Moment { at },
            Kind::Help => return None,
        })
    }
}

/// The parts of a page besides its answer.
pub(crate) struct Sources<'a> {
    pub(crate) counts: Option<&'a Counts>,
    pub(crate) timeline: &'a Timeline,
    pub(crate) read_only: bool,
}

/// A view.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) kind: Kind,
    pub(crate) answer: Option<Answer>,
    /// The error of the last question, with its advice.
    pub(crate) failed: Option<String>,
    pub(crate) page: Page,
    /// The chosen row.
    pub(crate) cursor: usize,
    /// The first row on the screen.
    pub(crate) top: usize,
    /// Number of the question whose answer is awaited.
    pub(crate) asked: Option<u64>,
    /// `true` if the store changed after the question.
    pub(crate) is_stale: bool,
}

impl View {
    pub(crate) fn new(kind: Kind) -> View {
        View {
            kind,
            answer: None,
            failed: None,
            page: Page::default(),
            cursor: 0,
            top: 0,
            asked: None,
            is_stale: false,
        }
    }

    /// Makes the rows again. The chosen row stays chosen; in a list the first one stays the first.
    pub(crate) fn lay_out(&mut self, scene: &Scene<'_>, sources: &Sources<'_>) {
        let was_first = self.cursor <= self.first();
        let chosen = self.target().cloned();
        self.page = self.make(scene, sources);
        let same = |row: &Row| chosen.is_some() && row.target == chosen;
        if self.kind.is_list() && was_first {
            (self.cursor, self.top) = (self.first(), 0);
        } else if self.target() != chosen.as_ref()
            && let Some(place) = self.page.rows.iter().position(same)
        {
            self.cursor = place;
        } else if self.cursor < self.page.rows.len() {
            self.cursor = self.nearest(self.cursor, true);
        }
    }

    fn make(&self, scene: &Scene<'_>, sources: &Sources<'_>) -> Page {
        if let Some(failed) = &self.failed {
            return Page {
                head: Vec::new(),
                rows: paragraph(failed, scene.columns, "", Look::Warn),
            };
        }
        match (&self.kind, &self.answer) {
            (Kind::Help, _) => help::page(scene, sources.read_only),
            (Kind::Time, _) => time::page(scene, sources.timeline),
            (Kind::Now, Some(Answer::Now(_, entries))) => now::page(scene, entries, sources.counts),
            (Kind::Memories(wanted), Some(Answer::Memories(_, found))) => {
                memories::page(scene, wanted, found)
            }
            (Kind::Log(filter, ..), Some(Answer::Log(_, events))) => {
                log::page(scene, filter, events)
            }
            (Kind::Topics, Some(Answer::Topics(topics))) => topics::page(scene, topics),
            (Kind::Memory(_), Some(Answer::Memory(_, known))) => memory::page(scene, known),
            (Kind::Event(_), Some(Answer::Event(detail))) => event::page(scene, detail),
            (Kind::Undo(request), Some(Answer::Undo(answer))) => {
                undo::page(scene, answer, request.only, request.cascade)
            }
            _ => Page {
                head: Vec::new(),
                rows: vec![Row::new().with("reading …", Look::Dim)],
            },
        }
    }

    /// Returns the thing of the chosen row beside the list, for a wide terminal.
    pub(crate) fn beside(&self, scene: &Scene<'_>) -> Option<Vec<Row>> {
        match (&self.kind, &self.answer, self.target()?) {
            (Kind::Memories(wanted), Some(Answer::Memories(_, found)), Target::Memory(id)) => {
                let hit = found.hits.iter().find(|hit| hit.memory.id == *id)?;
                Some(memories::beside(scene, wanted, hit))
            }
            (Kind::Log(..), Some(Answer::Log(_, events)), Target::Event(position)) => {
                let entry = events
                    .entries
                    .iter()
                    .find(|entry| entry.position == *position)?;
                Some(log::beside(scene, entry))
            }
            _ => None,
        }
    }

    /// Returns the thing of the chosen row.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.page.rows.get(self.cursor)?.target.as_ref()
    }

    /// Returns the position of the event that the view or its chosen row is about.
    pub(crate) fn event(&self) -> Option<u64> {
        match (&self.kind, self.target()) {
            (Kind::Event(position), _) => Some(*position),
            (_, Some(Target::Event(position))) => Some(*position),
            _ => None,
        }
    }

    /// Returns `true` if a row can be chosen: in a list one with a target, on another page one that is not blank.
    fn can_choose(&self, place: usize) -> bool {
        let row = self.page.rows.get(place);
        row.is_some_and(|row| match self.kind.is_list() {
            true => row.target.is_some(),
            false => !row.is_blank(),
        })
    }

    /// Returns the first row that can be chosen.
    fn first(&self) -> usize {
        self.nearest(0, false)
    }

    /// Returns the row nearest to a place that can be chosen, on the other side only if this one has none.
    fn nearest(&self, place: usize, is_before: bool) -> usize {
        let rows = self.page.rows.len();
        let before = (0..=place).rev().find(|place| self.can_choose(*place));
        let after = (place..rows).find(|place| self.can_choose(*place));
        let nearest = match is_before {
            true => before.or(after),
            false => after.or(before),
        };
        nearest.unwrap_or(place)
    }

    /// Moves by rows, and passes over those that cannot be chosen.
    pub(crate) fn move_by(&mut self, rows: isize, height: usize) {
        let last = self.page.rows.len().saturating_sub(1);
        let place = self.cursor.saturating_add_signed(rows).min(last);
        self.cursor = self.nearest(place, rows < 0);
        self.settle(height);
        if self.cursor <= self.first() {
            self.top = 0;
        }
    }

    /// Keeps the chosen row on the screen.
    pub(crate) fn settle(&mut self, height: usize) {
        let rows = self.page.rows.len();
        let height = height.max(1);
        self.cursor = self.cursor.min(rows.saturating_sub(1));
        self.top = self.top.min(rows.saturating_sub(height.min(rows)));
        self.top = self.top.min(self.cursor);
        self.top = self.top.max((self.cursor + 1).saturating_sub(height));
    }

    /// Asks for a longer list if the chosen row is near its end. Returns `true` if there is more to ask for.
    pub(crate) fn grow(&mut self) -> bool {
        let more = match &self.answer {
            Some(Answer::Memories(_, found)) => found.more,
            Some(Answer::Log(_, events)) => events.more,
            _ => false,
        };
        let is_near = self.cursor + LOAD_BEFORE >= self.page.rows.len();
        let limit = match &mut self.kind {
            Kind::Memories(wanted) => &mut wanted.limit,
            Kind::Log(_, _, limit) => limit,
            _ => return false,
        };
        if !more || !is_near || *limit >= ROWS_MAX || self.asked.is_some() {
            return false;
        }
        *limit = (*limit * 2).min(ROWS_MAX);
        true
    }
}
