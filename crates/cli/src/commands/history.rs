//! `icm history`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_server::api::Version;

use crate::app::App;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::ui::{BOLD, DIM, TOPIC, Ui};
use crate::{memory_view, text, when};

/// Show how a memory came to be what it is, oldest first
///
/// Exits with 1 when there is none with that id.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(crate) fn run(args: HistoryArgs, app: &App) -> Result<Outcome, CliError> {
    let versions = app.service()?.history(&args.id).map_err(CliError::from);
    let versions = match versions {
        Ok(versions) => versions,
        Err(error) => {
            if app.ui.json && error.kind == ErrorKind::NotFound {
                app.ui.json::<[Version]>(&[])?;
            }
            return Err(error);
        }
    };

    if app.ui.json {
        app.ui.json(&versions)?;
    } else {
        print(&app.ui, &versions)?;
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, versions: &[Version]) -> Result<(), CliError> {
    if let Some(newest) = versions.last() {
        ui.line(format_args!(
            "{}  {}",
            text::one_line(&newest.memory.id),
            ui.paint(TOPIC, &text::one_line(&newest.memory.topic)),
        ))?;
    }
    let mut shown: Option<&Option<String>> = None;
    for version in versions {
        // The first version is all new.
        let changed = if version.changed.is_empty() || version.kind == "memory.stored" {
            String::new()
        } else {
            format!("  {}", text::one_line(&version.changed.join(", ")))
        };
        ui.line(format_args!(
            "{}  {}  {}{}",
            ui.paint(BOLD, &format!("@{}", version.position)),
            text::one_line(&version.kind),
            ui.paint(
                DIM,
                &format!(
                    "{}  {}  {}",
                    when::ago(ui.now, &version.at),
                    text::one_line(&version.actor),
                    memory_view::short_event(&version.event),
                )
            ),
            ui.paint(DIM, &changed),
        ))?;
        // The text is repeated only where it changed.
        if shown != Some(&version.memory.content) {
            memory_view::print_content(ui, version.memory.content.as_deref())?;
            shown = Some(&version.memory.content);
        }
    }
    Ok(())
}
