//! Recording feedback, and judging memories.

use icm_log::facts::{self, FeedbackApplied, FeedbackRecorded};
use icm_log::{Kind, NewEvent, SubjectId, payload};
use icm_projections::Views;
use icm_projections::fold::{Source, Version};

use crate::command::secrets::Guard;
use crate::command::{Command, RequestKeyOf, Scope, source_text};
use crate::memory::link::{Mark, marks, observed};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::limits::{FEEDBACK_LEN_MAX, TOPIC_LEN_MAX};
use icm_api::{Caller, FeedbackReceipt, FeedbackRequest, MarkReceipt, Marks, Trust, Verdict};

/// Feedback after its check.
struct Checked {
    request: FeedbackRequest,
    topic: Option<String>,
    scope: Scope,
    source: Source,
    warnings: Vec<String>,
}

impl Service {
    /// Records what was predicted and what was right. If the prediction came from a memory, the memory is called wrong.
    ///
    /// # Errors
    /// `Invalid` for an empty or too long text; `NotFound`, and `Nothing` for a forgotten memory; `Secret`.
    pub fn feedback_record(
        &self,
        caller: &Caller,
        request: &FeedbackRequest,
    ) -> Result<FeedbackReceipt> {
        let checked = self.check_feedback(caller, request)?;
        if let Some(memory) = &request.memory {
            self.refuse_unknown(memory)?;
        }
        let receipt = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let memory = match &request.memory {
                Some(memory) => Some(self.living(views, memory)?),
                None => None,
            };
            let id = command.new_id();
            let mut events = vec![recorded(&checked, id, memory.as_ref())];
            let mut marks = None;
            if let Some(memory) = &memory {
                let judged = self.judge(command, views, memory, Verdict::Wrong, id)?;
                marks = Some(judged.marks);
                events.extend(judged.events);
            }
            let appended = command.append(views, events)?;
            Ok(FeedbackReceipt {
                id: id_text(id),
                event: appended[0].event.to_string(),
                position: appended[0].position.0,
                memory: memory.map(|memory| id_text(memory.id)),
                marks,
                warnings: Vec::new(),
            })
        })?;
        Ok(FeedbackReceipt {
            warnings: checked.warnings,
            ..receipt
        })
    }

    /// Calls a memory wrong or useful. Each session (or else each actor) counts once: a later judgement takes the place
    /// of the earlier one, and the same judgement again changes nothing.
    ///
    /// # Errors
    /// `NotFound`; `Nothing` for a forgotten memory.
    pub fn feedback_mark(
        &self,
        caller: &Caller,
        id: &str,
        verdict: Verdict,
    ) -> Result<MarkReceipt> {
        self.refuse_unknown(id)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let memory = self.living(views, id)?;
            let judged = self.judge(command, views, &memory, verdict, SubjectId::ZERO)?;
            let receipt = |event: String, position, marked| MarkReceipt {
                id: id_text(memory.id),
                topic: memory.topic.clone().unwrap_or_default(),
                verdict,
                marked,
                event,
                position,
                marks: judged.marks,
            };
            if let Some(there) = judged.there {
                return Ok(receipt(there.event.to_string(), there.position.0, false));
            }
            let appended = command.append(views, judged.events)?;
            let mark = appended.last().expect("a judgement writes an event");
            Ok(receipt(mark.event.to_string(), mark.position.0, true))
        })
    }

    /// Returns the events of a judgement by the author of a command.
    fn judge(
        &self,
        command: &Command<'_>,
        views: &Views,
        memory: &Version,
        verdict: Verdict,
        feedback: SubjectId,
    ) -> QueryResult<Judged> {
        let author = command.author();
        let links = self.links_of(views, memory, views.tally().position, &|_| true)?;
        let before = marks(&links);
        let own = |mark: &&Mark| mark.author.is(author);
        let (same, other): (Vec<&Mark>, Vec<&Mark>) =
            (links.marks.iter().filter(own)).partition(|mark| mark.verdict == verdict);
        if let (Some(there), true) = (same.first(), other.is_empty()) {
            return Ok(Judged {
                there: Some(**there),
                events: Vec::new(),
                marks: before,
            });
        }
        let mut events = Vec::new();
        if !other.is_empty() {
            // The earlier judgement goes, so a machine that learns both need not know which one is newer.
            events.push(NewEvent {
                kind: Kind::MEMORY_UNLINKED,
                subject: memory.id,
                refs: other.iter().map(|mark| mark.event).collect(),
                facts: Vec::new(),
                payload: payload::encode(&payload::MemoryForgotten { reason: None }),
            });
        }
        if same.is_empty() {
            events.push(applied(memory, verdict, feedback));
        }
        let (more, less) = (u64::from(same.is_empty()), u64::from(!other.is_empty()));
        let marks = match verdict {
            Verdict::Useful => Marks {
                useful: before.useful + more,
                wrong: before.wrong - less,
            },
            Verdict::Wrong => Marks {
                useful: before.useful - less,
                wrong: before.wrong + more,
            },
        };
        Ok(Judged {
            there: None,
            events,
            marks,
        })
    }

    fn check_feedback(&self, caller: &Caller, request: &FeedbackRequest) -> Result<Checked> {
        let mut request = request.clone();
        limits::text("the prediction", &request.predicted, FEEDBACK_LEN_MAX)?;
        limits::text("the correction", &request.correct, FEEDBACK_LEN_MAX)?;
        limits::text("the context", &request.context, FEEDBACK_LEN_MAX)?;
        if let Some(reason) = &request.reason {
            limits::text("the reason", reason, FEEDBACK_LEN_MAX)?;
        }
        let topic = match &request.topic {
            Some(topic) => Some(limits::visible_name("the topic", topic, TOPIC_LEN_MAX)?),
            None => None,
        };
        let scope = Scope::parse(request.scope.as_deref())?;
        let source = self.check_source(caller, &request.source)?;
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.feedback(&mut request)?;
        Ok(Checked {
            topic,
            scope,
            source,
            warnings: guard.warnings(),
            request,
        })
    }
}

/// A judgement that is to be written.
struct Judged {
    /// The judgement, if it is there already; then nothing is to be written.
    there: Option<Mark>,
    events: Vec<NewEvent>,
    /// The marks of the memory after it.
    marks: Marks,
}

fn recorded(checked: &Checked, id: SubjectId, memory: Option<&Version>) -> NewEvent {
    let request = &checked.request;
    NewEvent {
        kind: Kind::FEEDBACK_RECORDED,
        subject: id,
        refs: Vec::new(),
        facts: FeedbackRecorded {
            verdict: match memory {
                Some(_) => facts::Verdict::WRONG,
                None => facts::Verdict::UNSAID,
            },
            scope_kind: checked.scope.kind,
            trust: request.trust.unwrap_or(Trust::Agent).into(),
            causal_length: 1,
            memory: memory.map_or(SubjectId::ZERO, |memory| memory.id),
            scope_id: checked.scope.id,
        }
        .encode(),
        payload: payload::encode(&payload::FeedbackRecorded {
            predicted: &request.predicted,
            correct: &request.correct,
            context: &request.context,
            reason: request.reason.as_deref(),
            topic: checked.topic.as_deref(),
            scope: checked.scope.text.as_deref(),
            source: source_text(&checked.source),
        }),
    }
}

fn applied(memory: &Version, verdict: Verdict, feedback: SubjectId) -> NewEvent {
    NewEvent {
        kind: Kind::FEEDBACK_APPLIED,
        subject: memory.id,
        refs: observed(&[memory]),
        facts: FeedbackApplied {
            verdict: match verdict {
                Verdict::Wrong => facts::Verdict::WRONG,
                Verdict::Useful => facts::Verdict::USEFUL,
            },
            feedback,
        }
        .encode(),
        payload: payload::encode(&payload::FeedbackApplied { reason: None }),
    }
}
