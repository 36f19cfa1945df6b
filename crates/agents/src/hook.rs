//! Hooks: the context for a session at each moment, and the events that record it.

use icm_api::error::Result;
use icm_api::session::{SessionStart, SessionStop};
use icm_api::{Alert, AlertsRequest, Caller, ContextRequest, Nearest, RecallRequest};
use icm_clients::hooks::{CONTEXT_CHARS_MAX, CONTEXT_TOKENS_MAX, Cause, Input, Moment, injects};
use icm_log::facts::{Front, SessionCause, SessionEnd};
use icm_service::{Delivery, Service};
use serde::Serialize;

use crate::alerts::due_alerts;
use crate::shown::seen_by_session;
use crate::wake_up::{Reason, WakeUpRequest, wake_up};

/// Most memories for one prompt. Raised, they take attention from the prompt.
const PROMPT_LIMIT: usize = 6;

/// The smallest budget of a context, in tokens.
const BUDGET_MIN: usize = 50;

/// The settings of hooks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HookOptions {
    /// `true` to write events about sessions and about memories that are shown.
    pub record: bool,
    /// `true` if the first prompt of a session brings the wake-up pack that the session lacks. Without records, each
    /// prompt would bring it.
    pub wakes: bool,
    /// `true` if alerts that are shown are not shown again. The caller then records [`HookContext::delivery`] once the
    /// answer is out.
    pub deliver: bool,
    /// Least fit of a memory for a prompt, 0 to 1.
    pub floor: f64,
    /// Most tokens of the memories for a prompt.
    pub budget: usize,
    /// Most tokens of a wake-up pack.
    pub wake_up_budget: usize,
}

/// The context that a hook gives to a session.
#[derive(Default, Serialize)]
pub struct HookContext {
    /// The text, in a frame that marks it as data; empty if there is nothing to tell.
    pub text: String,
    /// Tokens of the text, estimated.
    pub tokens: usize,
    /// The memories in the text, best first.
    pub shown: Vec<HookMemory>,
    /// The alerts in the text, before the memories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<Alert>,
    /// Number of memories that are left out because the session has seen them.
    pub seen: usize,
    /// The best memory below the floor, if none reached it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The delivery of the alerts. [`Service::record_delivery`] takes it once the text is out; dropped, the alerts are
    /// shown again.
    #[serde(skip)]
    pub delivery: Option<Delivery>,
}

/// A memory that a hook shows, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookMemory {
    /// The memory, a ULID.
    pub id: String,
    /// Its topic.
    pub topic: String,
    /// Its text; `None` if that is withheld.
    pub content: Option<String>,
    /// Fit: confidence that the memory fits the prompt, 0 to 1; `None` if a link or the wake-up pack brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<f64>,
    /// The words of the prompt that are in the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
    /// The reasons for its place in a wake-up pack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

/// Returns the name of the session of an input. The name of a sub-agent is `PARENT/CHILD`, so that it sees its parent's
/// memories.
pub fn session_name(input: &Input) -> Option<String> {
    let session = input.session.clone()?;
    Some(match &input.agent {
        Some(agent) => format!("{session}/{}", agent.id.replace('/', "-")),
        None => session,
    })
}

/// Records the start of the session, and returns its wake-up pack, unless the client keeps the pack from the model.
/// `parent` is the parent session, if the environment names one.
///
/// # Errors
/// As [`wake_up`] and [`Service::start_session`].
pub fn at_start(
    service: &Service,
    caller: &Caller,
    input: &Input,
    parent: Option<&str>,
    options: &HookOptions,
) -> Result<HookContext> {
    start(service, caller, input, parent, options)?;
    match injects(input.client, &input.event) {
        true => pack(service, caller, cause(input.moment), parent, options),
        false => Ok(HookContext::default()),
    }
}

/// Returns the due alerts and the wake-up pack of a session that got a fresh context for this cause. A sub-agent gets
/// the alerts that were set for itself: an alert for its parent would not reach the person there.
fn pack(
    service: &Service,
    caller: &Caller,
    cause: SessionCause,
    parent: Option<&str>,
    options: &HookOptions,
) -> Result<HookContext> {
    let budget = match cause == SessionCause::SUBAGENT {
        true => (options.wake_up_budget / 2).max(BUDGET_MIN),
        false => options.wake_up_budget,
    };
    let budget = within_client(budget);
    let asked = AlertsRequest {
        own: cause == SessionCause::SUBAGENT,
        parent: parent.map(str::to_owned),
        read_only: !options.deliver,
        ..AlertsRequest::default()
    };
    let for_alerts = budget.saturating_sub(BUDGET_MIN).max(BUDGET_MIN);
    let due = due_alerts(service, caller, &asked, for_alerts)?;
    let request = WakeUpRequest {
        budget: budget.saturating_sub(due.tokens).max(BUDGET_MIN),
        own: [
            SessionCause::COMPACT,
            SessionCause::RESUME,
            SessionCause::FORK,
        ]
        .contains(&cause),
        record: options.record,
    };
    let pack = wake_up(service, caller, &request)?;
    if options.record && pack.items.is_empty() {
        // The empty record tells the next prompt that the session was woken.
        service.shown_unasked(caller, Front::WAKE_UP, "", &[], 0)?;
    }
    service.record_recalls();
    let shown = pack.items.into_iter().map(|item| HookMemory {
        id: item.memory.id,
        topic: item.memory.topic,
        content: item.memory.content,
        fit: None,
        matched: Vec::new(),
        reasons: item.reasons,
    });
    let mut text = due.text;
    if !text.is_empty() && !pack.text.is_empty() {
        text.push('\n');
    }
    text.push_str(&pack.text);
    Ok(HookContext {
        text,
        tokens: due.tokens + pack.tokens,
        shown: shown.collect(),
        alerts: due.alerts,
        seen: 0,
        nearest: None,
        delivery: due.delivery,
    })
}

/// Returns the memories that fit a prompt and that the session has not seen since its newest fresh context. If the
/// session got no wake-up pack since, because its client keeps the pack from the model, the prompt brings the pack,
/// too.
///
/// # Errors
/// As [`Service::recall_context`].
pub fn at_prompt(
    service: &Service,
    caller: &Caller,
    input: &Input,
    parent: Option<&str>,
    options: &HookOptions,
) -> Result<HookContext> {
    let Some(prompt) = input
        .prompt
        .as_deref()
        .map(str::trim)
        .filter(|it| !it.is_empty())
    else {
        return Ok(HookContext::default());
    };
    let mut seen = seen_by_session(service, caller)?;
    if !seen.is_started {
        start(service, caller, input, parent, options)?;
    }
    if !injects(input.client, &input.event) {
        return Ok(HookContext::default());
    }
    let mut woken = match options.wakes && !seen.is_woken && caller.session.is_some() {
        true => {
            let cause = seen.cause.unwrap_or(SessionCause::UNKNOWN);
            pack(service, caller, cause, parent, options)?
        }
        false => HookContext::default(),
    };
    let seen_before = seen.ids.len();
    seen.ids
        .extend(woken.shown.iter().map(|memory| memory.id.clone()));
    // Pack and memories together stay below the length that clients cut.
    let left = within_client(usize::MAX).saturating_sub(woken.tokens);
    if left < BUDGET_MIN {
        return Ok(woken);
    }
    let request = ContextRequest {
        recall: RecallRequest {
            query: prompt.to_owned(),
            limit: Some(PROMPT_LIMIT),
            floor: Some(options.floor),
            without: seen.ids.iter().cloned().collect(),
            front: Front::HOOK,
            record: options.record,
            ..RecallRequest::default()
        },
        budget: within_client(options.budget).min(left),
        markdown: false,
    };
    let context = service.recall_context(caller, &request)?;
    service.record_recalls();
    let shown = context.results.into_iter().map(|hit| HookMemory {
        id: hit.memory.id,
        topic: hit.memory.topic,
        content: hit.memory.content,
        fit: hit.via.is_none().then_some(hit.fit),
        matched: hit.matched,
        reasons: Vec::new(),
    });
    woken.shown.extend(shown);
    if !woken.text.is_empty() && !context.text.is_empty() {
        woken.text.push('\n');
    }
    woken.text.push_str(&context.text);
    Ok(HookContext {
        tokens: woken.tokens + context.tokens,
        seen: seen_before,
        nearest: context.nearest,
        ..woken
    })
}

/// Records that the context is about to be compacted, for a client that has no hook after compaction.
///
/// # Errors
/// As [`Service::start_session`].
pub fn before_fresh_context(
    service: &Service,
    caller: &Caller,
    input: &Input,
    options: &HookOptions,
) -> Result<()> {
    start(service, caller, input, None, options)
}

/// Records the end of the session.
///
/// # Errors
/// As [`Service::end_session`].
pub fn at_end(
    service: &Service,
    caller: &Caller,
    input: &Input,
    options: &HookOptions,
) -> Result<()> {
    if !options.record || caller.session.is_none() {
        return Ok(());
    }
    // Some clients end a session that they never started, when they only look at a server.
    if !seen_by_session(service, caller)?.is_started {
        return Ok(());
    }
    let reason = match (input.moment, input.reason.as_deref()) {
        (Moment::SubagentStop, _) => SessionEnd::SUBAGENT,
        (_, Some("clear")) => SessionEnd::CLEAR,
        (_, Some("logout")) => SessionEnd::LOGOUT,
        (_, Some("resume")) => SessionEnd::RESUME,
        (_, Some("prompt_input_exit" | "exit" | "user_exit" | "complete")) => SessionEnd::EXIT,
        _ => SessionEnd::UNKNOWN,
    };
    service.end_session(caller, SessionStop { reason })?;
    Ok(())
}

fn start(
    service: &Service,
    caller: &Caller,
    input: &Input,
    parent: Option<&str>,
    options: &HookOptions,
) -> Result<()> {
    if !options.record || caller.session.is_none() {
        return Ok(());
    }
    // The parent of a sub-agent is the session that it runs in, not the one in the environment.
    let parent = match &input.agent {
        Some(_) => input.session.as_deref(),
        None => parent.filter(|parent| Some(*parent) != caller.session.as_deref()),
    };
    let start = SessionStart {
        parent: parent.map(str::to_owned),
        client: Some(input.client.name().to_owned()),
        folder: input
            .folder
            .as_ref()
            .map(|folder| folder.display().to_string()),
        agent: input.agent.as_ref().and_then(|agent| agent.kind.clone()),
        cause: cause(input.moment),
    };
    service.start_session(caller, &start)?;
    Ok(())
}

fn cause(moment: Moment) -> SessionCause {
    match moment {
        Moment::SubagentStart => SessionCause::SUBAGENT,
        Moment::BeforeCompaction | Moment::AfterCompaction => SessionCause::COMPACT,
        Moment::SessionStart { cause } => match cause {
            Cause::Startup => SessionCause::STARTUP,
            Cause::Resume => SessionCause::RESUME,
            Cause::Clear => SessionCause::CLEAR,
            Cause::Compact => SessionCause::COMPACT,
            Cause::Fork => SessionCause::FORK,
            Cause::Other => SessionCause::UNKNOWN,
        },
        _ => SessionCause::UNKNOWN,
    }
}

/// Returns the budget, at most the length that no client cuts.
fn within_client(budget: usize) -> usize {
    budget
        .min(CONTEXT_TOKENS_MAX)
        .min(icm_api::tokens::within(CONTEXT_CHARS_MAX))
}
