//! `icm memoir show`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::ShowRequest;

use super::{print_concept, print_definition, share};
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::{count, one_line};
use crate::ui::{BOLD, TOPIC};
use crate::values::how_many;

/// Concepts of a page by default.
const LIMIT: u32 = 50;
/// Most labels in the head.
const LABELS: usize = 10;

/// Show a memoir: its description, its labels, its concepts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir show system
  icm memoir show system --all --at yesterday")]
pub(crate) struct ShowArgs {
    /// Name or id
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Number of concepts [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many, conflicts_with = "all")]
    limit: Option<u32>,
    /// Show every concept
    #[arg(long)]
    all: bool,
    /// Only concepts after this name
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// As of a moment
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: ShowArgs, app: &App) -> Result<Outcome, CliError> {
    let limit = args.limit.unwrap_or(LIMIT) as usize;
    let shown = app.service()?.memoir_show(&ShowRequest {
        name: args.name,
        at: args.at,
        limit: (!args.all).then_some(limit),
        after: args.after,
    })?;

    let ui = &app.ui;
    if ui.json {
        ui.json(&shown)?;
        return Ok(Outcome::Fine);
    }
    let memoir = &shown.memoir;
    let mut numbers = vec![
        count(memoir.concepts, "concept", "concepts"),
        count(shown.links, "link", "links"),
    ];
    numbers.extend(
        shown
            .confidence
            .map(|sure| format!("confidence {}", share(sure))),
    );
    ui.line(format_args!(
        "{}  {}",
        ui.paint(TOPIC.bold(), &one_line(&memoir.name)),
        numbers.join(", "),
    ))?;
    if memoir.description.as_deref() != Some("") {
        print_definition(ui, memoir.description.as_deref())?;
    }
    if !shown.labels.is_empty() {
        let labels = shown.labels.iter().take(LABELS);
        let labels: Vec<_> = labels
            .map(|(label, n)| format!("{} {n}", one_line(label)))
            .collect();
        ui.line(format_args!(
            "{} {}",
            ui.paint(BOLD, "labels"),
            labels.join(", ")
        ))?;
    }
    for concept in &shown.concept_list {
        ui.line(format_args!(""))?;
        print_concept(ui, concept, false, "")?;
    }
    if let Some(next) = &shown.next {
        ui.remark(format_args!(
            "{} of {} shown; go on with `--after '{}'`, or `--all`",
            shown.concept_list.len(),
            memoir.concepts,
            one_line(next),
        ));
    }
    Ok(Outcome::Fine)
}
