//! `icm history`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Memory, Version};

use crate::app::App;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::ui::{BOLD, DIM, TOPIC, Ui};
use crate::{memory_view, text, when};

/// Show the versions of a memory, oldest first
///
/// Exits with 1 if there is no memory with this id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm history 01J9X4
  icm history 01J9X4 --json")]
pub(crate) struct HistoryArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(crate) fn run(args: HistoryArgs, app: &App) -> Result<Outcome, CliError> {
    let versions = app.service()?.history(&args.id).map_err(CliError::from);
    let versions = match versions {
        Ok(versions) => versions,
        Err(error) => {
            if app.ui.json && error.kind == ErrorKind::NotFound {
                app.ui.json::<[Version]>(&[])?;
            }
            return Err(error);
        }
    };

    if app.ui.json {
        app.ui.json(&versions)?;
    } else {
        print(&app.ui, &versions)?;
        print_expired(app, &versions)?;
    }
    Ok(Outcome::Fine)
}

/// Prints that a memory is hidden now if no event says so: a time, a number of recalls and a period need none.
fn print_expired(app: &App, versions: &[Version]) -> Result<(), CliError> {
    let can_be_hidden = |it: &&Version| it.kind != "memory.expired" && it.memory.expires.is_some();
    let Some(newest) = versions.last().filter(can_be_hidden) else {
        return Ok(());
    };
    let memory = app.service()?.get(&newest.memory.id, None)?;
    match &memory.expires {
        Some(condition) if memory.expired => {
            app.ui
                .line(format_args!("hidden now: {}", when::condition(condition)))?;
        }
        _ => {}
    }
    Ok(())
}

fn print(ui: &Ui, versions: &[Version]) -> Result<(), CliError> {
    if let Some(newest) = versions.last() {
        ui.line(format_args!(
            "{}  {}",
            text::one_line(&newest.memory.id),
            ui.paint(TOPIC, &text::one_line(&newest.memory.topic)),
        ))?;
    }
    let mut before: Option<&Version> = None;
    // The newest text that was printed.
    let mut above: Option<&Option<String>> = None;
    for version in versions {
        ui.line(format_args!(
            "{}  {}  {}",
            ui.paint(BOLD, &format!("@{}", version.position)),
            text::one_line(&version.kind),
            ui.paint(
                DIM,
                &format!(
                    "{}  {}  {}",
                    when::ago(ui.now, &version.at),
                    text::one_line(&version.actor),
                    memory_view::short_event(&version.event),
                )
            ),
        ))?;
        if let Some(at) = version.undone_at {
            ui.line(format_args!(
                "  {}",
                ui.paint(DIM, &format!("undone at @{at}"))
            ))?;
        }
        if version.is_not_shown() {
            ui.line(format_args!("  {}", ui.paint(DIM, version.why_not_shown())))?;
            for (field, value) in &version.not_shown_fields {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                print_dim(ui, &format!("{field}: {value}"))?;
            }
            if let Some(text) = &version.not_shown {
                memory_view::print_quoted(ui, text)?;
                above = None;
            }
            continue;
        }
        let memory = &version.memory;
        if let Some(before) = before {
            print_changes(ui, version, &before.memory)?;
        }
        // The text is printed again only if it changed or another text stands between. Two withheld texts are printed
        // both, because they may differ.
        let wrote = version.changed.iter().any(|field| field == "content");
        if memory.undone {
            above = None;
        } else if above != Some(&memory.content) || (wrote && memory.content.is_none()) {
            memory_view::print_content(ui, memory.content.as_deref())?;
            above = Some(&memory.content);
        }
        before = Some(version);
    }
    if let Some(memory) = versions.last().map(|version| &version.memory)
        && !memory.conflicts.is_empty()
    {
        ui.remark(format_args!(
            "in conflict: {}; see `icm conflicts`, and settle it with `icm conflicts settle {}`",
            memory.conflicts.join(", "),
            text::one_line(&memory.id),
        ));
    }
    Ok(())
}

/// Prints the changes besides the text, one a line.
fn print_changes(ui: &Ui, version: &Version, before: &Memory) -> Result<(), CliError> {
    let memory = &version.memory;
    let mut lines = Vec::new();
    if memory.undone {
        lines.push("undone: there is no memory from here on".to_owned());
    }
    if version.kind == "memory.expired"
        && let Some(condition) = &memory.expires
    {
        lines.push(when::came_true(condition));
    }
    match &memory.consolidated_into {
        Some(summary) => lines.push(format!("consolidated into {summary}")),
        // The kind of the event says this already.
        None if memory.forgotten && !before.forgotten && version.kind != "memory.forgotten" => {
            lines.push("forgotten".to_owned());
        }
        None if before.forgotten && !memory.forgotten && version.kind != "memory.revived" => {
            lines.push("no longer forgotten".to_owned());
        }
        None => {}
    }
    let mut turned = |name: &str, from: &str, to: &str| {
        if from != to {
            lines.push(format!("{name}: {from} → {to}"));
        }
    };
    let condition = |memory: &Memory| memory.expires.as_deref().map(when::condition);
    let none = || "none".to_string();
    turned(
        "expires",
        &condition(before).unwrap_or_else(none),
        &condition(memory).unwrap_or_else(none),
    );
    turned("topic", &before.topic, &memory.topic);
    turned(
        "importance",
        before.importance.name(),
        memory.importance.name(),
    );
    turned("scope", &before.scope, &memory.scope);
    let occurred = |memory: &Memory| memory.occurred_at.clone().unwrap_or_else(none);
    turned("occurred", &occurred(before), &occurred(memory));
    let metadata = |memory: &Memory| {
        let metadata = memory.metadata.as_ref();
        metadata.map_or_else(none, ToString::to_string)
    };
    turned("metadata", &metadata(before), &metadata(memory));
    if before.raw_excerpt != memory.raw_excerpt {
        lines.push("raw excerpt: changed".into());
    }
    let words = |sign: char, these: &Memory, those: &Memory| {
        let new = these
            .keywords
            .iter()
            .filter(|w| !those.keywords.contains(w));
        new.map(|word| format!("{sign}{word}")).collect::<Vec<_>>()
    };
    let mut keywords = words('+', memory, before);
    keywords.extend(words('-', before, memory));
    if !keywords.is_empty() {
        lines.push(format!("keywords: {}", keywords.join(" ")));
    }
    lines.iter().try_for_each(|line| print_dim(ui, line))
}

fn print_dim(ui: &Ui, line: &str) -> Result<(), CliError> {
    let columns = ui.columns.map(|c| c.saturating_sub(4));
    for line in text::wrap(&text::one_line(line), columns) {
        ui.line(format_args!("  {}", ui.paint(DIM, &line)))?;
    }
    Ok(())
}
