//! Runs a script on the service and on the reference model, and compares the two.

use std::collections::{BTreeMap, BTreeSet};

use icm_api::{ListRequest, Memory, NoProgress, RecallAnswer, RecallRequest, StoreRequest};
use icm_service::StandOutConditions;
use proptest::test_runner::Config;

use crate::generate::EVERYWHERE;
use crate::model::{self, Model, Row, Rows};
use crate::script::{Command, Run, Script};

/// The service and the reference model, side by side.
pub struct Judge {
    /// The service.
    pub run: Run,
    /// The reference model.
    pub model: Model,
}

/// Returns proptest's configuration with `cases` cases, unless `PROPTEST_CASES` is set.
pub fn config(cases: u32) -> Config {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    if asked {
        Config::default()
    } else {
        Config::with_cases(cases)
    }
}

/// Returns the script with other aliases for its stores, so that it can follow another script.
pub fn renamed(script: &Script) -> Script {
    let mut script = script.clone();
    for command in &mut script.0 {
        if let Command::Store { alias, .. } = command {
            alias.push('2');
        }
    }
    script
}

/// Returns the memories of an answer, each with the words by which it was found, in no order.
pub fn results(answer: &RecallAnswer) -> BTreeMap<String, (Memory, Vec<String>)> {
    let hits = answer.results.iter();
    hits.map(|hit| {
        (
            hit.memory.id.clone(),
            (hit.memory.clone(), hit.matched.clone()),
        )
    })
    .collect()
}

type Check = Result<(), String>;

fn differ<T: std::fmt::Debug + PartialEq>(what: &str, is: &T, should: &T) -> Check {
    if is == should {
        Ok(())
    } else {
        Err(format!(
            "{what}\n  service: {is:#?}\n  model:   {should:#?}"
        ))
    }
}

impl Judge {
    /// Returns an empty store and an empty model.
    pub fn new() -> Judge {
        Judge {
            run: Run::new(0),
            model: Model::new(),
        }
    }

    /// Runs a command on both sides and compares the results.
    ///
    /// # Errors
    /// The difference.
    pub fn step(&mut self, command: &Command) -> Check {
        let before = self.run.basis().position;
        let text = self.run.step(command);
        let shown = self.run.shown().to_vec();
        let outcome = self.model.apply(command, &shown);
        let refused = text.starts_with("error: ");
        match outcome {
            Err(why) if !refused => {
                return Err(format!("{command}: {why}, yet it was done: {text}"));
            }
            Ok(_) if refused => return Err(format!("{command}: {text}")),
            Err(_) => {}
            Ok(mut actions) => {
                let receipts = self.run.receipts().iter();
                let mut done: Vec<_> = receipts
                    .map(|r| (self.run.alias(&r.id), r.action))
                    .collect();
                // The service chooses the order within one command.
                actions.sort_by(|a, b| a.0.cmp(&b.0));
                done.sort_by(|a, b| a.0.cmp(&b.0));
                differ(&command.to_string(), &done, &actions)?;
            }
        }
        let now = self.run.basis();
        if now.position < before {
            return Err(format!(
                "{command}: the position fell from {before} to {}",
                now.position
            ));
        }
        self.model.arrived(now);
        Ok(())
    }

    /// Compares the rows now.
    ///
    /// # Errors
    /// The difference.
    pub fn same_now(&self) -> Check {
        differ(
            "the rows now",
            &model::rows_of(&self.run, None),
            self.model.rows(),
        )
    }

    /// Compares the rows now, at every position and at every time.
    ///
    /// # Errors
    /// The difference.
    pub fn same_always(&self) -> Check {
        self.same_now()?;
        let end = self.run.basis().position;
        for position in 1..=end {
            let should = self.model.rows_at(position).cloned().unwrap_or_default();
            let at = format!("@{position}");
            differ(
                &format!("the rows at {at}"),
                &model::rows_of(&self.run, Some(&at)),
                &should,
            )?;
        }
        for (basis, _) in self.model.history().iter().skip(1) {
            let should = self
                .model
                .rows_at_time(&basis.at)
                .cloned()
                .unwrap_or_default();
            let is = model::rows_of(&self.run, Some(&basis.at));
            differ(&format!("the rows at {}", basis.at), &is, &should)?;
        }
        self.histories_agree()
    }

    /// Checks that the last version in each history is the row, and that the versions follow each other without gaps.
    fn histories_agree(&self) -> Check {
        for (alias, row) in self.model.rows() {
            let versions = self
                .run
                .service()
                .history(&self.run.id(alias))
                .map_err(|error| format!("history {alias}: {error}"))?;
            for pair in versions.windows(2) {
                if pair[0].until != Some(pair[1].position) {
                    return Err(format!("history {alias}: a gap in {versions:#?}"));
                }
            }
            let Some(last) = versions.last() else {
                return Err(format!("no history of {alias}"));
            };
            if last.until.is_some() {
                return Err(format!(
                    "history {alias}: the newest version ended: {last:#?}"
                ));
            }
            // A recall raises the count, but makes no version.
            let mut should = row.clone();
            let mut is = Row::of(&last.memory);
            (should.access_count, is.access_count) = (0, 0);
            differ(&format!("the newest version of {alias}"), &is, &should)?;
        }
        Ok(())
    }

    /// Checks that `icm verify` finds nothing, and counts the right number of positions.
    ///
    /// # Errors
    /// The findings.
    pub fn verifies(&self) -> Check {
        let report = self
            .run
            .service()
            .verify(&NoProgress)
            .map_err(|error| error.to_string())?;
        if !report.ok || !report.findings.is_empty() {
            return Err(format!("verify: {report:#?}"));
        }
        differ("positions", &report.positions, &self.run.basis().position)
    }

    /// Returns the state hash that `icm verify` computes from a fresh fold.
    ///
    /// # Panics
    /// If it cannot be computed.
    pub fn state_hash(&self) -> Option<String> {
        self.run
            .service()
            .verify(&NoProgress)
            .expect("it verifies")
            .state_hash
    }

    fn recall(
        &self,
        query: &str,
        at: Option<&str>,
        happened_by: Option<&str>,
    ) -> Option<RecallAnswer> {
        let request = RecallRequest {
            limit: Some(1_000),
            at: at.map(str::to_owned),
            happened_by: happened_by.map(str::to_owned),
            floor: Some(0.0),
            ..RecallRequest::new(query)
        };
        if self.run.basis().position == 0 {
            return None;
        }
        let answer = self.run.service().recall(&Default::default(), &request);
        Some(answer.unwrap_or_else(|error| panic!("recall {query} --at {at:?}: {error}")))
    }

    /// Returns the rows of an answer. The answer gives only ids for memories that say the same as a result; these count
    /// as their rows in `should`, if they have one there.
    fn found(&self, answer: &RecallAnswer, should: &Rows) -> Rows {
        let of = |memory: &Memory| (self.run.alias(&memory.id), Row::of(memory));
        let mut found: Rows = answer.results.iter().map(|hit| of(&hit.memory)).collect();
        for id in answer.results.iter().flat_map(|hit| &hit.repeats) {
            let alias = self.run.alias(id);
            if let Some(row) = should.get(&alias) {
                found.insert(alias, row.clone());
            }
        }
        found
    }

    /// Checks that a query which fits all memories finds the living rows, now and at every position.
    ///
    /// # Errors
    /// The difference.
    pub fn text_agrees(&self) -> Check {
        let living = |rows: &Rows| -> Rows {
            let rows = rows.iter().filter(|(_, row)| !row.forgotten);
            rows.map(|(alias, row)| (alias.clone(), row.clone()))
                .collect()
        };
        let Some(now) = self.recall(EVERYWHERE, None, None) else {
            return Ok(());
        };
        differ(
            "what the text finds now",
            &self.found(&now, self.model.rows()),
            &living(self.model.rows()),
        )?;
        self.what_stands_out_agrees()?;
        for position in 1..=self.run.basis().position {
            let at = format!("@{position}");
            let rows = self.model.rows_at(position).map(living).unwrap_or_default();
            let answer = self
                .recall(EVERYWHERE, Some(&at), None)
                .expect("the store has events");
            differ(
                &format!("what the text finds at {at}"),
                &self.found(&answer, &rows),
                &rows,
            )?;
        }
        Ok(())
    }

    /// Checks that the memories which stand out by their short records are those of the list.
    fn what_stands_out_agrees(&self) -> Check {
        let service = self.run.service();
        let stands_out = |memory: &Memory| {
            memory.importance >= icm_api::Importance::High || memory.pinned_until.is_some()
        };
        let wanted = StandOutConditions {
            importance: icm_log::facts::Importance::High,
            topic: &|topic| topic == "prefs",
            after: None,
        };
        let caller = icm_api::Caller::default();
        let seen = service.seen_from(&caller, usize::MAX / 2, &wanted, &|_| Some(1.0));
        let (_, seen) = seen.map_err(|error| error.to_string())?;
        let sees = |memory: &Memory| memory.scope == "global";
        let ids = |memories: Vec<Memory>, fits: &dyn Fn(&Memory) -> bool| -> BTreeSet<String> {
            let memories = memories.into_iter().filter(|it| sees(it) && fits(it));
            memories.map(|memory| memory.id).collect()
        };
        let listed = service.list(&ListRequest::default());
        let listed = listed.map_err(|error| error.to_string())?;
        let expected = ids(listed, &|it| stands_out(it) || it.topic == "prefs");
        let found = ids(
            seen.into_iter().map(|(memory, _)| memory).collect(),
            &|_| true,
        );
        match found == expected {
            true => Ok(()),
            false => Err(format!(
                "what stands out: {found:?} instead of {expected:?}"
            )),
        }
    }

    /// Checks that the state by event time is the state now for the end of time, and the state then for the time of
    /// each event.
    ///
    /// # Errors
    /// The difference.
    pub fn happened_by_agrees(&self) -> Check {
        let living = |rows: &Rows| -> Rows {
            let rows = rows.iter().filter(|(_, row)| !row.forgotten);
            rows.map(|(alias, row)| (alias.clone(), row.clone()))
                .collect()
        };
        for (basis, _) in self.model.history().iter().skip(1) {
            let rows = self
                .model
                .rows_at_time(&basis.at)
                .map(living)
                .unwrap_or_default();
            let answer = self
                .recall(EVERYWHERE, None, Some(&basis.at))
                .expect("there are events");
            differ(
                &format!("what happened by {}", basis.at),
                &self.found(&answer, &rows),
                &rows,
            )?;
        }
        let Some(all) = self.recall(EVERYWHERE, None, Some("2026-12-31")) else {
            return Ok(());
        };
        differ(
            "what happened by the end of time",
            &self.found(&all, self.model.rows()),
            &living(self.model.rows()),
        )
    }

    /// Checks that no view is ahead of the log.
    ///
    /// # Errors
    /// The view that is ahead.
    pub fn no_view_is_ahead(&self) -> Check {
        let stats = self
            .run
            .service()
            .stats(None)
            .map_err(|error| error.to_string())?;
        let end = self.run.basis().position;
        let ahead = stats.views.iter().find(|view| view.position > end);
        let unsure = stats
            .views
            .iter()
            .find(|view| view.position + view.behind != end);
        match ahead.or(unsure) {
            None => Ok(()),
            Some(view) => Err(format!("{view:?}, and the log ends at @{end}")),
        }
    }

    /// Returns every row and every answer as of now, to be asked again later.
    pub fn past(&self) -> Option<Past> {
        let position = self.run.basis().position;
        (position > 0).then(|| self.past_at(position))
    }

    /// Asks the same questions again.
    pub fn past_again(&self, past: &Past) -> Past {
        self.past_at(past.position)
    }

    fn past_at(&self, position: u64) -> Past {
        let at = format!("@{position}");
        let request = ListRequest {
            at: Some(at.clone()),
            forgotten: true,
            ..ListRequest::default()
        };
        let rows = self.run.service().list(&request).expect("it lists");
        let answer = self
            .recall(EVERYWHERE, Some(&at), None)
            .expect("the store has events");
        let mut found: Vec<_> = answer.results.into_iter().map(|hit| hit.memory).collect();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Past {
            position,
            rows,
            found,
        }
    }

    /// Returns the answer to a query, at the basis of an earlier answer if one is given.
    pub fn answer(&self, query: &str, at: Option<&RecallAnswer>) -> Option<RecallAnswer> {
        let at = at.map(|answer| match &answer.basis.moment {
            Some(moment) => moment.clone(),
            None => format!("@{}", answer.basis.position),
        });
        self.recall(query, at.as_deref(), None)
    }

    /// Returns every answer to some queries, now and at every position, as `--json` prints it.
    ///
    /// # Panics
    /// If a query fails.
    pub fn answers(&self) -> Vec<String> {
        let end = self.run.basis().position;
        let moments = (1..=end).map(|position| Some(format!("@{position}")));
        let moments: Vec<_> = moments.chain([None]).collect();
        let queries = ["green tea", "running support E0308 the", EVERYWHERE];
        let asked = queries.iter().flat_map(|query| {
            let answers = moments.iter().map(|at| {
                let mut answer = self.recall(query, at.as_deref(), None)?;
                // The moment of an answer for now is the clock's.
                answer.basis.moment = answer.basis.moment.filter(|_| at.is_some());
                Some(answer)
            });
            answers.flatten().collect::<Vec<_>>()
        });
        asked
            .map(|answer| serde_json::to_string(&answer).expect("answers are plain values"))
            .collect()
    }

    /// Stores twice with one request id, then with other content, and checks the receipts.
    ///
    /// # Errors
    /// The difference.
    pub fn requests_are_done_once(&mut self, number: u64) -> Check {
        let request = |content: &str| StoreRequest {
            request_id: Some(format!("request {number}")),
            ..StoreRequest::new("requests", content)
        };
        let caller = icm_api::Caller {
            actor: "user".to_owned(),
            ..Default::default()
        };
        let store = |run: &Run, content: &str| run.service().store(&caller, request(content));
        let first = store(&self.run, "one").map_err(|error| error.to_string())?;
        for reopened in [false, true] {
            if reopened {
                self.run.while_closed(|_| {});
            }
            let again = store(&self.run, "one").map_err(|error| error.to_string())?;
            differ("the receipt of a repeated request", &again, &first)?;
            match store(&self.run, "two") {
                Err(icm_api::error::ServiceError::Conflict { .. }) => {}
                other => return Err(format!("other content under a used request id: {other:?}")),
            }
        }
        differ(
            "the newest position",
            &self.run.basis().position,
            &first.position,
        )
    }
}

impl Default for Judge {
    fn default() -> Self {
        Judge::new()
    }
}

/// The answers as of a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    position: u64,
    rows: Vec<Memory>,
    found: Vec<Memory>,
}
