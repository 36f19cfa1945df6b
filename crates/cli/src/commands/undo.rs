//! `icm undo`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Caller, UndoAction, UndoAnswer, UndoEntry, UndoRequest};
use icm_service::Service;
use jiff::tz::TimeZone;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::previewed::{self, Go, Previewed, Put, Question};
use crate::text::{self, count};
use crate::ui::{BAD, BOLD, DIM, GOOD, TOPIC, WARN};

/// Memories that are listed before the question.
const PREVIEW: usize = 20;

/// Take events back; undoing an undo brings things back again
///
/// Nothing is lost: an undo is an event itself. After an undo, memories and memoirs look as if the chosen events had
/// not happened. The changes are shown first and you are asked; without a terminal give `--yes`.
///
/// To choose one event is to choose the whole command that wrote it, such as the import of a file. `--last` counts
/// undos but not recalls, so `icm undo --last 1` twice changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm undo --last 1
  icm undo @120..@140 --dry-run    # only shows the changes
  icm undo --session s1 --since yesterday")]
pub(crate) struct UndoArgs {
    /// Events (`3fa9c2`, `@12`), or one range (`@12..@20`); `icm log` lists them
    #[arg(value_name = "EVENT", value_parser = NonEmptyStringValueParser::new(),
          conflicts_with_all = ["last", "session", "actor", "topic", "memoir"])]
    events: Vec<String>,
    /// The newest N commands that changed something
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    /// All changes of this session
    #[arg(long)]
    session: Option<String>,
    /// All changes of this actor: `agent:codex`, or only `codex`
    #[arg(long)]
    actor: Option<String>,
    /// All changes of memories that are or were in this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// All changes of this memoir, its concepts and links: name or id
    #[arg(long, value_name = "NAME", conflicts_with = "topic")]
    memoir: Option<String>,
    /// Only changes since this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only the named events, not the commands that they belong to
    #[arg(long, requires = "events")]
    only: bool,
    /// Also undo every later change of the same memories or concepts
    #[arg(long)]
    cascade: bool,
    /// Reason, kept in the log
    #[arg(long)]
    reason: Option<String>,
    /// Only show the changes
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: UndoArgs, app: &App) -> Result<Outcome, CliError> {
    let chosen = [&args.session, &args.actor, &args.topic, &args.memoir];
    if args.events.is_empty() && args.last.is_none() && chosen.iter().all(|by| by.is_none()) {
        return Err(CliError::invalid("nothing was chosen to undo").with_hint(
            "name an EVENT (`@12`, the beginning of an id) or a range, or give `--last N`, \
             `--session ID`, `--actor NAME`, `--topic TOPIC` or `--memoir NAME`",
        ));
    }
    let request = UndoRequest {
        events: args.events,
        only: args.only,
        last: args.last.map(|last| last as usize),
        session: args.session,
        actor: args.actor,
        topic: args.topic,
        memoir: args.memoir,
        since: args.since,
        cascade: args.cascade,
        reason: args.reason,
        dry_run: true,
        plan: None,
    };
    let caller = app.caller()?;
    previewed::run(Undoing { request, caller }, args.dry_run, app)
}

struct Undoing {
    request: UndoRequest,
    caller: Caller,
}

impl Previewed for Undoing {
    type Answer = UndoAnswer;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<UndoAnswer, CliError> {
        self.request.dry_run = matches!(go, Go::Look);
        if let Go::Do(plan) = go {
            self.request.plan = plan.map(str::to_owned);
        }
        Ok(service.undo(&self.caller, &self.request)?)
    }

    fn plan(answer: &UndoAnswer) -> &str {
        &answer.plan
    }

    fn print(&self, app: &App, answer: &UndoAnswer, put: Put<'_>) -> Result<(), CliError> {
        print(app, answer, put)
    }

    fn question(&self, answer: &UndoAnswer) -> Question {
        let what = count(answer.events, "event", "events");
        Question {
            question: format!("Undo {what} ({})?", answer.outcome()),
            unconfirmed: format!("undoing {what}"),
            refused: "nothing was undone",
        }
    }

    fn receipt(&self, app: &App, done: &UndoAnswer) -> Result<(), CliError> {
        let event = done.event.as_deref().map_or("", short_event);
        app.ui.line(format_args!(
            "{} {}: {} {}",
            app.ui.paint(BOLD, "undone"),
            count(done.events, "event", "events"),
            done.outcome(),
            app.ui.paint(
                DIM,
                &format!(
                    "@{}  (`icm undo {event}` brings it back)",
                    done.position.unwrap_or_default()
                )
            ),
        ))
    }
}

fn print(app: &App, answer: &UndoAnswer, put: Put<'_>) -> Result<(), CliError> {
    let verb = if answer.dry_run {
        "would undo"
    } else {
        "undoes"
    };
    put(format!(
        "{verb} {} of {}: {}",
        count(answer.events, "event", "events"),
        count(answer.commands_total, "command", "commands"),
        answer.outcome(),
    ))?;
    if answer.already_undone > 0 {
        put(format!(
            "{} undone already",
            count(answer.already_undone, "event is", "events are")
        ))?;
    }
    for skipped in answer.skipped.iter().take(PREVIEW) {
        let why = match skipped.redacted {
            true => "redacted".to_owned(),
            false => format!("a {} cannot be undone", text::one_line(&skipped.kind)),
        };
        put(format!("@{} stays: {why}", skipped.position))?;
    }
    if answer.skipped.len() > PREVIEW {
        put(format!(
            "… and {} more stay",
            answer.skipped.len() - PREVIEW
        ))?;
    }
    for kind in answer.entries(PREVIEW, &TimeZone::system()) {
        for entry in &kind.entries {
            print_entry(app, entry, put)?;
        }
        kind.more.map_or(Ok(()), &mut *put)?;
    }
    print_later(app, answer, put)
}

/// Prints the numbers of later changes of the same things: those that disappear with the undo, and those that stay.
fn print_later(app: &App, answer: &UndoAnswer, put: Put<'_>) -> Result<(), CliError> {
    let (gone, staying) = answer.later_gone_and_staying();
    let word = |n| count(n, "later change", "later changes");
    if gone > 0 {
        let (go, come) = match gone {
            1 => ("goes", "comes"),
            _ => ("go", "come"),
        };
        put(format!(
            "{} {go} with it, and {come} back when this is undone",
            word(gone)
        ))?;
    }
    if staying > 0 {
        let stay = if staying == 1 { "stays" } else { "stay" };
        let places = match (gone, answer.later.as_slice()) {
            (0, [one]) => format!(" (@{})", one.position),
            (0, [first, .., last]) => format!(" (@{} to @{})", first.position, last.position),
            _ => String::new(),
        };
        put(app.ui.paint(
            WARN,
            &format!(
                "{}{places} of these {} {stay} in force; `--cascade` undoes them, too",
                word(staying),
                answer.later_of(),
            ),
        ))?;
    }
    Ok(())
}

fn print_entry(app: &App, entry: &UndoEntry<'_>, put: Put<'_>) -> Result<(), CliError> {
    let ui = &app.ui;
    let (style, word) = match entry.action {
        Some(UndoAction::Gone) => (BAD, "- gone   "),
        Some(UndoAction::Back) => (GOOD, "+ back   "),
        Some(UndoAction::Changed) => (WARN, "~ changed"),
        None => (DIM, "  shown  "),
    };
    put(format!(
        "{}  {}  {}{}",
        ui.paint(style, word),
        text::one_line(&entry.target.name()),
        ui.paint(TOPIC, &text::one_line(&entry.place)),
        match entry.note.is_empty() {
            true => String::new(),
            false => ui.paint(DIM, &format!("  {}", text::one_line(&entry.note))),
        }
    ))?;
    let room = ui.columns.unwrap_or(120).saturating_sub(4);
    let mut quote = |sign: &str, said: &str| {
        put(format!(
            "    {sign}{}",
            text::cut(&text::one_line(said), room)
        ))
    };
    for value in &entry.values {
        if let Some(line) = value.line() {
            quote("", &line)?;
            continue;
        }
        for (sign, said) in [("- ", &value.before), ("+ ", &value.after)] {
            if let Some(said) = said {
                quote(sign, &value.labelled(said))?;
            }
        }
    }
    Ok(())
}
