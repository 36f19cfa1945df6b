//! The wake-up pack: the memories for a session that starts, within a budget of tokens.

use icm_api::error::{Result, ServiceError};
use icm_api::tokens;
use icm_api::when::{rfc3339, time_ago, timestamp};
use icm_api::{Basis, Caller, Importance, LogRequest, Memory};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;
use icm_log::facts::{self, Front};
use icm_projections::fold::Version;
use icm_service::{Comparable, Service, StandOutConditions};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Default budget of a pack, in tokens.
pub const BUDGET: usize = 800;
const BUDGET_MIN: usize = 50;
const BUDGET_MAX: usize = 1_000_000;
/// Most memories that are compared, the most valuable ones. A pack has room for dozens. Raised, packs take longer.
const CANDIDATES_MAX: usize = 200;
/// Most bytes of one text; a longer text is cut, and its id leads to the rest. Raised, a pack holds fewer memories.
const ITEM_BYTES: usize = 480;
/// Tokens of a line beside its text, about. Raised, longer texts gain on shorter ones.
const LINE_TOKENS: f64 = 24.0;
/// Topics that hold preferences, as do the topics below them.
const PREFERENCES: [&str; 3] = ["preferences", "prefs", "preference"];
/// Most starts of sessions that are searched for the last one of a project. Raised, a project after a long rest is
/// still found, but a wake-up elsewhere reads more of the log.
const SESSION_STARTS: usize = 200;

/// A request for a wake-up pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeUpRequest {
    /// Most tokens of the text, 50 to 1,000,000, at about four bytes each.
    pub budget: usize,
    /// Include memories that the caller's session stored, because it has lost its context.
    pub own: bool,
    /// Record the memories that are shown.
    pub record: bool,
}

impl Default for WakeUpRequest {
    fn default() -> Self {
        WakeUpRequest {
            budget: BUDGET,
            own: false,
            record: true,
        }
    }
}

/// The reason for a memory's place in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is pinned.
    Pinned,
    /// It is critical.
    Critical,
    /// The session stored it and then lost its context.
    Session,
    /// It is a preference.
    Preference,
    /// It is of high importance.
    High,
    /// It changed since the last session of the project.
    Changed,
}

impl Reason {
    /// Returns the weight of the reason. A pin is the word of a person, so it outweighs all others.
    fn value(self) -> f64 {
        match self {
            Reason::Pinned => 100.0,
            Reason::Critical => 4.0,
            Reason::Session => 3.0,
            Reason::Preference => 2.5,
            Reason::High => 2.0,
            Reason::Changed => 1.5,
        }
    }

    /// Returns the reason in words.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Pinned => "pinned",
            Reason::Critical => "critical",
            Reason::Session => "of this session",
            Reason::Preference => "preference",
            Reason::High => "high",
            Reason::Changed => "changed since the last session",
        }
    }
}

/// A memory in a pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WakeUpItem {
    /// The reasons for its place, most important first.
    pub reasons: Vec<Reason>,
    /// Its value per token.
    pub worth: f64,
    /// Name of the actor that changed it, if the change is a reason.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changed_by: Option<String>,
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
}

/// The wake-up pack of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WakeUp {
    /// The basis of the pack.
    pub basis: Basis,
    /// Most tokens of the text.
    pub budget: usize,
    /// Tokens of the text, estimated.
    pub tokens: usize,
    /// The memories in a frame that marks them as data; empty without memories.
    pub text: String,
    /// Number of memories that had reasons but found no room.
    pub left_out: usize,
    /// Time of the last activity of the project's previous session, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_session_at: Option<String>,
    /// The memories of the text, in its order.
    pub items: Vec<WakeUpItem>,
}

/// Returns the memories for a session that starts: pins, critical and high memories, preferences, and changes since the
/// last session of the project, by value per token. Superseded memories are left out; of memories that say the same,
/// the most valuable stays.
///
/// # Errors
/// `Invalid` for a budget out of bounds, and as [`Service::list`].
pub fn wake_up(service: &Service, caller: &Caller, request: &WakeUpRequest) -> Result<WakeUp> {
    if !(BUDGET_MIN..=BUDGET_MAX).contains(&request.budget) {
        return Err(ServiceError::invalid(format!(
            "the budget is {} tokens, it must be from {BUDGET_MIN} to {BUDGET_MAX}",
            request.budget
        )));
    }
    let earlier = Earlier::of(service, caller, request.own)?;
    let since_ms = earlier.last.map(|last| last.at_ms);
    let now_ms = service.now_ms();
    let judge = Judge {
        now_ms,
        since_ms,
        session: caller.session.as_deref(),
        own: request.own,
    };
    let worth = |version: &Version| {
        let reasons = judge.of_row(version);
        (!reasons.is_empty()).then(|| value_of(&reasons))
    };
    let wanted = StandOutConditions {
        importance: facts::Importance::High,
        topic: &is_preference,
        after: earlier.needed_after(request.own),
    };
    let (basis, memories) = service.seen_from(caller, CANDIDATES_MAX, &wanted, &worth)?;
    let mut items: Vec<WakeUpItem> = memories
        .into_iter()
        .filter(|(memory, _)| memory.content.is_some() && !is_superseded(memory))
        .map(|(memory, changed_by)| item(memory, changed_by, &judge, caller))
        .collect();
    items.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    let filled = fill(items, request.budget, now_ms);
    let tokens = tokens::estimate(&filled.text);
    if request.record && !filled.items.is_empty() {
        let ids: Vec<&str> = filled.items.iter().map(|item| &*item.memory.id).collect();
        service.shown_unasked(caller, Front::WAKE_UP, "", &ids, tokens)?;
    }
    Ok(WakeUp {
        basis,
        budget: request.budget,
        tokens,
        text: filled.text,
        left_out: filled.left_out,
        last_session_at: since_ms.map(rfc3339),
        items: filled.items,
    })
}

/// The inputs for the reasons of a memory.
struct Judge<'a> {
    now_ms: u64,
    /// Time of the newest event of the last session of the project.
    since_ms: Option<u64>,
    /// The caller's session.
    session: Option<&'a str>,
    /// `true` if memories of the caller's session count, because it has lost its context.
    own: bool,
}

impl Judge<'_> {
    fn of_row(&self, version: &Version) -> Vec<Reason> {
        self.reasons(&Signs {
            pinned_until_ms: version.pinned_until_ms,
            importance: version.importance,
            topic: version.topic.as_deref().unwrap_or_default(),
            session: version.source.session.as_deref(),
            updated_ms: Some(version.updated_ms),
        })
    }

    fn of_memory(&self, memory: &Memory) -> Vec<Reason> {
        let ms = |at: &str| at.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
        let ms = |at: &str| ms(at).and_then(|at| u64::try_from(at).ok());
        self.reasons(&Signs {
            // A pin without an end counts as 0.
            pinned_until_ms: memory.pinned_until.as_deref().map(|at| ms(at).unwrap_or(0)),
            importance: memory.importance.into(),
            topic: &memory.topic,
            session: memory.source.session.as_deref(),
            updated_ms: ms(&memory.updated_at),
        })
    }

    fn reasons(&self, signs: &Signs<'_>) -> Vec<Reason> {
        let is_pinned = signs
            .pinned_until_ms
            .is_some_and(|until| until == 0 || until > self.now_ms);
        let is_own = self.session.is_some() && signs.session == self.session;
        let since = signs.updated_ms.zip(self.since_ms);
        let is_changed = !is_own && since.is_some_and(|(at, since)| at > since);
        let importance = signs.importance;
        [
            (is_pinned, Reason::Pinned),
            (importance == facts::Importance::Critical, Reason::Critical),
            (is_own && self.own, Reason::Session),
            (is_preference(signs.topic), Reason::Preference),
            (importance == facts::Importance::High, Reason::High),
            (
                is_changed && importance != facts::Importance::Low,
                Reason::Changed,
            ),
        ]
        .into_iter()
        .filter_map(|(holds, reason)| holds.then_some(reason))
        .collect()
    }
}

/// The fields of a memory that can give a reason.
struct Signs<'a> {
    pinned_until_ms: Option<u64>,
    importance: facts::Importance,
    topic: &'a str,
    session: Option<&'a str>,
    updated_ms: Option<u64>,
}

fn is_preference(topic: &str) -> bool {
    let first = topic.split('/').next().unwrap_or_default();
    let mut names = PREFERENCES.iter();
    names.any(|name| first.eq_ignore_ascii_case(name))
}

fn value_of(reasons: &[Reason]) -> f64 {
    reasons.iter().map(|reason| reason.value()).sum()
}

fn is_superseded(memory: &Memory) -> bool {
    let mut related = memory.related.iter();
    related.any(|link| link.relation == "supersedes" && link.direction == icm_api::Direction::In)
}

fn item(memory: Memory, changed_by: String, judge: &Judge<'_>, caller: &Caller) -> WakeUpItem {
    let reasons = judge.of_memory(&memory);
    let value = value_of(&reasons);
    let own = caller.project_id.as_ref().map(|id| format!("project:{id}"));
    // A memory of this project tells more about it than a global one.
    let near = match own.as_deref() == Some(&*memory.scope) {
        true => 1.5,
        false => 1.0,
    };
    let len = memory
        .content
        .as_deref()
        .map_or(0, str::len)
        .min(ITEM_BYTES);
    let cost = tokens::within(len) as f64 + LINE_TOKENS;
    let changed_by = reasons.contains(&Reason::Changed).then_some(changed_by);
    WakeUpItem {
        worth: value * near * memory.weight.max(0.1) / cost,
        reasons,
        changed_by,
        memory,
    }
}

struct Filled {
    text: String,
    items: Vec<WakeUpItem>,
    left_out: usize,
}

fn fill(items: Vec<WakeUpItem>, budget: usize, now_ms: u64) -> Filled {
    let most = tokens::bytes(budget);
    let now = timestamp(now_ms);
    let mut frame = Frame::new();
    let said: Vec<Option<Comparable<'_>>> = items
        .iter()
        .map(|item| Comparable::of(&item.memory))
        .collect();
    let is_repeat = |one: usize, other: usize| {
        let said = said[one].as_ref().zip(said[other].as_ref());
        said.is_some_and(|(one, other)| one.is_repeat_of(other))
    };
    let (mut shown, mut left_out) = (Vec::new(), 0);
    for (at, item) in items.iter().enumerate() {
        if shown.iter().any(|other| is_repeat(at, *other)) {
            continue;
        }
        let memory = &item.memory;
        let head = format!("{} [{}] ", memory.id, clean_line(&memory.topic));
        let tail = format!(" ({})", about(item, now));
        let content = memory.content.as_deref().unwrap_or_default();
        match frame.item_within((&head, content, &tail), ITEM_BYTES, most) {
            true => shown.push(at),
            false => left_out += 1,
        }
    }
    drop(said);
    let mut items: Vec<Option<WakeUpItem>> = items.into_iter().map(Some).collect();
    Filled {
        text: match shown.is_empty() {
            true => String::new(),
            false => frame.finish(),
        },
        items: shown.iter().filter_map(|at| items[*at].take()).collect(),
        left_out,
    }
}

fn about(item: &WakeUpItem, now: Timestamp) -> String {
    let memory = &item.memory;
    let mut about: Vec<String> = item
        .reasons
        .iter()
        .map(|reason| reason.word().to_owned())
        .collect();
    if let Some(by) = &item.changed_by {
        about.push(format!("by {}", clean_line(by)));
    }
    let of = memory.occurred_at.as_ref().unwrap_or(&memory.updated_at);
    about.extend(time_ago(now, of, &TimeZone::UTC));
    if memory.importance == Importance::Low {
        about.push("low".to_owned());
    }
    if memory.trust == icm_api::Trust::External {
        about.push("external".to_owned());
    }
    about.join(", ")
}

/// Position and time of an event.
#[derive(Debug, Clone, Copy)]
struct Moment {
    position: u64,
    at_ms: u64,
}

/// The earlier sessions that matter to a wake-up.
struct Earlier {
    /// The newest event of the last session of the project, other than the caller's and sub-agents'.
    last: Option<Moment>,
    /// Position of the first start of the caller's session; 0 if unknown.
    own_start: u64,
}

impl Earlier {
    /// Reads the newest starts of sessions; with `own`, back to the first start of the caller's session.
    fn of(service: &Service, caller: &Caller, own: bool) -> Result<Earlier> {
        let id = caller.session.as_deref().map(icm_log::hash::session_id);
        let id = id.map(|id| id.to_string());
        let request = LogRequest {
            kind: Some("session.started".to_owned()),
            limit: Some(SESSION_STARTS),
            ..LogRequest::default()
        };
        let in_project = caller.project.is_some();
        let (mut last, mut own_start, mut is_first) = (None, 0, !own);
        let read = service.log(&request, &mut |entry| {
            let project = entry.payload.get("project").and_then(|it| it.as_str());
            let fact = |name| entry.facts.get(name).unwrap_or(&Value::Null);
            if id.is_some() && entry.session == id {
                own_start = entry.position;
                is_first |= *fact("cause") == "startup";
            } else if last.is_none()
                && in_project
                && project == caller.project.as_deref()
                && fact("parent").is_null()
            {
                last = entry.session;
            }
            (last.is_none() && in_project) || !is_first
        })?;
        if !is_first && read >= SESSION_STARTS as u64 {
            own_start = 0;
        }
        let Some(session) = last else {
            return Ok(Earlier {
                last: None,
                own_start,
            });
        };
        let request = LogRequest {
            session: Some(session),
            limit: Some(1),
            ..LogRequest::default()
        };
        let mut last = None;
        service.log(&request, &mut |entry| {
            let at: Option<Timestamp> = entry.at.parse().ok();
            let at_ms = at.and_then(|at| u64::try_from(at.as_millisecond()).ok());
            last = at_ms.map(|at_ms| Moment {
                position: entry.position,
                at_ms,
            });
            false
        })?;
        Ok(Earlier { last, own_start })
    }

    /// Returns the position after which all changes since the last session and, with `own`, all memories of the
    /// caller's session lie. `None` if no change counts.
    fn needed_after(&self, own: bool) -> Option<u64> {
        let last = self.last.map(|last| last.position);
        match own {
            true => Some(last.map_or(self.own_start, |last| last.min(self.own_start))),
            false => last,
        }
    }
}
