//! The page *Now*: numbers, sessions at work, newest events.

use icm_api::{LogEntry, STORE_EXAMPLE};

use super::{Page, Scene, empty, event_row, facts};
use crate::ask::{AtWork, Counts};
use crate::row::{Look, Row, Target};
use crate::text::count;

/// Sessions that stand above the events. Raised, a small terminal shows fewer events.
const SESSIONS: usize = 6;

/// Makes the page. `counts` come later than the events.
pub(crate) fn page(scene: &Scene<'_>, entries: &[LogEntry], counts: Option<&Counts>) -> Page {
    let mut rows = Vec::new();
    if let Some(counts) = counts
        && !counts.at_work.is_empty()
    {
        rows.push(Row::heading("At work"));
        let shown = counts.at_work.iter().take(SESSIONS);
        rows.extend(shown.map(|session| session_row(scene, session)));
        let more = counts.at_work.len().saturating_sub(SESSIONS);
        if more > 0 {
            rows.push(Row::new().with(&format!("  and {more} more"), Look::Dim));
        }
        rows.push(Row::new());
    }
    match entries.is_empty() {
        true => rows.extend(empty(
            scene.columns,
            &[
                &format!("The store is empty. `{STORE_EXAMPLE}` stores a memory,"),
                "`icm init` lets an agent store its own.",
            ],
        )),
        false => {
            rows.push(Row::heading("Newest events"));
            rows.extend(entries.iter().map(|entry| event_row(scene, entry)));
        }
    }
    Page {
        head: head(scene, counts),
        rows,
    }
}

fn head(scene: &Scene<'_>, counts: Option<&Counts>) -> Vec<Row> {
    let Some(counts) = counts else {
        return vec![Row::new().with("counting …", Look::Dim), Row::new()];
    };
    let (stats, today) = (&counts.stats, &counts.today);
    let some = |n: u64, one: &str, many: &str| match n {
        0 => String::new(),
        n => count(n, one, many),
    };
    let mut head = facts(
        scene.columns,
        &[
            ("", count(stats.memories, "memory", "memories")),
            ("", count(stats.topics, "topic", "topics")),
            ("", some(stats.concepts, "concept", "concepts")),
            ("", some(stats.forgotten, "forgotten", "forgotten")),
            ("", some(stats.expired, "expired", "expired")),
            ("", count(stats.events, "event", "events")),
        ],
    );
    let day = if scene.is_now { "today" } else { "that day" };
    let mut work = vec![
        ("", some(today.stored, "stored", "stored")),
        ("", some(today.changed, "changed", "changed")),
        ("", some(today.recalls, "recall", "recalls")),
        ("", some(today.unasked, "shown unasked", "shown unasked")),
        ("", some(today.tokens, "token", "tokens")),
    ];
    work.retain(|(_, value)| !value.is_empty());
    match work.first_mut() {
        Some((name, _)) => *name = day,
        None => work.push((day, "no event of a memory".to_owned())),
    }
    head.extend(facts(scene.columns, &work));
    if scene.columns < 50 {
        head.truncate(2);
    }
    head.push(Row::new());
    head
}

fn session_row(scene: &Scene<'_>, session: &AtWork) -> Row {
    let name = scene.session(&session.id);
    let [wide, actor] = match scene.columns {
        ..60 => [12, 0],
        60..100 => [20, 16],
        _ => [32, 24],
    };
    let mut work = Vec::new();
    for (n, one, many) in [
        (session.stored, "stored", "stored"),
        (session.changed, "changed", "changed"),
        (session.recalls, "recall", "recalls"),
        (session.tokens, "token", "tokens"),
    ] {
        if n > 0 {
            work.push(count(n, one, many));
        }
    }
    Row::new()
        .right(&scene.clock.age(&session.last_at), 4, Look::Dim)
        .column(&name, wide, Look::Name)
        .column(super::actor_name(&session.actor), actor, Look::Dim)
        .rest(&work.join(", "), scene.columns, Look::Plain)
        .to(Target::Session(session.id.clone()))
}
