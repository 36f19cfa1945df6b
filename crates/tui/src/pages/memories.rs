//! The page *Memories*: a list or the results of a search, and the memory beside the list.

use icm_api::{RecallHit, STORE_EXAMPLE, Sort, found_by};

use super::{Page, Scene, empty, facts, sign};
use crate::ask::{Found, Wanted};
use crate::row::{Look, Row, Target, paragraph};
use crate::text::{at_least, number};

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, wanted: &Wanted, found: &Found) -> Page {
    let mut rows: Vec<Row> = found
        .hits
        .iter()
        .map(|hit| row(scene, wanted, hit))
        .collect();
    if rows.is_empty() {
        rows = nothing(scene, wanted, found);
    } else if found.more {
        let more = match wanted.query {
            Some(_) => "  G loads more results",
            None => "  more follow: moving on loads them",
        };
        rows.push(Row::new().with(more, Look::Dim));
    }
    Page {
        head: head(scene, wanted, found),
        rows,
    }
}

fn head(scene: &Scene<'_>, wanted: &Wanted, found: &Found) -> Vec<Row> {
    let shown = found.hits.len() as u64;
    let sort = match wanted.sort {
        Sort::Created => "newest first",
        Sort::Weight => "heaviest first",
        Sort::Accessed => "last shown first",
    };
    let (what, sort) = match &wanted.query {
        Some(query) => {
            let results = at_least(shown, found.more, "result", "results");
            (format!("{results} for \"{query}\""), "")
        }
        None => (at_least(shown, found.more, "memory", "memories"), sort),
    };
    let topic = wanted.topic.clone().unwrap_or_default();
    let mut head = facts(
        scene.columns,
        &[("", what), ("topic", topic), ("", sort.to_owned())],
    );
    head.truncate(2);
    head
}

fn row(scene: &Scene<'_>, wanted: &Wanted, hit: &RecallHit) -> Row {
    let memory = &hit.memory;
    let columns = scene.columns;
    let topic = match columns {
        ..44 => 0,
        44..70 => 12,
        70..110 => 18,
        _ => 26,
    };
    let (mark, look) = sign(memory.importance);
    let row = Row::new().with(mark, look);
    // The order of the list shows in its first column.
    let first = match (&wanted.query, wanted.sort, &hit.via) {
        (Some(_), _, Some(_)) => "link".to_owned(),
        (Some(_), _, None) => format!("{:.2}", hit.fit),
        (None, Sort::Created, _) => scene.clock.age(&memory.created_at),
        (None, Sort::Weight, _) => format!("{:.2}", memory.weight),
        (None, Sort::Accessed, _) => match &memory.last_accessed {
            Some(at) => scene.clock.age(at),
            None => "–".to_owned(),
        },
    };
    let row = row.right(&first, 4, Look::Dim);
    let row = row.column(&memory.topic, topic, Look::Name);
    let row = match hit.superseded_by {
        Some(_) => row.with("superseded ", Look::Warn),
        None => row,
    };
    let target = Target::Memory(memory.id.clone());
    match hit.shown(400) {
        Some(text) => row.rest(&text, columns, Look::Plain),
        None => row.rest("(withheld)", columns, Look::Warn),
    }
    .to(target)
}

fn nothing(scene: &Scene<'_>, wanted: &Wanted, found: &Found) -> Vec<Row> {
    match (&wanted.query, &wanted.topic) {
        (Some(_), _) => {
            let mut rows = empty(scene.columns, &["Nothing fits these words."]);
            if let Some((id, content)) = &found.nearest {
                let row = Row::new().with("  nearest: ", Look::Dim);
                let row = row.rest(content, scene.columns, Look::Plain);
                rows.push(row.to(Target::Memory(id.clone())));
            }
            rows
        }
        (None, Some(_)) => empty(
            scene.columns,
            &["No memory was in this topic at this moment. Esc shows all topics."],
        ),
        (None, None) => empty(
            scene.columns,
            &[
                "No memory is stored at this moment.",
                &format!("`{STORE_EXAMPLE}` stores one."),
            ],
        ),
    }
}

/// Returns the memory for the side of a wide terminal.
pub(crate) fn beside(scene: &Scene<'_>, wanted: &Wanted, hit: &RecallHit) -> Vec<Row> {
    let memory = &hit.memory;
    let columns = scene.columns;
    let mut rows = vec![Row::new().with(&memory.topic, Look::Name)];
    rows.extend(facts(
        columns,
        &[
            ("importance", memory.importance.name().to_owned()),
            ("weight", format!("{:.2}", memory.weight)),
            ("trust", memory.trust.name().to_owned()),
            ("scope", memory.scope.clone()),
            ("key", memory.key.clone().unwrap_or_default()),
            ("stored", scene.clock.short(&memory.created_at)),
            ("changed", scene.clock.short(&memory.updated_at)),
            ("recalled", number(memory.access_count)),
            ("keywords", memory.keywords.join(", ")),
        ],
    ));
    if wanted.query.is_some() {
        let why = match &hit.via {
            Some(via) => format!("brought by a link: {}", via.relation),
            None => format!(
                "{}, {}",
                found_by::fit(hit.fit),
                found_by::found_by(&hit.matched)
            ),
        };
        rows.push(Row::new().with(&why, Look::Good));
        if let Some(repeats) = found_by::repeats(hit) {
            rows.push(Row::new().rest(&repeats, columns, Look::Dim));
        }
    }
    rows.push(Row::new());
    match hit.shown(4096) {
        Some(text) => rows.extend(paragraph(&text, columns, "", Look::Plain)),
        None => rows.push(Row::new().with("(withheld)", Look::Warn)),
    }
    rows
}
