//! The values of a fact in order of valid time.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::fields;
use icm_log::{CommandId, Event, EventId, Kind, Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{
    EntityId, InChain, Stamp, Version, as_written, canonical_order, written_by,
};

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::when::{rfc3339, rfc3339_signed};
use icm_api::{FACTS, Fact, FactState, NextValue, fact_text, fact_value};

/// A value that an event stated.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// The value; `None` if its text is withheld or damaged.
    pub(super) value: Option<String>,
    /// First moment of its validity, in milliseconds since the epoch.
    pub(super) from_ms: i64,
    /// The event (64 hex digits).
    pub(super) event: String,
    pub(super) position: Position,
    /// Time of the event by the author's clock, in milliseconds since the epoch.
    pub(super) learned_ms: u64,
    /// Name of the actor.
    pub(super) actor: String,
}

/// A statement, and the time in which its value is valid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spell<'a> {
    pub(super) statement: &'a Statement,
    /// End of its validity, exclusive; `None` if no later value is known.
    pub(super) until_ms: Option<i64>,
    /// The event of a later statement about the same moment.
    pub(super) corrected_by: Option<&'a str>,
}

/// The statements about a fact, in the order in which they were written: each after those that its event saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Statements(pub(super) Vec<Statement>);

impl Statements {
    /// Returns the statements by valid time. Of several about one moment the one written last holds. A statement that
    /// repeats the one before about the same moment is left out.
    pub(super) fn spells(&self) -> Vec<Spell<'_>> {
        let mut moments: BTreeMap<i64, Vec<&Statement>> = BTreeMap::new();
        for statement in &self.0 {
            let said = moments.entry(statement.from_ms).or_default();
            let repeats = |last: &&Statement| last.value.is_some() && last.value == statement.value;
            if !said.last().is_some_and(repeats) {
                said.push(statement);
            }
        }
        let starts: Vec<i64> = moments.keys().copied().collect();
        let ends = starts.iter().skip(1).copied().map(Some).chain([None]);
        let mut spells = Vec::with_capacity(self.0.len());
        for (said, until_ms) in moments.values().zip(ends) {
            for (index, statement) in said.iter().enumerate() {
                let corrected_by = said.get(index + 1).map(|next| &*next.event);
                spells.push(Spell {
                    statement,
                    until_ms: until_ms.filter(|_| corrected_by.is_none()),
                    corrected_by,
                });
            }
        }
        spells
    }

    /// Returns the value that is valid at a time, in milliseconds since the epoch.
    pub(super) fn valid_at(&self, ms: i64) -> Option<Spell<'_>> {
        let spells = self.spells().into_iter();
        let mut begun = spells.filter(|spell| spell.statement.from_ms <= ms);
        begun.rfind(|spell| spell.corrected_by.is_none())
    }

    /// Returns the value of the first moment at which the fact has any.
    pub(super) fn first(&self) -> Option<Spell<'_>> {
        self.valid_from(self.0.iter().map(|it| it.from_ms).min()?)
    }

    /// Returns the value that is valid at a time, in the form that callers see, with the planned value after it. `moment_ms`
    /// is the moment of the answer, in milliseconds since the epoch.
    pub(super) fn fact_at(&self, ms: i64, moment_ms: i64, row: &FactRow) -> Option<Fact> {
        Some(self.with_next(&self.valid_at(ms)?, moment_ms, row))
    }

    /// Returns the first value, if it is planned, with the planned value after it.
    pub(super) fn planned_fact(&self, moment_ms: i64, row: &FactRow) -> Option<Fact> {
        let first = self.first()?;
        let is_planned = first.statement.from_ms > moment_ms;
        is_planned.then(|| self.with_next(&first, moment_ms, row))
    }

    fn with_next(&self, spell: &Spell<'_>, moment_ms: i64, row: &FactRow) -> Fact {
        let planned = spell.until_ms.filter(|until_ms| *until_ms > moment_ms);
        let next = planned.and_then(|from_ms| self.valid_from(from_ms));
        Fact {
            next: next.map(|next| NextValue {
                value: next.statement.value.clone(),
                valid_from: rfc3339_signed(next.statement.from_ms),
            }),
            ..spell.fact(row, moment_ms)
        }
    }

    /// Returns the value that holds from exactly this time on.
    pub(super) fn valid_from(&self, ms: i64) -> Option<Spell<'_>> {
        self.valid_at(ms)
            .filter(|spell| spell.statement.from_ms == ms)
    }
}

impl Spell<'_> {
    /// Returns the value in the form that callers see, as of a moment in milliseconds since the epoch. `row` has the names
    /// of the fact.
    pub(super) fn fact(&self, row: &FactRow, moment_ms: i64) -> Fact {
        let statement = self.statement;
        Fact {
            id: row.id.clone(),
            scope: row.scope.clone(),
            subject: row.subject.clone(),
            attribute: row.attribute.clone(),
            value: statement.value.clone(),
            valid_from: rfc3339_signed(statement.from_ms),
            valid_until: self.until_ms.map(rfc3339_signed),
            learned_at: rfc3339(statement.learned_ms),
            actor: statement.actor.clone(),
            event: statement.event.clone(),
            position: statement.position.0,
            state: self.state(moment_ms),
            next: None,
            corrected_by: self.corrected_by.map(str::to_owned),
        }
    }

    fn state(&self, moment_ms: i64) -> FactState {
        match (self.corrected_by, self.until_ms) {
            (Some(_), _) => FactState::Corrected,
            _ if self.statement.from_ms > moment_ms => FactState::Planned,
            (None, Some(until_ms)) if until_ms <= moment_ms => FactState::Earlier,
            (None, _) => FactState::Current,
        }
    }
}

/// The names of a fact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FactRow {
    pub(super) id: String,
    pub(super) scope: String,
    pub(super) subject: String,
    pub(super) attribute: String,
}

impl FactRow {
    /// Returns the names of the fact that a row is; `None` for a row that is no fact.
    pub(super) fn of(row: &Version) -> Option<FactRow> {
        let subject = row.topic.as_deref()?.strip_prefix(FACTS)?;
        Some(FactRow {
            id: icm_api::ids::id_text(row.id),
            scope: row.scope_text(),
            subject: subject.to_owned(),
            attribute: row.key.clone()?,
        })
    }

    /// Returns the text that a memory of this fact has for a value.
    pub(super) fn text_of(&self, value: &str) -> String {
        fact_text(&self.subject, &self.attribute, value)
    }

    /// Returns the value in a text of the memory.
    pub(super) fn value_of(&self, text: &str) -> String {
        fact_value(&self.subject, &self.attribute, text).to_owned()
    }
}

/// Returns the subject that a topic of facts is about.
pub(super) fn subject_of(topic: &str) -> &str {
    topic.strip_prefix(FACTS).unwrap_or(topic)
}

/// The text and the valid time that an event wrote.
struct Written {
    stamp: Stamp,
    subject: SubjectId,
    command: CommandId,
    is_stored: bool,
    undone: bool,
    /// `true` if the event saw an undo: an undo writes the current value again.
    saw_undo: bool,
    refs: Vec<EventId>,
    /// `None` if the event did not write the text; the inner `None` is a text that is withheld.
    value: Option<Option<String>>,
    /// `None` if the event did not write the time.
    from_ms: Option<i64>,
    position: Position,
    actor: String,
}

impl Written {
    /// Returns the text and the time; `None` if the event wrote neither.
    fn of(
        event: &Event<'_>,
        row: &Version,
        (undone, saw_undo): (bool, bool),
        actor: String,
    ) -> Option<Written> {
        let wrote = written_by(event) & (fields::CONTENT | fields::OCCURRED_AT);
        if wrote == 0 {
            return None;
        }
        let written = as_written(row, wrote, event);
        let has = |field| wrote & field != 0;
        Some(Written {
            stamp: Stamp {
                time: event.head.time(),
                origin: event.head.origin(),
                event: event.id,
            },
            subject: event.head.subject(),
            command: event.head.command(),
            is_stored: event.head.kind() == Kind::MEMORY_STORED,
            undone,
            saw_undo,
            refs: event.head.refs().collect(),
            value: has(fields::CONTENT).then(|| match (written.content, FactRow::of(row)) {
                (Some(text), Some(names)) => Some(names.value_of(&text)),
                (text, _) => text,
            }),
            from_ms: written.occurred_at_ms.filter(|_| has(fields::OCCURRED_AT)),
            position: event.position,
            actor,
        })
    }
}

/// A statement with the parts that later events inherit.
struct Stated {
    statement: Statement,
    event: EventId,
    /// The valid time that was given, by this event or one before it.
    given_ms: Option<i64>,
    command: CommandId,
    undone: bool,
    /// `true` if the event only gave the memory its current value back.
    restores: bool,
    /// `true` if the fact was forgotten and then set anew: its earlier values ended with it.
    ended: bool,
}

impl Stated {
    fn counts(&self) -> bool {
        !self.undone && !self.ended
    }
}

/// Returns events in the order in which every machine folds them: each after those that it saw, else by stamp. Clocks
/// that differ do not put an answer before its question.
fn in_order(written: Vec<Written>) -> Vec<Written> {
    let ids = written.iter().map(|it| it.stamp.event).zip(0..);
    let places: BTreeMap<EventId, usize> = ids.collect();
    let named = |it: &Written| {
        let mut named: Vec<usize> = it
            .refs
            .iter()
            .filter_map(|id| places.get(id).copied())
            .collect();
        named.sort_unstable();
        named.dedup();
        named
    };
    let before: Vec<Vec<usize>> = written.iter().map(named).collect();
    let stamps: Vec<Stamp> = written.iter().map(|it| it.stamp).collect();
    let order = canonical_order(&stamps, &before);
    let mut written: Vec<Option<Written>> = written.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| written[at].take())
        .collect()
}

/// Returns the statements that events made.
///
/// - A text without a time keeps the time of the statement that its event saw: it corrects that one. A time without a
///   text keeps the text.
/// - A text without any time is valid from the time of its event.
/// - An event that repeats an earlier statement, after another one of its own command or after an undo, states nothing.
/// - As in the row, an update counts only after a `stored` in force.
/// - A command that states a value and revives the memory (`anew`) begins the fact anew: earlier values count no more. A
///   revival alone brings them back.
fn statements(written: Vec<Written>, anew: &BTreeSet<CommandId>) -> Statements {
    let mut all: Vec<Stated> = Vec::with_capacity(written.len());
    let mut is_there = false;
    for event in in_order(written) {
        is_there |= event.is_stored && !event.undone;
        if !is_there && !event.is_stored {
            continue;
        }
        if !event.undone && anew.contains(&event.command) {
            let earlier = all.iter_mut().filter(|it| it.command != event.command);
            earlier.for_each(|it| it.ended = true);
        }
        let in_force = || all.iter().rev().filter(|it| it.counts());
        let seen = in_force().find(|it| event.refs.contains(&it.event));
        let before = seen.or(in_force().next());
        let value = match (event.value, before) {
            (Some(value), _) => value,
            (None, Some(before)) => before.statement.value.clone(),
            (None, None) => continue,
        };
        let given_ms = event.from_ms.or(before.and_then(|before| before.given_ms));
        let learned_ms = event.stamp.time.ms();
        let from_ms = given_ms.unwrap_or_else(|| i64::try_from(learned_ms).unwrap_or(i64::MAX));
        let repeated = |it: &Stated| it.statement.from_ms == from_ms && it.statement.value == value;
        let is_second = all.iter().any(|it| it.command == event.command);
        let restores = (is_second || event.saw_undo) && all.iter().any(repeated);
        all.push(Stated {
            statement: Statement {
                value,
                from_ms,
                event: event.stamp.event.to_string(),
                position: event.position,
                learned_ms,
                actor: event.actor,
            },
            event: event.stamp.event,
            given_ms,
            command: event.command,
            undone: event.undone,
            restores,
            ended: false,
        });
    }
    let counts = |it: &Stated| it.counts() && !it.restores;
    Statements(
        all.into_iter()
            .filter(counts)
            .map(|it| it.statement)
            .collect(),
    )
}

impl Service {
    /// Returns the statements about a fact that were in force as of a position. Reads the events about the memory.
    pub(super) fn statements_of(
        &self,
        views: &Views,
        entity: EntityId,
        row: &Version,
        position: Position,
    ) -> QueryResult<Statements> {
        let undos = views.undos()?.as_of(position);
        let is_undone = |at: &InChain| undos.is_undone(at);
        self.statements_where(views, entity, row, position, &is_undone)
    }

    /// Returns the statements about a fact as of a position, as if `is_undone` said which events are undone.
    pub(super) fn statements_where(
        &self,
        views: &Views,
        entity: EntityId,
        row: &Version,
        position: Position,
        is_undone: &dyn Fn(&InChain) -> bool,
    ) -> QueryResult<Statements> {
        let mut positions = views.touched(entity)?;
        positions.retain(|it| *it <= position);
        let mut written = Vec::with_capacity(positions.len());
        let mut anew = BTreeSet::new();
        let undos = views.undos()?;
        views.events_at(&self.log, &positions, &mut |event| {
            let undone = is_undone(&InChain::of(event));
            if event.head.kind() == Kind::MEMORY_REVIVED && !undone {
                anew.insert(event.head.command());
            }
            let actor = self.actor_name(views, event.head.actor());
            let saw_undo = event.head.refs().any(|seen| undos.get(seen).is_some());
            written.extend(Written::of(event, row, (undone, saw_undo), actor));
        })?;
        let mut own = Vec::with_capacity(written.len());
        for event in written {
            // A consolidation of this memory writes the text of its summary.
            if views.resolve(event.subject)? == entity {
                own.push(event);
            }
        }
        Ok(statements(own, &anew))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns statements for `VALUE FROM`, in the order in which they were written.
    fn said(script: &[(&str, i64)]) -> Statements {
        let statements = script
            .iter()
            .zip(1..)
            .map(|((value, from_ms), n)| Statement {
                value: (*value != "?").then(|| (*value).to_owned()),
                from_ms: *from_ms,
                event: n.to_string(),
                position: Position(n),
                learned_ms: 1_000,
                actor: "user".to_owned(),
            });
        Statements(statements.collect())
    }

    /// Returns the spells as `VALUE FROM..UNTIL`, corrected ones with `x`.
    fn shown(statements: &Statements) -> String {
        let spells = statements.spells();
        let texts = spells.iter().map(|spell| {
            let value = spell.statement.value.as_deref().unwrap_or("?");
            let end = match (spell.corrected_by, spell.until_ms) {
                (Some(_), _) => "x".to_owned(),
                (None, Some(until)) => until.to_string(),
                (None, None) => String::new(),
            };
            format!("{value} {}..{end}", spell.statement.from_ms)
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn values_stand_in_the_order_of_their_validity() {
        for (script, expected) in [
            (&[][..], ""),
            (&[("a", 10)], "a 10.."),
            (&[("a", 10), ("b", 20)], "a 10..20, b 20.."),
            (&[("b", 20), ("a", 10)], "a 10..20, b 20.."),
            (
                &[("a", 10), ("c", 30), ("b", 20)],
                "a 10..20, b 20..30, c 30..",
            ),
            (&[("a", 10), ("b", 10)], "a 10..x, b 10.."),
            (&[("a", 10), ("a", 10)], "a 10.."),
            (
                &[("a", 10), ("b", 10), ("a", 10)],
                "a 10..x, b 10..x, a 10..",
            ),
            (&[("?", 10), ("?", 10)], "? 10..x, ? 10.."),
            (
                &[("a", 10), ("b", 10), ("c", 20)],
                "a 10..x, b 10..20, c 20..",
            ),
        ] {
            assert_eq!(shown(&said(script)), expected, "{script:?}");
        }
    }

    #[test]
    fn one_value_is_valid_at_a_time() {
        let statements = said(&[("b", 20), ("a", 10), ("x", 30), ("c", 30)]);
        for (ms, expected) in [
            (9, None),
            (10, Some("a")),
            (19, Some("a")),
            (20, Some("b")),
            (30, Some("c")),
            (99, Some("c")),
        ] {
            let valid = statements.valid_at(ms);
            let value = valid.and_then(|spell| spell.statement.value.as_deref());
            assert_eq!(value, expected, "{ms}");
        }
        assert!(statements.valid_from(20).is_some() && statements.valid_from(21).is_none());
    }

    /// An event that wrote `value` at a time of its author's clock, after it had seen `refs`. Each is a command of its
    /// own, unless `command` says otherwise.
    fn wrote(n: u8, ms: u64, value: Option<&str>, from_ms: Option<i64>, refs: &[u8]) -> Written {
        Written {
            stamp: Stamp {
                time: icm_log::Time::from_ms(ms),
                origin: icm_log::OriginId([1; 16]),
                event: EventId([n; 32]),
            },
            subject: SubjectId::ZERO,
            command: CommandId([n; 16]),
            is_stored: n == 1,
            undone: false,
            saw_undo: false,
            refs: refs.iter().map(|n| EventId([*n; 32])).collect(),
            value: value.map(|value| Some(value.to_owned())),
            from_ms,
            position: Position(u64::from(n)),
            actor: "user".to_owned(),
        }
    }

    #[test]
    fn an_event_comes_after_those_that_it_saw() {
        // The clock of the second author is behind.
        let corrected = vec![
            wrote(1, 1_000, Some("a"), Some(10), &[]),
            wrote(2, 500, Some("b"), Some(10), &[1]),
        ];
        assert_eq!(
            shown(&statements(corrected, &BTreeSet::new())),
            "a 10..x, b 10.."
        );
    }

    #[test]
    fn a_text_alone_corrects_and_a_time_alone_keeps_the_text() {
        let written = vec![
            wrote(1, 1_000, Some("a"), Some(10), &[]),
            wrote(2, 2_000, Some("b"), None, &[1]),
            wrote(3, 3_000, None, Some(20), &[2]),
        ];
        assert_eq!(
            shown(&statements(written, &BTreeSet::new())),
            "a 10..x, b 10..20, b 20.."
        );
        let timeless = vec![
            wrote(1, 1_000, Some("a"), None, &[]),
            wrote(2, 2_000, Some("b"), None, &[1]),
        ];
        assert_eq!(
            shown(&statements(timeless, &BTreeSet::new())),
            "a 1000..2000, b 2000.."
        );
    }

    #[test]
    fn a_value_that_a_command_gives_back_is_no_statement() {
        let written = |is_undone: bool| {
            vec![
                wrote(1, 1_000, Some("a"), Some(10), &[]),
                Written {
                    undone: is_undone,
                    ..wrote(2, 2_000, Some("b"), Some(30), &[1])
                },
                wrote(3, 3_000, Some("late"), Some(20), &[2]),
                Written {
                    command: CommandId([3; 16]),
                    ..wrote(4, 3_000, Some("b"), Some(30), &[2, 3])
                },
            ]
        };
        assert_eq!(
            shown(&statements(written(false), &BTreeSet::new())),
            "a 10..20, late 20..30, b 30.."
        );
        assert_eq!(
            shown(&statements(written(true), &BTreeSet::new())),
            "a 10..20, late 20.."
        );
    }

    #[test]
    fn an_update_before_any_store_in_force_does_not_count() {
        let written = vec![
            Written {
                undone: true,
                ..wrote(1, 1_000, Some("a"), Some(10), &[])
            },
            wrote(2, 2_000, Some("b"), Some(20), &[1]),
            Written {
                is_stored: true,
                ..wrote(3, 3_000, Some("c"), Some(5), &[2])
            },
        ];
        assert_eq!(shown(&statements(written, &BTreeSet::new())), "c 5..");
    }

    #[test]
    fn a_fact_that_is_set_after_it_was_forgotten_begins_anew() {
        let written = |is_undone: bool| {
            vec![
                wrote(1, 1_000, Some("a"), Some(10), &[]),
                wrote(2, 2_000, Some("planned"), Some(90), &[1]),
                Written {
                    undone: is_undone,
                    ..wrote(3, 3_000, Some("b"), Some(30), &[2])
                },
            ]
        };
        let anew = BTreeSet::from([CommandId([3; 16])]);
        assert_eq!(shown(&statements(written(false), &anew)), "b 30..");
        assert_eq!(
            shown(&statements(written(true), &anew)),
            "a 10..90, planned 90.."
        );
    }
}
