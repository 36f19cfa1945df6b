//! `icm memoir add-concept`, `refine`, `label`, `delete-concept` and `revive-concept`

use std::io::{self, IsTerminal};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{ConceptRequest, LabelRequest};

use super::report;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input;
use crate::values::words;

/// Add a concept to a memoir
///
/// Names are unique within a memoir. Adding a deleted concept brings it back with the new definition.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir add-concept -m system -n invoices -d 'Rows in PostgreSQL' -L kind:data
  git log -1 --format=%b | icm memoir add-concept -m system -n api -d -")]
pub(crate) struct AddArgs {
    #[command(flatten)]
    of: OfArgs,
    /// Definition; `-` for stdin, which is also read if this is missing and something is piped in
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    definition: Option<String>,
    #[command(flatten)]
    more: MoreArgs,
}

/// Refine a concept: a new definition, labels, sources or a confidence
///
/// The earlier definition stays in the history (`icm memoir inspect`). A new definition raises the revision and the
/// confidence; other changes leave the definition as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir refine -m system -n invoices -d 'Rows in PostgreSQL 17, partitioned by month'
  icm memoir refine -m system -n invoices --confidence 0.9")]
pub(crate) struct RefineArgs {
    #[command(flatten)]
    of: OfArgs,
    /// New definition; `-` for stdin, which is also read if nothing else is given
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    definition: Option<String>,
    #[command(flatten)]
    more: MoreArgs,
}

/// The fields of a concept besides its definition.
#[derive(Debug, Args)]
struct MoreArgs {
    /// Labels, `namespace:value` or a value alone, with commas or repeated
    #[arg(
        short = 'L',
        visible_short_alias = 'l',
        long,
        alias = "label",
        value_name = "LABELS",
        value_delimiter = ','
    )]
    labels: Vec<String>,
    /// Confidence, 0 to 1 [default: 0.5, and a tenth more with each new definition]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// Ids of the memories that it comes from, with commas or repeated
    #[arg(short, long, value_name = "IDS", value_delimiter = ',')]
    sources: Vec<String>,
    /// Write the text even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

/// The name of a concept, with its memoir.
#[derive(Debug, Args)]
struct OfArgs {
    /// The memoir: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    /// Name of the concept
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    name: String,
}

impl MoreArgs {
    fn request(self, of: OfArgs, definition: Option<String>) -> ConceptRequest {
        ConceptRequest {
            memoir: of.memoir,
            name: of.name,
            definition,
            labels: words(self.labels),
            confidence: self.confidence,
            sources: words(self.sources),
            allow_secret: self.allow_secret,
        }
    }

    fn says_something(&self) -> bool {
        !self.labels.is_empty() || !self.sources.is_empty() || self.confidence.is_some()
    }
}

/// Add or remove labels of a concept
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir label -m system -n invoices -L kind:data,owner:billing
  icm memoir label -m system -n invoices -R owner:billing")]
#[group(required = true, multiple = true, args = ["add", "remove"])]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    of: OfArgs,
    /// Labels to add, with commas or repeated
    #[arg(
        short = 'L',
        visible_short_alias = 'a',
        long,
        value_name = "LABELS",
        value_delimiter = ','
    )]
    add: Vec<String>,
    /// Labels to remove, with commas or repeated
    #[arg(
        short = 'R',
        short_alias = 'r',
        long,
        value_name = "LABELS",
        value_delimiter = ','
    )]
    remove: Vec<String>,
    /// Write the labels even if they look like they contain a secret
    #[arg(long)]
    allow_secret: bool,
}

/// Delete a concept; `icm memoir revive-concept` brings it back
///
/// Its links are hidden with it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir delete-concept -m system -n invoices
  icm memoir delete-concept -m glossary -n 'dead letter'")]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    of: OfArgs,
}

/// Bring a deleted concept back, with its links
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir revive-concept -m system -n invoices
  icm memoir revive-concept -m glossary -n 'dead letter'")]
pub(crate) struct ReviveArgs {
    #[command(flatten)]
    of: OfArgs,
}

pub(crate) fn add(args: AddArgs, app: &App) -> Result<Outcome, CliError> {
    let definition = input::text_or_stdin(args.definition.as_deref(), "-d")?;
    let request = args.more.request(args.of, Some(definition));
    report(&app.service()?.concept_add(&app.caller()?, &request)?, app)
}

pub(crate) fn refine(args: RefineArgs, app: &App) -> Result<Outcome, CliError> {
    let definition = match args.definition.as_deref() {
        None if args.more.says_something() || io::stdin().is_terminal() => None,
        given => Some(input::text_or_stdin(given, "-d")?),
    };
    // An empty pipe counts as no definition.
    let definition = definition.filter(|text| args.definition.is_some() || !text.is_empty());
    if definition.is_none() && !args.more.says_something() {
        return Err(CliError::invalid("nothing to refine is named")
            .with_hint("give at least one of `-d`, `-L`, `-s` and `--confidence`"));
    }
    let request = args.more.request(args.of, definition);
    report(
        &app.service()?.concept_refine(&app.caller()?, &request)?,
        app,
    )
}

pub(crate) fn label(args: LabelArgs, app: &App) -> Result<Outcome, CliError> {
    let request = LabelRequest {
        memoir: args.of.memoir,
        name: args.of.name,
        add: words(args.add),
        remove: words(args.remove),
        allow_secret: args.allow_secret,
    };
    report(
        &app.service()?.concept_label(&app.caller()?, &request)?,
        app,
    )
}

pub(crate) fn delete(args: DeleteArgs, app: &App) -> Result<Outcome, CliError> {
    let of = args.of;
    let receipt = app
        .service()?
        .concept_forget(&app.caller()?, &of.memoir, &of.name)?;
    report(&receipt, app)
}

pub(crate) fn revive(args: ReviveArgs, app: &App) -> Result<Outcome, CliError> {
    let of = args.of;
    let receipt = app
        .service()?
        .concept_revive(&app.caller()?, &of.memoir, &of.name)?;
    report(&receipt, app)
}
