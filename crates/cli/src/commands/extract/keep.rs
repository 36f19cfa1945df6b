//! Storing what was found: what the topic says already is skipped, a secret is refused, the rest becomes one command.

use std::collections::HashMap;
use std::io::BufRead;

use icm_api::{Caller, ListRequest, Memory, NoProgress};
use icm_extract::{Compared, Found, Importance};
use icm_guard::secrets::{Action, Policy};
use icm_service::Service;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CliError;

/// The name of the field of the metadata that marks a memory as extracted.
pub(crate) const MARK: &str = "extract";

/// The place that memories are stored in.
pub(crate) struct Home {
    /// As it was checked.
    pub(crate) topic: String,
    /// `None` for global.
    pub(crate) scope: Option<String>,
}

/// A sentence that may become a memory.
pub(crate) struct Candidate {
    pub(crate) found: Found,
    pub(crate) topic: String,
}

/// A candidate that can't be one: what it says, and why.
pub(crate) struct Unfit {
    pub(crate) text: String,
    pub(crate) why: String,
}

impl Candidate {
    pub(crate) fn by_rules(found: Found, topic: &str) -> Candidate {
        Candidate {
            found,
            topic: topic.to_owned(),
        }
    }
}

/// The end of a candidate, or the end that it would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fate {
    Stored,
    Skipped,
    Rejected,
}

/// A candidate and what became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    pub(crate) fate: Fate,
    /// Why it was not stored, or what to tell of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The memory that it became, or the one that says the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) topic: String,
    /// Of one that the rules found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) signals: Vec<&'static str>,
    #[serde(serialize_with = "by_name")]
    pub(crate) importance: icm_api::Importance,
    pub(crate) keywords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) speaker: Option<icm_extract::Speaker>,
}

fn by_name<S: serde::Serializer>(
    importance: &icm_api::Importance,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(importance.name())
}

impl Judged {
    fn of(candidate: &Candidate, fate: Fate) -> Judged {
        let found = &candidate.found;
        Judged {
            fate,
            why: None,
            id: None,
            text: found.text.clone(),
            topic: candidate.topic.clone(),
            score: (found.score > 0).then_some(found.score),
            signals: found.signals.iter().map(|signal| signal.name()).collect(),
            importance: importance_of(found),
            keywords: keywords_of(found),
            line: (found.place.line > 0).then_some(found.place.line),
            message: found.place.message.clone(),
            speaker: Some(found.speaker),
        }
    }

    /// Takes secrets out: what is refused at the door is not shown either.
    fn hide(&mut self, secrets: &Policy) {
        if let Some(masked) = secrets.masked(&self.text) {
            self.text = masked;
            self.keywords.clear();
        }
    }

    fn unfit(unfit: Unfit, home: &Home) -> Judged {
        Judged {
            fate: Fate::Rejected,
            why: Some(unfit.why),
            id: None,
            text: unfit.text,
            topic: home.topic.clone(),
            score: None,
            signals: Vec::new(),
            importance: icm_api::Importance::Low,
            keywords: Vec::new(),
            line: None,
            message: None,
            speaker: None,
        }
    }
}

/// Never more than medium.
fn importance_of(found: &Found) -> icm_api::Importance {
    match found.importance {
        Importance::Low => icm_api::Importance::Low,
        Importance::Medium => icm_api::Importance::Medium,
    }
}

/// The keywords that a memory may have.
fn keywords_of(found: &Found) -> Vec<String> {
    let fits = |word: &&String| icm_api::limits::keywords(std::slice::from_ref(*word)).is_ok();
    found.keywords.iter().filter(fits).cloned().collect()
}

/// Says what would become of candidates, and writes nothing.
///
/// # Errors
/// The store cannot be read, or the scope is none.
pub(crate) fn judge(
    service: &Service,
    home: &Home,
    candidates: Vec<Result<Candidate, Unfit>>,
    secrets: &Policy,
) -> Result<Vec<Judged>, CliError> {
    let mut known = Known::of(service, home)?;
    let mut judged = Vec::new();
    for candidate in candidates {
        let candidate = match candidate {
            Ok(candidate) => candidate,
            Err(unfit) => {
                judged.push(Judged::unfit(unfit, home));
                continue;
            }
        };
        if let Some(skipped) = known.skipped(service, &candidate)? {
            judged.push(skipped);
            continue;
        }
        let secret = secrets.found(&candidate.found.text).into_iter().next();
        judged.push(
            match secret.filter(|_| secrets.action() == Action::Refuse) {
                Some(secret) => {
                    let mut it = Judged::of(&candidate, Fate::Rejected);
                    it.why = Some(format!("it looks like it holds a secret ({})", secret.rule));
                    it
                }
                None => Judged::of(&candidate, Fate::Stored),
            },
        );
    }
    judged.iter_mut().for_each(|it| it.hide(secrets));
    Ok(judged)
}

/// Stores candidates as one command, which `icm undo` takes back. What the topic says already is skipped; no memory that
/// is there is changed. A candidate with a secret is rejected, and the others are kept.
///
/// # Errors
/// The store cannot be read or written, or the scope is none.
pub(crate) fn store(
    service: &Service,
    caller: &Caller,
    home: &Home,
    (from, by): (&str, &str),
    candidates: Vec<Result<Candidate, Unfit>>,
    secrets: &Policy,
) -> Result<Vec<Judged>, CliError> {
    let mut known = Known::of(service, home)?;
    let mut judged = Vec::new();
    let mut lines = String::new();
    // The index in `judged` of each line.
    let mut places = Vec::new();
    for candidate in candidates {
        let candidate = match candidate {
            Ok(candidate) => candidate,
            Err(unfit) => {
                judged.push(Judged::unfit(unfit, home));
                continue;
            }
        };
        if let Some(skipped) = known.skipped(service, &candidate)? {
            judged.push(skipped);
            continue;
        }
        places.push(judged.len());
        judged.push(Judged::of(&candidate, Fate::Stored));
        lines.push_str(&line_of(&candidate, caller, home, from, by).to_string());
        lines.push('\n');
    }
    if places.is_empty() {
        judged.iter_mut().for_each(|it| it.hide(secrets));
        return Ok(judged);
    }
    let input: Box<dyn BufRead> = Box::new(std::io::Cursor::new(lines.into_bytes()));
    let report =
        service.import_jsonl(caller, vec![(from.to_owned(), input)], false, &NoProgress)?;
    for rejected in report.rejected {
        if let Some(place) = places.get(rejected.line as usize - 1) {
            let it = &mut judged[*place];
            it.fate = Fate::Rejected;
            it.why = Some(rejected.why);
        }
    }
    for warning in report.warnings {
        let told = warning
            .strip_prefix(&format!("{from}:"))
            .and_then(|rest| rest.split_once(": "));
        if let Some((line, words)) = told
            && let Some(place) = line
                .parse::<usize>()
                .ok()
                .and_then(|line| places.get(line - 1))
        {
            let it = &mut judged[*place];
            it.why = Some(match it.line {
                Some(line) => format!("{from}:{line}: {words}"),
                None => format!("{from}: {words}"),
            });
        }
    }
    name_stored(service, home, &mut judged)?;
    judged.iter_mut().for_each(|it| it.hide(secrets));
    Ok(judged)
}

/// Gives each that was stored the id of its memory. One that has none was there before in another form.
fn name_stored(service: &Service, home: &Home, judged: &mut [Judged]) -> Result<(), CliError> {
    let mut ids: HashMap<(String, String), String> = HashMap::new();
    let mut topics: Vec<String> = judged.iter().map(|it| it.topic.clone()).collect();
    topics.sort_unstable();
    topics.dedup();
    for topic in topics {
        for memory in listed(
            service,
            &topic,
            home.scope.as_deref().unwrap_or("global"),
            false,
        )? {
            if let Some(content) = memory.content {
                ids.entry((topic.clone(), content)).or_insert(memory.id);
            }
        }
    }
    for it in judged.iter_mut().filter(|it| it.fate == Fate::Stored) {
        match ids.get(&(it.topic.clone(), it.text.clone())) {
            Some(id) => it.id = Some(id.clone()),
            // A masked secret is stored in other words.
            None if it.why.is_some() => {}
            None => {
                it.fate = Fate::Skipped;
                it.why = Some("it was stored before, and changed or forgotten since".to_owned());
            }
        }
    }
    Ok(())
}

/// The line of JSON that a candidate is imported as.
fn line_of(candidate: &Candidate, caller: &Caller, home: &Home, from: &str, by: &str) -> Value {
    let found = &candidate.found;
    let place = &found.place;
    let mut mark = json!({"from": from, "by": by});
    if place.line > 0 {
        mark["line"] = json!(place.line);
        mark["last_line"] = json!(place.last_line);
    }
    if let Some(message) = &place.message {
        mark["message"] = json!(message);
    }
    if by == "rules" {
        mark["speaker"] = json!(found.speaker);
        mark["score"] = json!(found.score);
        mark["signals"] = json!(found.signals);
    }
    let mut source = json!({"file": from});
    let agent = caller.actor.strip_prefix("agent:");
    for (name, value) in [
        ("agent", agent),
        ("client", caller.client.as_deref()),
        ("session", caller.session.as_deref()),
        ("project", caller.project.as_deref()),
    ] {
        if let Some(value) = value {
            source[name] = json!(value);
        }
    }
    let occurred_at = found
        .at_ms
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    json!({
        "topic": candidate.topic,
        "content": found.text,
        "importance": importance_of(found).name(),
        "keywords": keywords_of(found),
        "occurred_at": occurred_at.map(|at| at.to_string()),
        "scope": home.scope,
        "trust": "external",
        "source": source,
        "metadata": {MARK: mark},
    })
}

/// The memories of the topics.
struct Known<'h> {
    home: &'h Home,
    topics: HashMap<String, Vec<(Compared, Memory)>>,
    /// Candidates of this run.
    run: Vec<(Compared, String)>,
}

impl<'h> Known<'h> {
    fn of(service: &Service, home: &'h Home) -> Result<Known<'h>, CliError> {
        let mut known = Known {
            home,
            topics: HashMap::new(),
            run: Vec::new(),
        };
        known.read(service, &home.topic)?;
        Ok(known)
    }

    /// Reads the memories of a topic that are seen in the scope.
    fn read(&mut self, service: &Service, topic: &str) -> Result<(), CliError> {
        if self.topics.contains_key(topic) {
            return Ok(());
        }
        let scope = self.home.scope.as_deref().unwrap_or("global");
        let mut memories = listed(service, topic, scope, true)?;
        if scope != "global" {
            memories.extend(listed(service, topic, "global", true)?);
        }
        let compared = memories.into_iter().filter_map(|memory| {
            let words = Compared::of(memory.content.as_deref()?);
            Some((words, memory))
        });
        self.topics.insert(topic.to_owned(), compared.collect());
        Ok(())
    }

    /// Returns why a candidate is not stored, if it says nothing new.
    fn skipped(
        &mut self,
        service: &Service,
        candidate: &Candidate,
    ) -> Result<Option<Judged>, CliError> {
        self.read(service, &candidate.topic)?;
        let words = Compared::of(&candidate.found.text);
        let skip = |why: String, id: Option<&String>| {
            let mut it = Judged::of(candidate, Fate::Skipped);
            (it.why, it.id) = (Some(why), id.cloned());
            Some(it)
        };
        for (known, memory) in self.topics.get(&candidate.topic).into_iter().flatten() {
            let same = memory.content.as_deref() == Some(&candidate.found.text);
            let (id, like) = (&memory.id, words.alike(known));
            // A forgotten memory counts if a person did not want to keep what was extracted.
            let refused =
                memory.forgotten && (same || is_extracted(memory) && words.says_same(known));
            if refused {
                return Ok(skip(
                    format!("{id} says the same ({like:.2}), and was forgotten"),
                    Some(id),
                ));
            }
            if !memory.forgotten && words.says_same(known) {
                return Ok(skip(format!("{id} says the same ({like:.2})"), Some(id)));
            }
        }
        let met = self
            .run
            .iter()
            .find(|(known, topic)| *topic == candidate.topic && words.says_same(known));
        if met.is_some() {
            return Ok(skip(
                "another sentence of this run says the same".to_owned(),
                None,
            ));
        }
        self.run.push((words, candidate.topic.clone()));
        Ok(None)
    }
}

fn listed(
    service: &Service,
    topic: &str,
    scope: &str,
    forgotten: bool,
) -> Result<Vec<Memory>, CliError> {
    Ok(service.list(&ListRequest {
        topic: Some(topic.to_owned()),
        scope: Some(scope.to_owned()),
        forgotten,
        ..ListRequest::default()
    })?)
}

/// Returns whether a memory was extracted.
pub(crate) fn is_extracted(memory: &Memory) -> bool {
    memory
        .metadata
        .as_ref()
        .is_some_and(|metadata| metadata[MARK].is_object())
}
