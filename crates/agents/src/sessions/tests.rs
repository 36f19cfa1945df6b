//! Sessions from heads against sessions from whole events.

use std::collections::BTreeMap;
use std::time::Duration;

use icm_api::session::{SessionStart, SessionStop};
use icm_api::{
    AlertSetRequest, Caller, Importance, LogEntry, LogRequest, RecallRequest, StoreRequest,
};
use icm_log::hash;
use icm_service::{OpenOptions, Service};
use jiff::Timestamp;
use serde_json::Value;

use super::{Session, SessionsRequest, sessions};

/// Returns the sessions as the events of the log tell them in JSON, by id.
fn naive(service: &Service, since: u64) -> BTreeMap<String, Session> {
    let mut known: BTreeMap<String, Session> = BTreeMap::new();
    let all = LogRequest {
        oldest_first: true,
        ..LogRequest::default()
    };
    let mut each = |entry: LogEntry| {
        if let Some(id) = entry.session.clone() {
            let session = known.entry(id.clone()).or_default();
            session.id = id;
            name(session, &entry);
            if entry.position >= since {
                count(session, &entry);
            }
        }
        true
    };
    service.log(&all, &mut each).expect("it lists");
    known.retain(|_, session| session.events > 0);
    let pairs: Vec<_> = (known.values())
        .filter_map(|session| Some((session.parent.clone()?, session.id.clone())))
        .collect();
    for (parent, child) in pairs {
        if let Some(parent) = known.get_mut(&parent) {
            parent.children.push(child);
        }
    }
    known
}

fn name(session: &mut Session, entry: &LogEntry) {
    let of = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let text = |name: &str| of(&entry.payload, name);
    match &*entry.kind {
        "session.started" => {
            session.ended = None;
            session.name = text("session").or(session.name.take());
            session.client = text("client").or(session.client.take());
            session.project = text("project").or(session.project.take());
            session.folder = text("folder").or(session.folder.take());
            session.agent = text("agent").or(session.agent.take());
            session.parent = of(&entry.facts, "parent").or(session.parent.take());
        }
        "session.ended" => {
            let reason = of(&entry.facts, "reason");
            session.ended = Some(reason.unwrap_or_else(|| "unknown".to_owned()));
        }
        _ => {}
    }
    if session.client.is_none() {
        let agent = entry.actor.strip_prefix("agent:");
        session.client = Some(agent.unwrap_or(&entry.actor).to_owned());
    }
    if session.name.is_none() {
        let source = entry.payload.get("source");
        session.name = (source.and_then(|source| of(source, "session")))
            .or_else(|| text("session"))
            .filter(|name| hash::session_id(name).to_string() == session.id);
        let project = source.and_then(|source| of(source, "project"));
        session.project = session.project.take().or(project);
    }
}

fn count(session: &mut Session, entry: &LogEntry) {
    if session.events == 0 {
        session.first_at.clone_from(&entry.at);
    }
    session.last_at.clone_from(&entry.at);
    session.events += 1;
    match &*entry.kind {
        "session.started" => session.starts += 1,
        "memory.stored" => session.stored += 1,
        "memory.recalled" => {
            let shown = &entry.facts["shown"];
            session.tokens += shown["tokens"].as_u64().unwrap_or(0);
            let results = entry.facts["results"].as_array().map_or(0, Vec::len);
            match shown["front"].as_str() {
                Some("hook" | "wake-up") => session.injected += results as u64,
                _ => session.recalls += 1,
            }
        }
        kind if ["memory.", "memoir.", "concept.", "feedback."]
            .iter()
            .any(|family| kind.starts_with(family)) =>
        {
            session.changed += 1;
        }
        _ => {}
    }
}

fn caller(session: &str, actor: &str) -> Caller {
    Caller {
        session: Some(session.to_owned()),
        actor: actor.to_owned(),
        project: Some("widgets".to_owned()),
        ..Caller::default()
    }
}

fn start(service: &Service, caller: &Caller, parent: Option<&str>, client: Option<&str>) {
    let start = SessionStart {
        parent: parent.map(str::to_owned),
        client: client.map(str::to_owned),
        agent: parent.map(|_| "review".to_owned()),
        folder: Some("/widgets".to_owned()),
        ..SessionStart::default()
    };
    service.start_session(caller, &start).expect("it starts");
}

/// Fills a store with sessions that are named in every way, and returns a position in the middle.
fn fill(service: &Service) -> u64 {
    let stored = |caller: &Caller, text: &str| {
        let request = StoreRequest {
            importance: Some(Importance::Critical),
            ..StoreRequest::new("lamps", text)
        };
        service.store(caller, request).expect("it stores").id
    };
    let (day, night) = (caller("day", "agent:codex"), caller("night", "agent:zed"));
    start(service, &day, None, Some("codex"));
    let first = stored(&day, "the lamp of the hall hangs on the left");
    start(service, &caller("day/1", "agent:codex"), Some("day"), None);
    // Named by what it stored, and by the start that comes later.
    stored(&night, "the door of the cellar is green");
    let middle = service.newest_position().expect("a position");
    let asked = RecallRequest::new("lamp hall");
    service.recall(&night, &asked).expect("it recalls");
    let pack = crate::wake_up::WakeUpRequest::default();
    crate::wake_up::wake_up(service, &day, &pack).expect("a pack");
    service.forget(&day, &[first]).expect("it forgets");
    let alert = AlertSetRequest {
        text: "look at the lamp".to_owned(),
        session: Some("night".to_owned()),
        ..AlertSetRequest::default()
    };
    service
        .set_alert(&caller("other", "user"), alert)
        .expect("it is set");
    let ended = service.end_session(&day, SessionStop::default());
    ended.expect("it ends");
    start(service, &night, None, None);
    middle
}

#[test]
fn sessions_from_heads_equal_those_from_whole_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Service::open(options).expect("a store");
    let middle = fill(&service);
    for since in [0, middle] {
        let request = SessionsRequest {
            since: Some(format!("@{since}")),
            ..SessionsRequest::default()
        };
        let found = sessions(&service, &request).expect("sessions");
        let by_id = found.iter().map(|it| (it.id.clone(), it.clone())).collect();
        assert_eq!(naive(&service, since), by_id);
        assert!(found.len() >= 3, "{found:?}");
        let last = |session: &Session| session.last_at.parse::<Timestamp>().ok();
        assert!(found.is_sorted_by(|a, b| last(a) >= last(b)));
    }
    let one = SessionsRequest {
        session: Some("day".to_owned()),
        ..SessionsRequest::default()
    };
    let found = sessions(&service, &one).expect("sessions");
    let names: Vec<_> = found.iter().filter_map(|it| it.name.as_deref()).collect();
    assert_eq!(names, ["day", "day/1"]);
    let missing = SessionsRequest {
        session: Some("nobody".to_owned()),
        ..SessionsRequest::default()
    };
    assert!(sessions(&service, &missing).is_err());
}

#[test]
fn a_session_without_a_name_is_called_by_the_beginning_of_its_id() {
    let mut session = Session {
        id: "3f2a91c0a1b2c3d4e5f60718293a4b5c".to_owned(),
        ..Session::default()
    };
    assert_eq!(session.title(), "3f2a91c0… (no name)");
    session.name = Some("mcp/17".to_owned());
    assert_eq!(session.title(), "mcp/17");
}
