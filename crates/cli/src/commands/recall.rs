//! `icm recall`

use std::borrow::Cow;

use clap::Args;
use icm_api::{
    FeedbackHit, Nearest, Passage, RecallAnswer, RecallHit, RecallRequest, shown_bytes, texts_with,
    vectors_searched,
};
use serde_json::Value;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::tag_args::TagArgs;
use crate::ui::{DIM, Ui, WARN};
use crate::values::{ImportanceArg, Results, TrustArg, share};
use crate::{input, memory_view, text, when};

/// Search the memories, best match first
///
/// The recall is recorded in the log with its query and its results. Each result has a fit from 0 to 1. Exits with 1 if
/// nothing is found or nothing fits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm recall where do invoices live
  icm recall retry policy -t payments/ --at yesterday
  icm recall deploys on a Friday --tag ops --not-tag draft --since 2026-08-01")]
pub(crate) struct RecallArgs {
    /// Words to search for; no quotes needed; `-` reads stdin; words that begin with a dash go behind `--`
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    #[command(flatten)]
    tags: TagArgs,
    /// Memories seen from `global`, `project:ID` or `session:PARENT/CHILD`; `all` for every scope [default: global,
    /// this project, this session with its parents and children]
    #[arg(long)]
    scope: Option<String>,
    /// Only memories of at least this importance
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// Only memories of at least this trust
    #[arg(long, value_name = "TRUST")]
    trust: Option<TrustArg>,
    /// Only memories that happened (or else were stored) at or after this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only memories that happened (or else were stored) at or before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Number of results, 1 to 1000 [default: 10]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// Results to skip: `next` of the previous answer (`--json`)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: usize,
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Only events that were recorded at or before this time; with `--at`, the earlier moment counts
    #[arg(long, value_name = "TIME")]
    happened_by: Option<String>,
    /// Answer as another machine, which has this origin, from its events that are here. `--at` then means the clock and
    /// the positions of that machine. `icm log heads` lists the origins; the first digits are enough
    #[arg(long = "as", value_name = "ORIGIN")]
    as_origin: Option<String>,
    /// Least fit of a result, 0 to 1; 0 shows all [default: `ranking.floor` of the config file, else 0.2]
    #[arg(long, value_name = "FIT", value_parser = share, allow_negative_numbers = true)]
    floor: Option<f64>,
    /// Explain the place of each result
    #[arg(long)]
    explain: bool,
    /// Ignore links: neither reorder results nor add linked memories
    #[arg(long)]
    no_links: bool,
    /// Do not record this recall
    #[arg(long)]
    no_record: bool,
}

pub(crate) fn run(args: RecallArgs, app: &App) -> Result<Outcome, CliError> {
    let limit = args.limit.map(|limit| limit.within(&app.ui));
    let caller = app.caller_here()?;
    let request = RecallRequest {
        query: query(&args.query)?,
        topic: given(args.topic),
        tags: args.tags.filter(),
        scope: caller.scope(given(args.scope))?,
        importance: args.importance.map(Into::into),
        trust: args.trust.map(Into::into),
        since: given(args.since),
        until: given(args.until),
        limit: limit.or(Some(app.config.recall.limit)),
        offset: args.offset,
        at: args.at,
        happened_by: args.happened_by,
        floor: args.floor,
        record: !args.no_record && app.config.recall.record,
        explain: args.explain,
        together: true,
        no_links: args.no_links,
        ..RecallRequest::default()
    };

    let counts = request.record && request.at.is_none() && args.as_origin.is_none();
    let answer = match args.as_origin.as_deref() {
        None => app.service_to_ask()?.recall(&caller, &request)?,
        Some(origin) => app.service_as(origin)?.recall(&caller, &request)?,
    };

    print(&app.ui, &answer, counts)
}

/// Returns the value of an option that narrows a search; an empty text counts as absent. Moments are different: a
/// script with an empty variable does not mean now, so an empty moment is an error.
pub(crate) fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Joins the words to one query. A single `-` reads the query from stdin, where it may be longer than a command line.
pub(crate) fn query(words: &[String]) -> Result<String, CliError> {
    let query = match words {
        [word] if word == "-" => input::question()?,
        words => words.join(" "),
    };
    if query.trim().is_empty() {
        return Err(CliError::invalid("the query is empty")
            .with_hint("name some words, or see everything with `icm list`"));
    }
    Ok(query)
}

/// Prints the answer, which `counts` as a recall of what it shows or not. Returns [`Outcome::No`] for an answer without
/// results.
pub(crate) fn print(ui: &Ui, answer: &RecallAnswer, counts: bool) -> Result<Outcome, CliError> {
    let outcome = if answer.results.is_empty() {
        Outcome::No
    } else {
        Outcome::Fine
    };
    if let Some(note) = &answer.note {
        ui.note(note);
    }
    if ui.json {
        ui.json(answer)?;
        return Ok(outcome);
    }
    let mut is_any_cut = false;
    for (i, hit) in answer.results.iter().enumerate() {
        if i > 0 {
            ui.line(format_args!(""))?;
        }
        let shown = hit.shown(shown_bytes(i));
        is_any_cut |= matches!(shown, Some(Cow::Owned(_)));
        let about = (&*marks(hit), &*found_by(hit, counts));
        memory_view::print_shown(ui, &hit.memory, shown.as_deref(), about)?;
        if let Some(explain) = answer.explain.as_ref().filter(|_| hit.via.is_none()) {
            print_score(ui, hit, explain, &explain["results"][i])?;
        }
    }
    if !answer.corrections.is_empty() && !answer.results.is_empty() {
        ui.line(format_args!(""))?;
    }
    print_corrections(ui, &answer.corrections)?;
    if let Some(explain) = &answer.explain {
        print_ranking(ui, answer, explain)?;
    }
    if is_any_cut {
        remark(
            ui,
            "of a long text its passage is shown; `icm get ID` shows all of it",
        );
    }
    if !answer.often_together.is_empty() {
        let ids = text::one_line(&answer.often_together.join(", "));
        remark(ui, &format!("often recalled with the first one: {ids}"));
    }
    if let Some(nearest) = &answer.nearest {
        remark(ui, &nothing_fits(nearest));
    }
    let found = match answer.results.len() {
        0 => "nothing".to_owned(),
        found => found.to_string(),
    };
    let scopes = scopes(&answer.scope);
    remark(
        ui,
        &format!("{found} found in {scopes} {}", basis(ui, answer)),
    );
    Ok(outcome)
}

/// Characters of each text of a correction beside the results of a recall.
const BESIDE_CHARS: usize = 200;

/// Prints the corrections beside the results of a recall.
fn print_corrections(ui: &Ui, corrections: &[FeedbackHit]) -> Result<(), CliError> {
    for hit in corrections {
        let told = text::one_line(&hit.feedback.told(BESIDE_CHARS));
        for (at, line) in text::wrap(&format!("correction: {told}"), ui.columns)
            .iter()
            .enumerate()
        {
            match line.strip_prefix("correction:") {
                Some(rest) if at == 0 => {
                    ui.line(format_args!("{}{rest}", ui.paint(WARN, "correction:")))?;
                }
                _ => ui.line(format_args!("{line}"))?,
            }
        }
    }
    Ok(())
}

/// Prints a remark, wrapped at the width of the terminal.
pub(crate) fn remark(ui: &Ui, line: &str) {
    for line in text::wrap(line, ui.columns) {
        ui.remark(format_args!("{}", ui.paint(DIM, &line)));
    }
}

/// Returns the remark for results that are all below the floor, with the nearest result.
pub(crate) fn nothing_fits(nearest: &Nearest) -> String {
    let what = match &nearest.content {
        Some(content) => format!("\"{}\"", text::one_line(content)),
        None => text::one_line(&nearest.id),
    };
    let fit = nearest.fit;
    format!("nothing fits; nearest: {what} (fit {fit:.2}), --floor 0 shows it")
}

/// Returns how a result was found, and its fit.
fn found_by(hit: &RecallHit, counts: bool) -> Vec<String> {
    let what = match &hit.via {
        Some(via) => {
            let (relation, from) = (text::one_line(&via.relation), text::one_line(&via.from));
            match via.relation.as_str() {
                "supersedes" | "contradicts" => format!("{relation} {from}"),
                "seems_to_replace" => format!("seems to replace {from}"),
                _ => format!("by its link to {from} ({relation})"),
            }
        }
        None => by_words_or_meaning(&hit.matched),
    };
    let fit = hit.via.is_none().then(|| format!("fit {:.2}", hit.fit));
    let passage = hit.passage.as_ref().map(Passage::told);
    let repeats = icm_api::found_by::repeats(hit).map(|repeats| text::one_line(&repeats));
    let left = hit.memory.recalls_left;
    let left = left.map(|left| left.saturating_sub(u64::from(counts)));
    let condition = hit.memory.expires.as_deref();
    let expires = condition.map(|condition| when::expires_left(condition, left));
    let more = passage.into_iter().chain(repeats).chain(expires);
    [what].into_iter().chain(fit).chain(more).collect()
}

/// Returns the matched words, or that the result is only near in meaning.
pub(crate) fn by_words_or_meaning(matched: &[String]) -> String {
    match matched.is_empty() {
        true => "near in meaning".to_owned(),
        false => format!("matched {}", text::one_line(&matched.join(", "))),
    }
}

/// Returns warnings that stand before the text of a result.
fn marks(hit: &RecallHit) -> Vec<String> {
    let mut marks = Vec::new();
    if hit.elsewhere {
        marks.push(format!("elsewhere: {}", scope_short(&hit.memory.scope)));
    }
    if let Some(id) = &hit.superseded_by {
        marks.push(format!("superseded by {}", text::one_line(id)));
    }
    if let Some(id) = &hit.seems_replaced_by {
        marks.push(format!("seems replaced by {}", text::one_line(id)));
    }
    let brought = hit.via.as_ref().map(|via| via.from.as_str());
    let old = hit.seems_to_replace.iter().map(String::as_str);
    let old: Vec<_> = old.filter(|id| Some(*id) != brought).collect();
    if !old.is_empty() {
        let old = text::one_line(&old.join(", "));
        marks.push(format!("seems to replace {old}"));
    }
    // The contradiction that added this result was named already.
    let said = hit.via.as_ref().filter(|via| via.relation == "contradicts");
    let said = said.map(|via| via.from.as_str());
    let ids = hit.contradicts.iter().map(String::as_str);
    let ids: Vec<_> = ids.filter(|id| Some(*id) != said).collect();
    if !ids.is_empty() {
        marks.push(format!("contradicts {}", text::one_line(&ids.join(", "))));
    }
    marks
}

/// Returns the scopes that were searched, without the children of sessions.
pub(crate) fn scopes(seen: &[String]) -> String {
    let shown = seen.iter().filter(|scope| !scope.ends_with("/*"));
    let mut shown: Vec<String> = shown.map(|scope| scope_short(scope)).collect();
    if shown == ["all"] {
        shown = vec!["all scopes".to_owned()];
    }
    shown.join(", ")
}

/// Returns a scope; an id that is a hash is cut to its beginning.
fn scope_short(scope: &str) -> String {
    let is_hash = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match scope.split_once(':') {
        Some((kind, id)) if is_hash(id) => format!("{kind}:{}…", &id[..12]),
        _ => text::one_line(scope),
    }
}

fn basis(ui: &Ui, answer: &RecallAnswer) -> String {
    let basis = &answer.basis;
    match basis.position {
        0 => "in an empty store".into(),
        position => format!("as of @{position} ({})", when::ago(ui.now, &basis.at)),
    }
}

/// Prints the score of a result: the matched words, and each feature that counts with its value and share.
fn print_score(
    ui: &Ui,
    hit: &RecallHit,
    explain: &Value,
    evidence: &Value,
) -> Result<(), CliError> {
    let texts = explain["text"]["documents"].as_u64().unwrap_or(0);
    let mut reasons = Vec::new();
    for word in &hit.matched {
        let word = text::one_line(word);
        reasons.push(match texts_with(explain, &word) {
            Some(found) => format!("{word} (in {found} of {texts} texts)"),
            None => word,
        });
    }
    if let Some(cosine) = evidence["cosine"].as_f64() {
        reasons.push(format!("meaning (cosine {cosine:.2})"));
    }
    match evidence["scope"].as_str() {
        Some("own") => reasons.push("its scope is yours".to_owned()),
        Some("kin") => reasons.push("its session is a parent or child of yours".to_owned()),
        Some("elsewhere") => reasons.push("less, its scope is another one".to_owned()),
        _ => {}
    }
    print_dim(
        ui,
        &format!("score {:.3} from {}", hit.score, reasons.join(", ")),
    )?;
    let shares = evidence["shares"].as_object().into_iter().flatten();
    let mut shares: Vec<(&str, f64)> = shares
        .filter_map(|(name, share)| Some((name.as_str(), share.as_f64()?)))
        .collect();
    shares.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let described: Vec<String> = shares
        .into_iter()
        .map(|(name, share)| match evidence["features"][name].as_f64() {
            Some(value) => format!("{name} {value:.2} gives {share:+.3}"),
            None => format!("{name} gives {share:+.3}"),
        })
        .collect();
    match described.is_empty() {
        true => Ok(()),
        false => print_dim(ui, &described.join(", ")),
    }
}

/// Prints the terms of the search, and the number of texts searched.
fn print_ranking(ui: &Ui, answer: &RecallAnswer, explain: &Value) -> Result<(), CliError> {
    let ranking = &explain["text"];
    let mut words: Vec<String> = Vec::new();
    for term in ranking["terms"].as_array().into_iter().flatten() {
        let word = text::one_line(term["word"].as_str().unwrap_or_default());
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let described: Vec<String> = words
        .iter()
        .map(|word| {
            let found = texts_with(explain, word).unwrap_or(0);
            format!("{word}: in {}", text::count(found, "text", "texts"))
        })
        .collect();
    if !answer.results.is_empty() {
        ui.line(format_args!(""))?;
    }
    let documents = ranking["documents"].as_u64().unwrap_or(0);
    let texts = text::count(documents, "text", "texts");
    let words = "any word may match, whatever its ending, and rare words count more";
    let by_meaning = explain["ranking"]["meaning"].as_f64().unwrap_or(0.0);
    let known = explain["words_known"].as_f64().unwrap_or(1.0);
    print_dim(
        ui,
        &match by_meaning > 0.0 {
            false => format!("ranked by words alone among {texts}: {words}"),
            true => format!(
                "ranked by words, meaning and what stands beside in the topic among {texts}: {words}"
            ),
        },
    )?;
    if by_meaning > 0.0 {
        print_dim(ui, &meaning_of(explain))?;
    }
    if by_meaning > 0.0 && known < 1.0 && explain["model"].is_null() {
        print_dim(
            ui,
            &format!(
                "the built-in model knows the words of the query only in part: its meaning counts {known:.2} of 1"
            ),
        )?;
    }
    match described.is_empty() {
        true => print_dim(ui, "no word of the query can be looked for"),
        false => print_dim(ui, &described.join(", ")),
    }
}

/// Returns the model, and the way in which its vectors were searched.
fn meaning_of(explain: &Value) -> String {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let model = &explain["model"];
    let mut line = match model["id"].as_str() {
        None => "meaning by the built-in model".to_owned(),
        Some(id) => format!("meaning by {}", text::one_line(id)),
    };
    let (embedded, of) = (number(&model["embedded"]), number(&model["versions"]));
    if embedded < of {
        let texts = model["embeds"].as_str().unwrap_or("passages");
        line += &format!(
            ", which has embedded {embedded} of {of} {texts}; the others by the built-in model"
        );
    }
    if let Some(searched) = vectors_searched(explain) {
        line += &format!("; {searched}");
    }
    line
}

fn print_dim(ui: &Ui, line: &str) -> Result<(), CliError> {
    for line in text::wrap(line, ui.columns.map(|columns| columns.saturating_sub(2))) {
        ui.line(format_args!("  {}", ui.paint(DIM, &line)))?;
    }
    Ok(())
}
