//! `icm revive`

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use icm_api::{Receipt, Turn, TurnTopicRequest};

use super::forget::below_it;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;
use crate::text;

/// Bring forgotten and expired memories back
///
/// The memories get the new condition. Without one, an expired memory does not expire again. A whole topic is one command, as
/// for `icm forget`. With `--json` the answer for one id is a receipt, for several ids an array of receipts, for a topic an object with the receipts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm revive 01J9X4
  icm revive 01J9X4 --expires 'time 30d'    # back for another month
  icm revive -t standup/    # every forgotten or expired memory of these topics")]
#[command(group(ArgGroup::new("which").required(true).args(["ids", "topic"])))]
pub(crate) struct ReviveArgs {
    /// Ids or their beginnings; see `icm list --forgotten` and `icm list --expired`
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
    /// All forgotten and expired memories of this topic; `a/` for `a` and everything below it. Those that are only outside
    /// of their hours or before their period stay as they are
    #[arg(short, long)]
    topic: Option<String>,
    /// Condition under which the memories expire from now on, as for `icm store`
    #[arg(long, value_name = "CONDITION")]
    expires: Option<String>,
}

pub(crate) fn run(args: ReviveArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let caller = app.caller()?;
    let expires = app.condition(args.expires)?;
    let Some(topic) = args.topic else {
        let receipts = service.revive_with(&caller, &args.ids, expires.as_deref())?;
        match receipts.as_slice() {
            [receipt] if app.ui.json && args.ids.len() == 1 => app.ui.json(receipt)?,
            _ if app.ui.json => app.ui.json(&receipts)?,
            _ => report(&receipts, app)?,
        }
        return Ok(Outcome::Fine);
    };
    let request = TurnTopicRequest {
        topic,
        to: Turn::Revive,
        expires,
        ..TurnTopicRequest::default()
    };
    let done = service.turn_topic(&caller, &request)?;

    match app.ui.json {
        true => app.ui.json(&done)?,
        false => report(&done.receipts, app)?,
    }
    if done.memories == 0 {
        let topic = text::one_line(&request.topic);
        let below = below_it(&request, app)?;
        app.ui.remark(format_args!(
            "nothing in `{topic}` is forgotten or expired{below}"
        ));
        return Ok(Outcome::No);
    }
    Ok(Outcome::Fine)
}

fn report(receipts: &[Receipt], app: &App) -> Result<(), CliError> {
    for receipt in receipts {
        memory_view::print_receipt(&app.ui, receipt)?;
    }
    Ok(())
}
