//! The reference model: keeps memories in the simplest way that can be right. It keeps every earlier state in full and
//! never looks at an event.

use std::collections::{BTreeMap, BTreeSet};

use icm_api::{Action, Basis, Importance, ListRequest, Memory, Trust};

use crate::script::{Command, Run};

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the fields of a memory")]
pub struct Row {
    pub topic: String,
    pub content: String,
    pub importance: Importance,
    pub keywords: Vec<String>,
    pub key: Option<String>,
    pub scope: String,
    pub trust: Trust,
    pub forgotten: bool,
    pub pinned: bool,
    pub expires: Option<String>,
    pub access_count: u64,
}

impl Row {
    /// Returns a memory of the service, reduced to the fields of the model.
    pub fn of(memory: &Memory) -> Row {
        Row {
            topic: memory.topic.clone(),
            content: memory
                .content
                .clone()
                .unwrap_or_else(|| "(withheld)".to_owned()),
            importance: memory.importance,
            keywords: memory.keywords.clone(),
            key: memory.key.clone(),
            scope: memory.scope.clone(),
            trust: memory.trust,
            forgotten: memory.forgotten,
            pinned: memory.pinned_until.is_some(),
            expires: memory.expires.clone(),
            access_count: memory.access_count,
        }
    }
}

/// All memories with tombstones, by the alias that the script gave them first.
pub type Rows = BTreeMap<String, Row>;

/// The result of a command by the model: the actions, or the refusal.
pub type Outcome = Result<Vec<(String, Action)>, &'static str>;

/// The state now, and at the end of every command so far.
#[derive(Debug, Clone, Default)]
pub struct Model {
    rows: Rows,
    /// Aliases of memories that have an earlier alias, by key.
    same_as: BTreeMap<String, String>,
    history: Vec<(Basis, Rows)>,
}

impl Model {
    /// Returns the model of an empty store.
    pub fn new() -> Model {
        Model::default()
    }

    /// Returns the memories now.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns the state after each command that wrote something, with its basis.
    pub fn history(&self) -> &[(Basis, Rows)] {
        &self.history
    }

    /// Returns the state at a position; within a command's batch, the state at its end.
    pub fn rows_at(&self, position: u64) -> Option<&Rows> {
        self.history
            .iter()
            .find(|(basis, _)| basis.position >= position)
            .map(|(_, rows)| rows)
    }

    /// Returns the state known at a time. On one machine it equals the state by event time.
    pub fn rows_at_time(&self, at: &str) -> Option<&Rows> {
        self.history
            .iter()
            .rev()
            .find(|(basis, _)| basis.at.as_str() <= at)
            .map(|(_, rows)| rows)
    }

    /// Remembers the state as that of `basis`, unless nothing was written.
    pub fn arrived(&mut self, basis: Basis) {
        if self.history.is_empty() && basis.position > 0 {
            // The batch that starts the origin comes before the first command's batch.
            let event = String::new();
            let started = Basis {
                position: ORIGIN_EVENTS,
                event,
                at: String::new(),
                moment: None,
            };
            self.history.push((started, Rows::new()));
        }
        if self.history.last().map_or(0, |(last, _)| last.position) < basis.position {
            self.history.push((basis, self.rows.clone()));
        }
    }

    fn resolve(&self, alias: &str) -> Result<String, &'static str> {
        let alias = self.same_as.get(alias).map_or(alias, String::as_str);
        if self.rows.contains_key(alias) {
            Ok(alias.to_owned())
        } else {
            Err("no such memory")
        }
    }

    /// Does a command. `shown` are the memories that a recall showed, or a prune forgot.
    pub fn apply(&mut self, command: &Command, shown: &[String]) -> Outcome {
        match command {
            Command::Store {
                alias,
                topic,
                content,
                importance,
                keywords,
                key,
                scope,
                trust,
                request: _,
            } => {
                let scope = scope.clone().unwrap_or_else(|| "global".to_owned());
                let mut there = self.rows.iter().filter(|(_, row)| {
                    key.is_some() && (&row.key, &row.topic, &row.scope) == (key, topic, &scope)
                });
                if let Some((existing, row)) = there.next() {
                    let (existing, mut new) = (existing.clone(), row.clone());
                    new.content.clone_from(content);
                    new.importance = importance.unwrap_or(new.importance);
                    if !keywords.is_empty() {
                        new.keywords = replaced(&new.keywords, keywords);
                    }
                    new.forgotten = false;
                    let action = match (row.forgotten, new == *row) {
                        (true, _) => Action::Stored,
                        (false, true) => Action::Unchanged,
                        (false, false) => Action::Updated,
                    };
                    self.rows.insert(existing.clone(), new);
                    if *alias != existing {
                        self.same_as.insert(alias.clone(), existing.clone());
                    }
                    return Ok(vec![(existing, action)]);
                }
                let row = Row {
                    topic: topic.clone(),
                    content: content.clone(),
                    importance: importance.unwrap_or(Importance::Medium),
                    keywords: keywords.clone(),
                    key: key.clone(),
                    scope,
                    trust: trust.unwrap_or(Trust::User),
                    forgotten: false,
                    pinned: false,
                    expires: None,
                    access_count: 0,
                };
                self.rows.insert(alias.clone(), row);
                Ok(vec![(alias.clone(), Action::Stored)])
            }
            Command::Update {
                alias,
                content,
                importance,
                keywords,
                topic,
                scope,
                request: _,
            } => {
                let alias = self.resolve(alias)?;
                let old = &self.rows[&alias];
                if old.forgotten {
                    return Err("it is forgotten");
                }
                let mut new = old.clone();
                new.content = content.clone().unwrap_or(new.content);
                new.importance = importance.unwrap_or(new.importance);
                if let Some(keywords) = keywords {
                    new.keywords = replaced(&new.keywords, keywords);
                }
                new.topic = topic.clone().unwrap_or(new.topic);
                new.scope = scope.clone().unwrap_or(new.scope);
                let action = if new == *old {
                    Action::Unchanged
                } else {
                    Action::Updated
                };
                self.rows.insert(alias.clone(), new);
                Ok(vec![(alias, action)])
            }
            Command::Forget { aliases } => {
                let aliases: Result<BTreeSet<_>, _> =
                    aliases.iter().map(|alias| self.resolve(alias)).collect();
                Ok(aliases?
                    .into_iter()
                    .map(|alias| self.set_forgotten(alias, true))
                    .collect())
            }
            Command::ForgetTopic { topic } => {
                let of_topic = |row: &Row| row.topic == *topic && !row.forgotten;
                let those: Vec<_> = self.rows.iter().filter(|(_, row)| of_topic(row)).collect();
                let those: Vec<_> = those.into_iter().map(|(alias, _)| alias.clone()).collect();
                Ok(those
                    .into_iter()
                    .map(|alias| self.set_forgotten(alias, true))
                    .collect())
            }
            Command::Revive { alias } => {
                let alias = self.resolve(alias)?;
                Ok(vec![self.set_forgotten(alias, false)])
            }
            Command::Pin { alias } => {
                let alias = self.resolve(alias)?;
                match self.rows[&alias].forgotten {
                    true => Err("it is forgotten"),
                    false => Ok(vec![self.set_pinned(alias, true)]),
                }
            }
            Command::Unpin { alias } => {
                let alias = self.resolve(alias)?;
                Ok(vec![self.set_pinned(alias, false)])
            }
            // Scripts for the model set conditions that hide nothing, in the form in which answers have them.
            Command::Expire { alias, condition } => {
                let alias = self.resolve(alias)?;
                let row = self.rows.get_mut(&alias).expect("it was resolved");
                if row.forgotten {
                    return Err("it is forgotten");
                }
                let new = Some(condition.clone()).filter(|text| !text.is_empty());
                let action = match row.expires == new {
                    true => Action::Unchanged,
                    false => Action::Updated,
                };
                row.expires = new;
                Ok(vec![(alias, action)])
            }
            Command::Judge { alias, .. } => {
                let alias = self.resolve(alias)?;
                match self.rows[&alias].forgotten {
                    true => Err("it is forgotten"),
                    false => Ok(Vec::new()),
                }
            }
            Command::Recall { record: true, .. } => {
                for alias in shown {
                    self.rows
                        .get_mut(alias)
                        .expect("only memories are shown")
                        .access_count += 1;
                }
                Ok(Vec::new())
            }
            // `tests/decay.rs` checks which memories have faded, with another reference.
            Command::Prune { .. } => {
                for alias in shown {
                    self.set_forgotten(alias.clone(), true);
                }
                Ok(Vec::new())
            }
            Command::Rebuild if self.history.is_empty() => Err("there is nothing to rebuild"),
            Command::Get { alias, .. } | Command::History { alias } => {
                self.resolve(alias).map(|_| Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn set_pinned(&mut self, alias: String, pinned: bool) -> (String, Action) {
        let row = self.rows.get_mut(&alias).expect("it was resolved");
        let action = match (row.pinned == pinned, pinned) {
            (true, _) => Action::Unchanged,
            (false, true) => Action::Pinned,
            (false, false) => Action::Unpinned,
        };
        row.pinned = pinned;
        (alias, action)
    }

    fn set_forgotten(&mut self, alias: String, forgotten: bool) -> (String, Action) {
        let row = self.rows.get_mut(&alias).expect("it was resolved");
        let action = match (row.forgotten == forgotten, forgotten) {
            (true, _) => Action::Unchanged,
            (false, true) => Action::Forgotten,
            (false, false) => Action::Revived,
        };
        row.forgotten = forgotten;
        (alias, action)
    }
}

/// Number of events that start an origin: `log.origin_started` and `log.actor_named`.
const ORIGIN_EVENTS: u64 = 2;

/// Returns the keywords after `wanted` replaced `old`: those that stay keep their order.
fn replaced(old: &[String], wanted: &[String]) -> Vec<String> {
    let kept = old.iter().filter(|word| wanted.contains(word));
    let added = wanted.iter().filter(|word| !old.contains(word));
    kept.chain(added).cloned().collect()
}

/// Returns the rows that the service lists at `at` (`None`: now), with tombstones.
pub fn rows_of(run: &Run, at: Option<&str>) -> Rows {
    let request = ListRequest {
        at: at.map(str::to_owned),
        forgotten: true,
        ..ListRequest::default()
    };
    let listed = run.service().list(&request);
    let memories = listed.unwrap_or_else(|error| panic!("list --at {at:?}: {error}"));
    memories
        .iter()
        .map(|memory| (run.alias(&memory.id), Row::of(memory)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    fn after(script: &str) -> (Model, Vec<Outcome>) {
        let script: Script = script.parse().expect("a script");
        let mut model = Model::new();
        let outcomes = script
            .0
            .iter()
            .map(|command| model.apply(command, &[]))
            .collect();
        (model, outcomes)
    }

    #[test]
    fn a_key_names_one_memory() {
        let (model, outcomes) = after(
            "store $a -t x -c one --key k -k p,q\n\
             store $b -t x -c one --key k\n\
             store $c -t x -c two --key k -k q,r\n\
             forget $b\n\
             store $d -t x -c two --key k\n\
             store $e -t y -c two --key k",
        );
        let actions: Vec<_> = outcomes
            .into_iter()
            .map(|outcome| outcome.expect("it is done")[0].1)
            .collect();
        use Action::{Forgotten, Stored, Unchanged, Updated};
        assert_eq!(
            actions,
            [Stored, Unchanged, Updated, Forgotten, Stored, Stored]
        );
        assert_eq!(model.rows().keys().collect::<Vec<_>>(), ["$a", "$e"]);
        assert_eq!(model.rows()["$a"].content, "two");
        assert_eq!(model.rows()["$a"].keywords, ["q", "r"]);
    }

    #[test]
    fn forgotten_memories_are_not_updated() {
        let (model, outcomes) = after(
            "store $a -t x -c one\nforget $a\nforget $a\nupdate $a -c two\nrevive $a\nrevive $b",
        );
        assert_eq!(outcomes[2], Ok(vec![("$a".to_owned(), Action::Unchanged)]));
        assert_eq!(outcomes[3], Err("it is forgotten"));
        assert_eq!(outcomes[5], Err("no such memory"));
        assert!(!model.rows()["$a"].forgotten);
        assert_eq!(model.rows()["$a"].content, "one");
    }

    #[test]
    fn every_position_has_its_rows() {
        let basis = |position, at: &str| Basis {
            position,
            event: String::new(),
            at: at.to_owned(),
            moment: None,
        };
        let mut model = Model::new();
        model
            .apply(&"store $a -t x -c one".parse().expect("a command"), &[])
            .expect("stored");
        model.arrived(basis(3, "10"));
        model
            .apply(&"forget $a".parse().expect("a command"), &[])
            .expect("forgotten");
        model.arrived(basis(5, "20"));
        let forgotten =
            |rows: Option<&Rows>| rows.expect("rows").get("$a").map(|row| row.forgotten);
        let there: Vec<_> = (1..=5).map(|p| forgotten(model.rows_at(p))).collect();
        assert_eq!(there, [None, None, Some(false), Some(true), Some(true)]);
        assert_eq!(model.rows_at(6), None);
        assert_eq!(forgotten(model.rows_at_time("19")), Some(false));
        assert_eq!(forgotten(model.rows_at_time("20")), Some(true));
        assert_eq!(forgotten(model.rows_at_time("09")), None);
    }
}
