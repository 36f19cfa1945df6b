//! `icm memoir create`, `describe`, `delete` and `revive`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{MemoirRequest, ShowRequest};

use super::report;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::count;

/// Create a memoir
///
/// Names are unique; a deleted memoir keeps its name.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir create -n system -d 'How the billing system hangs together'
  icm memoir create -n glossary")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    about: AboutArgs,
}

/// Replace the description of a memoir
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir describe -n system -d 'The billing system and its databases'
  icm memoir describe -n glossary -d 'The words of the team'")]
pub(crate) struct DescribeArgs {
    #[command(flatten)]
    about: AboutArgs,
}

#[derive(Debug, Args)]
struct AboutArgs {
    /// Name
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Description
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// Write the text even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

impl From<AboutArgs> for MemoirRequest {
    fn from(args: AboutArgs) -> MemoirRequest {
        MemoirRequest {
            name: args.name,
            description: args.description.unwrap_or_default(),
            allow_secret: args.allow_secret,
        }
    }
}

/// Delete a memoir; `icm memoir revive` brings it back
///
/// Its concepts and links are hidden with it and stay in the log. You are asked first; without a terminal give `--yes`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir delete system
  icm memoir delete system --yes    # without a question")]
pub(crate) struct DeleteArgs {
    /// Name or id
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
}

/// Bring a deleted memoir back, with its concepts and links
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir revive system
  icm memoir revive 01M808CE1S    # by its id")]
pub(crate) struct ReviveArgs {
    /// Name or id
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
}

pub(crate) fn create(args: CreateArgs, app: &App) -> Result<Outcome, CliError> {
    let receipt = app
        .service()?
        .memoir_create(&app.caller()?, &args.about.into())?;
    report(&receipt, app)
}

pub(crate) fn describe(args: DescribeArgs, app: &App) -> Result<Outcome, CliError> {
    if args.about.description.is_none() {
        return Err(
            CliError::invalid("no description was given").with_hint("give it with `-d TEXT`")
        );
    }
    let receipt = app
        .service()?
        .memoir_describe(&app.caller()?, &args.about.into())?;
    report(&receipt, app)
}

pub(crate) fn delete(args: DeleteArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    if !app.global.yes {
        let memoir = service.memoir_show(&ShowRequest {
            name: args.name.clone(),
            limit: Some(0),
            ..ShowRequest::default()
        })?;
        let concepts = count(memoir.memoir.concepts, "concept", "concepts");
        let links = count(memoir.links, "link", "links");
        let name = crate::text::one_line(&memoir.memoir.name);
        let question = format!("Delete `{name}` with {concepts} and {links}?");
        match app.ui.confirm(&question) {
            Some(true) => {}
            Some(false) => {
                app.ui.remark(format_args!("nothing was deleted"));
                return Ok(Outcome::No);
            }
            None => {
                let what = format!("deleting `{name}` with {concepts} has to be confirmed");
                return Err(CliError::invalid(what).with_hint("give `--yes`"));
            }
        }
    }
    report(&service.memoir_forget(&app.caller()?, &args.name)?, app)
}

pub(crate) fn revive(args: ReviveArgs, app: &App) -> Result<Outcome, CliError> {
    report(
        &app.service()?.memoir_revive(&app.caller()?, &args.name)?,
        app,
    )
}
