//! One memory: its text, its versions with the words that differ, its links, and whom it was shown to.

use icm_api::ids::short_event;
use icm_api::{DiffOp, DiffPiece, Direction, Memory, MemoryState, Version, WhyRecall};
use icm_guard::difference::beside_change;

use super::{Page, Scene, facts, sign};
use crate::ask::Known;
use crate::row::{Look, Row, Target, flowing, paragraph};
use crate::text::{count, number};

/// Characters of an unchanged part of a text that are shown beside a change. Raised, a changed word in a long text is
/// harder to find.
const AROUND: usize = 120;

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, known: &Known) -> Page {
    let memory = &known.memory;
    let mut rows = Vec::new();
    match &memory.content {
        Some(text) => rows.extend(paragraph(text, scene.columns, "", Look::Plain)),
        None => rows.push(Row::new().with("(withheld)", Look::Warn)),
    }
    if let Some(raw) = &memory.raw_excerpt {
        rows.push(Row::new());
        rows.push(Row::heading("Behind it"));
        rows.extend(paragraph(raw, scene.columns, "  ", Look::Dim));
    }
    rows.push(Row::new());
    versions(scene, known, &mut rows);
    links(scene, known, &mut rows);
    shown(scene, known, &mut rows);
    from(scene, known, &mut rows);
    Page {
        head: head(scene, memory),
        rows,
    }
}

fn head(scene: &Scene<'_>, memory: &Memory) -> Vec<Row> {
    let (mark, look) = sign(memory.importance);
    let mut first = Row::new()
        .with(&memory.topic, Look::Name)
        .plain("  ")
        .with(mark.trim(), look)
        .with(memory.importance.name(), look);
    for state in memory.states() {
        let look = match state {
            MemoryState::Pinned => Look::Good,
            _ => Look::Warn,
        };
        first = first.with(&format!("  {}", state.word()), look);
    }
    if let Some(told) = memory.marks.and_then(|marks| marks.told()) {
        first = first.with(&format!("  {told}"), Look::Dim);
    }
    let first = first.plain("  ").rest(&memory.id, scene.columns, Look::Dim);
    let last = memory.last_accessed.as_deref();
    let recalled = match memory.access_count {
        0 => "never".to_owned(),
        n => format!(
            "{}, last {}",
            number(n),
            last.map_or_else(String::new, |at| scene.clock.ago(at))
        ),
    };
    let short = |at: &Option<String>| {
        at.as_deref()
            .map_or_else(String::new, |at| scene.clock.short(at))
    };
    let pinned = match memory.pinned_until.as_deref() {
        Some("unpinned") => "unpinned".to_owned(),
        _ => short(&memory.pinned_until),
    };
    let mut rows = vec![first];
    rows.extend(facts(
        scene.columns,
        &[
            ("weight", format!("{:.2}", memory.weight)),
            ("trust", memory.trust.name().to_owned()),
            ("scope", memory.scope.clone()),
            ("key", memory.key.clone().unwrap_or_default()),
            ("keywords", memory.keywords.join(", ")),
            ("stored", scene.clock.short(&memory.created_at)),
            ("changed", scene.clock.short(&memory.updated_at)),
            ("of", short(&memory.occurred_at)),
            ("expires", memory.expires.clone().unwrap_or_default()),
            ("planned from", short(&memory.planned_from)),
            ("pinned until", pinned),
            ("recalled", recalled),
            ("conflict in", memory.conflicts.join(", ")),
        ],
    ));
    // A narrow terminal keeps room for the text.
    rows.truncate(if scene.columns < 60 { 4 } else { 5 });
    rows.push(Row::new());
    rows
}

fn versions(scene: &Scene<'_>, known: &Known, rows: &mut Vec<Row>) {
    rows.push(Row::heading("Versions, newest first"));
    for (version, pieces) in known.versions.iter().rev() {
        let changed = match version.changed.is_empty() {
            true => String::new(),
            false => version.changed.join(", "),
        };
        rows.push(
            Row::new()
                .with(&format!("@{}  ", version.position), Look::Bold)
                .with(&version.kind, super::kind_look(&version.kind))
                .with(&format!("  {}  ", scene.clock.ago(&version.at)), Look::Dim)
                .with(super::actor_name(&version.actor), Look::Name)
                .plain("  ")
                .rest(&changed, scene.columns, Look::Dim)
                .to(Target::Event(version.position)),
        );
        if let Some(undo) = version.undone_at {
            rows.push(
                Row::new()
                    .with(&format!("  undone at @{undo}"), Look::Warn)
                    .to(Target::Event(undo)),
            );
        }
        if version.is_not_shown() {
            rows.extend(not_shown(scene, version));
        } else if !pieces.is_empty() {
            rows.extend(difference(scene, pieces));
        }
    }
    rows.push(Row::new());
}

fn not_shown(scene: &Scene<'_>, version: &Version) -> Vec<Row> {
    let mut rows = vec![Row::new().with(&format!("  {}", version.why_not_shown()), Look::Warn)];
    for (field, value) in &version.not_shown_fields {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        rows.extend(paragraph(
            &format!("{field}: {value}"),
            scene.columns,
            "  ",
            Look::Dim,
        ));
    }
    if let Some(text) = &version.not_shown {
        rows.extend(paragraph(text, scene.columns, "  ", Look::Dim));
    }
    rows
}

/// Returns a text with the words that differ. Without colours, signs stand around them.
fn difference(scene: &Scene<'_>, pieces: &[DiffPiece]) -> Vec<Row> {
    let mut shown = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let text = icm_guard::sanitize::clean(&piece.text);
        let (text, look) = match (piece.op, scene.paints) {
            (DiffOp::Equal, _) => (shortened(&text, at > 0, at + 1 < pieces.len()), Look::Plain),
            (DiffOp::Delete, true) => (text.into_owned(), Look::Gone),
            (DiffOp::Insert, true) => (text.into_owned(), Look::New),
            (DiffOp::Delete, false) => (format!("[-{text}-]"), Look::Gone),
            (DiffOp::Insert, false) => (format!("{{+{text}+}}"), Look::New),
        };
        shown.push((text, look));
    }
    flowing(&shown, scene.columns, "  ")
}

/// Returns a text that stayed; of a long one only what stands beside a change.
fn shortened(text: &str, is_after: bool, is_before: bool) -> String {
    match beside_change(text, (is_after, is_before), AROUND) {
        Some([head, tail]) => format!("{head} … {tail}").trim_start().to_owned(),
        None => text.to_owned(),
    }
}

fn links(scene: &Scene<'_>, known: &Known, rows: &mut Vec<Row>) {
    let memory = &known.memory;
    if memory.related.is_empty()
        && memory.often_together.is_empty()
        && memory.consolidated_into.is_none()
    {
        return;
    }
    rows.push(Row::heading("Links"));
    let mut row = |relation: String, id: &str| {
        let text = known.linked.get(id).map_or("", String::as_str);
        let row = Row::new().with(&relation, Look::Good).plain(" ");
        let row = row.rest(
            if text.is_empty() { id } else { text },
            scene.columns,
            Look::Plain,
        );
        rows.push(row.to(Target::Memory(id.to_owned())));
    };
    for related in &memory.related {
        let relation = match related.direction {
            Direction::Out => format!("{} →", related.relation),
            Direction::In => format!("← {}", related.relation),
        };
        row(relation, &related.id);
    }
    if let Some(summary) = &memory.consolidated_into {
        row("consolidated into →".to_owned(), summary);
    }
    for other in &memory.often_together {
        row("often recalled with".to_owned(), other);
    }
    rows.push(Row::new());
}

fn shown(scene: &Scene<'_>, known: &Known, rows: &mut Vec<Row>) {
    let why = &known.why;
    if why.recalls.is_empty() && why.injections.is_empty() {
        rows.push(Row::new().with("No recall has shown it.", Look::Dim));
        rows.push(Row::new());
        return;
    }
    for (title, shown, total) in [
        ("Shown by recalls", &why.recalls, why.recalls_total),
        ("Shown unasked", &why.injections, why.injections_total),
    ] {
        if shown.is_empty() {
            continue;
        }
        let title = match total > shown.len() as u64 {
            true => format!(
                "{title}, the newest {} of {}",
                shown.len(),
                count(total, "time", "times")
            ),
            false => title.to_owned(),
        };
        rows.push(Row::heading(&title));
        rows.extend(shown.iter().map(|recall| recall_row(scene, recall)));
        rows.push(Row::new());
    }
}

fn recall_row(scene: &Scene<'_>, recall: &WhyRecall) -> Row {
    let query = match &recall.query {
        _ if recall.front.as_deref() == Some("wake-up") => "at the start".to_owned(),
        Some(query) => format!("\"{query}\""),
        None => "(withheld)".to_owned(),
    };
    let session = recall.session.as_deref();
    let session = session.map_or_else(|| "no session".to_owned(), |id| scene.session(id));
    let [actor, name] = match scene.columns {
        ..60 => [0, 8],
        60..100 => [12, 12],
        _ => [20, 24],
    };
    Row::new()
        .right(&format!("@{}", recall.position), 7, Look::Bold)
        .right(&scene.clock.age(&recall.at), 4, Look::Dim)
        .column(&format!("rank {}", recall.rank), 7, Look::Dim)
        .column(super::actor_name(&recall.actor), actor, Look::Name)
        .column(&session, name, Look::Dim)
        .rest(&query, scene.columns, Look::Plain)
        .to(Target::Event(recall.position))
}

fn from(scene: &Scene<'_>, known: &Known, rows: &mut Vec<Row>) {
    let from = &known.why.from;
    let source = &from.source;
    rows.push(Row::heading("From"));
    let of = |value: &Option<String>| value.clone().unwrap_or_default();
    rows.extend(facts(
        scene.columns,
        &[
            ("actor", from.actor.clone()),
            ("agent", of(&source.agent)),
            ("client", of(&source.client)),
            ("session", of(&source.session)),
            ("project", of(&source.project)),
            ("file", of(&source.file)),
        ],
    ));
    for id in &from.consolidated_from {
        let row = Row::new()
            .with("summarises ", Look::Dim)
            .with(id, Look::Name);
        rows.push(row.to(Target::Memory(id.clone())));
    }
    if let Some((newest, _)) = known.versions.last() {
        let event = short_event(&newest.event);
        rows.push(Row::new().with(&format!("newest event {event}"), Look::Dim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_part_that_stays_is_shortened_around_the_change() {
        let long = "x".repeat(AROUND * 3);
        let tail = "x".repeat(AROUND);
        assert_eq!(shortened(&long, false, true), format!("… {tail}"));
        assert_eq!(shortened(&long, true, false), format!("{tail} … "));
        assert_eq!(shortened("short", true, true), "short");
    }
}
