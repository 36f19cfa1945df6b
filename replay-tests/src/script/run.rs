//! Runs a script against a store of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::session::{SessionStart, SessionStop};
use icm_api::{
    AlertSetRequest, AlertsRequest, Basis, Caller, ConsolidateRequest, DecayRequest, Dedup,
    FeedbackRequest, LinkRequest, ListRequest, LogRequest, Memory, NoProgress, PruneRequest,
    RecallRequest, Receipt, StoreRequest, TagFilter, Trust, TurnTopicRequest, UndoRequest,
    UpdateRequest, Verdict,
};
use icm_log::facts::SessionCause;
use icm_service::Service;

use super::command::{Command, Damage};
use super::render::{self, Aliases};
use crate::env::SimEnv;
use crate::folder;
use crate::rng::Rng;

/// A store, its environment, and the aliases and marks of the script so far.
pub struct Run {
    service: Option<Service>,
    env: Arc<SimEnv>,
    folder: tempfile::TempDir,
    aliases: Aliases,
    marks: BTreeMap<String, Basis>,
    caller: Caller,
    /// Receipts of the newest command.
    receipts: Vec<Receipt>,
    /// The memories that the newest recall showed, or a prune forgot.
    shown: Vec<String>,
    /// The notices of the service so far.
    notices: Vec<String>,
    /// The action of stores for a near duplicate.
    dedup: Option<Dedup>,
}

impl Run {
    /// Makes a new store in a new environment.
    pub fn new(seed: u64) -> Run {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let env = Arc::new(SimEnv::new(seed));
        let caller = Caller {
            actor: "user".to_owned(),
            ..Caller::default()
        };
        let mut run = Run {
            service: None,
            env,
            folder,
            aliases: Aliases::default(),
            marks: BTreeMap::new(),
            caller,
            receipts: Vec::new(),
            shown: Vec::new(),
            notices: Vec::new(),
            dedup: None,
        };
        run.open();
        run
    }

    /// Returns the folder of the store.
    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Returns the clock and randomness of the store.
    pub fn env(&self) -> &Arc<SimEnv> {
        &self.env
    }

    /// Returns the open store.
    pub fn service(&self) -> &Service {
        self.service
            .as_ref()
            .expect("the store is open between commands")
    }

    /// Returns the receipts of the newest command.
    pub fn receipts(&self) -> &[Receipt] {
        &self.receipts
    }

    /// Returns the memories that the newest command showed (a recall, best first) or forgot (a prune).
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// Takes the notices of the service so far.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.notices.extend(self.service().take_notices());
        std::mem::take(&mut self.notices)
    }

    /// Returns the alias of a memory.
    pub fn alias(&self, id: &str) -> String {
        self.aliases.alias(id)
    }

    /// Returns the id of an alias. `$12` is the 12th of all memories, counted round.
    pub fn id(&self, alias: &str) -> String {
        let picked = number_of(alias, '$').and_then(|number| {
            let request = ListRequest {
                forgotten: true,
                ..ListRequest::default()
            };
            let mut all = self.service().list(&request).ok()?;
            all.sort_by(|a, b| a.id.cmp(&b.id));
            Some(all.swap_remove(number.checked_rem(all.len())?).id)
        });
        picked.unwrap_or_else(|| self.aliases.id(alias))
    }

    /// Returns the newest basis.
    pub fn basis(&self) -> Basis {
        self.service()
            .basis(None)
            .expect("there is always a newest basis")
    }

    /// Renders a memory as the script prints it.
    pub fn row(&self, memory: &Memory) -> String {
        render::memory(&self.aliases, memory)
    }

    fn open(&mut self) {
        let service = crate::store::open(&self.dir(), self.env.clone());
        let mut service = service.unwrap_or_else(|error| panic!("opening the store: {error}"));
        if let Some(dedup) = self.dedup {
            service = service.with_dedup(dedup);
        }
        self.service = Some(service);
    }

    fn close(&mut self) {
        self.notices.extend(self.service().take_notices());
        drop(self.service.take());
    }

    /// Closes the store, runs `with` on its folder, opens the store.
    pub fn while_closed(&mut self, with: impl FnOnce(&Path)) {
        self.close();
        with(&self.dir());
        self.open();
    }

    /// Opens the store as it is found if the process is killed right now.
    pub fn kill(&mut self) {
        let dir = self.dir();
        let found = folder::read(&dir);
        self.close();
        // The folder itself stays: in a new folder the store would count as a copy, with a new origin.
        folder::write(&dir, &found);
        self.open();
    }

    /// Runs a command; returns its answer or its error, every line ended.
    pub fn step(&mut self, command: &Command) -> String {
        self.try_step(command)
            .unwrap_or_else(|error| render::error(&self.aliases, &error))
    }

    /// Runs a command; returns its answer, every line ended.
    ///
    /// # Errors
    /// As the service.
    pub fn try_step(&mut self, command: &Command) -> icm_api::error::Result<String> {
        self.receipts.clear();
        self.shown.clear();
        self.env.advance_ms(1_000);
        self.answer(command)
    }

    fn time(&self, text: &Option<String>) -> Option<String> {
        let text = text.as_ref()?;
        let (mark, wants_time) = match text.strip_suffix(".time") {
            Some(mark) => (mark, true),
            None => (text.as_str(), false),
        };
        if let Some(number) = number_of(mark, '%') {
            let end = self.basis().position.max(1);
            return Some(format!("@{}", 1 + number as u64 % end));
        }
        Some(match self.marks.get(mark) {
            Some(basis) if wants_time => basis.at.clone(),
            Some(basis) => format!("@{}", basis.position),
            None => text.clone(),
        })
    }

    fn done(&mut self, receipts: Vec<Receipt>) -> String {
        self.receipts = receipts;
        self.receipts
            .iter()
            .map(|receipt| render::receipt(&self.aliases, receipt))
            .collect()
    }

    fn answer(&mut self, command: &Command) -> icm_api::error::Result<String> {
        let service = self
            .service
            .as_ref()
            .expect("the store is open between commands");
        let aliases = &self.aliases;
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
                request,
            } => {
                let receipt = service.store(
                    &self.caller,
                    StoreRequest {
                        importance: *importance,
                        keywords: keywords.clone(),
                        key: key.clone(),
                        scope: scope.clone(),
                        trust: trust.unwrap_or(Trust::User),
                        request_id: request.clone(),
                        ..StoreRequest::new(topic.clone(), content.clone())
                    },
                )?;
                self.aliases.add(alias, &receipt.id);
                Ok(self.done(vec![receipt]))
            }
            Command::Update {
                alias,
                content,
                importance,
                keywords,
                topic,
                scope,
                request,
            } => {
                let receipt = service.update(
                    &self.caller,
                    UpdateRequest {
                        id: self.id(alias),
                        content: content.clone(),
                        importance: *importance,
                        keywords: keywords.clone(),
                        topic: topic.clone(),
                        scope: scope.clone(),
                        request_id: request.clone(),
                        ..UpdateRequest::default()
                    },
                )?;
                Ok(self.done(vec![receipt]))
            }
            Command::Forget { aliases: those } => {
                let ids: Vec<_> = those.iter().map(|alias| self.id(alias)).collect();
                let receipts = service.forget(&self.caller, &ids)?;
                Ok(self.done(receipts))
            }
            Command::ForgetTopic { topic } => {
                let request = TurnTopicRequest {
                    topic: topic.clone(),
                    ..TurnTopicRequest::default()
                };
                let answer = service.turn_topic(&self.caller, &request)?;
                Ok(self.done(answer.receipts))
            }
            Command::Revive { alias } => {
                let receipt = service.revive(&self.caller, &self.id(alias))?;
                Ok(self.done(vec![receipt]))
            }
            Command::Pin { alias } => {
                let receipts = service.pin(&self.caller, &[self.id(alias)], None)?;
                Ok(self.done(receipts))
            }
            Command::Unpin { alias } => {
                let receipts = service.unpin(&self.caller, &[self.id(alias)])?;
                Ok(self.done(receipts))
            }
            Command::Expire { alias, condition } => {
                let request = UpdateRequest {
                    id: self.id(alias),
                    expires: Some(condition.clone()),
                    ..UpdateRequest::default()
                };
                let receipt = service.update(&self.caller, request)?;
                Ok(self.done(vec![receipt]))
            }
            Command::Judge { alias, useful } => {
                let verdict = match useful {
                    true => Verdict::Useful,
                    false => Verdict::Wrong,
                };
                let receipt = service.feedback_mark(&self.caller, &self.id(alias), verdict)?;
                let told = receipt.marks.told().unwrap_or_default();
                Ok(format!(
                    "{} {told} @{}\n",
                    self.alias(&receipt.id),
                    receipt.position
                ))
            }
            Command::Correct {
                context,
                predicted,
                correct,
            } => {
                let request = FeedbackRequest {
                    context: context.clone(),
                    predicted: predicted.clone(),
                    correct: correct.clone(),
                    ..FeedbackRequest::default()
                };
                let receipt = service.feedback_record(&self.caller, &request)?;
                Ok(format!("corrected @{}\n", receipt.position))
            }
            Command::Session { cause } => {
                let caller = Caller {
                    session: Some("s1".to_owned()),
                    ..self.caller.clone()
                };
                let position = match cause {
                    Some(cause) => {
                        let cause = SessionCause::named(cause).unwrap_or(SessionCause::UNKNOWN);
                        let start = SessionStart {
                            cause,
                            ..SessionStart::default()
                        };
                        service.start_session(&caller, &start)?
                    }
                    None => service.end_session(&caller, SessionStop::default())?,
                };
                Ok(format!("session @{position}\n"))
            }
            Command::Alert { text, due } => {
                let request = AlertSetRequest {
                    text: text.clone(),
                    session: Some("s1".to_owned()),
                    due: due.clone(),
                    allow_secret: false,
                };
                let receipt = service.set_alert(&self.caller, request)?;
                Ok(format!("alert @{}\n", receipt.position))
            }
            Command::Alerts => {
                let request = AlertsRequest {
                    session: Some("s1".to_owned()),
                    ..AlertsRequest::default()
                };
                let (answer, delivery) = service.alerts(&self.caller, &request)?;
                if let Some(delivery) = delivery {
                    service.record_delivery(delivery)?;
                }
                let texts = answer.alerts.into_iter().map(|alert| alert.text + "\n");
                Ok(texts.collect())
            }
            Command::Consolidate {
                alias,
                topic,
                summary,
                keep,
            } => {
                let request = ConsolidateRequest {
                    topic: topic.clone(),
                    summary: summary.clone().into(),
                    importance: None,
                    keywords: Vec::new(),
                    scope: None,
                    keep_originals: *keep,
                    allow_secret: false,
                    trust: Trust::User,
                    request_id: None,
                };
                let done = service.consolidate(&self.caller, &request)?;
                self.aliases.add(alias, &done.receipt.id);
                let text = format!("covers {}\n", done.originals.len());
                Ok(self.done(vec![done.receipt]) + &text)
            }
            Command::Decay { rate } => {
                let request = DecayRequest {
                    rate: rate.as_deref().map(share),
                    dry_run: false,
                };
                let receipt = service.decay(&self.caller, &request)?;
                Ok(render::decayed(&receipt))
            }
            Command::Prune { threshold } => {
                let request = PruneRequest {
                    threshold: threshold.as_deref().map(share),
                    ..PruneRequest::default()
                };
                let answer = service.prune(&self.caller, &request)?;
                self.shown = answer.ids.iter().map(|id| aliases.alias(id)).collect();
                Ok(format!("pruned {}\n", self.shown.join(" ")))
            }
            Command::Link { from, to, relation } | Command::Unlink { from, to, relation } => {
                let request = LinkRequest {
                    from: self.id(from),
                    to: self.id(to),
                    relation: relation.clone(),
                    reason: None,
                    allow_secret: false,
                };
                let receipt = match command {
                    Command::Link { .. } => service.link(&self.caller, &request)?,
                    _ => service.unlink(&self.caller, &request)?,
                };
                Ok(self.done(vec![receipt.receipt]))
            }
            Command::Dedup { on_similar } => {
                self.dedup = Some(Dedup {
                    on_similar: *on_similar,
                    ..Dedup::default()
                });
                self.while_closed(|_| {});
                Ok(String::new())
            }
            Command::Undo {
                events,
                last,
                topic,
                only,
                cascade,
            } => {
                let events = events.iter().map(|event| self.time(&Some(event.clone())));
                let request = UndoRequest {
                    events: events.flatten().collect(),
                    last: *last,
                    topic: topic.clone(),
                    only: *only,
                    cascade: *cascade,
                    ..UndoRequest::default()
                };
                let answer = service.undo(&self.caller, &request)?;
                Ok(render::undone(aliases, &answer))
            }
            Command::Recall {
                query,
                topic,
                keyword,
                limit,
                at,
                happened_by,
                floor,
                record,
            } => {
                let request = RecallRequest {
                    topic: topic.clone(),
                    tags: TagFilter::all(keyword.clone()),
                    limit: *limit,
                    at: self.time(at),
                    happened_by: self.time(happened_by),
                    floor: floor.as_deref().map(share),
                    record: *record,
                    ..RecallRequest::new(query.clone())
                };
                let answer = service.recall(&self.caller, &request)?;
                service.record_recalls();
                let text = render::answer(aliases, &answer);
                self.shown = answer
                    .results
                    .iter()
                    .map(|hit| aliases.alias(&hit.memory.id))
                    .collect();
                Ok(text)
            }
            Command::Get { alias, at } => {
                let memory = service.get(&self.id(alias), self.time(at).as_deref())?;
                Ok(render::memory(aliases, &memory))
            }
            Command::History { alias } => {
                let versions = service.history(&self.id(alias))?;
                Ok(versions
                    .iter()
                    .map(|version| render::version(aliases, version))
                    .collect())
            }
            Command::List {
                topic,
                sort,
                at,
                forgotten,
            } => {
                let memories = service.list(&ListRequest {
                    topic: topic.clone(),
                    sort: *sort,
                    at: self.time(at),
                    forgotten: *forgotten,
                    ..ListRequest::default()
                })?;
                Ok(memories
                    .iter()
                    .map(|memory| render::memory(aliases, memory))
                    .collect())
            }
            Command::Topics => Ok(service.topics()?.iter().map(render::topic).collect()),
            Command::Log { kind } => {
                let request = LogRequest {
                    kind: kind.clone(),
                    oldest_first: true,
                    ..LogRequest::default()
                };
                let mut text = String::new();
                service.log(&request, &mut |entry| {
                    text.push_str(&render::event(aliases, &entry));
                    true
                })?;
                Ok(text)
            }
            Command::Verify => Ok(render::report(&service.verify(&NoProgress)?)),
            Command::Rebuild => {
                let report = service.rebuild(&NoProgress)?;
                Ok(format!(
                    "rebuilt {} memories @{}\n",
                    report.memories, report.positions
                ))
            }
            Command::Settle => {
                service.settle();
                Ok(String::new())
            }
            Command::Reopen => {
                self.while_closed(|_| {});
                Ok(String::new())
            }
            Command::Kill => {
                self.kill();
                Ok(String::new())
            }
            Command::DropViews => {
                self.while_closed(|dir| folder::remove(&dir.join("views")));
                Ok(String::new())
            }
            Command::DamageViews { damage, seed } => {
                self.while_closed(|dir| damage_views(&dir.join("views"), *damage, *seed));
                Ok(String::new())
            }
            Command::Clock { by_ms } => {
                self.env.advance_ms(*by_ms);
                Ok(String::new())
            }
            Command::Mark { name } => {
                self.marks.insert(name.clone(), self.basis());
                Ok(String::new())
            }
        }
    }
}

/// Returns the number behind a sign.
fn number_of(word: &str, sign: char) -> Option<usize> {
    word.strip_prefix(sign)?.parse().ok()
}

fn share(text: &str) -> f64 {
    text.parse().expect("a script gives a number")
}

/// Damages a file below `dir`, if there is one.
fn damage_views(dir: &Path, damage: Damage, seed: u64) {
    let mut rng = Rng::new(seed);
    let files = folder::files(dir);
    let Some(path) = files.get(rng.below(files.len() as u64) as usize) else {
        return;
    };
    let mut bytes = std::fs::read(path).expect("the file is read");
    match damage {
        Damage::Remove => return std::fs::remove_file(path).expect("the file is removed"),
        Damage::Cut => bytes.truncate(rng.below(bytes.len() as u64) as usize),
        Damage::Flip => {
            for _ in 0..=rng.below(8) {
                let at = rng.below(bytes.len() as u64) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
        }
    }
    std::fs::write(path, bytes).expect("the file is written");
}
