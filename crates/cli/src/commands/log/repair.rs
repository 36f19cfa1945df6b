//! `icm log repair`

use std::path::PathBuf;

use clap::Args;
use icm_api::{Caller, RepairAnswer, RepairBeside, RepairGone, RepairPayload, RepairRequest};
use icm_log::repair::Spare;
use icm_service::Service;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input;
use crate::previewed::{self, Go, Previewed, Put, Question};
use crate::progress::Bar;
use crate::text::{self, bytes, count};
use crate::ui::{BOLD, DIM, GOOD, WARN};
use crate::when;

/// Lines of each kind that are shown.
const PREVIEW: usize = 20;
/// Digits of an origin that are shown: enough to tell a few machines apart.
const ORIGIN_LEN: usize = 8;

/// Repair a damaged log, and say which events are gone
///
/// Moves the damaged bytes to `torn/`, keeps all whole events, and records in the log which events are gone. After
/// that, `icm verify` passes again, and commands can write to the log. The plan is shown first and you are asked;
/// without a terminal give `--yes`. An interrupted repair can be run again.
///
/// Keep a copy of the store's folder first. Exits with 0 after a repair, or if there is nothing to repair; with
/// `--dry-run` it exits with 3 if there is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log repair --dry-run
  icm log repair --from laptop.icmx
  icm log repair --reason 'the disk failed' --yes")]
pub(crate) struct RepairArgs {
    /// Take missing events from this file of `icm log export` on another machine; `-` for stdin
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Reason, kept in the log
    #[arg(long)]
    reason: Option<String>,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: RepairArgs, app: &App) -> Result<Outcome, CliError> {
    let request = RepairRequest {
        reason: args.reason,
        dry_run: true,
        plan: None,
    };
    let caller = app.caller()?;
    let spares = match &args.from {
        Some(file) => {
            let file = input::export_file(file)?;
            file.spares(&Bar::new(&app.ui))?
        }
        None => Vec::new(),
    };
    let repair = Repair {
        request,
        caller,
        spares,
        app,
    };
    previewed::run(repair, args.dry_run, app)
}

struct Repair<'a> {
    request: RepairRequest,
    caller: Caller,
    spares: Vec<Spare>,
    app: &'a App,
}

impl Previewed for Repair<'_> {
    type Answer = RepairAnswer;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<RepairAnswer, CliError> {
        self.request.dry_run = matches!(go, Go::Look);
        if let Go::Do(plan) = go {
            self.request.plan = plan.map(str::to_owned);
        }
        let bar = Bar::new(&self.app.ui);
        Ok(service.log_repair(&self.caller, &self.request, &self.spares, &bar)?)
    }

    fn plan(answer: &RepairAnswer) -> &str {
        &answer.plan
    }

    fn print(&self, app: &App, answer: &RepairAnswer, put: Put<'_>) -> Result<(), CliError> {
        print(app, answer, put)
    }

    fn question(&self, _: &RepairAnswer) -> Question {
        Question {
            question: "Repair the log like this?".to_owned(),
            unconfirmed: "repairing the log".to_owned(),
            refused: "nothing was repaired",
        }
    }

    fn receipt(&self, app: &App, done: &RepairAnswer) -> Result<(), CliError> {
        receipt(app, done)
    }

    fn is_idle(answer: &RepairAnswer) -> bool {
        !answer.damaged
    }

    fn looked(answer: &RepairAnswer) -> Outcome {
        match answer.damaged {
            true => Outcome::Damage,
            false => Outcome::Fine,
        }
    }
}

fn receipt(app: &App, done: &RepairAnswer) -> Result<(), CliError> {
    let repaired = app.ui.paint(GOOD, "repaired");
    match done.position {
        None => app.ui.line(format_args!("{repaired}")),
        Some(position) => {
            let place = app.ui.paint(DIM, &format!("@{position}"));
            app.ui.line(format_args!("{repaired} {place}"))
        }
    }
}

fn print(app: &App, answer: &RepairAnswer, put: Put<'_>) -> Result<(), CliError> {
    if !answer.damaged {
        return put("nothing to repair".to_owned());
    }
    print_work(app, answer, put)?;
    print_gone(app, answer, put)?;
    print_redactions(app, answer, put)?;
    if let Some(why) = &answer.new_origin {
        put(format!(
            "{} under a new origin from here on: {}",
            would(answer, "the store writes", "write"),
            text::one_line(why)
        ))?;
    }
    if answer.new_secret {
        put(app.ui.paint(
            BOLD,
            "the store gets a new secret: ids of actors and request keys start afresh",
        ))?;
    }
    Ok(())
}

/// Returns a verb of the report: for work done, or for the plan of a dry run.
fn would(answer: &RepairAnswer, past: &str, future: &str) -> String {
    match answer.dry_run {
        true => format!("would {future}"),
        false => past.to_owned(),
    }
}

/// Prints the work on the files.
fn print_work(app: &App, answer: &RepairAnswer, put: Put<'_>) -> Result<(), CliError> {
    if answer.resumed {
        put(format!(
            "{} a repair that was begun",
            would(answer, "finished", "finish")
        ))?;
    }
    if !answer.set_aside.is_empty() {
        let len = answer.set_aside.iter().map(|aside| aside.bytes).sum();
        put(format!(
            "{} {} aside in torn/:",
            would(answer, "set", "set"),
            bytes(len)
        ))?;
    }
    for aside in answer.set_aside.iter().take(PREVIEW) {
        put(format!(
            "  {}, {} {}",
            text::one_line(&aside.what),
            bytes(aside.bytes),
            app.ui.paint(
                DIM,
                &format!("[{}, byte {}]", text::one_line(&aside.file), aside.offset)
            )
        ))?;
    }
    more(answer.set_aside.len(), put)?;
    if answer.segments_written > 0 {
        put(format!(
            "{} {} anew",
            would(answer, "wrote", "write"),
            count(answer.segments_written, "segment", "segments"),
        ))?;
    }
    if answer.segments_removed > 0 {
        put(format!(
            "{} {} of which nothing is needed any more",
            would(answer, "removed", "remove"),
            count(answer.segments_removed, "segment", "segments"),
        ))?;
    }
    if answer.refilled_events + answer.refilled_payloads > 0 {
        put(format!(
            "{} {} and {} back",
            would(answer, "took", "take"),
            count(answer.refilled_events, "event", "events"),
            count(answer.refilled_payloads, "payload", "payloads"),
        ))?;
    }
    Ok(())
}

/// Prints the events and payloads that are gone.
fn print_gone(app: &App, answer: &RepairAnswer, put: Put<'_>) -> Result<(), CliError> {
    match answer.gone.is_empty() && answer.payloads.is_empty() {
        true => put("no event is gone".to_owned())?,
        false => put(app.ui.paint(
            WARN,
            &format!(
                "gone: {}{}",
                count(answer.gone_events, "event", "events"),
                match answer.payloads.len() {
                    0 => String::new(),
                    n => format!(", and the payload of {n}"),
                }
            ),
        ))?,
    }
    for gone in answer.gone.iter().take(PREVIEW) {
        put(format!("  {}", said(app, gone)))?;
    }
    more(answer.gone.len(), put)?;
    for payload in answer.payloads.iter().take(PREVIEW) {
        put(format!("  the payload of {}", named(app, payload)))?;
    }
    more(answer.payloads.len(), put)
}

/// Prints the payloads that a redaction removed, or that are missing without a known redaction.
fn print_redactions(app: &App, answer: &RepairAnswer, put: Put<'_>) -> Result<(), CliError> {
    if !answer.redacted.is_empty() {
        put(format!(
            "{} once more that {} redacted: what said so is gone",
            would(answer, "said", "say"),
            match answer.redacted.len() {
                1 => "1 event is".to_owned(),
                n => format!("{n} events are"),
            }
        ))?;
        for payload in answer.redacted.iter().take(PREVIEW) {
            put(format!("  {}", named(app, payload)))?;
        }
        more(answer.redacted.len(), put)?;
    }
    if !answer.unexplained.is_empty() {
        let events = match answer.unexplained.len() {
            1 => "1 event of another machine is".to_owned(),
            n => format!("{n} events of other machines are"),
        };
        let warning = format!(
            "{events} without text, and nothing says why: if a redaction is gone, `icm redact` says \
             it again, else an import may bring the text back"
        );
        put(app.ui.paint(WARN, &warning))?;
        for payload in answer.unexplained.iter().take(PREVIEW) {
            put(format!("  {}", named(app, payload)))?;
        }
        more(answer.unexplained.len(), put)?;
    }
    Ok(())
}

/// Returns the name of an event without a payload: its position, kind, memory and age.
fn named(app: &App, payload: &RepairPayload) -> String {
    format!(
        "@{}, {}{} {}",
        payload.position,
        text::one_line(&payload.kind),
        about(payload),
        app.ui.paint(DIM, &when::ago(app.ui.now, &payload.at)),
    )
}

fn more(all: usize, put: Put<'_>) -> Result<(), CliError> {
    match all.checked_sub(PREVIEW) {
        None | Some(0) => Ok(()),
        Some(more) => put(format!("  … and {more} more")),
    }
}

/// Returns the memory and topic of a payload, as the end of a sentence.
fn about(payload: &RepairPayload) -> String {
    match (&payload.memory, &payload.topic) {
        (Some(memory), Some(topic)) => format!(
            " of {} in {}",
            text::one_line(memory),
            text::one_line(topic)
        ),
        (Some(memory), None) => format!(" of {}", text::one_line(memory)),
        (None, _) => String::new(),
    }
}

/// Returns the lost events and their place as a sentence.
fn said(app: &App, gone: &RepairGone) -> String {
    let origin = gone.origin.get(..ORIGIN_LEN).unwrap_or(&gone.origin);
    let which = match gone.events {
        0 => format!(
            "event {} of {origin}… names another event before it than there is: both are kept",
            gone.from_seq
        ),
        1 => format!("event {} of {origin}…", gone.from_seq),
        _ => format!("events {} to {} of {origin}…", gone.from_seq, gone.to_seq),
    };
    let beside =
        |it: &RepairBeside| format!("@{} ({})", it.position, when::ago(app.ui.now, &it.at));
    let place = match (&gone.after, &gone.before) {
        (Some(after), Some(before)) => format!("between {} and {}", beside(after), beside(before)),
        (Some(after), None) => format!("after {}", beside(after)),
        (None, Some(before)) => format!("before {}", beside(before)),
        (None, None) => return which,
    };
    format!("{which}, {}", app.ui.paint(DIM, &place))
}
