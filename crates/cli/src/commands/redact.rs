//! `icm redact`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Caller, RedactAnswer, RedactRequest};
use icm_service::Service;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::previewed::{self, Go, Previewed, Put, Question};
use crate::text::{self, count};
use crate::ui::{BOLD, DIM, TOPIC, WARN};

/// Memories and events that are listed before the question.
const PREVIEW: usize = 20;

/// Remove texts from every byte of the store; this cannot be undone
///
/// Use this command for texts that must not be kept, such as a password. The events are kept with their ids and
/// positions, and `icm verify` still passes. The text shows as withheld, also at earlier moments. A redaction cannot be
/// undone. The plan is shown first and you are asked; without a terminal give `--yes`.
///
/// For a memory, the texts of all events about it and of all recalls that showed it are removed. For an event, only its
/// own text is removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm redact 01M808CE1S --reason 'held a password'
  icm redact --match 'hunter2' --dry-run    # every event with this text
  icm redact @120 @131 --yes")]
pub(crate) struct RedactArgs {
    /// Memories (ids or their beginnings) and events (`3fa9c2`, `@12`)
    #[arg(value_name = "MEMORY|EVENT", value_parser = NonEmptyStringValueParser::new())]
    targets: Vec<String>,
    /// Every event with this text (as it is, escaped within JSON, or in base64), and every file of torn/; with `-`,
    /// stdin is read, so the shell keeps no copy of the text
    #[arg(
        long = "match",
        value_name = "TEXT",
        conflicts_with = "targets",
        allow_hyphen_values = true
    )]
    pattern: Option<String>,
    /// Reason, kept in the log
    #[arg(long)]
    reason: Option<String>,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: RedactArgs, app: &App) -> Result<Outcome, CliError> {
    let pattern = match args.pattern.as_deref() {
        Some("-") => Some(crate::input::text_or_stdin(Some("-"), "--match")?),
        other => other.map(str::to_owned),
    };
    let request = RedactRequest {
        targets: args.targets,
        pattern,
        reason: args.reason,
        dry_run: true,
        plan: None,
    };
    let caller = app.caller()?;
    previewed::run(Redaction { request, caller }, args.dry_run, app)
}

struct Redaction {
    request: RedactRequest,
    caller: Caller,
}

impl Previewed for Redaction {
    type Answer = RedactAnswer;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<RedactAnswer, CliError> {
        self.request.dry_run = matches!(go, Go::Look);
        if let Go::Do(plan) = go {
            self.request.plan = plan.map(str::to_owned);
        }
        Ok(service.redact(&self.caller, &self.request)?)
    }

    fn plan(answer: &RedactAnswer) -> &str {
        &answer.plan
    }

    fn print(&self, app: &App, answer: &RedactAnswer, put: Put<'_>) -> Result<(), CliError> {
        print(app, answer, put)
    }

    fn question(&self, answer: &RedactAnswer) -> Question {
        let share = match answer.share >= 0.1 {
            true => format!(" ({:.0} % of all events with text)", answer.share * 100.0),
            false => String::new(),
        };
        let events = match answer.events {
            0 => String::new(),
            events => format!("the text of {}{share}", count(events, "event", "events")),
        };
        let torn = match answer.torn.len() {
            0 => String::new(),
            files => count(files as u64, "file of torn/", "files of torn/"),
        };
        let both = [events, torn].into_iter().filter(|what| !what.is_empty());
        let what = both.collect::<Vec<_>>().join(" and ");
        Question {
            question: format!("Remove {what} for good?"),
            unconfirmed: format!("removing {what} for good"),
            refused: "nothing was redacted",
        }
    }

    fn is_idle(answer: &RedactAnswer) -> bool {
        answer.events == 0 && answer.torn.is_empty()
    }

    fn receipt(&self, app: &App, done: &RedactAnswer) -> Result<(), CliError> {
        receipt(app, done)
    }
}

/// Prints the cleaned places, and the copies outside the store that remain.
fn receipt(app: &App, done: &RedactAnswer) -> Result<(), CliError> {
    let ui = &app.ui;
    let torn = count(done.torn_removed, "file", "files");
    if done.events == 0 {
        ui.line(format_args!(
            "{} {torn} of torn/",
            ui.paint(BOLD, "removed")
        ))?;
    } else {
        ui.line(format_args!(
            "{} {} {}",
            ui.paint(BOLD, "redacted"),
            count(done.events, "event", "events"),
            ui.paint(DIM, &format!("@{}", done.position.unwrap_or_default())),
        ))?;
        ui.line(format_args!(
            "  cleaned: {} of the log, every view, the cache{}",
            count(done.segments, "segment", "segments"),
            match done.torn_removed {
                0 => String::new(),
                _ => format!(", {torn} of torn/"),
            }
        ))?;
    }
    ui.line(format_args!("  not within reach:"))?;
    for place in &done.out_of_reach {
        ui.line(format_args!("    {}", text::one_line(place)))?;
    }
    Ok(())
}

fn print(app: &App, answer: &RedactAnswer, put: Put<'_>) -> Result<(), CliError> {
    let ui = &app.ui;
    if answer.events == 0 && answer.torn.is_empty() {
        return put("nothing is left to redact: the earlier redaction is finished".to_owned());
    }
    let verb = if answer.dry_run {
        "would take"
    } else {
        "takes"
    };
    if answer.events > 0 {
        put(format!(
            "{verb} the text out of {}",
            count(answer.events, "event", "events")
        ))?;
    }
    for file in &answer.torn {
        put(format!(
            "{verb} away {}, which holds it",
            text::one_line(file)
        ))?;
    }
    for memory in answer.memories.iter().take(PREVIEW) {
        let part = match memory.whole {
            true => "all of it".to_owned(),
            false => count(memory.events, "event", "events"),
        };
        put(format!(
            "  {}  {}  {}",
            text::one_line(&memory.id),
            ui.paint(TOPIC, &text::one_line(&memory.topic)),
            ui.paint(DIM, &part)
        ))?;
    }
    if answer.memories.len() > PREVIEW {
        put(format!("  … and {} more", answer.memories.len() - PREVIEW))?;
    }
    for event in answer.single_events.iter().take(PREVIEW) {
        put(format!(
            "  @{}  {}  {}",
            event.position,
            text::one_line(&event.kind),
            ui.paint(DIM, short_event(&event.event))
        ))?;
    }
    if answer.single_events_total as usize > PREVIEW {
        put(format!(
            "  … and {} more",
            answer.single_events_total as usize - PREVIEW
        ))?;
    }
    if !answer.summaries.is_empty() {
        put(ui.paint(
            WARN,
            &format!(
                "summaries made from them stay and may hold the same text: {}",
                answer.summaries.join(" ")
            ),
        ))?;
    }
    Ok(())
}
