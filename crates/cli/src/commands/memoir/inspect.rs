//! `icm memoir inspect`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Definition, DefinitionStatus, Direction, InspectRequest, Inspected};

use super::{print_concept, share};
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::text::{self, one_line};
use crate::ui::{BOLD, DIM};
use crate::when;

/// Show a concept, its earlier definitions, and the concepts around it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir inspect -m system invoices
  icm memoir inspect -m system invoices -D 3 -r depends_on
  icm memoir inspect -m system invoices --at yesterday")]
pub(crate) struct InspectArgs {
    /// The memoir: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    /// The concept: name or id
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Steps to walk along links, 0 to 10 [default: 1]
    #[arg(short = 'D', long, value_name = "STEPS")]
    depth: Option<usize>,
    /// Follow only links of this relation
    #[arg(short, long)]
    relation: Option<String>,
    /// At most N concepts around it [default: 1000]
    #[arg(short, long, value_name = "N")]
    limit: Option<usize>,
    /// Only concepts after the place that the previous page named
    #[arg(long, value_name = "PLACE", conflicts_with = "at")]
    after: Option<String>,
    /// As of a moment
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: InspectArgs, app: &App) -> Result<Outcome, CliError> {
    let found = app.service()?.inspect(&InspectRequest {
        memoir: args.memoir,
        name: args.name,
        depth: args.depth,
        relation: args.relation,
        limit: args.limit,
        after: args.after,
        at: args.at,
    })?;

    if app.ui.json {
        app.ui.json(&found)?;
        return Ok(Outcome::Fine);
    }
    print(&found, app)?;
    Ok(Outcome::Fine)
}

fn print(found: &Inspected, app: &App) -> Result<(), CliError> {
    let ui = &app.ui;
    print_concept(ui, &found.concept, true, "")?;
    if let Some(sources) = found.sources.shown() {
        ui.line(format_args!("{} {sources}", ui.paint(BOLD, "from")))?;
    }
    // The valid definition was printed above.
    let others = found.definitions.iter().rev();
    let others: Vec<_> = others
        .filter(|it| it.status != DefinitionStatus::Holds)
        .collect();
    if !others.is_empty() {
        ui.line(format_args!("{}", ui.paint(BOLD, "before")))?;
        let row = |it: &&Definition| {
            let text = it.definition.as_deref().unwrap_or("(withheld)");
            let text = match it.status.why_not_shown() {
                Some(why) => format!("({why}) {text}"),
                None => text.to_owned(),
            };
            vec![
                Cell::new(it.revision.to_string()).indented(),
                Cell::new(share(it.confidence)).right(),
                Cell::new(when::ago(ui.now, &it.at)).style(DIM),
                Cell::new(&it.actor).style(DIM),
                Cell::new(text),
            ]
        };
        let rows: Vec<_> = others.iter().map(row).collect();
        columns::print(ui, &rows)?;
    }
    if !found.links.is_empty() {
        ui.line(format_args!("{}", ui.paint(BOLD, "links")))?;
        for link in &found.links {
            let (from, to) = (one_line(&link.from), one_line(&link.to));
            let reason = link.reason.as_deref().map(one_line);
            let reason = reason.map(|reason| ui.paint(DIM, &format!(" ({reason})")));
            ui.line(format_args!(
                "  {from} {} {to}{}",
                ui.paint(DIM, &link.relation),
                reason.unwrap_or_default(),
            ))?;
        }
    }
    if !found.around.is_empty() {
        ui.line(format_args!("{}", ui.paint(BOLD, "around")))?;
        let rows: Vec<_> = found
            .around
            .iter()
            .map(|it| {
                let mut relations: Vec<String> = Vec::new();
                for link in &it.relations {
                    let arrow = match link.direction {
                        Direction::Out => "→",
                        Direction::In => "←",
                    };
                    let relation = format!("{arrow} {}", link.relation);
                    if !relations.contains(&relation) {
                        relations.push(relation);
                    }
                }
                vec![
                    Cell::new(it.depth.to_string()).indented(),
                    Cell::new(relations.join(", ")).style(DIM),
                    Cell::new(&it.concept.name),
                    Cell::new(it.concept.definition.as_deref().unwrap_or("(withheld)")),
                ]
            })
            .collect();
        columns::print(ui, &rows)?;
    }
    if let Some(next) = &found.next {
        let shown = found.offset + found.around.len();
        let shown = text::count(shown as u64, "concept", "concepts");
        ui.remark(format_args!(
            "{shown} around it shown, there are more: `--after {next}`, or `-l N`"
        ));
    }
    Ok(())
}
