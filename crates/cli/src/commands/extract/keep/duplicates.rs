//! Finds the duplicate of a candidate: a memory in any topic, a forgotten memory, or another candidate.

use std::collections::HashMap;

use icm_api::{ListRequest, Memory, RecallRequest};
use icm_extract::Compared;

use super::{Candidate, Run, is_extracted};
use crate::error::CliError;

/// Memories that a candidate is compared with. A duplicate shares most words with the candidate, so it ranks among the
/// first. Raised, each candidate costs more comparisons.
const COMPARED: usize = 10;

/// The memory or candidate that says the same as a candidate.
pub(super) struct Duplicate {
    /// The reason for skipping the candidate.
    pub(super) why: String,
    /// The memory's id; `None` for another candidate of the run.
    pub(super) id: Option<String>,
}

/// The search for duplicates of one run.
pub(super) struct Duplicates<'r> {
    run: &'r Run<'r>,
    /// Forgotten memories by topic. A topic is read for its first candidate that no living memory says already.
    forgotten: HashMap<String, Vec<(Compared, Memory)>>,
    /// Candidates of this run that are no duplicates.
    new: Vec<Compared>,
}

impl<'r> Duplicates<'r> {
    /// Begins the search of a run.
    ///
    /// # Errors
    /// The store cannot be read, or the scope is invalid.
    pub(super) fn of(run: &'r Run<'r>) -> Result<Duplicates<'r>, CliError> {
        // An invalid scope is refused even without candidates.
        run.service.list(&ListRequest {
            topic: Some(run.destination.topic.clone()),
            scope: Some(run.destination.scope().to_owned()),
            limit: Some(1),
            ..ListRequest::default()
        })?;
        Ok(Duplicates {
            run,
            forgotten: HashMap::new(),
            new: Vec::new(),
        })
    }

    /// Returns the duplicate of a candidate. A candidate without one counts as known from now on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn find(&mut self, candidate: &Candidate) -> Result<Option<Duplicate>, CliError> {
        let words = Compared::of(&candidate.found.text);
        if let Some(duplicate) = self.living(&candidate.found.text, &words)? {
            return Ok(Some(duplicate));
        }
        if let Some(duplicate) = self.forgotten(candidate, &words)? {
            return Ok(Some(duplicate));
        }
        if self.new.iter().any(|other| words.says_same(other)) {
            return Ok(Some(Duplicate {
                why: "another sentence of this run says the same".to_owned(),
                id: None,
            }));
        }
        self.new.push(words);
        Ok(None)
    }

    /// Returns a memory of any topic that is seen from the scope and says the same.
    fn living(&self, text: &str, words: &Compared) -> Result<Option<Duplicate>, CliError> {
        let request = RecallRequest {
            query: text.to_owned(),
            scope: Some(self.run.destination.scope().to_owned()),
            limit: Some(COMPARED),
            floor: Some(0.0),
            no_links: true,
            ..RecallRequest::default()
        };
        let near = self.run.service.recall(self.run.caller, &request)?;
        for memory in near.results.into_iter().map(|hit| hit.memory) {
            let Some(known) = memory.content.as_deref().map(Compared::of) else {
                continue;
            };
            if words.says_same(&known) {
                let why = format!("{} says the same ({:.2})", memory.id, words.alike(&known));
                let id = Some(memory.id);
                return Ok(Some(Duplicate { why, id }));
            }
        }
        Ok(None)
    }

    /// Returns a forgotten memory of the candidate's topic with the same text, or an extracted one that says the same:
    /// a person chose not to keep it.
    fn forgotten(
        &mut self,
        candidate: &Candidate,
        words: &Compared,
    ) -> Result<Option<Duplicate>, CliError> {
        if !self.forgotten.contains_key(&candidate.topic) {
            let memories = self.forgotten_of(&candidate.topic)?;
            self.forgotten.insert(candidate.topic.clone(), memories);
        }
        let memories = self.forgotten.get(&candidate.topic).into_iter().flatten();
        for (known, memory) in memories {
            let same = memory.content.as_deref() == Some(&candidate.found.text);
            if same || is_extracted(memory) && words.says_same(known) {
                let (id, like) = (&memory.id, words.alike(known));
                return Ok(Some(Duplicate {
                    why: format!("{id} says the same ({like:.2}), and was forgotten"),
                    id: Some(id.clone()),
                }));
            }
        }
        Ok(None)
    }

    /// Returns the forgotten memories of a topic, seen from the scope.
    fn forgotten_of(&self, topic: &str) -> Result<Vec<(Compared, Memory)>, CliError> {
        let scope = self.run.destination.scope();
        let mut found = Vec::new();
        for scope in [scope, "global"]
            .iter()
            .take(1 + usize::from(scope != "global"))
        {
            let memories = self.run.service.list(&ListRequest {
                topic: Some(topic.to_owned()),
                scope: Some((*scope).to_owned()),
                forgotten: true,
                ..ListRequest::default()
            })?;
            let forgotten = memories.into_iter().filter(|memory| memory.forgotten);
            found.extend(forgotten.filter_map(|memory| {
                let words = Compared::of(memory.content.as_deref()?);
                Some((words, memory))
            }));
        }
        Ok(found)
    }
}
