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
/// A link that is there already stays as it is. Circles are fine: two concepts may contradict each
/// other.
#[derive(Debug, Args)]
#[command(after_help = "\
Relations:
  part_of         it is part of the other
  depends_on      it needs the other
  related_to      they have to do with each other
  contradicts     they cannot both be right
  refines         it says more precisely what the other says
  alternative_to  it can stand in the other's place
  caused_by       the other is its cause
  instance_of     it is one of what the other is about
  superseded_by   the other stands in its place now")]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    ends: EndsArgs,
}

/// Take a link between two concepts away
#[derive(Debug, Args)]
pub(crate) struct UnlinkArgs {
    #[command(flatten)]
    ends: EndsArgs,
}

#[derive(Debug, Args)]
struct EndsArgs {
    /// The memoir that they are in: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    /// The concept that it goes out from
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    from: String,
    /// The concept that it goes to
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// How the first relates to the other (see `icm memoir link --help`)
    #[arg(short, long)]
    relation: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Write it even if it looks like it holds a secret
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
