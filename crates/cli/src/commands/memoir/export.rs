//! `icm memoir export`

use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use icm_api::GraphFormat;
use serde_json::json;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::output::{Readers, outside_store, write_file};
use crate::text;

/// Write a memoir for programs, drawing tools, people or models
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir export -m system -f dot | dot -Tsvg > system.svg
  icm memoir export -m system -f markdown --at yesterday")]
pub(crate) struct ExportArgs {
    /// The memoir: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    /// Format
    #[arg(short, long, value_enum, default_value = "json")]
    format: FormatArg,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// As of a moment
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// A format of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    /// Everything, for programs
    Json,
    /// For Graphviz
    Dot,
    /// For Mermaid, in a Markdown block
    Mermaid,
    /// A tree as plain text
    Ascii,
    /// Headings and lists, for a model
    Markdown,
    /// For graph editors such as Gephi or yEd
    Graphml,
}

impl From<FormatArg> for GraphFormat {
    fn from(format: FormatArg) -> GraphFormat {
        match format {
            FormatArg::Json => GraphFormat::Json,
            FormatArg::Dot => GraphFormat::Dot,
            FormatArg::Mermaid => GraphFormat::Mermaid,
            FormatArg::Ascii => GraphFormat::Ascii,
            FormatArg::Markdown => GraphFormat::Markdown,
            FormatArg::Graphml => GraphFormat::Graphml,
        }
    }
}

pub(crate) fn run(args: ExportArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let format = GraphFormat::from(args.format);
    let text = service
        .memoir_export(&args.memoir, format, args.at.as_deref())?
        .text;
    let failed = |error| CliError::output(&error);
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            outside_store(path, &app.db()?.0)?;
            write_file(path, Readers::Usual, |out| {
                out.write_all(text.as_bytes()).map_err(failed)
            })?;
            if app.ui.json {
                let file = path.to_string_lossy();
                app.ui
                    .json(&json!({ "format": format.name(), "file": file }))?;
            }
        }
        // JSON is printed unchanged.
        _ if app.ui.json && format != GraphFormat::Json => {
            app.ui
                .json(&json!({ "format": format.name(), "text": text }))?;
        }
        _ if app.ui.is_terminal() => {
            for line in text::wrap(&text, None) {
                app.ui.line(format_args!("{line}"))?;
            }
        }
        _ => app
            .ui
            .with_writer(|out| out.write_all(text.as_bytes()))
            .map_err(failed)?,
    }
    Ok(Outcome::Fine)
}
