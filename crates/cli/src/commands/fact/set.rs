//! `icm fact set`

use clap::Args;
use icm_api::{FactReceipt, FactRequest, Source, Trust};

use super::moment;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::{input, memory_view, text};

/// Set a fact: this value is valid from now on
///
/// A value with a moment that lies before the current one's becomes part of the history, and the current one stays. A
/// value with a moment in the future is valid from then on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm fact set deploy version 2.1
  icm fact set billing 'on call' Mira --from '2026-03-02 09:00'")]
pub(crate) struct SetArgs {
    /// The subject, for instance `deploy` or `payments/api`
    subject: String,
    /// The attribute, for instance `version`
    attribute: String,
    /// The value, at most 64 KiB; `-` reads stdin
    #[arg(allow_negative_numbers = true)]
    value: String,
    /// First moment at which the value is valid, past or to come: a date, `2h ago`, `in 3 days`, `tomorrow 9:00`
    /// [default: now]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Scope that sees the fact: `global`, `project:ID` or `session:PARENT/CHILD`; `project` and `session` alone mean
    /// your own [default: global]
    #[arg(long)]
    scope: Option<String>,
    /// The agent that it comes from, for instance `claude-code`
    #[arg(long, value_name = "AGENT")]
    source: Option<String>,
    /// Store the value even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(super) fn run(args: SetArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller()?;
    let by_agent = args.source.is_some() || caller.actor.starts_with("agent:");
    let request = FactRequest {
        subject: args.subject,
        attribute: args.attribute,
        value: input::text_or_stdin(Some(&args.value), "VALUE")?,
        from: args.from,
        scope: app.scope(args.scope)?,
        source: Source {
            agent: args.source,
            ..Source::default()
        },
        trust: if by_agent { Trust::Agent } else { Trust::User },
        allow_secret: args.allow_secret,
    };

    let receipt = app.service()?.set_fact(&caller, request)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        print(app, &receipt)?;
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, receipt: &FactReceipt) -> Result<(), CliError> {
    memory_view::print_receipt(&app.ui, &receipt.receipt)?;
    let set = &receipt.set;
    match &receipt.current {
        Some(current) if current == set => {}
        Some(current) => {
            let value = current.value.as_deref().unwrap_or("(withheld)");
            let value = text::cut(&text::one_line(value), 40);
            app.ui.remark(format_args!(
                "valid from {}; the current value is still `{value}`, from {}",
                moment(app.ui.now, &set.valid_from),
                moment(app.ui.now, &current.valid_from),
            ));
        }
        None => app.ui.remark(format_args!(
            "valid from {}; there is no value until then",
            moment(app.ui.now, &set.valid_from),
        )),
    }
    Ok(())
}
