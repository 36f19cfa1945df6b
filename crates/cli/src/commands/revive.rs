//! `icm revive`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;

/// Bring forgotten memories back
///
/// With `--json` the answer for one id is one receipt, for several or a topic an array of them.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ReviveArgs {
    /// Ids or their beginnings; see `icm list --forgotten`
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
    /// Everything that was forgotten in this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
}

pub(crate) fn run(args: ReviveArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let caller = app.caller()?;
    let receipts = match &args.topic {
        Some(topic) => service.revive_topic(&caller, topic)?,
        None => service.revive_all(&caller, &args.ids)?,
    };

    match receipts.as_slice() {
        [receipt] if app.ui.json && args.ids.len() == 1 => app.ui.json(receipt)?,
        _ if app.ui.json => app.ui.json(&receipts)?,
        _ => {
            for receipt in &receipts {
                memory_view::print_receipt(&app.ui, receipt)?;
            }
        }
    }
    match &args.topic {
        Some(topic) if receipts.is_empty() => {
            app.ui
                .remark(format_args!("nothing in `{topic}` is forgotten"));
            Ok(Outcome::No)
        }
        _ => Ok(Outcome::Fine),
    }
}
