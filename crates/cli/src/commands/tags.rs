//! `icm tags`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use icm_api::{Caller, ReplaceTagAnswer, ReplaceTagRequest, TagCount, Tags, TagsRequest};
use icm_service::Service;

use super::recall::{given, scopes};
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::previewed::{self, Go, Previewed, Put, Question};
use crate::text::{self, count};
use crate::ui::{BOLD, DIM, TOPIC};
use crate::values::how_many;
use crate::when;

/// Memories that are listed before the question.
const SHOWN: usize = 10;

/// List the tags, with their numbers of memories
///
/// Tags are the keywords of memories. The living memories of the scopes that a recall here sees are counted; expired ones
/// and planned facts apart. `icm recall` and `icm list` filter by tags: `--tag`, `--any-tag`, `--not-tag`. Exits with 1 if there is no tag.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm tags --filter api
  icm tags rename todo later    # in all memories that have it")]
pub(crate) struct TagsArgs {
    #[command(subcommand)]
    command: Option<TagsCommand>,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Subcommand)]
enum TagsCommand {
    Rename(RenameArgs),
    Merge(MergeArgs),
}

#[derive(Debug, Default, PartialEq, Args)]
struct Filters {
    /// Only tags that contain this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Memories seen from this scope; `all` for every scope [default: as for `icm recall`]
    #[arg(long)]
    scope: Option<String>,
    /// At most N
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Give a tag another name
///
/// Changes every living memory that has the tag, also expired ones, in every scope, in one command; `icm undo` takes it
/// back. The memories are shown first and you are asked; without a terminal give `--yes`. The new name must not exist yet:
/// `icm tags merge` puts one tag in the place of another. Forgotten memories keep their tags.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm tags rename todo later --dry-run
  icm tags rename todo later --yes    # without a question")]
struct RenameArgs {
    /// The tag
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    from: String,
    /// Its new name
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// Only show the changes
    #[arg(long)]
    dry_run: bool,
}

/// Put one tag in the place of another
///
/// Changes every living memory that has the first tag, also expired ones, in every scope, in one command; `icm undo` takes
/// it back. The memories are shown first and you are asked; without a terminal give `--yes`. Both tags must exist. Forgotten
/// memories keep their tags.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm tags merge apis api --dry-run
  icm tags merge apis api --yes    # without a question")]
struct MergeArgs {
    /// The tag that goes
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    from: String,
    /// The tag that takes its place
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    to: String,
    /// Only show the changes
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: TagsArgs, app: &App) -> Result<Outcome, CliError> {
    let replace = |from: String, to: String, merge: bool, dry_run: bool| {
        let request = ReplaceTagRequest {
            from,
            to,
            merge,
            dry_run: true,
            plan: None,
            shown: SHOWN,
        };
        let caller = app.caller()?;
        previewed::run(Replacing { request, caller }, dry_run, app)
    };
    match args.command {
        Some(_) if args.filters != Filters::default() => Err(CliError::invalid(
            "filters belong to `icm tags`, not to its subcommands",
        )
        .with_hint("leave them out, or leave the subcommand out")),
        Some(TagsCommand::Rename(args)) => replace(args.from, args.to, false, args.dry_run),
        Some(TagsCommand::Merge(args)) => replace(args.from, args.to, true, args.dry_run),
        None => list(args.filters, app),
    }
}

fn list(filters: Filters, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller_here()?;
    let request = TagsRequest {
        filter: given(filters.filter),
        scope: caller.scope(given(filters.scope))?,
        after: None,
        limit: filters.limit.map(|limit| limit as usize),
        at: filters.at,
    };

    let found = app.service()?.tags(&caller, &request)?;

    if app.ui.json {
        app.ui.json(&found.tags)?;
    } else {
        print(app, &found)?;
    }
    match found.tags.is_empty() {
        true => {
            let scopes = scopes(&found.scope);
            app.ui
                .remark(format_args!("{} in {scopes}", none(&request)));
            Ok(Outcome::No)
        }
        false => Ok(Outcome::Fine),
    }
}

fn print(app: &App, found: &Tags) -> Result<(), CliError> {
    let is_any_hidden = (found.tags.iter()).any(|tag| tag.expired + tag.planned > 0);
    let rows = found.tags.iter().map(|tag| {
        let mut row = vec![
            Cell::new(&tag.tag).style(TOPIC),
            Cell::new(tag.memories.to_string()).right(),
            Cell::new(when::ago(app.ui.now, &tag.updated_at)).style(DIM),
        ];
        if is_any_hidden {
            row.push(Cell::new(hidden(tag)).style(DIM));
        }
        row
    });
    columns::print(&app.ui, &rows.collect::<Vec<_>>())?;
    let more = found.total - found.tags.len() as u64;
    if found.more {
        app.ui.remark(format_args!("… and {more} more"));
    }
    Ok(())
}

/// Returns the numbers of hidden memories: `2 expired, 1 planned`.
fn hidden(tag: &TagCount) -> String {
    let counts = [(tag.expired, "expired"), (tag.planned, "planned")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, word)| format!("{count} {word}"));
    counts.collect::<Vec<_>>().join(", ")
}

fn none(request: &TagsRequest) -> String {
    match &request.filter {
        Some(part) => format!("no tag contains `{}`", text::one_line(part)),
        None => "no tags".to_owned(),
    }
}

/// A tag that another one replaces.
struct Replacing {
    request: ReplaceTagRequest,
    caller: Caller,
}

impl Replacing {
    /// Returns both tags, for instance "`todo` to `later`".
    fn pair(&self, answer: &ReplaceTagAnswer) -> String {
        let [from, to] = [&answer.from, &answer.to].map(|tag| text::one_line(tag));
        match self.request.merge {
            false => format!("`{from}` to `{to}`"),
            true => format!("`{from}` into `{to}`"),
        }
    }
}

impl Previewed for Replacing {
    type Answer = ReplaceTagAnswer;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<ReplaceTagAnswer, CliError> {
        self.request.dry_run = matches!(go, Go::Look);
        if let Go::Do(plan) = go {
            self.request.plan = plan.map(str::to_owned);
        }
        Ok(service.replace_tag(&self.caller, &self.request)?)
    }

    fn plan(answer: &ReplaceTagAnswer) -> &str {
        &answer.plan
    }

    fn print(&self, app: &App, answer: &ReplaceTagAnswer, put: Put<'_>) -> Result<(), CliError> {
        for warning in &answer.warnings {
            app.ui.note(warning);
        }
        let verb = match (self.request.merge, answer.dry_run) {
            (false, true) => "would rename",
            (false, false) => "renames",
            (true, true) => "would merge",
            (true, false) => "merges",
        };
        put(format!(
            "{verb} {} in {}",
            self.pair(answer),
            memories(answer)
        ))?;
        let room = app.ui.columns.unwrap_or(120);
        for memory in &answer.newest {
            let content = memory.content.as_deref().unwrap_or("(withheld)");
            let line = format!("{}  [{}] {content}", memory.id, memory.topic);
            put(text::cut(&text::one_line(&line), room))?;
        }
        match answer.memories - answer.newest.len() as u64 {
            0 => Ok(()),
            more => put(format!("… and {more} more")),
        }
    }

    fn question(&self, answer: &ReplaceTagAnswer) -> Question {
        let (pair, memories) = (self.pair(answer), memories(answer));
        let [verb, doing] = match self.request.merge {
            false => ["Rename", "renaming"],
            true => ["Merge", "merging"],
        };
        Question {
            question: format!("{verb} {pair} in {memories}?"),
            unconfirmed: format!("{doing} {pair} in {memories}"),
            refused: "nothing was changed",
        }
    }

    fn receipt(&self, app: &App, done: &ReplaceTagAnswer) -> Result<(), CliError> {
        let event = done.event.as_deref().map_or("", short_event);
        let position = done.position.unwrap_or_default();
        let verb = match self.request.merge {
            false => "renamed",
            true => "merged",
        };
        app.ui.line(format_args!(
            "{} {} in {} {}",
            app.ui.paint(BOLD, verb),
            self.pair(done),
            memories(done),
            app.ui.paint(
                DIM,
                &format!("@{position}  (`icm undo {event}` takes it back)")
            )
        ))
    }
}

fn memories(answer: &ReplaceTagAnswer) -> String {
    let memories = count(answer.memories, "memory", "memories");
    match answer.expired {
        0 => memories,
        expired => format!("{memories}, {expired} of them expired"),
    }
}
