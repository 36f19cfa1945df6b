//! Prints memories on a terminal.
//!
//! Recalled text is data: it is cleaned, and each of its lines stands behind a bar.

use anstyle::Style;
use icm_api::ids::ID_LEN;
pub(crate) use icm_api::ids::short_event;
use icm_api::{Author, Authors, Importance, Memory, MemoryState, Receipt, Replaced, Similar};
use icm_guard::difference::around_difference;

use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::CliError;
use crate::ui::{BAD, BOLD, DIM, PLAIN, TOPIC, Ui, WARN};
use crate::{text, when};

/// Prints a memory: a line about it, and its text.
pub(crate) fn print(ui: &Ui, memory: &Memory, extra: &str) -> Result<(), CliError> {
    let extra = Some(extra).filter(|extra| !extra.is_empty());
    print_marked(ui, memory, &[], extra.map(str::to_owned).as_slice())
}

/// Prints a memory with warnings before its text.
pub(crate) fn print_marked(
    ui: &Ui,
    memory: &Memory,
    marks: &[String],
    extra: &[String],
) -> Result<(), CliError> {
    print_shown(ui, memory, memory.content.as_deref(), (marks, extra))
}

/// Prints a memory with an excerpt of its text.
pub(crate) fn print_shown(
    ui: &Ui,
    memory: &Memory,
    content: Option<&str>,
    (marks, extra): (&[String], &[String]),
) -> Result<(), CliError> {
    let mut about = vec![ui.paint(DIM, &text::one_line(&memory.id))];
    about.extend(topic(memory).map(|topic| ui.paint(TOPIC, &text::one_line(topic))));
    about.extend([
        ui.paint(
            importance_style(memory.importance),
            memory.importance.name(),
        ),
        ui.paint(DIM, &when::ago(ui.now, &memory.updated_at)),
    ]);
    if let Some(key) = &memory.key {
        about.push(ui.paint(DIM, &format!("key {}", text::one_line(key))));
    }
    if let Some(at) = &memory.occurred_at {
        about.push(ui.paint(DIM, &format!("of {}", when::day(at))));
    }
    about.extend(memory.end().map(|state| {
        let told = match (state, &memory.consolidated_into) {
            (MemoryState::Consolidated, Some(summary)) => {
                format!("consolidated into {}", text::one_line(summary))
            }
            _ => state.word().to_owned(),
        };
        ui.paint(WARN, &told)
    }));
    let judged = memory.marks.unwrap_or_default();
    about.extend(judged.told().map(|told| {
        let style = if judged.wrong > judged.useful {
            WARN
        } else {
            DIM
        };
        ui.paint(style, &told)
    }));
    about.extend(marks.iter().map(|mark| ui.paint(WARN, mark)));
    about.extend(extra.iter().map(|extra| ui.paint(DIM, extra)));
    print_words(ui, &about)?;
    print_content(ui, content)
}

/// Returns who wrote the text of a memory, and who made the memory if that is another actor, each with the trust that goes
/// with it if they differ.
pub(crate) fn authors(ui: &Ui, memory: &Memory) -> (Option<String>, Option<String>) {
    let Some(Authors { text, first }) = &memory.authors else {
        return (None, None);
    };
    let told = |author: &Author| {
        let ago = when::ago(ui.now, &author.at);
        format!("{} (trust {}), {ago}", author.actor, author.trust.name())
    };
    match first {
        None => (Some(text.actor.clone()), None),
        Some(first) => (Some(told(text)), Some(told(first))),
    }
}

/// Returns the topic; `None` if the topic is withheld together with the text, which is reported once.
fn topic(memory: &Memory) -> Option<&str> {
    let withheld = memory.content.is_none() && memory.withheld.iter().any(|field| field == "topic");
    (!withheld).then_some(&memory.topic)
}

/// Prints the words of a line, wrapped at the width of the terminal.
fn print_words(ui: &Ui, words: &[String]) -> Result<(), CliError> {
    let mut line = String::new();
    let mut used = 0;
    for word in words {
        // Escape codes of colours take no columns.
        let wide = text::width(&anstream::adapter::strip_str(word).to_string());
        if used > 0 && ui.columns.is_some_and(|columns| used + 2 + wide > columns) {
            ui.line(format_args!("{line}"))?;
            line = "  ".into();
            used = 2;
        } else if used > 0 {
            line.push_str("  ");
            used += 2;
        }
        line.push_str(word);
        used += wide;
    }
    ui.line(format_args!("{line}"))
}

/// Prints a memory's text, or that it is withheld.
pub(crate) fn print_content(ui: &Ui, content: Option<&str>) -> Result<(), CliError> {
    match content {
        Some(content) => print_quoted(ui, content),
        None => ui.line(format_args!("{}", ui.paint(WARN, "  (withheld)"))),
    }
}

/// Prints a stored text behind a bar.
pub(crate) fn print_quoted(ui: &Ui, quoted: &str) -> Result<(), CliError> {
    let bar = ui.paint(DIM, "│");
    for line in text::wrap(quoted, ui.columns.map(|c| c.saturating_sub(4))) {
        if line.is_empty() {
            ui.line(format_args!("  {bar}"))?;
        } else {
            ui.line(format_args!("  {bar} {line}"))?;
        }
    }
    Ok(())
}

/// Prints memories, one a line.
pub(crate) fn print_list(app: &App, memories: &[Memory], with_topic: bool) -> Result<(), CliError> {
    let ui = &app.ui;
    let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
    let id_len = short_id_len(app, &ids)?;
    let mut rows: Vec<_> = memories
        .iter()
        .map(|memory| row(ui, memory, id_len))
        .collect();
    columns::fit(ui, &mut rows, &STEPS);
    if !with_topic {
        for row in &mut rows {
            row.remove(TOPIC_COLUMN);
        }
    }
    columns::print(ui, &rows)
}

/// Most rows with shortened ids. Raised, the search for the shortest unambiguous ids takes longer than reading the
/// rows.
const SHORT_IDS_MAX: usize = 1_000;
/// Fewest characters of a shortened id.
const SHORT_ID_MIN: usize = 10;

/// Returns the length of shown ids: the whole id in a pipe, the shortest unambiguous beginning on a terminal.
pub(crate) fn short_id_len(app: &App, ids: &[&str]) -> Result<usize, CliError> {
    if app.ui.columns.is_none() || ids.len() > SHORT_IDS_MAX {
        return Ok(ID_LEN);
    }
    Ok(app.service()?.unambiguous_len(ids, SHORT_ID_MIN)?)
}

const TOPIC_COLUMN: usize = 1;
/// Steps that make room for the content: the topic's end, then importance, then age.
const STEPS: [columns::Step; 5] = [
    columns::Step::Cut(TOPIC_COLUMN, 20),
    columns::Step::Cut(TOPIC_COLUMN, 14),
    columns::Step::Drop(2),
    columns::Step::Drop(3),
    columns::Step::Cut(TOPIC_COLUMN, 8),
];

fn row(ui: &Ui, memory: &Memory, id_len: usize) -> Vec<Cell> {
    let content = match &memory.content {
        Some(content) => Cell::new(content),
        None => Cell::new("(withheld)").style(WARN),
    };
    let end = memory.end();
    let content = match end {
        Some(_) => content.style(DIM),
        None => content,
    };
    vec![
        Cell::new(memory.id.get(..id_len).unwrap_or(&memory.id)).style(DIM),
        Cell::new(topic(memory).unwrap_or_default())
            .style(TOPIC)
            .at_most(32),
        Cell::new(match (end, when::condition_of(memory)) {
            (Some(end), _) => end.word().to_owned(),
            (None, Some(condition)) if memory.expired => condition,
            (None, condition) => {
                let told = memory.marks.and_then(|it| it.told());
                let more = condition.into_iter().chain(told);
                let importance = memory.importance.name().to_owned();
                [importance]
                    .into_iter()
                    .chain(more)
                    .collect::<Vec<_>>()
                    .join(", ")
            }
        })
        .at_most(40)
        .style(importance_style(memory.importance)),
        Cell::new(when::ago(ui.now, &memory.updated_at)).style(DIM),
        content,
    ]
}

/// Prints the result of a command for one memory.
pub(crate) fn print_receipt(ui: &Ui, receipt: &Receipt) -> Result<(), CliError> {
    print_stored(ui, receipt, "")
}

/// Prints the result of a store of a text.
pub(crate) fn print_stored(ui: &Ui, receipt: &Receipt, content: &str) -> Result<(), CliError> {
    for warning in &receipt.warnings {
        ui.note(warning);
    }
    // The topic of a redacted memory is withheld.
    let of = match receipt.topic.is_empty() {
        true => String::new(),
        false => format!(" in {}", ui.paint(TOPIC, &text::one_line(&receipt.topic))),
    };
    ui.line(format_args!(
        "{} {}{of} {}",
        ui.paint(BOLD, action(receipt)),
        text::one_line(&receipt.id),
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))?;
    if let Some(condition) = &receipt.expires {
        ui.line(format_args!("{}", when::expires(condition)))?;
    }
    if let Some(similar) = receipt.similar_alone() {
        print_similar(ui, receipt, similar, content)?;
    }
    for (place, old) in receipt.seems_to_replace.iter().enumerate() {
        print_replaced(ui, receipt, old, content)?;
        let way = way_to_settle(receipt, old, place == 0);
        ui.remark(format_args!("{}", ui.paint(DIM, &way)));
    }
    if let Some(crowded) = &receipt.crowded {
        let of = match &crowded.scope {
            Some(scope) => format!(" of {}", text::one_line(scope)),
            None => String::new(),
        };
        let hint = format!(
            "topic {} has {} memories{of}: `{}`",
            text::one_line(&receipt.topic),
            crowded.memories,
            text::cleaned(&crowded.command(&receipt.topic)),
        );
        ui.remark(format_args!("{}", ui.paint(DIM, &hint)));
    }
    Ok(())
}

/// Bytes of another memory's text that a receipt shows. Raised, a receipt fills more of the terminal.
const OTHER_MAX_BYTES: usize = 400;

/// Prints the text of another memory, of a long one the lines around its first difference from `stored`.
fn print_other(ui: &Ui, other: Option<&str>, stored: &str) -> Result<(), CliError> {
    let shown = other.map(|other| around_difference(other, stored, OTHER_MAX_BYTES));
    print_content(ui, shown.as_deref())
}

/// Prints a memory that is near to the stored one, with the commands that help.
fn print_similar(
    ui: &Ui,
    receipt: &Receipt,
    similar: &Similar,
    stored: &str,
) -> Result<(), CliError> {
    let (old, new) = (text::one_line(&similar.id), text::one_line(&receipt.id));
    let score = format!("({})", similar.likeness(stored));
    if receipt.action == icm_api::Action::Updated {
        ui.line(format_args!(
            "it said nearly the same {} and was updated; `icm undo {}` takes that back",
            ui.paint(DIM, &score),
            short_event(&receipt.event),
        ))?;
        return print_other(ui, similar.content.as_deref(), stored);
    }
    ui.line(format_args!(
        "{} {old} {}: both are kept, and linked",
        ui.paint(WARN, "similar to"),
        ui.paint(DIM, &score),
    ))?;
    print_other(ui, similar.content.as_deref(), stored)?;
    for way in [
        format!("one instead of two: `icm update {old} -c …`, then `icm forget {new}`"),
        format!("the new one counts: `icm link {new} {old} -r supersedes`"),
    ] {
        ui.remark(format_args!("{}", ui.paint(DIM, &way)));
    }
    Ok(())
}

/// Prints a memory that seems out of date.
fn print_replaced(
    ui: &Ui,
    receipt: &Receipt,
    old: &Replaced,
    stored: &str,
) -> Result<(), CliError> {
    let near = receipt.similar.as_ref().filter(|near| near.id == old.id);
    let alike = near.map(|near| format!(", {} alike", near.likeness(stored)));
    let reason = format!("({}{})", old.reason, alike.unwrap_or_default());
    ui.line(format_args!(
        "{} {} {}",
        ui.paint(WARN, "seems to replace"),
        text::one_line(&old.id),
        ui.paint(DIM, &reason),
    ))?;
    print_other(ui, Some(&old.content), stored)
}

/// Returns the commands that say how a memory stands to one that it seems to replace. The form for further memories is
/// shorter.
fn way_to_settle(receipt: &Receipt, old: &Replaced, is_first: bool) -> String {
    let (new, old) = (text::one_line(&receipt.id), text::one_line(&old.id));
    let link = format!("icm link {new} {old} -r");
    match is_first {
        true => format!("if it does: `{link} supersedes`; if both hold: `{link} related`"),
        false => format!("`{link} supersedes`, or `-r related`"),
    }
}

fn importance_style(importance: Importance) -> Style {
    match importance {
        Importance::Critical => BAD,
        Importance::High => WARN,
        Importance::Medium => PLAIN,
        Importance::Low => DIM,
    }
}

fn action(receipt: &Receipt) -> &'static str {
    use icm_api::Action;
    match receipt.action {
        Action::Unchanged if receipt.confirmed => "confirmed",
        Action::Forgotten => "forgot",
        other => other.word(),
    }
}
