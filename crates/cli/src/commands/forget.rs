//! `icm forget`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_server::api::{ListRequest, Memory, Receipt};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;
use crate::text::count;

/// How many memories of a topic are shown before asking.
const PREVIEW: usize = 10;

/// Forget memories; `icm revive` brings them back
///
/// Forgotten memories are no longer found, but stay in the log. A whole topic is shown first and
/// asked about; without a terminal that needs `--yes`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetArgs {
    /// Ids or their beginnings
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
    /// Everything in this topic
    #[arg(short, long)]
    topic: Option<String>,
}

pub(crate) fn run(args: ForgetArgs, app: &App) -> Result<Outcome, CliError> {
    match &args.topic {
        Some(topic) => forget_topic(topic, app),
        None => {
            let receipts = app.service()?.forget(&app.caller()?, &args.ids)?;
            report(&receipts, app)?;
            Ok(Outcome::Fine)
        }
    }
}

fn forget_topic(topic: &str, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    if !app.global.yes {
        let memories = service.list(&ListRequest {
            topic: Some(topic.to_string()),
            ..ListRequest::default()
        })?;
        if memories.is_empty() {
            return nothing(topic, app);
        }
        preview(&memories, app)?;
        let question = format!(
            "Forget {} of `{topic}`?",
            count(memories.len() as u64, "memory", "memories")
        );
        match app.ui.confirm(&question) {
            Some(true) => {
                // What was shown, whatever came to the topic since.
                let ids: Vec<String> = memories.into_iter().map(|memory| memory.id).collect();
                let receipts = service.forget(&app.caller()?, &ids)?;
                report(&receipts, app)?;
                return Ok(Outcome::Fine);
            }
            Some(false) => {
                app.ui.remark(format_args!("nothing was forgotten"));
                return Ok(Outcome::No);
            }
            None => {
                return Err(CliError::invalid(format!(
                    "forgetting {} of `{topic}` has to be confirmed",
                    count(memories.len() as u64, "memory", "memories")
                ))
                .with_hint("give `--yes`"));
            }
        }
    }

    let receipts = service.forget_topic(&app.caller()?, topic)?;

    if receipts.is_empty() {
        return nothing(topic, app);
    }
    report(&receipts, app)?;
    Ok(Outcome::Fine)
}

fn nothing(topic: &str, app: &App) -> Result<Outcome, CliError> {
    report(&[], app)?;
    app.ui.remark(format_args!("no memories in `{topic}`"));
    Ok(Outcome::No)
}

/// What is about to go. Not an answer, so not on stdout.
fn preview(memories: &[Memory], app: &App) -> Result<(), CliError> {
    for memory in memories.iter().take(PREVIEW) {
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let line = crate::text::one_line(&format!("{}  {content}", memory.id));
        let line = match app.ui.columns {
            Some(columns) => crate::text::cut(&line, columns),
            None => crate::text::cut(&line, 120),
        };
        app.ui.preview(format_args!("{line}"));
    }
    if memories.len() > PREVIEW {
        app.ui
            .preview(format_args!("… and {} more", memories.len() - PREVIEW));
    }
    Ok(())
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
