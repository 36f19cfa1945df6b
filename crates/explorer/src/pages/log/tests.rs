//! Pages of events, sessions, findings and machines, on stores in temporary folders.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use icm_api::session::SessionStart;
use icm_api::{
    Caller, ConceptRequest, ExportSince, LinkRequest, MemoirRequest, NoProgress, RecallRequest,
    RedactRequest, StoreRequest, UndoRequest, UpdateRequest,
};
use icm_service::{ExportFile, OpenOptions, Service};
use tempfile::TempDir;

use super::super::{health, machines, memory, sessions};
use super::*;
use crate::answer::Make;

/// A text that would be markup, a handler or a link, with a control and a bidirectional character.
const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) \u{202e}\u{1b}[31m";

struct World {
    _folder: TempDir,
    explorer: Explorer,
    caller: Caller,
}

impl World {
    fn new() -> World {
        World::of(tempfile::tempdir().expect("a folder"))
    }

    /// Opens the store in the folder.
    fn of(folder: TempDir) -> World {
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let service = Arc::new(Service::open(options).expect("a store"));
        let caller = Caller {
            actor: "user".to_owned(),
            ..Caller::default()
        };
        let explorer = Explorer::new(service, caller.clone(), false).expect("an explorer");
        World {
            _folder: folder,
            explorer,
            caller,
        }
    }

    fn service(&self) -> &Service {
        &self.explorer.service
    }

    fn store(&self, topic: &str, content: &str) -> String {
        let stored = self
            .service()
            .store(&self.caller, StoreRequest::new(topic, content));
        stored.expect("it stores").id
    }

    /// Stores many memories with few writes.
    fn import(&self, memories: usize) {
        let lines: String = (0..memories)
            .map(|n| format!("{{\"topic\":\"bulk\",\"content\":\"Fact {n}\"}}\n"))
            .collect();
        let file = ("lines".to_owned(), Box::new(Cursor::new(lines)) as Box<_>);
        let report = self
            .service()
            .import_jsonl(&self.caller, vec![file], false, &NoProgress);
        assert_eq!(report.expect("an import").added, memories as u64);
    }

    /// Returns title and content of a page.
    fn try_page(&self, make: Make, address: &str) -> Result<String> {
        let uri: Uri = address.parse().expect("an address");
        let Query(params) = Query::try_from_uri(&uri).expect("a query");
        let ask = Ask::of(&self.explorer, &uri, params)?;
        let page = make(&self.explorer, &ask)?;
        let title = page.title;
        Ok(html! { h1 { (title) } (page.main) }.into_string())
    }

    fn page(&self, make: Make, address: &str) -> String {
        let page = self.try_page(make, address);
        page.unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    fn newest(&self) -> u64 {
        self.service().newest_position().expect("a log")
    }
}

/// Returns the positions of the rows of a page of events, in their order.
fn positions(page: &str) -> Vec<u64> {
    let rows = page.split("<tr class=\"item\"").skip(1);
    let position = |row: &str| {
        let (_, rest) = row.split_once("/log/")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    rows.map(|row| position(row).expect("a position")).collect()
}

/// Returns the address of the next page.
fn next(page: &str) -> Option<String> {
    let (_, rest) = page.split_once("rel=\"next\" href=\"")?;
    let (address, _) = rest.split_once('"')?;
    Some(address.replace("&amp;", "&"))
}

#[test]
fn pages_hold_each_event_once() {
    let world = World::new();
    world.import(1_000);
    let newest = world.newest();
    assert!(newest > 1_000);
    for (first, newest_first) in [("/log", true), ("/log?order=oldest", false)] {
        let mut seen = Vec::new();
        let mut address = Some(first.to_owned());
        while let Some(at) = address {
            let page = world.page(page, &at);
            let rows = positions(&page);
            assert!((1..=EVENTS).contains(&rows.len()), "{at}: {}", rows.len());
            seen.extend(rows);
            address = next(&page);
        }
        let mut expected: Vec<u64> = (1..=newest).collect();
        if newest_first {
            expected.reverse();
        }
        assert_eq!(seen, expected, "{first}");
    }
}

#[test]
fn filters_leave_out_the_other_events() {
    let world = World::new();
    world.store("apples", "Apples are red");
    let pears = world.store("pears/green", "Pears are green");
    world
        .service()
        .forget(&world.caller, std::slice::from_ref(&pears))
        .expect("it forgets");
    let agent = Caller {
        actor: "agent:codex".to_owned(),
        session: Some("night".to_owned()),
        ..Caller::default()
    };
    let request = StoreRequest::new("apples", "Apples are round");
    world.service().store(&agent, request).expect("it stores");
    let rows = |query: &str| {
        let page = world.page(page, &format!("/log?{query}"));
        (positions(&page).len(), page)
    };
    for (query, expected) in [
        ("kind=memory.forgotten", 1),
        ("kind=memory", 4),
        ("topic=pears%2F", 2),
        (&format!("id={pears}"), 2),
        ("session=night", 2),
        ("kind=memory&actor=codex", 1),
        ("kind=memory&until=%403", 1),
        ("kind=memory&actor=nobody", 0),
    ] {
        let (found, page) = rows(query);
        assert_eq!(found, expected, "{query}: {page}");
        assert!(page.contains("log-chips"), "{query}");
    }
    let (_, page) = rows("actor=nobody");
    assert!(page.contains("no actor is named"), "{page}");
    let (_, page) = rows("kind=nonsense");
    assert!(
        page.contains("role=\"alert\"") && page.contains("is no kind"),
        "{page}"
    );
    assert!(
        page.contains("log-filters"),
        "the filters stay to be mended: {page}"
    );
}

#[test]
fn an_event_without_a_text_shows_the_one_that_its_memory_had() {
    let world = World::new();
    let id = world.store("pears", "Pears are green");
    let ids = std::slice::from_ref(&id);
    let service = world.service();
    service.forget(&world.caller, ids).expect("it forgets");
    service.revive(&world.caller, &id).expect("it revives");
    let update = UpdateRequest {
        id: id.clone(),
        content: Some("Pears are yellow".to_owned()),
        ..UpdateRequest::default()
    };
    service.update(&world.caller, update).expect("it updates");
    for kind in ["memory.forgotten", "memory.revived"] {
        let log = world.page(page, &format!("/log?kind={kind}"));
        let (_, row) = log.split_once("<tr class=\"item\"").expect("a row");
        assert!(row.contains("Pears are green"), "{row}");
        assert!(!row.contains("yellow"), "{row}");
    }
}

#[test]
fn the_moment_bounds_every_page() {
    let world = World::new();
    let id = world.store("apples", "Apples are red");
    let then = world.newest();
    let night = Caller {
        session: Some("night".to_owned()),
        ..world.caller.clone()
    };
    let start = SessionStart::default();
    world
        .service()
        .start_session(&night, &start)
        .expect("it starts");
    world.service().forget(&night, &[id]).expect("it forgets");
    let at = format!("at=%40{then}");
    let shown = positions(&world.page(page, &format!("/log?{at}")));
    assert_eq!(shown, (1..=then).rev().collect::<Vec<_>>());
    let shown = positions(&world.page(page, &format!("/log?order=oldest&{at}")));
    assert_eq!(shown, (1..=then).collect::<Vec<_>>());
    let later = world.page(event_page, &format!("/log/{}?{at}", then + 2));
    assert!(
        later.contains("later than the moment") && !later.contains("Payload"),
        "{later}"
    );
    assert!(world.page(sessions::page, "/sessions").contains("night"));
    assert!(
        world
            .page(sessions::page, &format!("/sessions?{at}"))
            .contains("No sessions yet")
    );
    world
        .try_page(sessions::session_page, "/sessions/night")
        .expect("it is there now");
    let before = world.page(sessions::session_page, &format!("/sessions/night?{at}"));
    assert!(before.contains("No event of this session"), "{before}");
    let machines = world.page(machines::page, &format!("/machines?{at}"));
    assert!(
        machines.contains(&format!(">{then}<span class=\"unit\"> events")),
        "{machines}"
    );
    let health = world.page(health::page, &format!("/health?{at}"));
    assert!(health.contains("1 memory was"), "{health}");
    assert!(
        world
            .page(health::page, "/health")
            .contains("No memories to look at")
    );
}

#[test]
fn hostile_texts_are_shown_as_text() {
    let world = World::new();
    let hostile = Caller {
        actor: format!("agent:{HOSTILE}"),
        session: Some(HOSTILE.to_owned()),
        project: Some(HOSTILE.to_owned()),
        ..Caller::default()
    };
    let service = world.service();
    let start = SessionStart {
        client: Some(HOSTILE.to_owned()),
        folder: Some(HOSTILE.to_owned()),
        agent: Some(HOSTILE.to_owned()),
        ..SessionStart::default()
    };
    // A name that the limits refuse never comes into the log.
    let clean = |name: &str| icm_guard::sanitize::clean_line(name).into_owned();
    let hostile = match service.start_session(&hostile, &start) {
        Ok(_) => hostile,
        Err(_) => {
            let cleaned = Caller {
                actor: clean(&hostile.actor),
                session: Some(clean(HOSTILE)),
                project: Some(clean(HOSTILE)),
                ..hostile
            };
            let start = SessionStart {
                client: Some(clean(HOSTILE)),
                ..start
            };
            service.start_session(&cleaned, &start).expect("it starts");
            cleaned
        }
    };
    let store = |content: &str| {
        let request = StoreRequest {
            keywords: vec!["\"><script>alert(1)</script>".to_owned()],
            raw_excerpt: Some(HOSTILE.to_owned()),
            ..StoreRequest::new(clean(HOSTILE), content)
        };
        service.store(&hostile, request).expect("it stores").id
    };
    let one = store(&format!("{HOSTILE} one"));
    let two = store(&format!("{HOSTILE} {}", "long ".repeat(12_000)));
    let link = LinkRequest {
        from: one.clone(),
        to: two,
        relation: "contradicts".to_owned(),
        reason: Some(HOSTILE.to_owned()),
        ..LinkRequest::default()
    };
    service.link(&hostile, &link).expect("it links");
    let recall = RecallRequest {
        record: true,
        ..RecallRequest::new(HOSTILE)
    };
    service.recall(&hostile, &recall).expect("an answer");
    service.record_recalls();
    let memoir = MemoirRequest {
        name: clean(HOSTILE),
        description: HOSTILE.to_owned(),
        ..MemoirRequest::default()
    };
    service.memoir_create(&hostile, &memoir).expect("a memoir");
    let concept = ConceptRequest {
        memoir: clean(HOSTILE),
        name: clean(HOSTILE),
        definition: Some(HOSTILE.to_owned()),
        ..ConceptRequest::default()
    };
    service.concept_add(&hostile, &concept).expect("a concept");
    let session = icm_log::hash::session_id(hostile.session.as_deref().unwrap_or_default());
    let mut pages = vec![
        world.page(page, "/log"),
        world.page(page, "/log?injected=yes"),
        world.page(
            page,
            "/log?actor=%3Cscript%3Ealert(1)%3C%2Fscript%3E&topic=%22%3E%3Cimg%20src=x%3E",
        ),
        world.page(sessions::page, "/sessions"),
        world.page(sessions::session_page, &format!("/sessions/{session}")),
        world.page(health::page, "/health"),
        world.page(machines::page, "/machines"),
    ];
    pages.extend((1..=world.newest()).map(|n| world.page(event_page, &format!("/log/{n}"))));
    let mut told = 0;
    for page in &pages {
        for bad in ["<script", "<img", "\u{202e}", "\u{1b}", "href=\"javascript"] {
            assert!(!page.contains(bad), "{bad:?} in {page}");
        }
        told += usize::from(page.contains("&lt;script&gt;alert(1)"));
    }
    assert!(told > pages.len() / 2, "{told} of {}", pages.len());
}

#[test]
fn a_redacted_event_says_so() {
    let world = World::new();
    let id = world.store("apples", "The word is quorl");
    let stored = world.newest();
    let request = |plan: Option<String>| RedactRequest {
        targets: vec![id.clone()],
        dry_run: plan.is_none(),
        plan,
        ..RedactRequest::default()
    };
    let redact = |plan| world.service().redact(&world.caller, &request(plan));
    let plan = redact(None).expect("a plan").plan;
    assert!(
        world
            .page(event_page, &format!("/log/{stored}"))
            .contains("quorl")
    );
    redact(Some(plan)).expect("it redacts");
    let shown = world.page(event_page, &format!("/log/{stored}"));
    assert!(
        shown.contains(">withheld<") && shown.contains("was taken out"),
        "{shown}"
    );
    assert!(
        !shown.contains("quorl") && !shown.contains("Raw payload"),
        "{shown}"
    );
    assert!(world.page(page, "/log").contains(">withheld<"));
}

#[test]
fn an_event_tells_of_its_command_and_of_its_undo() {
    let world = World::new();
    let first = world.store("apples", "Apples are red");
    let second = world.store("apples", "Pears are green");
    world
        .service()
        .forget(&world.caller, &[first, second])
        .expect("it forgets");
    let forgotten = world.newest();
    let address = format!("/log/{forgotten}");
    let before = world.page(event_page, &address);
    assert_eq!(
        positions(&before)[..2],
        [forgotten - 1, forgotten],
        "{before}"
    );
    assert!(
        before.contains("/undo?event=") && !before.contains(">undone<"),
        "{before}"
    );
    let undo = UndoRequest {
        events: vec![format!("@{forgotten}")],
        ..UndoRequest::default()
    };
    world.service().undo(&world.caller, &undo).expect("an undo");
    let after = world.page(event_page, &address);
    assert!(
        after.contains(">undone<") && !after.contains("/undo?event="),
        "{after}"
    );
    let then = world.page(event_page, &format!("{address}?at=%40{forgotten}"));
    assert!(!then.contains(">undone<"), "the undo came later: {then}");
    let undo = UndoRequest {
        last: Some(1),
        ..UndoRequest::default()
    };
    world.service().undo(&world.caller, &undo).expect("an undo");
    let again = world.page(event_page, &address);
    assert!(
        again.contains("/undo?event=") && !again.contains(">undone<"),
        "its undo was taken back: {again}"
    );
}

#[test]
fn machines_and_their_conflicts_are_shown() {
    let (here, there) = (World::new(), World::new());
    let carry = |from: &World, to: &World| {
        let mut bytes = Vec::new();
        let exported = (from.service()).export_log(&ExportSince::Start, &mut bytes, &NoProgress);
        exported.expect("an export");
        let file = to._folder.path().join("carried");
        std::fs::write(&file, bytes).expect("a file");
        let file = ExportFile::open(&file).expect("an export");
        let imported = (to.service()).import_log(&to.caller, &file, false, &NoProgress);
        imported.expect("an import");
    };
    let id = here.store("apples", "Apples are red");
    carry(&here, &there);
    for (world, content) in [(&here, "Apples are green"), (&there, "Apples are yellow")] {
        let update = UpdateRequest {
            id: id.clone(),
            content: Some(content.to_owned()),
            ..UpdateRequest::default()
        };
        world
            .service()
            .update(&world.caller, update)
            .expect("an update");
    }
    let before = here.newest();
    carry(&there, &here);
    let shown = here.page(machines::page, "/machines");
    let heads = here.service().heads().expect("heads");
    assert_eq!(heads.len(), 2);
    for head in &heads {
        let line = format!("{} {} {}", head.origin, head.seq, head.head);
        assert!(shown.contains(&line), "{line} in {shown}");
    }
    assert_eq!(shown.matches(">this machine<").count(), 1, "{shown}");
    let learned = format!(
        "with </span><a class=\"id\" href=\"/log/{}\">",
        here.newest()
    );
    assert!(shown.contains(&learned), "{learned} in {shown}");
    for text in ["Apples are green", "Apples are yellow", "/act/settle"] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    let then = here.page(machines::page, &format!("/machines?at=%40{before}"));
    assert!(
        then.contains("1 chain here") && !then.contains("yellow"),
        "{then}"
    );
    assert!(
        !then.contains("/act/"),
        "a past moment offers no change: {then}"
    );
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = std::fs::copy(entry.path(), to).expect("a copy"),
        }
    }
}

#[test]
fn every_golden_event_has_a_page() {
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../replay-tests/golden/stores");
    let mut kinds = BTreeSet::new();
    let mut bodies = BTreeSet::new();
    for store in std::fs::read_dir(stores).expect("the golden stores") {
        let store = store.expect("an entry").path();
        let folder = tempfile::tempdir().expect("a folder");
        copy(&store, &folder.path().join("store"));
        let world = World::of(folder);
        for n in 1..=world.newest() {
            let entry = world
                .service()
                .log_show(&format!("@{n}"))
                .expect("an event")
                .entry;
            let page = world.page(event_page, &format!("/log/{n}"));
            assert!(
                page.contains(&entry.kind) && page.contains("Events it builds on"),
                "{page}"
            );
            let by_id = world.page(event_page, &format!("/log/{}", entry.event));
            assert_eq!(page, by_id);
            kinds.insert(entry.kind);
            bodies.insert(entry.body);
        }
        for (make, address) in [
            (page as Make, "/log"),
            (page, "/log?injected=yes"),
            (sessions::page, "/sessions"),
            (health::page, "/health"),
            (machines::page, "/machines"),
        ] {
            world.page(make, address);
        }
    }
    assert!(kinds.len() >= 20, "{kinds:?}");
    assert_eq!(
        bodies.into_iter().collect::<Vec<_>>(),
        ["damaged", "present"]
    );
}

#[test]
fn a_parameter_that_is_no_number_is_named() {
    let world = World::new();
    let memory = format!("/memories/{}?before=x", world.store("apples", "red"));
    for (make, address, name) in [
        (sessions::page as Make, "/sessions?from=-1", "from"),
        (sessions::page, "/sessions?alerts=many", "alerts"),
        (machines::page, "/machines?conflicts=1.5", "conflicts"),
        (health::page, "/health?stale=99999999999", "stale"),
        (memory::page, &memory, "before"),
    ] {
        let error = world.try_page(make, address).expect_err(address);
        let told = format!("`{name}` is no number that fits here");
        assert_eq!(error.to_string(), told, "{address}");
    }
    world.page(sessions::page, "/sessions?from=%205%20&alerts=");
}
