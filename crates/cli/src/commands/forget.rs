//! `icm forget`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Receipt, TurnTopicAnswer, TurnTopicRequest};

use super::topics::below;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;
use crate::text::{self, count};
use crate::ui::DIM;

/// Memories of a topic that are listed before the question and in the answer.
const SHOWN: usize = 10;

/// Forget memories; `icm revive` brings them back
///
/// Forgotten memories are no longer found, but stay in the log. One command forgets a whole topic, and one `icm undo`
/// takes it back. The memories of the topic are shown first and you are asked; without a terminal give `--yes`. With
/// `--json`, the answer is an array of receipts for ids, and an object with the receipts for a topic.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm forget 01J9X4 01J9X7
  icm forget -t standup/ --yes    # all topics below, without a question")]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetArgs {
    /// Ids or their beginnings
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
    /// All memories of this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
}

pub(crate) fn run(args: ForgetArgs, app: &App) -> Result<Outcome, CliError> {
    match args.topic {
        Some(topic) => forget_topic(topic, app),
        None => {
            let receipts = app.service()?.forget(&app.caller()?, &args.ids)?;
            report(&receipts, app)?;
            Ok(Outcome::Fine)
        }
    }
}

fn forget_topic(topic: String, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let caller = app.caller()?;
    let mut request = TurnTopicRequest {
        topic,
        dry_run: true,
        shown: SHOWN,
        ..TurnTopicRequest::default()
    };
    if !app.global.yes {
        let look = service.turn_topic(&caller, &request)?;
        if look.memories == 0 {
            return nothing(&look, &request, app);
        }
        preview(&look, app);
        let what = format!(
            "{} of `{}`",
            count(look.memories, "memory", "memories"),
            text::one_line(&request.topic)
        );
        match app.ui.confirm(&format!("Forget {what}?")) {
            // Only the shown plan is confirmed; a memory that is added meanwhile is asked about again.
            Some(true) => request.plan = Some(look.plan),
            Some(false) => {
                app.ui.remark(format_args!("nothing was forgotten"));
                return Ok(Outcome::No);
            }
            None => {
                return Err(
                    CliError::invalid(format!("forgetting {what} has to be confirmed"))
                        .with_hint("give `--yes`"),
                );
            }
        }
    }

    request.dry_run = false;
    let done = service.turn_topic(&caller, &request)?;

    if done.memories == 0 {
        return nothing(&done, &request, app);
    }
    if app.ui.json {
        app.ui.json(&done)?;
        return Ok(Outcome::Fine);
    }
    report(&done.receipts[..done.receipts.len().min(SHOWN)], app)?;
    if let (Some(last), true) = (done.receipts.last(), done.receipts.len() > SHOWN) {
        let more = format!("… and {} more", done.receipts.len() - SHOWN);
        app.ui.line(format_args!("{more}"))?;
        let event = memory_view::short_event(&last.event);
        let undo = format!("`icm undo {event}` brings all of them back");
        app.ui.remark(format_args!("{}", app.ui.paint(DIM, &undo)));
    }
    Ok(Outcome::Fine)
}

fn nothing(
    answer: &TurnTopicAnswer,
    request: &TurnTopicRequest,
    app: &App,
) -> Result<Outcome, CliError> {
    if app.ui.json {
        app.ui.json(answer)?;
    }
    let topic = text::one_line(&answer.topic);
    let below = below_it(request, app)?;
    app.ui
        .remark(format_args!("no memories in `{topic}`{below}"));
    Ok(Outcome::No)
}

/// Returns a hint for the topics below, if only those have memories.
pub(super) fn below_it(request: &TurnTopicRequest, app: &App) -> Result<String, CliError> {
    below(&request.topic, |topic| {
        let look = TurnTopicRequest {
            topic,
            to: request.to,
            dry_run: true,
            ..TurnTopicRequest::default()
        };
        Ok(app.service()?.turn_topic(&app.caller()?, &look)?.memories > 0)
    })
}

/// Prints the memories to forget to stderr, because they are not the answer.
fn preview(look: &TurnTopicAnswer, app: &App) {
    for memory in &look.shown {
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let line = text::one_line(&format!("{}  {content}", memory.id));
        let line = text::cut(&line, app.ui.columns.unwrap_or(120));
        app.ui.preview(format_args!("{line}"));
    }
    let more = look.memories - look.shown.len() as u64;
    if more > 0 {
        app.ui.preview(format_args!("… and {more} more"));
    }
    if look.topics > 1 {
        let topics = count(look.topics, "topic", "topics");
        app.ui.preview(format_args!("in {topics}"));
    }
}

fn report(receipts: &[Receipt], app: &App) -> Result<(), CliError> {
    if app.ui.json {
        return app.ui.json(receipts);
    }
    for receipt in receipts {
        memory_view::print_receipt(&app.ui, receipt)?;
    }
    Ok(())
}
