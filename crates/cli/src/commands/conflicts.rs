//! `icm conflicts`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use icm_api::{Conflict, ConflictOf, ConflictValue, ConflictsRequest, SettleRequest};
use serde_json::Value;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::{print_quoted, print_receipt, short_event};
use crate::text::{count, one_line};
use crate::ui::{BOLD, DIM, TOPIC, Ui};
use crate::values::how_many;
use crate::when;

const LIMIT_DEFAULT: usize = 50;

/// Show what machines wrote beside each other, and settle it
///
/// Where two machines that did not know of each other change one field of a memory, every machine shows the
/// same value once they have exchanged their logs, that of the latest event, and lists the other here until
/// somebody says which one holds. What one forgot while another changed it is listed too, as `forgotten`;
/// `icm revive` brings it back. Keywords, labels and links are kept from both sides.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm conflicts
  icm conflicts settle 01M808CE1S                         # what is shown holds
  icm conflicts settle 01M808CE1S --take 3fa9c2b7         # what that event wrote holds
  icm update 01M808CE1S -c 'What both of them meant'      # settles the text, too")]
pub(crate) struct ConflictsArgs {
    #[command(subcommand)]
    command: Option<ConflictsCommand>,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Subcommand)]
enum ConflictsCommand {
    Settle(SettleArgs),
}

#[derive(Debug, Default, PartialEq, Args)]
struct Filters {
    /// Only memories of this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// How many at most [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Say which value holds
///
/// It is a change like any other: it travels with the next exchange, and `icm undo` takes it back. Without
/// `--take` the value that is shown holds. A memory, memoir or concept is named by the id that
/// `icm conflicts` shows.
///
/// Exits with 1 when nothing of it is in conflict.
#[derive(Debug, Args)]
struct SettleArgs {
    /// Id; of a memory its beginning will do
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Only this field; may be repeated [default: all that are in conflict]
    #[arg(long, value_name = "FIELD")]
    field: Vec<String>,
    /// Take what this event wrote: its id or the beginning, or its position
    #[arg(long, value_name = "EVENT", value_parser = NonEmptyStringValueParser::new())]
    take: Option<String>,
}

pub(crate) fn run(args: ConflictsArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        Some(_) if args.filters != Filters::default() => Err(CliError::invalid(
            "filters belong to `icm conflicts`, not to `icm conflicts settle`",
        )
        .with_hint("leave them out, or leave the subcommand out")),
        Some(ConflictsCommand::Settle(args)) => settle(args, app),
        None => list(args.filters, app),
    }
}

/// Says that something is in conflict that was not before.
pub(super) fn remark_opened(ui: &Ui, opened: u64) {
    if opened > 0 {
        let conflicts = count(opened, "new conflict", "new conflicts");
        ui.remark(format_args!("{conflicts}: see `icm conflicts`"));
    }
}

fn list(filters: Filters, app: &App) -> Result<Outcome, CliError> {
    let limit = match (filters.all, filters.limit) {
        (true, _) => None,
        (false, Some(limit)) => Some(limit as usize),
        (false, None) => Some(LIMIT_DEFAULT),
    };
    let answer = app.service()?.conflicts(&ConflictsRequest {
        topic: filters.topic.clone(),
        limit,
        at: filters.at,
    })?;
    let shown = answer.conflicts.len() as u64;
    if app.ui.json {
        app.ui.json(&answer)?;
    } else {
        for conflict in &answer.conflicts {
            print(&app.ui, conflict)?;
        }
        match &filters.topic {
            Some(topic) if answer.total == 0 => {
                let topic = one_line(topic);
                app.ui.remark(format_args!("no conflicts in `{topic}`"));
            }
            None if answer.total == 0 => app.ui.remark(format_args!("no conflicts")),
            _ => {
                let mut listed = answer.conflicts.iter();
                let revive = match listed.any(|conflict| conflict.field == "forgotten") {
                    true => ", `icm revive ID` brings back what was forgotten",
                    false => "",
                };
                app.ui.remark(format_args!(
                    "{}; `icm conflicts settle ID` keeps what is shown, `--take EVENT` takes another{revive}",
                    count(answer.total, "conflict", "conflicts"),
                ));
            }
        }
    }
    if shown < answer.total && filters.limit.is_none() {
        app.ui.note(&format!(
            "only the first {shown} are shown; see the rest with `--all` or `-l N`"
        ));
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, conflict: &Conflict) -> Result<(), CliError> {
    let place = match (conflict.of, &conflict.name) {
        (ConflictOf::Concept, Some(name)) => {
            format!(
                "concept {} of {}",
                one_line(name),
                one_line(&conflict.topic)
            )
        }
        (ConflictOf::Memoir, _) => format!("memoir {}", one_line(&conflict.topic)),
        _ => one_line(&conflict.topic),
    };
    ui.line(format_args!(
        "{}  {}  {}",
        ui.paint(DIM, &one_line(&conflict.id)),
        ui.paint(TOPIC, &place),
        ui.paint(BOLD, &one_line(&conflict.field)),
    ))?;
    let others = match conflict.field.as_str() {
        "forgotten" => WRITTEN,
        _ => "or",
    };
    print_value(ui, "shown", &conflict.shown)?;
    for other in &conflict.others {
        print_value(ui, others, other)?;
    }
    Ok(())
}

fn print_value(ui: &Ui, name: &str, value: &ConflictValue) -> Result<(), CliError> {
    let about = format!(
        "{}  {}  {}  by {}",
        short_event(&value.event),
        when::ago(ui.now, &value.at),
        one_line(&value.actor),
        value.origin.get(..ORIGIN_SHOWN).unwrap_or(&value.origin),
    );
    ui.line(format_args!("  {name}  {}", ui.paint(DIM, &about)))?;
    match &value.value {
        _ if value.withheld => print_quoted(ui, "(withheld)"),
        Value::Null => print_quoted(ui, "(none)"),
        Value::String(text) => print_quoted(ui, text),
        Value::Bool(_) => print_quoted(ui, "(forgotten)"),
        Value::Object(fields) if name == WRITTEN => {
            for (field, value) in fields {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                print_quoted(ui, &format!("{field}: {text}"))?;
            }
            Ok(())
        }
        other => print_quoted(ui, &other.to_string()),
    }
}

/// Origins are told apart by this much.
const ORIGIN_SHOWN: usize = 8;
const WRITTEN: &str = "written meanwhile";

fn settle(args: SettleArgs, app: &App) -> Result<Outcome, CliError> {
    let request = SettleRequest {
        id: args.id,
        fields: args.field,
        take: args.take,
    };
    let receipt = app.service()?.settle_conflict(&app.caller()?, &request)?;
    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        print_receipt(&app.ui, &receipt.receipt)?;
        app.ui
            .remark(format_args!("settled: {}", receipt.settled.join(", ")));
    }
    Ok(Outcome::Fine)
}
