//! `icm embed`

use clap::Args;
use icm_api::EmbedStatus;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::count;

/// Embed what has no vector of the model yet
///
/// The built-in model embeds as it goes and needs none of this. Another one (`icm model use`) is asked by
/// `icm serve` behind the answers, and by a recall for the last 32 texts (of a server: once the answer is out); this does all that is
/// left. It can be stopped at any time, and goes on where it was. Until a memory is embedded it is found by its
/// words and by the built-in model.
#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    /// Only say how far it is
    #[arg(long)]
    status: bool,
}

pub(crate) fn run(args: EmbedArgs, app: &App) -> Result<Outcome, CliError> {
    if args.status {
        let status = app.service()?.embed_status()?;
        match app.ui.json {
            true => app.ui.json(&status)?,
            false => app.ui.line(format_args!("{}", said(&status)))?,
        }
        return Ok(Outcome::Fine);
    }
    let bar = Bar::new(&app.ui);
    let report = app.service()?.embed(&bar)?;
    drop(bar);
    if app.ui.json {
        app.ui.json(&report)?;
    } else {
        if report.new > 0 {
            let new = count(report.new, "version", "versions");
            app.ui.line(format_args!("embedded {new}"))?;
        }
        app.ui.line(format_args!("{}", said(&report.status)))?;
    }
    Ok(Outcome::Fine)
}

fn said(status: &EmbedStatus) -> String {
    match status.dim {
        0 => "there is no model: memories are found by their words".to_owned(),
        dim => format!(
            "{}: {} of {} embedded, {dim} numbers each",
            status.model,
            status.embedded,
            count(status.versions, "version", "versions"),
        ),
    }
}
