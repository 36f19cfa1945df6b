//! `icm wake-up`

use clap::Args;
use icm_agents::wake_up::{BUDGET, WakeUpRequest, wake_up};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::count;
use crate::when;

/// Show the memories that a session should know at its start
///
/// Shows pinned, critical and high memories that are seen from here, preferences, and changes since the last session of
/// this project. If the budget is too small, the most useful ones for their length are shown. Hooks give this text to
/// agents when a session starts, is resumed, cleared or compacted. The log records what was shown, but this does not
/// count as a recall.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm wake-up --budget 400
  icm wake-up --no-record    # adds no event to the log")]
pub(crate) struct WakeUpArgs {
    /// Budget in tokens, 50 to 1000000; four bytes count as one token
    #[arg(long, value_name = "TOKENS", default_value_t = BUDGET)]
    budget: usize,
    /// Do not record
    #[arg(long)]
    no_record: bool,
}

pub(crate) fn run(args: WakeUpArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller_here()?;
    let request = WakeUpRequest {
        budget: args.budget,
        record: !args.no_record && app.config.recall.record,
        ..WakeUpRequest::default()
    };

    let pack = wake_up(app.service()?, &caller, &request)?;

    if app.ui.json {
        app.ui.json(&pack)?;
    } else if !pack.text.is_empty() {
        app.ui.line(format_args!("{}", pack.text))?;
    }
    if pack.items.is_empty() && pack.left_out > 0 {
        let (left_out, budget) = (
            count(pack.left_out as u64, "memory", "memories"),
            pack.budget,
        );
        app.ui.remark(format_args!(
            "nothing fits into {budget} tokens; {left_out} did not"
        ));
        return Ok(Outcome::No);
    }
    if pack.items.is_empty() {
        let hint = "pin a memory with `icm pin ID`, or store one with `-i high`";
        app.ui
            .remark(format_args!("nothing to wake up with; {hint}"));
        return Ok(Outcome::No);
    }
    let left_out = match pack.left_out {
        0 => String::new(),
        more => format!(", {more} more did not fit"),
    };
    let since = match &pack.last_session_at {
        Some(at) => format!(", last session {}", when::ago(app.ui.now, at)),
        None => String::new(),
    };
    app.ui.remark(format_args!(
        "{} in {} of {} tokens{left_out}{since}",
        count(pack.items.len() as u64, "memory", "memories"),
        pack.tokens,
        pack.budget
    ));
    Ok(Outcome::Fine)
}
