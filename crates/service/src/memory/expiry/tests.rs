use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::ExportFile;
use crate::service::Service;
use crate::service::tests::{Clock, service, service_at};
use icm_api::{
    Action, Caller, ContextRequest, ExportSince, FindingKind, HealthRequest, ListRequest, LogEntry,
    LogRequest, NoProgress, RecallRequest, ReplaceTagRequest, StoreRequest, TagsRequest,
    TopicsRequest, Turn, TurnTopicRequest, UndoRequest, UpdateRequest,
};

mod file;
mod peer;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const TEXT: &str = "The demo of the payments service is on Thursday";

fn store(service: &Service, content: &str, expires: &str) -> String {
    let request = StoreRequest {
        expires: Some(expires.to_owned()).filter(|text| !text.is_empty()),
        ..StoreRequest::new("demo", content)
    };
    let receipt = service.store(&Caller::default(), request);
    receipt.expect("it stores").id
}

fn recalled_at(service: &Service, at: Option<&str>) -> Vec<String> {
    let request = RecallRequest {
        query: "when is the demo of the payments service".to_owned(),
        floor: Some(0.0),
        at: at.map(str::to_owned),
        record: at.is_none(),
        ..RecallRequest::default()
    };
    let answer = service.recall(&Caller::default(), &request);
    let answer = answer.expect("it answers");
    service.record_recalls();
    let hits = answer.results.into_iter();
    hits.map(|hit| hit.memory.id).collect()
}

fn recalled(service: &Service) -> Vec<String> {
    recalled_at(service, None)
}

fn listed(service: &Service, expired: bool) -> Vec<String> {
    listed_at(service, expired, None)
}

fn listed_at(service: &Service, expired: bool, at: Option<&str>) -> Vec<String> {
    let request = ListRequest {
        expired,
        at: at.map(str::to_owned),
        ..ListRequest::default()
    };
    let memories = service.list(&request).expect("it lists").into_iter();
    memories.map(|memory| memory.id).collect()
}

/// Asserts that a memory is shown, or hidden, by every answer. The recall counts for a condition of recalls.
#[track_caller]
fn assert_hidden(service: &Service, id: &String, is_hidden: bool) {
    assert_eq!(recalled(service).contains(id), !is_hidden, "recall");
    assert_hidden_without_recall(service, id, is_hidden);
}

/// As [`assert_hidden`], for answers that count as no recall.
#[track_caller]
fn assert_hidden_without_recall(service: &Service, id: &String, is_hidden: bool) {
    let request = ContextRequest {
        recall: RecallRequest {
            floor: Some(0.0),
            ..RecallRequest::new("when is the demo of the payments service")
        },
        budget: 10_000,
        markdown: false,
    };
    let context = service.recall_context(&Caller::default(), &request);
    let mut context = context.expect("it answers").results.into_iter();
    let is_in_context = context.any(|hit| hit.memory.id == *id);
    assert_eq!(is_in_context, !is_hidden, "recall-context");
    let (shown, hidden) = (listed(service, false), listed(service, true));
    assert_eq!(shown.contains(id), !is_hidden, "list");
    assert_eq!(hidden.contains(id), is_hidden, "list --expired");
    // The moment of the answer repeats it.
    let basis = service.basis(None).expect("a basis");
    let moment = basis.moment.expect("the store has conditions");
    assert_eq!(listed_at(service, false, Some(&moment)), shown, "list --at");
    assert_eq!(listed_at(service, true, Some(&moment)), hidden, "list --at");
    let memory = service.get(id, None).expect("get shows it in any case");
    assert_eq!(memory.expired, is_hidden, "get");
    let counted = |n: usize| u64::try_from(n).expect("few");
    let stats = service.stats(None).expect("it counts");
    assert_eq!(stats.memories, counted(shown.len()), "stats");
    assert_eq!(stats.expired, counted(hidden.len()), "stats");
    let health = service.health(&HealthRequest::default());
    assert_eq!(health.expect("it looks").memories, stats.memories, "health");
    let topics = service.topics().expect("it counts");
    let in_topics: u64 = topics.iter().map(|topic| topic.memories).sum();
    assert_eq!(in_topics, stats.memories, "topics");
    let tree = service.topic_tree(&TopicsRequest::default());
    assert_eq!(tree.expect("it counts").total, stats.topics, "topics");
    let mut contents = contents_of(service, &shown);
    contents.sort();
    let mut lines = Vec::new();
    let exported = service.export_jsonl(&mut lines, None).expect("it exports");
    assert_eq!(exported, stats.memories, "export");
    let lines = String::from_utf8(lines).expect("text");
    let mut exported: Vec<String> = lines.lines().map(content_in).collect();
    exported.sort();
    assert_eq!(exported, contents, "export");
    let mut markdown = Vec::new();
    let exported = service.export_markdown(&mut markdown, None);
    assert_eq!(exported.expect("it exports"), stats.memories, "markdown");
    let markdown = String::from_utf8(markdown).expect("text");
    for content in contents_of(service, &hidden) {
        let is_shown = contents.contains(&content);
        assert_eq!(markdown.contains(&content), is_shown, "markdown");
    }
}

fn contents_of(service: &Service, ids: &[String]) -> Vec<String> {
    let memories = ids.iter().map(|id| service.get(id, None));
    let contents = memories.map(|memory| memory.expect("it is listed").content);
    contents.map(|content| content.expect("a text")).collect()
}

fn content_in(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    line["content"].as_str().expect("a text").to_owned()
}

fn go_to(clock: &Arc<Clock>, ms: u64) {
    clock.0.store(ms, Ordering::Relaxed);
}

fn opened() -> (tempfile::TempDir, Arc<Clock>, Service, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, service) = service_at(folder.path());
    let start = service.now_ms();
    (folder, clock, service, start)
}

#[test]
fn a_time_hides_a_memory_and_a_clock_that_jumps_shows_it_again() {
    let (_folder, clock, service, start) = opened();
    let other = store(&service, "The payments service has a demo each month", "");
    let id = store(&service, TEXT, "time 30d");
    for (ms, is_hidden) in [
        (start, false),
        (start + 30 * DAY_MS - 1, false),
        (start + 30 * DAY_MS, true),
        (start + 3_650 * DAY_MS, true),
        (start, false),
    ] {
        go_to(&clock, ms);
        assert_hidden(&service, &id, is_hidden);
        assert_hidden(&service, &other, false);
    }
}

#[test]
fn the_tail_and_the_files_hide_alike() {
    let (_folder, clock, service, start) = opened();
    let timed = store(&service, TEXT, "time 30d");
    let used = store(
        &service,
        "The demo of the payments service needs a screen",
        "usage 2",
    );
    service.rebuild(&icm_api::NoProgress).expect("it builds");
    go_to(&clock, start + 31 * DAY_MS);
    assert_eq!(recalled(&service), from_ref(&used));
    assert_eq!(recalled(&service), from_ref(&used));
    assert_eq!(recalled(&service), Vec::<String>::new());
    let mut hidden = listed(&service, true);
    hidden.sort();
    assert_eq!(hidden, [timed, used]);
}

#[test]
fn a_number_of_recalls_hides_a_memory() {
    let (_folder, _clock, service, _) = opened();
    let id = store(&service, TEXT, "usage 2");
    let before = service.basis(None).expect("a basis");
    assert_eq!(recalled(&service), from_ref(&id));
    assert_eq!(recalled(&service), from_ref(&id));
    assert_hidden(&service, &id, true);
    // At an earlier position fewer recalls had shown it.
    let at = format!("@{}", before.position);
    assert_eq!(recalled_at(&service, Some(&at)), from_ref(&id));
    // A new condition counts from now on.
    let revived = service.revive_with(&Caller::default(), from_ref(&id), Some("usage 1"));
    assert_eq!(revived.expect("it is back")[0].action, Action::Revived);
    assert_eq!(recalled(&service), from_ref(&id));
    assert_hidden(&service, &id, true);
}

fn carry(from: &Service, to: &Service) {
    let mut bytes = Vec::new();
    from.export_log(&ExportSince::Start, &mut bytes, &NoProgress)
        .expect("it exports");
    let file = ExportFile::spool(&mut bytes.as_slice(), "an export").expect("an export");
    to.import_log(&Caller::default(), &file, false, &NoProgress)
        .expect("it imports");
}

#[test]
fn recalls_of_another_machine_count_from_the_setting_of_the_condition() {
    let (_folder, clock, service, start) = opened();
    let id = store(&service, TEXT, "");
    let other_folder = tempfile::tempdir().expect("a folder");
    let (other_clock, other) = service_at(other_folder.path());
    carry(&service, &other);
    // The other machine recalls it twice before this one sets the condition, and once after.
    for minute in [1, 2] {
        go_to(&other_clock, start + minute * 60_000);
        assert_eq!(recalled(&other), from_ref(&id));
    }
    go_to(&clock, start + 180_000);
    let request = UpdateRequest {
        id: id.clone(),
        expires: Some("usage 2".to_owned()),
        ..UpdateRequest::default()
    };
    service
        .update(&Caller::default(), request)
        .expect("it is set");
    carry(&other, &service);
    assert_hidden_without_recall(&service, &id, false);
    go_to(&other_clock, start + 240_000);
    assert_eq!(recalled(&other), from_ref(&id));
    carry(&other, &service);
    assert_hidden_without_recall(&service, &id, false);
    go_to(&clock, start + 300_000);
    assert_eq!(recalled(&service), from_ref(&id));
    let counted = newest_recall(&service);
    carry(&service, &other);
    for machine in [&service, &other] {
        assert_hidden(machine, &id, true);
        machine.rebuild(&NoProgress).expect("it builds");
        assert_hidden(machine, &id, true);
    }
    // The undo of a recall that counted brings the memory back.
    let request = UndoRequest {
        events: vec![counted],
        ..UndoRequest::default()
    };
    service.undo(&Caller::default(), &request).expect("undone");
    assert_hidden_without_recall(&service, &id, false);
}

#[test]
fn recalls_count_while_the_clock_is_ten_years_back() {
    let (_folder, clock, service, start) = opened();
    let id = store(&service, TEXT, "usage 2");
    let origin = newest(&service, None).origin;
    go_to(&clock, start - 3_650 * DAY_MS);
    assert_eq!(recalled(&service), from_ref(&id));
    assert_ne!(newest(&service, None).origin, origin, "times start afresh");
    // Another machine learns it all, and shows the memory for the last time.
    let other_folder = tempfile::tempdir().expect("a folder");
    let (other_clock, other) = service_at(other_folder.path());
    go_to(&other_clock, start - 1_000);
    carry(&service, &other);
    assert_eq!(recalled(&other), from_ref(&id));
    // Events of the future are not learnt.
    go_to(&clock, start);
    carry(&other, &service);
    for ms in [start - 3_650 * DAY_MS, start, start + 3_650 * DAY_MS] {
        go_to(&clock, ms);
        assert_hidden(&service, &id, true);
        assert_hidden(&other, &id, true);
    }
    service.rebuild(&NoProgress).expect("it builds");
    assert_hidden(&service, &id, true);
}

fn newest(service: &Service, kind: Option<&str>) -> LogEntry {
    let request = LogRequest {
        kind: kind.map(str::to_owned),
        limit: Some(1),
        ..LogRequest::default()
    };
    let mut newest = None;
    let taken = service.log(&request, &mut |entry| {
        newest = Some(entry);
        true
    });
    taken.expect("it lists");
    newest.expect("an event")
}

fn newest_recall(service: &Service) -> String {
    newest(service, Some("memory.recalled")).event
}

#[test]
fn a_receipt_tells_the_condition_that_was_set() {
    let (_folder, clock, service, start) = opened();
    let caller = Caller::default();
    let request = |expires: &str| StoreRequest {
        expires: Some(expires.to_owned()),
        request_id: Some("once".to_owned()),
        ..StoreRequest::new("demo", TEXT)
    };
    let first = service.store(&caller, request("time 2h")).expect("stored");
    let until = "time 2027-01-15T10:00:00Z";
    assert_eq!(first.expires.as_deref(), Some(until));
    // A retry names the condition of the first attempt.
    go_to(&clock, start + 60_000);
    let again = service.store(&caller, request("time 2h")).expect("stored");
    assert_eq!((again.event, again.expires), (first.event, first.expires));
    let update = |expires: Option<&str>| {
        let request = UpdateRequest {
            id: first.id.clone(),
            importance: Some(icm_api::Importance::High),
            expires: expires.map(str::to_owned),
            ..UpdateRequest::default()
        };
        let receipt = service.update(&caller, request);
        receipt.expect("updated").expires
    };
    assert_eq!(update(Some("usage 3")).as_deref(), Some("usage 3"));
    assert_eq!(update(None), None, "this update sets none");
    assert_eq!(update(Some("")), None);
    let ids = from_ref(&first.id);
    let revived = service.revive_with(&caller, ids, Some("usage 1"));
    let revived = revived.expect("revived").remove(0);
    assert_eq!(revived.expires.as_deref(), Some("usage 1"));
}

#[test]
fn a_topic_is_revived_with_its_expired_memories() {
    let (_folder, clock, service, start) = opened();
    let caller = Caller::default();
    let timed = store(&service, TEXT, "time 2d");
    let weekly = store(
        &service,
        "Support answers the phone",
        "period mon-fri 09:00-17:00 UTC",
    );
    let forgotten = store(&service, "The office has three floors", "");
    service
        .forget(&caller, from_ref(&forgotten))
        .expect("forgotten");
    let living = store(&service, "The build takes nine minutes", "");
    go_to(&clock, start + 3 * DAY_MS);
    assert_eq!(listed(&service, true).len(), 2);
    let revive = |expires: Option<&str>| {
        let request = TurnTopicRequest {
            topic: "demo".to_owned(),
            to: Turn::Revive,
            expires: expires.map(str::to_owned),
            ..TurnTopicRequest::default()
        };
        let done = service.turn_topic(&caller, &request).expect("revived");
        let mut ids: Vec<String> = done.receipts.into_iter().map(|it| it.id).collect();
        ids.sort();
        ids
    };
    let mut back = [timed.clone(), forgotten.clone()];
    back.sort();
    assert_eq!(revive(Some("time 5d")), back);
    // Hours come back by themselves, and what lives stays as it is.
    assert_eq!(listed(&service, true), from_ref(&weekly));
    let expires = |id: &str| service.get(id, None).expect("it is there").expires;
    assert_eq!(expires(&living), None);
    for id in &back {
        assert!(expires(id).is_some_and(|text| text.starts_with("time ")));
    }
    assert!(revive(None).is_empty());
    go_to(&clock, start + 9 * DAY_MS);
    assert_eq!(revive(None), back);
    assert_eq!(expires(&timed), None);
}

#[test]
fn tags_count_expired_memories_apart_and_a_rename_changes_them() {
    let (_folder, clock, service, start) = opened();
    let caller = Caller::default();
    let store = |content: &str, expires: Option<&str>| {
        let request = StoreRequest {
            keywords: vec!["draft".to_owned()],
            expires: expires.map(str::to_owned),
            ..StoreRequest::new("demo", content)
        };
        service.store(&caller, request).expect("stored").id
    };
    store("The office has three floors", None);
    let timed = store(TEXT, Some("time 2d"));
    go_to(&clock, start + 3 * DAY_MS);
    let tags = |service: &Service| {
        let tags = service
            .tags(&caller, &TagsRequest::default())
            .expect("counted");
        let tags = tags.tags.into_iter();
        tags.map(|tag| (tag.tag, tag.memories, tag.expired))
            .collect::<Vec<_>>()
    };
    assert_eq!(tags(&service), [("draft".to_owned(), 1, 1)]);
    let request = ReplaceTagRequest {
        from: "draft".to_owned(),
        to: "old".to_owned(),
        ..ReplaceTagRequest::default()
    };
    let done = service.replace_tag(&caller, &request).expect("renamed");
    assert_eq!((done.memories, done.expired), (2, 1));
    assert_eq!(tags(&service), [("old".to_owned(), 1, 1)]);
    let memory = service.get(&timed, None).expect("it is there");
    assert_eq!(memory.keywords, ["old"]);
    // A tag that only an expired memory has is known to both.
    store("The build takes nine minutes", None);
    let request = ReplaceTagRequest {
        from: "draft".to_owned(),
        to: "OLD".to_owned(),
        dry_run: true,
        ..ReplaceTagRequest::default()
    };
    let error = service.replace_tag(&caller, &request).expect_err("taken");
    assert_eq!(error.to_string(), "the tag `old` exists already");
}

#[test]
fn a_period_shows_a_memory_from_its_start_to_its_end() {
    let (_folder, clock, service, start) = opened();
    // 2027-01-15T08:00:00Z
    let id = store(
        &service,
        TEXT,
        "period 2027-02-01T00:00:00Z..2027-03-01T00:00:00Z",
    );
    for (days, is_hidden) in [(0, true), (20, false), (50, true)] {
        go_to(&clock, start + days * DAY_MS);
        assert_hidden(&service, &id, is_hidden);
    }
}

#[test]
fn weekly_hours_show_a_memory_in_these_hours() {
    let (_folder, clock, service, start) = opened();
    // 2027-01-15 is a Friday, and the clock starts at 08:00 UTC.
    let id = store(&service, TEXT, "period mon-fri 09:00-17:00 UTC");
    let hour = DAY_MS / 24;
    for (hours, is_hidden) in [(0, true), (1, false), (8, false), (9, true), (26, true)] {
        go_to(&clock, start + hours * hour);
        assert_hidden(&service, &id, is_hidden);
    }
}

#[test]
fn the_moment_of_an_answer_repeats_it() {
    let (_folder, clock, service, start) = opened();
    let id = store(&service, TEXT, "time 30d");
    let basis = service.basis(None).expect("a basis");
    let moment = basis.moment.expect("answers of this store name it");
    go_to(&clock, start + 40 * DAY_MS);
    assert_eq!(recalled(&service), Vec::<String>::new());
    assert_eq!(recalled_at(&service, Some(&moment)), from_ref(&id));
    let at = format!("@{}", basis.position);
    assert_eq!(recalled_at(&service, Some(&at)), [id]);
}

#[test]
fn a_store_without_conditions_names_no_moment() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, TEXT, "");
    assert_eq!(service.basis(None).expect("a basis").moment, None);
    let health = service.health(&HealthRequest::default()).expect("it looks");
    let mut kinds = health.findings.iter().map(|finding| finding.finding);
    assert!(kinds.all(|kind| kind != FindingKind::ExpireSoon));
}

#[test]
fn health_names_what_expires_soon() {
    let (_folder, clock, service, start) = opened();
    let soon = store(&service, TEXT, "time 9d");
    store(
        &service,
        "The payments service is written in Rust",
        "time 90d",
    );
    let finding = |service: &Service| {
        let health = service.health(&HealthRequest::default()).expect("it looks");
        let mut findings = health.findings.into_iter();
        let soon = findings.find(|finding| finding.finding == FindingKind::ExpireSoon);
        soon.expect("the store has conditions")
    };
    assert_eq!(finding(&service).count, 0);
    go_to(&clock, start + 3 * DAY_MS);
    let found = finding(&service);
    assert_eq!(found.count, 1);
    assert_eq!(found.first[0].ids, [soon]);
}

#[test]
fn an_expired_memory_comes_back_with_another_condition_or_none() {
    let (_folder, clock, service, start) = opened();
    let id = store(&service, TEXT, "time 30d");
    go_to(&clock, start + 31 * DAY_MS);
    assert_hidden(&service, &id, true);
    let revive = |expires| {
        let receipts = service.revive_with(&Caller::default(), from_ref(&id), expires);
        receipts.expect("it is revived").remove(0).action
    };
    assert_eq!(revive(Some("time 30d")), Action::Revived);
    assert_hidden(&service, &id, false);
    go_to(&clock, start + 62 * DAY_MS);
    assert_hidden(&service, &id, true);
    assert_eq!(revive(None), Action::Revived);
    assert_hidden(&service, &id, false);
    assert_eq!(service.get(&id, None).expect("it is there").expires, None);
    assert_eq!(revive(None), Action::Unchanged);
    // The undo of the revival hides it again.
    let request = UndoRequest {
        last: Some(1),
        ..UndoRequest::default()
    };
    service.undo(&Caller::default(), &request).expect("undone");
    assert_hidden(&service, &id, true);
}

#[test]
fn a_text_that_only_an_expired_memory_has_is_stored() {
    let (_folder, clock, service, start) = opened();
    let first = store(&service, TEXT, "time 30d");
    assert_eq!(store(&service, TEXT, ""), first, "it is there");
    go_to(&clock, start + 31 * DAY_MS);
    let second = store(&service, TEXT, "");
    assert_ne!(second, first);
    assert_hidden(&service, &first, true);
    assert_hidden(&service, &second, false);
}

#[test]
fn a_keyed_memory_that_expired_is_back_when_it_is_stored_again() {
    let (_folder, clock, service, start) = opened();
    let request = || StoreRequest {
        key: Some("demo".to_owned()),
        ..StoreRequest::new("demo", TEXT)
    };
    let with = StoreRequest {
        expires: Some("time 30d".to_owned()),
        ..request()
    };
    let store = |request| {
        let receipt = service.store(&Caller::default(), request);
        receipt.expect("it stores")
    };
    let first = store(with);
    go_to(&clock, start + 31 * DAY_MS);
    let again = store(request());
    assert_eq!((again.action, &again.id), (Action::Stored, &first.id));
    assert_hidden(&service, &first.id, false);
    assert_eq!(store(request()).action, Action::Unchanged);
}

#[test]
fn an_update_sets_and_takes_away_a_condition() {
    let (_folder, clock, service, start) = opened();
    let id = store(&service, TEXT, "");
    let update = |expires: &str| {
        let request = UpdateRequest {
            id: id.clone(),
            expires: Some(expires.to_owned()),
            ..UpdateRequest::default()
        };
        service
            .update(&Caller::default(), request)
            .map(|it| it.action)
    };
    assert_eq!(update("").expect("nothing changes"), Action::Unchanged);
    assert_eq!(update("time 2d").expect("it is set"), Action::Updated);
    go_to(&clock, start + 3 * DAY_MS);
    assert_hidden(&service, &id, true);
    assert_eq!(update("").expect("it is gone"), Action::Updated);
    assert_hidden(&service, &id, false);
    for wrong in [
        "soon",
        "time 2020-01-01",
        "file-exists a/b",
        "file-exists /no/such/file",
    ] {
        assert!(update(wrong).is_err(), "{wrong}");
    }
}
