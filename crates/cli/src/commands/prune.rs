//! `icm prune`

use clap::Args;
use icm_api::{Caller, KEPT_AFTER_RECALL_DAYS, PruneAnswer, PruneRequest, PrunedPause};
use icm_service::Service;

use super::decay;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::previewed::{self, Go, Previewed, Put, Question};
use crate::text::{self, count};
use crate::ui::{BOLD, DIM, TOPIC};
use crate::values::share;

/// Forget the memories that have faded
///
/// Forgets all memories of medium and low importance whose weight is below the threshold. Memories of high and critical
/// importance and pinned ones are always kept, and memories that a recall showed in the last 30 days, too. `icm undo`
/// brings the forgotten ones back. The plan is shown first and you are asked; without a terminal give `--yes`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm prune --dry-run --all
  icm prune --threshold 0.2 --yes    # forgets more, without a question")]
pub(crate) struct PruneArgs {
    /// Weight below which memories are forgotten, 0 to 1 [default: `decay.prune_threshold`, 0.1]
    #[arg(short, long, value_name = "W", value_parser = share)]
    threshold: Option<f64>,
    /// Show all memories of the plan, not only the ten lightest
    #[arg(long)]
    all: bool,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: PruneArgs, app: &App) -> Result<Outcome, CliError> {
    let request = PruneRequest {
        threshold: args.threshold,
        dry_run: true,
        all: args.all,
        plan: None,
    };
    let caller = app.caller()?;
    previewed::run(Pruning { request, caller }, args.dry_run, app)
}

struct Pruning {
    request: PruneRequest,
    caller: Caller,
}

impl Previewed for Pruning {
    type Answer = PruneAnswer;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<PruneAnswer, CliError> {
        self.request.dry_run = matches!(go, Go::Look);
        if let Go::Do(plan) = go {
            self.request.plan = plan.map(str::to_owned);
        }
        Ok(service.prune(&self.caller, &self.request)?)
    }

    fn plan(answer: &PruneAnswer) -> &str {
        &answer.plan
    }

    fn print(&self, app: &App, answer: &PruneAnswer, put: Put<'_>) -> Result<(), CliError> {
        let threshold = answer.threshold;
        if let Some(warning) = decay::ahead(&answer.ahead) {
            app.ui.note(&warning);
        }
        for pause in &answer.pauses {
            app.ui.note(&because_of(pause));
        }
        if answer.memories == 0 {
            return put(kept(answer).unwrap_or_else(|| {
                format!("no memory of medium or low importance is below {threshold}")
            }));
        }
        let verb = if answer.dry_run {
            "would forget"
        } else {
            "forgets"
        };
        put(format!("{verb} {} below {threshold}", memories(answer)))?;
        let room = app.ui.columns.unwrap_or(120).saturating_sub(4);
        for memory in &answer.first {
            let content = memory.content.as_deref().unwrap_or("(withheld)");
            put(format!(
                "{:.3}  {}  {}",
                memory.weight,
                text::one_line(&memory.id),
                app.ui.paint(TOPIC, &text::one_line(&memory.topic))
            ))?;
            put(format!("    {}", text::cut(&text::one_line(content), room)))?;
        }
        let more = answer.memories - answer.first.len() as u64;
        if more > 0 {
            put(format!("… and {more} more; see them with `--all`"))?;
        }
        match kept(answer) {
            Some(line) => put(line),
            None => Ok(()),
        }
    }

    fn question(&self, answer: &PruneAnswer) -> Question {
        let what = memories(answer);
        Question {
            question: format!("Forget {what} below {}?", answer.threshold),
            unconfirmed: format!("forgetting {what}"),
            refused: "nothing was forgotten",
        }
    }

    fn receipt(&self, app: &App, done: &PruneAnswer) -> Result<(), CliError> {
        let event = done.event.as_deref().map_or("", short_event);
        let position = done.position.unwrap_or_default();
        app.ui.line(format_args!(
            "{} {} {}",
            app.ui.paint(BOLD, "pruned"),
            memories(done),
            app.ui.paint(
                DIM,
                &format!("@{position}  (`icm undo {event}` brings them back)")
            )
        ))
    }

    fn is_idle(answer: &PruneAnswer) -> bool {
        answer.memories == 0
    }
}

/// Returns a note about memories that faded during a long pause.
fn because_of(pause: &PrunedPause) -> String {
    const NAMED: usize = 10;
    let named = pause.ids.iter().take(NAMED).map(String::as_str);
    let mut ids = named.collect::<Vec<_>>().join(" ");
    if pause.ids.len() > NAMED {
        ids.push_str(" …");
    }
    format!(
        "{} faded only through the time from {} to {}, in which nothing was written: if a clock was wrong, keep what you \
         need with `icm update ID --importance high` ({ids})",
        count(pause.ids.len() as u64, "memory", "memories"),
        pause.from,
        pause.to,
    )
}

/// Returns a line about the memories that only a recall keeps, if there are any.
fn kept(answer: &PruneAnswer) -> Option<String> {
    let stay = match answer.recalled {
        0 => return None,
        1 => "stays",
        _ => "stay",
    };
    Some(format!(
        "{} below {} {stay}: recalled in the last {KEPT_AFTER_RECALL_DAYS} days",
        count(answer.recalled, "memory", "memories"),
        answer.threshold,
    ))
}

fn memories(answer: &PruneAnswer) -> String {
    count(answer.memories, "memory", "memories")
}
