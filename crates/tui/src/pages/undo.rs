//! The preview of an undo, as `icm undo` prints it.

use icm_api::{UndoAction, UndoAlert, UndoAnswer, UndoChange, UndoFact, UndoRow};

use super::{Page, Scene};
use crate::row::{Look, Row, Target, paragraph};
use crate::text::{self, count};

/// Kept events that are listed. Raised, the changes stand further down.
const SKIPPED: usize = 20;

/// Returns the question: `Undo 2 events (1 memory changed)?`
pub(crate) fn question(answer: &UndoAnswer) -> String {
    let what = count(answer.events, "event", "events");
    format!("Undo {what} ({})?", answer.outcome())
}

/// Returns the receipt of an undo that was done.
pub(crate) fn receipt(answer: &UndoAnswer) -> String {
    format!(
        "undone {}: {}  @{}; undoing that event brings it back",
        count(answer.events, "event", "events"),
        answer.outcome(),
        answer.position.unwrap_or_default()
    )
}

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, answer: &UndoAnswer, only: bool, cascade: bool) -> Page {
    let columns = scene.columns;
    let mut rows = Vec::new();
    let mut line = |text: &str, look: Look| rows.extend(paragraph(text, columns, "", look));
    line(
        &format!(
            "would undo {} of {}: {}",
            count(answer.events, "event", "events"),
            count(answer.commands_total, "command", "commands"),
            answer.outcome()
        ),
        Look::Bold,
    );
    if answer.already_undone > 0 {
        let already = count(answer.already_undone, "event is", "events are");
        line(&format!("{already} undone already"), Look::Dim);
    }
    for skipped in answer.skipped.iter().take(SKIPPED) {
        let why = match skipped.redacted {
            true => "redacted".to_owned(),
            false => format!("a {} cannot be undone", text::one_line(&skipped.kind)),
        };
        line(&format!("@{} stays: {why}", skipped.position), Look::Warn);
    }
    if answer.skipped.len() > SKIPPED {
        line(
            &format!("… and {} more stay", answer.skipped.len() - SKIPPED),
            Look::Warn,
        );
    }
    for change in &answer.changes {
        rows.extend(change_rows(scene, change));
    }
    for fact in &answer.facts {
        rows.extend(fact_rows(scene, fact));
    }
    for alert in &answer.alerts {
        rows.extend(alert_rows(scene, alert));
    }
    rows.extend(later(scene, answer));
    let extent = match (only, cascade) {
        (true, false) => "only this event",
        (true, true) => "only this event, and later changes of the same memories",
        (false, false) => "the whole command that wrote the event",
        (false, true) => "the whole command, and later changes of the same memories",
    };
    Page {
        head: vec![
            Row::heading("Undo, as of now"),
            Row::new().with("chosen: ", Look::Dim).plain(extent),
            Row::new(),
        ],
        rows,
    }
}

/// Returns a value of a fact that changes although its memory looks the same.
fn fact_rows(scene: &Scene<'_>, fact: &UndoFact) -> Vec<Row> {
    let name = format!("{} {}", fact.subject, fact.attribute);
    let from = format!("from {}", fact.valid_from);
    let value = |sign: &str, value: &Option<String>, look: Look| {
        let value = text::one_line(value.as_deref().unwrap_or("(no value)"));
        let line = format!("    {sign} {value}");
        Row::new().rest(&line, scene.columns, look)
    };
    vec![
        Row::new()
            .with("~ changed", Look::Warn)
            .plain("  ")
            .with(&text::one_line(&name), Look::Name)
            .plain("  ")
            .rest(&from, scene.columns, Look::Dim)
            .to(Target::Memory(fact.id.clone())),
        value("-", &fact.before, Look::Bad),
        value("+", &fact.after, Look::Good),
    ]
}

/// Returns an alert that waits no longer, waits again, or was shown before.
fn alert_rows(scene: &Scene<'_>, alert: &UndoAlert) -> Vec<Row> {
    let (look, word) = match (alert.action, alert.shown) {
        (_, true) => (Look::Dim, "  shown  "),
        (UndoAction::Back, false) => (Look::Good, "+ back   "),
        (_, false) => (Look::Bad, "- gone   "),
    };
    let said = text::one_line(alert.text.as_deref().unwrap_or("(withheld)"));
    let line = format!("  alert @{}  {said}", alert.position);
    vec![
        Row::new()
            .with(word, look)
            .rest(&line, scene.columns, Look::Plain),
    ]
}

fn change_rows(scene: &Scene<'_>, change: &UndoChange) -> Vec<Row> {
    let (look, word) = match change.action {
        UndoAction::Gone => (Look::Bad, "- gone   "),
        UndoAction::Back => (Look::Good, "+ back   "),
        UndoAction::Changed => (Look::Warn, "~ changed"),
    };
    let mut rows = vec![
        Row::new()
            .with(word, look)
            .plain("  ")
            .with(&change.id, Look::Dim)
            .plain("  ")
            .with(&text::one_line(&change.topic), Look::Name)
            .plain("  ")
            .rest(&change.fields.join(", "), scene.columns, Look::Dim)
            .to(Target::Memory(change.id.clone())),
    ];
    let content = |row: &Option<UndoRow>| {
        let text = row.as_ref().and_then(UndoRow::text);
        text.unwrap_or("(withheld)").to_owned()
    };
    let mut quote = |sign: &str, text: &str, look: Look| {
        let row = Row::new().plain("    ").with(sign, look);
        rows.push(row.rest(text, scene.columns, look));
    };
    let (before, after) = (content(&change.before), content(&change.after));
    match change.action {
        UndoAction::Gone => quote("", &before, Look::Gone),
        UndoAction::Back => quote("", &after, Look::New),
        UndoAction::Changed if before == after => {
            for (name, before, after) in values(change) {
                quote("", &format!("{name}: {before} → {after}"), Look::Plain);
            }
        }
        UndoAction::Changed => {
            quote("- ", &before, Look::Gone);
            quote("+ ", &after, Look::New);
        }
    }
    for link in &change.links {
        let sign = match link.action {
            UndoAction::Back => "+ ",
            _ => "- ",
        };
        let other = match (&link.name, &link.from) {
            (Some(name), Some(_)) => format!("{name} {}", link.relation),
            (Some(name), None) => format!("{} {name}", link.relation),
            (None, _) => format!("{} {}", link.relation, link.to),
        };
        quote(sign, &other, Look::Plain);
    }
    rows
}

/// Returns the short fields that differ.
fn values(change: &UndoChange) -> Vec<(&'static str, String, String)> {
    let pairs = match (&change.before, &change.after) {
        (Some(UndoRow::Memory(before)), Some(UndoRow::Memory(after))) => vec![
            ("topic", before.topic.clone(), after.topic.clone()),
            (
                "importance",
                before.importance.name().to_owned(),
                after.importance.name().to_owned(),
            ),
            ("scope", before.scope.clone(), after.scope.clone()),
            (
                "keywords",
                before.keywords.join(","),
                after.keywords.join(","),
            ),
            (
                "recalled",
                before.access_count.to_string(),
                after.access_count.to_string(),
            ),
        ],
        (Some(UndoRow::Concept(before)), Some(UndoRow::Concept(after))) => vec![
            ("labels", before.labels.join(","), after.labels.join(",")),
            (
                "confidence",
                before.confidence.to_string(),
                after.confidence.to_string(),
            ),
            (
                "revision",
                before.revision.to_string(),
                after.revision.to_string(),
            ),
        ],
        _ => Vec::new(),
    };
    let differing = pairs
        .into_iter()
        .filter(|(_, before, after)| before != after);
    differing.collect()
}

/// Returns the numbers of later changes: those that disappear with the undo, and those that stay.
fn later(scene: &Scene<'_>, answer: &UndoAnswer) -> Vec<Row> {
    let (gone, staying) = answer.later_gone_and_staying();
    let word = |n| count(n, "later change", "later changes");
    let mut rows = Vec::new();
    if gone > 0 {
        let (go, come) = if gone == 1 {
            ("goes", "comes")
        } else {
            ("go", "come")
        };
        let said = format!(
            "{} {go} with it, and {come} back when this is undone",
            word(gone)
        );
        rows.extend(paragraph(&said, scene.columns, "", Look::Plain));
    }
    if staying > 0 {
        let stay = if staying == 1 { "stays" } else { "stay" };
        let of = answer.later_of();
        let said = format!(
            "{} of these {of} {stay} in force; c undoes them, too",
            word(staying)
        );
        rows.extend(paragraph(&said, scene.columns, "", Look::Warn));
    }
    rows
}
