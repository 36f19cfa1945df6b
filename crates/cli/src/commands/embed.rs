//! `icm embed`

use clap::Args;
use icm_api::EmbedStatus;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::count;

/// Embed the memories that have no vector of the model yet
///
/// The built-in model embeds at once and does not need this command. With another model (`icm model use`), `icm serve`
/// embeds in the background. If at most 32 memories are left, a recall embeds up to 32 passages; with a model on a
/// server, the recall embeds after its answer. This command embeds the rest. You can interrupt and repeat it. A memory
/// without a vector of the model is found by its words and by the built-in model.
///
/// Each passage of a long text is embedded by itself. With `embedding.passages = false`, the text is embedded once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm embed
  icm embed --status    # only shows how many passages have a vector")]
pub(crate) struct EmbedArgs {
    /// Only show the progress
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
            let new = texts(&report.status, report.new);
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
            texts(status, status.versions),
        ),
    }
}

/// Returns a number of texts with their name: passages or texts.
fn texts(status: &EmbedStatus, n: u64) -> String {
    let (text, texts) = status.embeds.words();
    count(n, text, texts)
}
