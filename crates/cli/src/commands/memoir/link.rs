//! `icm memoir link` and `unlink`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Action, ConceptLinkRequest, GraphReceipt};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text;
use crate::ui::{BOLD, DIM};

/// Link a concept to another one of its memoir
///
/// An existing link is left unchanged. Circles are allowed: two concepts may contradict each other.
#[derive(Debug, Args)]
#[command(after_help = "\
Relations:
  part_of         the first is a part of the other
  depends_on      the first needs the other
  related_to      both have something in common
  contradicts     at most one of the two is right
  refines         the first is more precise than the other
  alternative_to  the first can replace the other
  caused_by       the other is the cause of the first
  instance_of     the first is an example of the other
  superseded_by   the other replaces the first

Examples:
  icm memoir link -m system --from api --to invoices -r depends_on
  icm memoir link -m system --from mysql --to postgresql -r superseded_by --reason 'moved in May'")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    ends: EndsArgs,
}

/// Remove a link between two concepts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir unlink -m system --from api --to invoices -r depends_on
  icm memoir unlink -m system --from mysql --to postgresql -r superseded_by")]
pub(crate) struct UnlinkArgs {
    #[command(flatten)]
    ends: EndsArgs,
}

#[derive(Debug, Args)]
struct EndsArgs {
    /// The memoir: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    /// The concept at the start of the link
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    from: String,
    /// The concept at the end of the link
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// Relation of the first concept to the second (see `icm memoir link --help`)
    #[arg(short, long)]
    relation: String,
    /// Reason for the link
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Write the reason even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

impl From<EndsArgs> for ConceptLinkRequest {
    fn from(ends: EndsArgs) -> ConceptLinkRequest {
        ConceptLinkRequest {
            memoir: ends.memoir,
            from: ends.from,
            to: ends.to,
            relation: ends.relation,
            reason: ends.reason,
            allow_secret: ends.allow_secret,
        }
    }
}

pub(crate) fn link(args: LinkArgs, app: &App) -> Result<Outcome, CliError> {
    let request = args.ends.into();
    let receipt = app.service()?.concept_link(&app.caller()?, &request)?;
    report(&receipt, app)
}

pub(crate) fn unlink(args: UnlinkArgs, app: &App) -> Result<Outcome, CliError> {
    let request = args.ends.into();
    let receipt = app.service()?.concept_unlink(&app.caller()?, &request)?;
    report(&receipt, app)
}

fn report(receipt: &GraphReceipt, app: &App) -> Result<Outcome, CliError> {
    let ui = &app.ui;
    if ui.json {
        ui.json(receipt)?;
        return Ok(Outcome::Fine);
    }
    let deed = match receipt.action {
        Action::Unchanged => "unchanged",
        Action::Unlinked => "unlinked",
        _ => "linked",
    };
    ui.line(format_args!(
        "{} {} {} {} {}",
        ui.paint(BOLD, deed),
        text::one_line(receipt.name.as_deref().unwrap_or_default()),
        receipt.relation.as_deref().unwrap_or_default(),
        text::one_line(receipt.to.as_deref().unwrap_or_default()),
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))?;
    for warning in &receipt.warnings {
        ui.note(warning);
    }
    Ok(Outcome::Fine)
}
