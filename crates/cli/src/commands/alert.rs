//! `icm alert` and `icm alerts`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use icm_api::{Alert, AlertSetRequest, AlertsAnswer, AlertsRequest};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::{cleaned, count, one_line};
use crate::ui::{BOLD, DIM, Ui};
use crate::when;

/// Remind a session or a project of something
///
/// A reminder (an alert) survives what the context of an agent does not: a compaction, a restart, a change of the machine.
/// It is shown once: by `icm alerts`, by the tool `icm_alerts`, or by a hook when a session starts, is resumed or
/// compacted. Until then `icm alerts --all` lists it, and `icm undo @POSITION` takes it back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm alert set --due 'in 2h' 'Look at the deployment'
  icm alert set --session s-17 'The schema has changed'
  icm alerts --all    # what waits, for whom and from when")]
pub(crate) struct AlertArgs {
    #[command(subcommand)]
    command: AlertCommand,
}

#[derive(Debug, Subcommand)]
enum AlertCommand {
    Set(SetArgs),
}

/// Set a reminder for a session or a project
///
/// The reminder is for the session of `--session`, else for the session of the environment, else for the project of this
/// folder. Sessions below a session see its reminders, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm alert set 'Run the tests again before the commit'
  icm alert set --due 2026-12-01 'The certificate ends this week'")]
struct SetArgs {
    /// The reminder, at most 2 KiB
    #[arg(value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    text: String,
    /// The session: its name, its id, or the beginning of the id
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Not before this time: `in 2h`, `9:00`, `tomorrow 9:00`, a date, RFC 3339 [default: at once]
    #[arg(long, value_name = "TIME")]
    due: Option<String>,
    /// Set it even if it holds a secret
    #[arg(long)]
    allow_secret: bool,
}

/// Show the reminders that are due
///
/// Shows the reminders of this session, of the sessions that it works for, and of the project of this folder. Each is
/// shown once. It comes a second time only if icm was killed right after the answer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm alerts
  icm alerts --session s-17 --read-only    # they are shown again
  icm alerts --all                         # also those of others, and those to come")]
pub(crate) struct AlertsArgs {
    /// The session that asks: its name, its id, or the beginning of the id
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Only look: the reminders are shown again
    #[arg(long)]
    read_only: bool,
    /// Only look, at the reminders of all sessions and projects, due or not
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Only look, as of a moment: a time, `2h ago`, `@123`
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn set(args: AlertArgs, app: &App) -> Result<Outcome, CliError> {
    let AlertCommand::Set(args) = args.command;
    let request = AlertSetRequest {
        text: args.text,
        session: args.session,
        due: args.due,
        allow_secret: args.allow_secret,
    };

    let receipt = app.service()?.set_alert(&app.caller_here()?, request)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
        return Ok(Outcome::Fine);
    }
    let whom = whom(receipt.session.as_deref(), receipt.project.as_deref());
    let from = match &receipt.due_at {
        Some(due) if receipt.due => format!(", due at once: {} has passed", when::local(due)),
        Some(due) => format!(", from {}", when::local(due)),
        None => String::new(),
    };
    let line = format!("set an alert {whom}{from} @{}", receipt.position);
    app.ui.line(format_args!("{line}"))?;
    for warning in &receipt.warnings {
        app.ui.note(warning);
    }
    Ok(Outcome::Fine)
}

pub(crate) fn show(args: AlertsArgs, app: &App) -> Result<Outcome, CliError> {
    let request = AlertsRequest {
        session: args.session,
        at: args.at,
        all: args.all,
        read_only: args.read_only,
        ..AlertsRequest::default()
    };
    let service = app.service()?;

    let (answer, delivery) = service.alerts(&app.caller_here()?, &request)?;

    if app.ui.json {
        app.ui.json(&answer)?;
    } else {
        for alert in &answer.alerts {
            print(&app.ui, alert)?;
        }
    }
    app.deliver_later(delivery);
    tell_rest(&answer, &app.ui);
    Ok(match answer.alerts.is_empty() {
        true => Outcome::No,
        false => Outcome::Fine,
    })
}

fn print(ui: &Ui, alert: &Alert) -> Result<(), CliError> {
    let text = cleaned(alert.text.trim_end()).replace('\n', "\n    ");
    let due = match &alert.due_at {
        Some(due) if !alert.due => format!(", due {}", when::local(due)),
        _ => String::new(),
    };
    let about = format!(
        "({} by {}, {}{due})",
        when::ago(ui.now, &alert.set_at),
        one_line(&alert.actor),
        whom(alert.session.as_deref(), alert.project.as_deref())
    );
    let position = ui.paint(BOLD, &format!("@{}", alert.position));
    ui.line(format_args!(
        "{position}  {text}  {}",
        ui.paint(DIM, &about)
    ))
}

fn tell_rest(answer: &AlertsAnswer, ui: &Ui) {
    let mut rest = Vec::new();
    if answer.alerts.is_empty() {
        rest.push("no alert is due".to_owned());
    }
    if answer.left_out > 0 {
        let more = count(answer.left_out as u64, "more alert is", "more alerts are");
        rest.push(format!("{more} due: ask again"));
    }
    if answer.not_due > 0 {
        let later = count(answer.not_due as u64, "alert is", "alerts are");
        rest.push(format!("{later} not due yet"));
    }
    if !rest.is_empty() {
        ui.remark(format_args!("{}", rest.join("; ")));
    }
}

/// Returns for whom an alert is, in words.
fn whom(session: Option<&str>, project: Option<&str>) -> String {
    match (session, project) {
        (Some(session), _) => format!("for session {}", one_line(session)),
        (None, Some(project)) => format!("for project {}", one_line(project)),
        (None, None) => "for a project".to_owned(),
    }
}
