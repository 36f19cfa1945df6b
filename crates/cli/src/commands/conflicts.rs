//! `icm conflicts`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use icm_api::{Conflict, ConflictOf, ConflictValue, ConflictsRequest, SettleRequest};
use jiff::tz::TimeZone;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::limit_args::LimitArgs;
use crate::memory_view::{print_quoted, print_receipt, short_event};
use crate::text::{count, one_line};
use crate::ui::{BOLD, DIM, TOPIC, Ui};
use crate::when;

/// Show fields that machines changed independently, and settle them
///
/// If two machines change the same field of a memory before they exchange their logs, the field is in conflict. Every
/// machine then shows the value of the latest event, and lists the other value here until you settle the conflict. If
/// one machine forgot a memory while another changed it, the memory is listed as `forgotten`; `icm revive` brings it
/// back. Keywords, labels and links are kept from both machines.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm conflicts
  icm conflicts settle 01M808CE1S                    # keep the shown value
  icm conflicts settle 01M808CE1S --take 3fa9c2b7    # take the value of this event")]
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
    #[command(flatten)]
    limit: LimitArgs,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Choose the value that holds
///
/// The choice is an event: other machines get it at the next exchange, and `icm undo` takes it back. Without `--take`
/// the shown value holds. `icm conflicts` shows the ids.
///
/// Exits with 1 if nothing of this id is in conflict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm conflicts settle 01M808CE1S                                    # keep the shown value
  icm conflicts settle 01M808CE1S --field content --take 3fa9c2b7    # take that event's value")]
struct SettleArgs {
    /// Id; for a memory, the beginning is enough
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Only this field; may be repeated [default: all in conflict]
    #[arg(long, value_name = "FIELD")]
    field: Vec<String>,
    /// Take the value of this event: position, id or its beginning
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

/// Prints a remark about new conflicts.
pub(super) fn remark_opened(ui: &Ui, opened: u64) {
    if opened > 0 {
        let conflicts = count(opened, "new conflict", "new conflicts");
        ui.remark(format_args!("{conflicts}: see `icm conflicts`"));
    }
}

fn list(filters: Filters, app: &App) -> Result<Outcome, CliError> {
    let answer = app.service()?.conflicts(&ConflictsRequest {
        topic: filters.topic.clone(),
        limit: filters.limit.most(),
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
                let revive = match listed.any(Conflict::is_about_forgetting) {
                    true => ", `icm revive ID` brings a forgotten memory back",
                    false => "",
                };
                app.ui.remark(format_args!(
                    "{}; `icm conflicts settle ID` keeps the shown value, `--take EVENT` takes another{revive}",
                    count(answer.total, "conflict", "conflicts"),
                ));
            }
        }
    }
    let limit = filters.limit;
    limit.tell_left_out(&app.ui, shown < answer.total, &format!("first {shown}"));
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
    let others = match conflict.is_about_forgetting() {
        true => "written meanwhile",
        false => "or",
    };
    print_value(ui, conflict, "shown", &conflict.shown)?;
    for other in &conflict.others {
        print_value(ui, conflict, others, other)?;
    }
    Ok(())
}

fn print_value(
    ui: &Ui,
    conflict: &Conflict,
    name: &str,
    value: &ConflictValue,
) -> Result<(), CliError> {
    let about = format!(
        "{}  {}  {}  by {}",
        short_event(&value.event),
        when::ago(ui.now, &value.at),
        one_line(&value.actor),
        value.origin.get(..ORIGIN_SHOWN).unwrap_or(&value.origin),
    );
    let valid = match &value.valid_from {
        Some(from) => format!("  valid from {}", when::local(from)),
        None => String::new(),
    };
    ui.line(format_args!("  {name}  {}{valid}", ui.paint(DIM, &about)))?;
    print_quoted(ui, &conflict.told(value, &TimeZone::system()))
}

/// Digits of an origin that are shown.
const ORIGIN_SHOWN: usize = 8;

fn settle(args: SettleArgs, app: &App) -> Result<Outcome, CliError> {
    let request = SettleRequest {
        id: args.id,
        fields: args.field,
        take: args.take,
        seen: Vec::new(),
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
