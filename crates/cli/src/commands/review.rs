//! `icm review`

use std::io::IsTerminal;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use console::{Key, Term};
use icm_api::{Caller, ListRequest, Memory, Trust, UpdateRequest};
use icm_service::Service;
use serde::Serialize;

use super::extract::keep::{MARK, is_extracted};
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;
use crate::text::{self, count};
use crate::ui::{BOLD, DIM};

/// Keep or forget the memories that `icm extract` and hooks stored
///
/// Extracted memories have trust `external` until you keep them. On a terminal one memory is shown at a time, and one
/// key decides: `k` keeps it (its trust becomes `user`), `f` forgets it, `l` or `s` leaves it for later, and `q`,
/// Escape or Ctrl-C ends the review. Any other key asks again. Each decision is written at once, and `icm undo --last
/// 1` takes it back. Without a terminal, or with `--json`, the memories are listed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm review
  icm review -t notes --json
  icm review --keep 01J9X4 01J9X7 --forget 01J9X5")]
pub(crate) struct ReviewArgs {
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// Keep these: ids or their beginnings
    #[arg(long, value_name = "ID", num_args = 1.., value_parser = NonEmptyStringValueParser::new())]
    keep: Vec<String>,
    /// Forget these: ids or their beginnings
    #[arg(long, value_name = "ID", num_args = 1.., value_parser = NonEmptyStringValueParser::new())]
    forget: Vec<String>,
}

/// The decisions of a review, for JSON.
#[derive(Debug, Default, Serialize)]
struct Decided {
    kept: Vec<String>,
    forgotten: Vec<String>,
    /// Memories without a decision.
    left: usize,
}

pub(crate) fn run(args: ReviewArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let open = open_ones(service, args.topic.as_deref())?;
    if !args.keep.is_empty() || !args.forget.is_empty() {
        return decide_named(&args, open, app);
    }
    let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if app.ui.json {
        app.ui.json(&open)?;
        return Ok(Outcome::Fine);
    }
    if open.is_empty() {
        app.ui.remark(format_args!("nothing is left to review"));
        return Ok(Outcome::Fine);
    }
    match can_ask {
        true => ask(&open, app),
        false => {
            memory_view::print_list(app, &open, true)?;
            app.ui.remark(format_args!(
                "keep or forget them with `icm review --keep ID` and `--forget ID`"
            ));
            Ok(Outcome::Fine)
        }
    }
}

/// Returns the extracted memories that nobody has kept yet, the oldest first.
fn open_ones(service: &Service, topic: Option<&str>) -> Result<Vec<Memory>, CliError> {
    let mut memories = service.list(&ListRequest {
        topic: topic.map(str::to_owned),
        ..ListRequest::default()
    })?;
    memories.retain(|memory| memory.trust == Trust::External && is_extracted(memory));
    memories.reverse();
    Ok(memories)
}

/// Keeps and forgets the memories that the command line names. An id that is named twice counts once, and a wrong id
/// changes nothing.
fn decide_named(args: &ReviewArgs, open: Vec<Memory>, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let caller = app.caller()?;
    let named = |ids: &[String]| -> Result<Vec<String>, CliError> {
        let mut found = Vec::new();
        for id in ids {
            let id = one_of(&open, id, service)?;
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok(found)
    };
    let (keep, forget) = (named(&args.keep)?, named(&args.forget)?);
    if let Some(both) = keep.iter().find(|id| forget.contains(id)) {
        return Err(
            CliError::invalid(format!("both `--keep` and `--forget` name {both}"))
                .with_hint("name it once"),
        );
    }
    let mut decided = Decided::default();
    for id in keep {
        keep_one(service, &caller, &id)?;
        decided.kept.push(id);
    }
    if !forget.is_empty() {
        service.forget(&caller, &forget)?;
        decided.forgotten = forget;
    }
    decided.left = open.len() - decided.kept.len() - decided.forgotten.len();
    report(&decided, app)
}

/// Returns the id of the open memory that begins with `id`.
fn one_of(open: &[Memory], id: &str, service: &Service) -> Result<String, CliError> {
    let given = id.trim().to_ascii_uppercase();
    let mut fitting = open.iter().filter(|memory| memory.id.starts_with(&given));
    match (fitting.next(), fitting.next()) {
        (Some(memory), None) => Ok(memory.id.clone()),
        (Some(_), Some(_)) => Err(
            CliError::invalid(format!("several memories begin with {id}"))
                .with_hint("give more of the id"),
        ),
        (None, _) => {
            // An unknown id gets the error of every other command.
            service.get(id, None)?;
            Err(
                CliError::invalid(format!("{id} is not waiting for review")).with_hint(
                    "`icm review` lists the ids; `icm update` and `icm forget` change any memory",
                ),
            )
        }
    }
}

/// Raises the trust of a memory to `user`.
fn keep_one(service: &Service, caller: &Caller, id: &str) -> Result<(), CliError> {
    let request = UpdateRequest {
        id: id.to_owned(),
        trust: Some(Trust::User),
        ..UpdateRequest::default()
    };
    service.update(caller, request)?;
    Ok(())
}

/// Shows one memory after the other and waits for a key: the decision.
fn ask(open: &[Memory], app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let caller = app.caller()?;
    let terminal = Term::stderr();
    let mut decided = Decided::default();
    'memories: for (nth, memory) in open.iter().enumerate() {
        memory_view::print(&app.ui, memory, &origin_line(memory))?;
        app.ui.flush()?;
        loop {
            let asked = format!(
                "[k]eep  [f]orget  [l]ater  [q]uit  {} of {} ",
                nth + 1,
                open.len()
            );
            let failed = |e| CliError::io("cannot ask", &e);
            terminal
                .write_str(&app.ui.paint(BOLD, &asked))
                .map_err(failed)?;
            let key = terminal.read_key().map_err(failed)?;
            let word = match key {
                Key::Char('k' | 'K') => {
                    keep_one(service, &caller, &memory.id)?;
                    decided.kept.push(memory.id.clone());
                    "kept"
                }
                Key::Char('f' | 'F') => {
                    service.forget(&caller, std::slice::from_ref(&memory.id))?;
                    decided.forgotten.push(memory.id.clone());
                    "forgotten"
                }
                Key::Char('l' | 'L' | 's' | 'S') => "left for later",
                Key::Char('q' | 'Q') | Key::Escape | Key::CtrlC => {
                    terminal.write_line("").map_err(failed)?;
                    break 'memories;
                }
                // Any other key asks again.
                _ => {
                    terminal.write_line("").map_err(failed)?;
                    continue;
                }
            };
            terminal.write_line(word).map_err(failed)?;
            break;
        }
    }
    decided.left = open.len() - decided.kept.len() - decided.forgotten.len();
    report(&decided, app)
}

/// Returns a line with the file and line that a memory was extracted from, its score and its signals.
fn origin_line(memory: &Memory) -> String {
    let mark = memory.metadata.as_ref().map(|metadata| &metadata[MARK]);
    let Some(mark) = mark else {
        return String::new();
    };
    let mut words = Vec::new();
    if let Some(from) = mark["from"].as_str() {
        let line = mark["line"]
            .as_u64()
            .map_or(String::new(), |line| format!(":{line}"));
        words.push(format!("from {from}{line}"));
    }
    if let Some(score) = mark["score"].as_u64() {
        words.push(format!("score {score}"));
    }
    let signals = mark["signals"].as_array().into_iter().flatten();
    words.extend(
        signals
            .filter_map(|signal| signal.as_str())
            .map(str::to_owned),
    );
    text::one_line(&words.join(" "))
}

fn report(decided: &Decided, app: &App) -> Result<Outcome, CliError> {
    if app.ui.json {
        app.ui.json(decided)?;
    } else {
        let left = count(decided.left as u64, "memory", "memories");
        let words = format!(
            "{} kept, {} forgotten; {left} left to review",
            decided.kept.len(),
            decided.forgotten.len()
        );
        app.ui.line(format_args!("{}", app.ui.paint(DIM, &words)))?;
    }
    Ok(Outcome::Fine)
}
