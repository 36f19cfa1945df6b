//! `icm link`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{LinkReceipt, LinkRequest};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text;
use crate::ui::{BOLD, DIM};

/// Link a memory to another one
///
/// `icm get` shows the links of a memory from both ends. An existing link is left unchanged; `icm unlink` removes it.
/// Links do not change the texts of memories.
#[derive(Debug, Args)]
#[command(after_help = "\
Relations: related, supersedes, contradicts, derived_from, similar_to

Examples:
  icm link 01M808CE1S 01M80WZ9B2 -r supersedes
  icm link 01M808CE1S 01M80WZ9B2 -r contradicts --reason 'the ticket says otherwise'")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    pub(crate) ends: EndsArgs,
}

/// The two ends, the relation and the reason of a link.
#[derive(Debug, Args)]
pub(crate) struct EndsArgs {
    /// Id of the first memory, or its beginning
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    from: String,
    /// Id of the second memory, or its beginning
    #[arg(value_name = "OTHER", value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// Relation of the first memory to the second
    #[arg(short, long)]
    relation: String,
    /// Reason for the link
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Write the reason even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

impl From<EndsArgs> for LinkRequest {
    fn from(ends: EndsArgs) -> LinkRequest {
        LinkRequest {
            from: ends.from,
            to: ends.to,
            relation: ends.relation,
            reason: ends.reason,
            allow_secret: ends.allow_secret,
        }
    }
}

pub(crate) fn run(args: LinkArgs, app: &App) -> Result<Outcome, CliError> {
    let receipt = app.service()?.link(&app.caller()?, &args.ends.into())?;
    report(&receipt, "linked", app)
}

/// Prints the result for a link.
pub(super) fn report(receipt: &LinkReceipt, done: &str, app: &App) -> Result<Outcome, CliError> {
    use icm_api::Action;
    let ui = &app.ui;
    if ui.json {
        ui.json(receipt)?;
        return Ok(Outcome::Fine);
    }
    let done = match receipt.receipt.action {
        Action::Unchanged => "unchanged",
        _ => done,
    };
    ui.line(format_args!(
        "{} {} {} {} {}",
        ui.paint(BOLD, done),
        text::one_line(&receipt.receipt.id),
        receipt.relation,
        text::one_line(&receipt.to),
        ui.paint(DIM, &format!("@{}", receipt.receipt.position)),
    ))?;
    for warning in &receipt.receipt.warnings {
        ui.note(warning);
    }
    Ok(Outcome::Fine)
}
