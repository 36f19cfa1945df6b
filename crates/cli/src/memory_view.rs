//! How a memory looks on a terminal.
//!
//! Recalled text is data, not words of ours: it stands behind a bar, cleaned, line by line.

use anstyle::Style;
use icm_server::api::{Importance, Memory, Receipt};

use crate::columns::Cell;
use crate::error::CliError;
use crate::ui::{BAD, BOLD, DIM, PLAIN, TOPIC, Ui, WARN};
use crate::{text, when};

/// Ids of events are shown this long; icm takes any prefix that fits one event.
pub(crate) const EVENT_ID_SHOWN: usize = 12;

/// The beginning of an event id.
pub(crate) fn short_event(event: &str) -> &str {
    event.get(..EVENT_ID_SHOWN).unwrap_or(event)
}

/// One memory: a line about it and its text.
pub(crate) fn print(ui: &Ui, memory: &Memory, extra: &str) -> Result<(), CliError> {
    let mut about = vec![
        ui.paint(DIM, &text::one_line(&memory.id)),
        ui.paint(TOPIC, &text::one_line(&memory.topic)),
        ui.paint(
            importance_style(memory.importance),
            importance(memory.importance),
        ),
        ui.paint(DIM, &when::ago(ui.now, &memory.updated_at)),
    ];
    if let Some(key) = &memory.key {
        about.push(ui.paint(DIM, &format!("key {}", text::one_line(key))));
    }
    if let Some(day) = memory.occurred_at.as_deref().and_then(|at| at.get(..10)) {
        about.push(ui.paint(DIM, &format!("of {day}")));
    }
    if memory.forgotten {
        about.push(ui.paint(WARN, "forgotten"));
    }
    if !extra.is_empty() {
        about.push(ui.paint(DIM, extra));
    }
    ui.line(format_args!("{}", about.join("  ")))?;
    print_content(ui, memory.content.as_deref())
}

/// A memory's text, or that there is none any more.
pub(crate) fn print_content(ui: &Ui, content: Option<&str>) -> Result<(), CliError> {
    match content {
        Some(content) => print_quoted(ui, content),
        None => ui.line(format_args!("{}", ui.paint(WARN, "  (withheld)"))),
    }
}

/// Somebody's text, behind a bar.
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

/// A memory as a row of a list.
pub(crate) fn row(ui: &Ui, memory: &Memory) -> Vec<Cell> {
    let content = match &memory.content {
        Some(content) => Cell::new(content),
        None => Cell::new("(withheld)").style(WARN),
    };
    let content = if memory.forgotten {
        content.style(DIM)
    } else {
        content
    };
    vec![
        Cell::new(&memory.id).style(DIM),
        Cell::new(&memory.topic).style(TOPIC).at_most(32),
        Cell::new(if memory.forgotten {
            "forgotten"
        } else {
            importance(memory.importance)
        })
        .style(importance_style(memory.importance)),
        Cell::new(when::ago(ui.now, &memory.updated_at)).style(DIM),
        content,
    ]
}

/// Reports what a changing command did to one memory.
pub(crate) fn print_receipt(ui: &Ui, receipt: &Receipt) -> Result<(), CliError> {
    ui.line(format_args!(
        "{} {} in {} {}",
        ui.paint(BOLD, action(receipt)),
        text::one_line(&receipt.id),
        ui.paint(TOPIC, &text::one_line(&receipt.topic)),
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))
}

pub(crate) fn importance(importance: Importance) -> &'static str {
    match importance {
        Importance::Critical => "critical",
        Importance::High => "high",
        Importance::Medium => "medium",
        Importance::Low => "low",
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
    use icm_server::api::Action;
    match receipt.action {
        Action::Stored => "stored",
        Action::Updated => "updated",
        Action::Linked => "linked",
        Action::Unchanged => "unchanged",
        Action::Forgotten => "forgot",
        Action::Revived => "revived",
    }
}
