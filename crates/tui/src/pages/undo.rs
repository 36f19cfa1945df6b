//! The preview of an undo, as `icm undo` prints it.

use icm_api::{UndoAction, UndoAnswer, UndoEntry, UndoTarget};

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
    for entry in answer
        .entries(usize::MAX, &scene.clock.zone)
        .iter()
        .flat_map(|kind| &kind.entries)
    {
        rows.extend(entry_rows(scene, entry));
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

fn entry_rows(scene: &Scene<'_>, entry: &UndoEntry<'_>) -> Vec<Row> {
    let (look, word) = match entry.action {
        Some(UndoAction::Gone) => (Look::Bad, "- gone   "),
        Some(UndoAction::Back) => (Look::Good, "+ back   "),
        Some(UndoAction::Changed) => (Look::Warn, "~ changed"),
        None => (Look::Dim, "  shown  "),
    };
    let mut rows = vec![
        Row::new()
            .with(word, look)
            .plain("  ")
            .with(&entry.target.name(), Look::Dim)
            .plain("  ")
            .with(&text::one_line(&entry.place), Look::Name)
            .plain("  ")
            .rest(&entry.note, scene.columns, Look::Dim),
    ];
    rows[0].target = match entry.target {
        UndoTarget::Memory(id) => Some(Target::Memory(id.to_owned())),
        UndoTarget::Event(position) => Some(Target::Event(position)),
        UndoTarget::Row(_) => None,
    };
    let mut quote = |sign: &str, text: &str, look: Look| {
        let row = Row::new().plain("    ").with(sign, look);
        rows.push(row.rest(text, scene.columns, look));
    };
    for value in &entry.values {
        if let Some(line) = value.line() {
            quote("", &line, Look::Plain);
        }
        let texts = [
            ("- ", &value.before, Look::Gone),
            ("+ ", &value.after, Look::New),
        ];
        for (sign, said, look) in texts.into_iter().filter(|_| value.is_text) {
            if let Some(said) = said {
                quote(sign, &value.labelled(said), look);
            }
        }
    }
    rows
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
