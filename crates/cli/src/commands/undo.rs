//! `icm undo`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{
    Caller, UndoAction, UndoAlert, UndoAnswer, UndoChange, UndoFact, UndoRequest, UndoRow,
};
use icm_service::Service;

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
    for change in answer.changes.iter().take(PREVIEW) {
        print_change(app, change, put)?;
    }
    if answer.changes.len() > PREVIEW {
        put(format!("… and {} more", answer.changes.len() - PREVIEW))?;
    }
    for alert in answer.alerts.iter().take(PREVIEW) {
        print_alert(app, alert, put)?;
    }
    if answer.alerts.len() > PREVIEW {
        let more = answer.alerts.len() - PREVIEW;
        put(format!("… and {more} more alerts"))?;
    }
    for fact in answer.facts.iter().take(PREVIEW) {
        print_fact(app, fact, put)?;
    }
    if answer.facts.len() > PREVIEW {
        let more = (answer.facts.len() - PREVIEW) as u64;
        put(format!(
            "… and {}",
            count(more, "more value", "more values")
        ))?;
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

fn print_alert(app: &App, alert: &UndoAlert, put: Put<'_>) -> Result<(), CliError> {
    let ui = &app.ui;
    let (style, word) = match (alert.action, alert.shown) {
        (_, true) => (DIM, "  shown  "),
        (UndoAction::Back, false) => (GOOD, "+ back   "),
        (_, false) => (BAD, "- gone   "),
    };
    let why = match alert.shown {
        true => "  it was shown before, so the undo changes nothing",
        false => "",
    };
    put(format!(
        "{}  @{}  {}{}",
        ui.paint(style, word),
        alert.position,
        ui.paint(TOPIC, "alert"),
        ui.paint(DIM, why)
    ))?;
    let room = ui.columns.unwrap_or(120).saturating_sub(4);
    let text = text::one_line(alert.text.as_deref().unwrap_or("(withheld)"));
    put(format!("    {}", text::cut(&text, room)))
}

/// Prints a value of a fact that changes although the memory of the fact looks the same.
fn print_fact(app: &App, fact: &UndoFact, put: Put<'_>) -> Result<(), CliError> {
    let ui = &app.ui;
    let until = match &fact.valid_until {
        Some(until) => format!(" until {until}"),
        None => String::new(),
    };
    put(format!(
        "{}  {}  {}  {}{}",
        ui.paint(WARN, "~ changed"),
        text::one_line(&fact.id),
        ui.paint(TOPIC, &text::one_line(&fact.subject)),
        text::one_line(&fact.attribute),
        ui.paint(DIM, &format!("  from {}{until}", fact.valid_from)),
    ))?;
    let room = ui.columns.unwrap_or(120).saturating_sub(4);
    for (sign, value) in [("- ", &fact.before), ("+ ", &fact.after)] {
        let value = value.as_deref().unwrap_or("(no value)");
        put(format!(
            "    {sign}{}",
            text::cut(&text::one_line(value), room)
        ))?;
    }
    Ok(())
}

fn print_change(app: &App, change: &UndoChange, put: Put<'_>) -> Result<(), CliError> {
    let ui = &app.ui;
    let (style, word) = match change.action {
        UndoAction::Gone => (BAD, "- gone   "),
        UndoAction::Back => (GOOD, "+ back   "),
        UndoAction::Changed => (WARN, "~ changed"),
    };
    let content = |row: &Option<UndoRow>| {
        let text = row.as_ref().and_then(UndoRow::text);
        text.unwrap_or("(withheld)").to_owned()
    };
    let room = ui.columns.unwrap_or(120).saturating_sub(4);
    put(format!(
        "{}  {}  {}{}",
        ui.paint(style, word),
        text::one_line(&change.id),
        ui.paint(TOPIC, &text::one_line(&change.topic)),
        match change.fields.is_empty() {
            true => String::new(),
            false => ui.paint(DIM, &format!("  {}", change.fields.join(", "))),
        }
    ))?;
    let mut quote = |sign: &str, text: &str| {
        put(format!(
            "    {sign}{}",
            text::cut(&text::one_line(text), room)
        ))
    };
    let (before, after) = (content(&change.before), content(&change.after));
    match change.action {
        UndoAction::Gone => quote("", &before),
        UndoAction::Back => quote("", &after),
        UndoAction::Changed if before == after => print_values(change, &mut quote),
        UndoAction::Changed => {
            quote("- ", &before)?;
            quote("+ ", &after)
        }
    }?;
    for link in &change.links {
        let sign = match link.action {
            UndoAction::Back => "+ ",
            _ => "- ",
        };
        let other = match (&link.name, &link.from) {
            (Some(name), Some(_)) => format!("{name} {}", link.relation),
            (Some(name), None) => format!("{} {name}", link.relation),
            (None, _) => format!("{} {}", link.relation, link.to),
        };
        quote(sign, &other)?;
    }
    Ok(())
}

/// Prints the short fields that differ; the text is printed elsewhere.
fn print_values(
    change: &UndoChange,
    quote: &mut dyn FnMut(&str, &str) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let pairs = match (&change.before, &change.after) {
        (Some(UndoRow::Memory(before)), Some(UndoRow::Memory(after))) => vec![
            ("topic", before.topic.clone(), after.topic.clone()),
            (
                "importance",
                before.importance.name().to_owned(),
                after.importance.name().to_owned(),
            ),
            ("scope", before.scope.clone(), after.scope.clone()),
            (
                "keywords",
                before.keywords.join(","),
                after.keywords.join(","),
            ),
            (
                "recalled",
                before.access_count.to_string(),
                after.access_count.to_string(),
            ),
        ],
        (Some(UndoRow::Concept(before)), Some(UndoRow::Concept(after))) => vec![
            ("labels", before.labels.join(","), after.labels.join(",")),
            (
                "confidence",
                before.confidence.to_string(),
                after.confidence.to_string(),
            ),
            (
                "revision",
                before.revision.to_string(),
                after.revision.to_string(),
            ),
        ],
        _ => Vec::new(),
    };
    for (name, before, after) in pairs {
        if before != after {
            quote("", &format!("{name}: {before} → {after}"))?;
        }
    }
    Ok(())
}
