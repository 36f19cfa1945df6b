//! `icm memoir`

mod change;
mod concept;
mod export;
mod inspect;
mod link;
mod list;
mod search;
mod show;

use clap::{Args, Subcommand};
use icm_api::{Action, Concept, GraphReceipt};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text;
use crate::ui::{BOLD, DIM, TOPIC, Ui};

/// Keep knowledge as a graph of concepts
///
/// A memoir contains concepts. A concept has a definition that can be refined (earlier definitions are kept), labels,
/// and links to other concepts. Every change is an event: like memories, memoirs can be asked about as of any moment,
/// undone, compared and carried to other machines.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir create -n system -d 'How the billing system hangs together'
  icm memoir add-concept -m system -n invoices -d 'Rows in PostgreSQL' -L kind:data
  icm memoir link -m system --from api --to invoices -r depends_on")]
pub(crate) struct MemoirArgs {
    #[command(subcommand)]
    command: MemoirCommand,
}

#[derive(Debug, Subcommand)]
enum MemoirCommand {
    Create(change::CreateArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Describe(change::DescribeArgs),
    #[command(alias = "forget")]
    Delete(change::DeleteArgs),
    Revive(change::ReviveArgs),
    AddConcept(concept::AddArgs),
    Refine(concept::RefineArgs),
    Label(concept::LabelArgs),
    #[command(alias = "forget-concept")]
    DeleteConcept(concept::DeleteArgs),
    ReviveConcept(concept::ReviveArgs),
    Link(link::LinkArgs),
    Unlink(link::UnlinkArgs),
    Search(search::SearchArgs),
    SearchAll(search::SearchAllArgs),
    Inspect(inspect::InspectArgs),
    Export(export::ExportArgs),
}

pub(crate) fn run(args: MemoirArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        MemoirCommand::Create(args) => change::create(args, app),
        MemoirCommand::List(args) => list::run(args, app),
        MemoirCommand::Show(args) => show::run(args, app),
        MemoirCommand::Describe(args) => change::describe(args, app),
        MemoirCommand::Delete(args) => change::delete(args, app),
        MemoirCommand::Revive(args) => change::revive(args, app),
        MemoirCommand::AddConcept(args) => concept::add(args, app),
        MemoirCommand::Refine(args) => concept::refine(args, app),
        MemoirCommand::Label(args) => concept::label(args, app),
        MemoirCommand::DeleteConcept(args) => concept::delete(args, app),
        MemoirCommand::ReviveConcept(args) => concept::revive(args, app),
        MemoirCommand::Link(args) => link::link(args, app),
        MemoirCommand::Unlink(args) => link::unlink(args, app),
        MemoirCommand::Search(args) => search::in_one(args, app),
        MemoirCommand::SearchAll(args) => search::in_all(args, app),
        MemoirCommand::Inspect(args) => inspect::run(args, app),
        MemoirCommand::Export(args) => export::run(args, app),
    }
}

fn deed(action: Action) -> &'static str {
    match action {
        Action::Stored => "added",
        Action::Forgotten => "deleted",
        other => other.word(),
    }
}

/// Prints the result for a memoir or a concept.
fn report(receipt: &GraphReceipt, app: &App) -> Result<Outcome, CliError> {
    let ui = &app.ui;
    if ui.json {
        ui.json(receipt)?;
        return Ok(Outcome::Fine);
    }
    let memoir = ui.paint(TOPIC, &text::one_line(&receipt.memoir));
    let what = match &receipt.name {
        Some(name) => format!("{} in {memoir}", text::one_line(name)),
        None => format!("memoir {memoir}"),
    };
    let mut more = String::new();
    if let (Some(revision), Some(confidence)) = (receipt.revision, receipt.confidence) {
        more = format!(", revision {revision}, confidence {}", share(confidence));
    }
    if let Some(concepts) = receipt
        .concepts
        .filter(|_| receipt.action != Action::Unchanged)
    {
        more = format!(" with {}", text::count(concepts, "concept", "concepts"));
    }
    ui.line(format_args!(
        "{} {what}{more} {}",
        ui.paint(BOLD, deed(receipt.action)),
        ui.paint(DIM, &format!("@{}", receipt.position)),
    ))?;
    for warning in &receipt.warnings {
        ui.note(warning);
    }
    Ok(Outcome::Fine)
}

/// Returns a share as a percentage.
fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Prints a concept as a head line and its definition; `found` says how a search found the concept.
fn print_concept(ui: &Ui, concept: &Concept, memoir: bool, found: &str) -> Result<(), CliError> {
    let mut head = ui.paint(BOLD, &text::one_line(&concept.name));
    if memoir {
        let memoir = ui.paint(TOPIC, &text::one_line(&concept.memoir));
        head.push_str(&format!("  {memoir}"));
    }
    if !concept.labels.is_empty() {
        head.push_str(&format!("  {}", text::one_line(&concept.labels.join(", "))));
    }
    let mut known = format!(
        "revision {}, {}",
        concept.revision,
        share(concept.confidence)
    );
    if !found.is_empty() {
        known.push_str(&format!("  {found}"));
    }
    ui.line(format_args!("{head}  {}", ui.paint(DIM, &known)))?;
    print_definition(ui, concept.definition.as_deref())
}

fn print_definition(ui: &Ui, definition: Option<&str>) -> Result<(), CliError> {
    let bar = ui.paint(DIM, "│");
    let room = ui.columns.map(|columns| columns.saturating_sub(4));
    for line in text::wrap(&text::cleaned(definition.unwrap_or("(withheld)")), room) {
        ui.line(format_args!("  {bar} {line}"))?;
    }
    Ok(())
}
