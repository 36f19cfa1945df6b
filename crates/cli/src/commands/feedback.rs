//! `icm feedback`

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Subcommand};
use icm_api::{
    Feedback, FeedbackHit, FeedbackList, FeedbackListRequest, FeedbackRequest,
    FeedbackSearchRequest, FeedbackStats, MarkedMemory, Marks, Source, Trust, Verdict,
};

use super::recall;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::limit_args::LimitArgs;
use crate::ui::{BOLD, DIM, TOPIC, Ui};
use crate::values::{Results, share};
use crate::{columns, memory_view, text, when};

/// Keep corrections of wrong predictions, and call memories wrong or useful
///
/// A recall shows up to two corrections whose context fits the question. A memory that was called useful or wrong moves
/// up or down among the results, within a fixed bound. Feedback is events: `icm undo` takes it back, and other machines
/// receive it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback record --context 'flaky test in CI' --predicted 'retry it' --correct 'fix the clock'
  icm feedback search flaky tests
  icm feedback mark 01J9X4 --useful")]
pub(crate) struct FeedbackArgs {
    #[command(subcommand)]
    command: FeedbackCommand,
}

#[derive(Debug, Subcommand)]
enum FeedbackCommand {
    Record(RecordArgs),
    List(ListArgs),
    Search(SearchArgs),
    Stats(StatsArgs),
    Mark(MarkArgs),
}

/// Record what was predicted and what was right
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback record --context 'flaky test in CI' --predicted 'retry it' --correct 'fix the clock'
  icm feedback record --context 'ports' --predicted 8080 --correct 9090 --memory 01J9X4")]
struct RecordArgs {
    /// The prediction, or what was done
    #[arg(long, value_name = "TEXT")]
    predicted: String,
    /// The right answer
    #[arg(long, value_name = "TEXT")]
    correct: String,
    /// The situation: recalls about something like it show the correction
    #[arg(long, value_name = "TEXT")]
    context: String,
    /// The memory that the prediction came from, by its id or its beginning; it is called wrong
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    memory: Option<String>,
    /// The reason why it is right
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Topic, for `-t` of `icm feedback list` and `search`
    #[arg(short, long)]
    topic: Option<String>,
    /// Scope: `global`, `project`, `session`, `project:ID` or `session:PARENT/CHILD` [default: global]
    #[arg(long)]
    scope: Option<String>,
    /// Name of the agent that records it
    #[arg(long, value_name = "AGENT")]
    source: Option<String>,
    /// Record it even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

/// List the corrections, newest first
///
/// To take a correction back, undo its event, which `icm log --kind feedback` shows.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback list -t ci
  icm feedback list --all --json")]
struct ListArgs {
    /// Only this topic
    #[arg(short, long)]
    topic: Option<String>,
    /// Only this scope; for a session also those below it
    #[arg(long)]
    scope: Option<String>,
    #[command(flatten)]
    limit: LimitArgs,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Search the corrections
///
/// Searches by words and meaning, as `icm recall`. A search is not recorded. Exits with 1 if nothing is found or nothing
/// fits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback search flaky tests
  icm feedback search flaky tests -t ci --floor 0")]
struct SearchArgs {
    /// Words to search for; no quotes needed
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this topic
    #[arg(short, long)]
    topic: Option<String>,
    /// Corrections seen from this scope; `all` for every scope [default: as for `icm recall`]
    #[arg(long)]
    scope: Option<String>,
    /// At most N, 1 to 1000 [default: 10]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Least fit of a result, 0 to 1; 0 shows all [default: `ranking.floor` of the config file, else 0.2]
    #[arg(long, value_name = "FIT", value_parser = share, allow_negative_numbers = true)]
    floor: Option<f64>,
}

/// Count the corrections, and name the memories that are most often wrong
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback stats
  icm feedback stats --at yesterday")]
struct StatsArgs {
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Call a memory wrong or useful
///
/// Each session (or else each actor) counts once: a later mark takes the place of the earlier one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm feedback mark 01J9X4 --useful
  icm feedback mark 01J9X4 --wrong")]
#[command(group(ArgGroup::new("judgement").required(true).args(["wrong", "useful"])))]
struct MarkArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The memory was wrong
    #[arg(long)]
    wrong: bool,
    /// The memory was right, and helped
    #[arg(long)]
    useful: bool,
}

pub(crate) fn run(args: FeedbackArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        FeedbackCommand::Record(args) => record(args, app),
        FeedbackCommand::List(args) => list(args, app),
        FeedbackCommand::Search(args) => search(args, app),
        FeedbackCommand::Stats(args) => stats(&args, app),
        FeedbackCommand::Mark(args) => mark(&args, app),
    }
}

fn record(args: RecordArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller()?;
    let by_agent = args.source.is_some() || caller.actor.starts_with("agent:");
    let request = FeedbackRequest {
        predicted: args.predicted,
        correct: args.correct,
        context: args.context,
        reason: args.reason,
        topic: recall::given(args.topic),
        memory: args.memory,
        scope: app.scope(args.scope)?,
        source: Source {
            agent: args.source,
            ..Source::default()
        },
        trust: Some(if by_agent { Trust::Agent } else { Trust::User }),
        allow_secret: args.allow_secret,
    };

    let receipt = app.service()?.feedback_record(&caller, &request)?;

    let ui = &app.ui;
    if ui.json {
        ui.json(&receipt)?;
        return Ok(Outcome::Fine);
    }
    for warning in &receipt.warnings {
        ui.note(warning);
    }
    ui.line(format_args!(
        "{} {} {}",
        ui.paint(BOLD, "recorded"),
        receipt.id,
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))?;
    if let (Some(memory), Some(marks)) = (&receipt.memory, &receipt.marks) {
        ui.line(format_args!("{memory} was {}", told(*marks)))?;
    }
    Ok(Outcome::Fine)
}

fn mark(args: &MarkArgs, app: &App) -> Result<Outcome, CliError> {
    let verdict = match args.wrong {
        true => Verdict::Wrong,
        false => Verdict::Useful,
    };
    let caller = app.caller()?;
    let receipt = app.service()?.feedback_mark(&caller, &args.id, verdict)?;

    let ui = &app.ui;
    if ui.json {
        ui.json(&receipt)?;
        return Ok(Outcome::Fine);
    }
    let done = match receipt.marked {
        true => "marked",
        false => "unchanged",
    };
    ui.line(format_args!(
        "{} {} {} in {} {}",
        ui.paint(BOLD, done),
        receipt.id,
        receipt.verdict.name(),
        ui.paint(TOPIC, &text::one_line(&receipt.topic)),
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))?;
    ui.remark(format_args!("{}", told(receipt.marks)));
    Ok(Outcome::Fine)
}

fn told(marks: Marks) -> String {
    marks.told().unwrap_or_else(|| "called nothing".to_owned())
}

fn search(args: SearchArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller_here()?;
    let found = app.service()?.feedback_search(
        &caller,
        &FeedbackSearchRequest {
            query: recall::query(&args.query)?,
            topic: recall::given(args.topic),
            scope: caller.scope(recall::given(args.scope))?,
            limit: args.limit.map(|limit| limit.within(&app.ui)),
            floor: args.floor,
            at: args.at,
        },
    )?;

    let ui = &app.ui;
    let outcome = match found.results.is_empty() {
        true => Outcome::No,
        false => Outcome::Fine,
    };
    if ui.json {
        ui.json(&found)?;
        return Ok(outcome);
    }
    for hit in &found.results {
        print_found(ui, hit)?;
    }
    if let Some(note) = &found.note {
        ui.note(note);
    }
    if let Some(nearest) = &found.nearest {
        let fit = nearest.fit;
        let told = text::one_line(&nearest.feedback.told(NEAREST_CHARS));
        recall::remark(
            ui,
            &format!("nothing fits; nearest: {told} (fit {fit:.2}), --floor 0 shows it"),
        );
    }
    ui.remark(format_args!(
        "{} found as of {} ({})",
        found.results.len(),
        ui.paint(BOLD, &format!("@{}", found.basis.position)),
        when::ago(ui.now, &found.basis.at),
    ));
    Ok(outcome)
}

/// Characters of each text of the nearest correction.
const NEAREST_CHARS: usize = 40;

fn list(args: ListArgs, app: &App) -> Result<Outcome, CliError> {
    let list = app.service()?.feedback_list(&FeedbackListRequest {
        topic: recall::given(args.topic),
        scope: app
            .scope(recall::given(args.scope))?
            .filter(|scope| scope != "all"),
        offset: 0,
        limit: args.limit.most(),
        at: args.at,
    })?;

    let ui = &app.ui;
    let FeedbackList {
        feedback,
        total,
        more,
        ..
    } = &list;
    if ui.json {
        ui.json(feedback)?;
    } else {
        for correction in feedback {
            let scope = correction.scope.as_str();
            let scope = (scope != "global").then(|| text::one_line(scope));
            print_correction(ui, correction, scope.into_iter().collect())?;
        }
        if *total == 0 {
            ui.remark(format_args!("no corrections"));
        }
    }
    let shown = format!("newest {} of {total}", feedback.len());
    args.limit.tell_left_out(ui, *more, &shown);
    Ok(Outcome::Fine)
}

fn print_found(ui: &Ui, hit: &FeedbackHit) -> Result<(), CliError> {
    let found = vec![
        recall::by_words_or_meaning(&hit.matched),
        format!("fit {:.2}", hit.fit),
    ];
    print_correction(ui, &hit.feedback, found)
}

/// Prints a correction: a line about it, and its texts.
fn print_correction(ui: &Ui, feedback: &Feedback, more: Vec<String>) -> Result<(), CliError> {
    let mut head = ui.paint(DIM, &feedback.id);
    if let Some(topic) = &feedback.topic {
        head.push_str(&format!("  {}", ui.paint(TOPIC, &text::one_line(topic))));
    }
    let mut about = vec![when::ago(ui.now, &feedback.created_at)];
    about.extend(more);
    about.extend((feedback.memory.as_ref()).map(|memory| format!("from {memory}")));
    ui.line(format_args!("{head}  {}", ui.paint(DIM, &about.join("  "))))?;
    for (name, part) in [
        ("context", &feedback.context),
        ("predicted", &feedback.predicted),
        ("correct", &feedback.correct),
    ] {
        let part = part.as_deref().unwrap_or("(withheld)");
        memory_view::print_quoted(ui, &format!("{name}: {}", text::cleaned(part)))?;
    }
    match &feedback.reason {
        Some(reason) => {
            memory_view::print_quoted(ui, &format!("reason: {}", text::cleaned(reason)))
        }
        None => Ok(()),
    }
}

fn stats(args: &StatsArgs, app: &App) -> Result<Outcome, CliError> {
    let stats = app.service()?.feedback_stats(args.at.as_deref())?;
    let ui = &app.ui;
    if ui.json {
        ui.json(&stats)?;
        return Ok(Outcome::Fine);
    }
    let FeedbackStats {
        feedback,
        by_topic,
        marks,
        marked,
        most_wrong,
        most_useful,
        ..
    } = &stats;
    let mut pairs = vec![("corrections", feedback.to_string())];
    for topic in by_topic.iter().filter(|it| it.topic.is_some()) {
        let name = text::one_line(topic.topic.as_deref().unwrap_or_default());
        pairs.push(("  topic", format!("{name}: {}", topic.feedback)));
    }
    pairs.push(("memories judged", marked.to_string()));
    pairs.push(("called useful", marks.useful.to_string()));
    pairs.push(("called wrong", marks.wrong.to_string()));
    columns::print_pairs(ui, &pairs)?;
    print_marked(ui, "most often wrong", most_wrong)?;
    print_marked(ui, "most often useful", most_useful)?;
    Ok(Outcome::Fine)
}

fn print_marked(ui: &Ui, title: &str, memories: &[MarkedMemory]) -> Result<(), CliError> {
    if memories.is_empty() {
        return Ok(());
    }
    ui.line(format_args!("{}", ui.paint(BOLD, title)))?;
    for memory in memories {
        ui.line(format_args!(
            "  {}  {}  {}",
            ui.paint(DIM, &memory.id),
            ui.paint(TOPIC, &text::one_line(&memory.topic)),
            ui.paint(DIM, &told(memory.marks)),
        ))?;
        memory_view::print_content(ui, memory.content.as_deref())?;
    }
    Ok(())
}
