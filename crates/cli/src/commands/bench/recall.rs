//! `icm bench recall`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use icm_api::{
    BenchReport, BenchRequest, Figure, Granularity, Ranking, Scores, SetScores, Share, Signal,
};
use icm_bench::bench_recall;

use super::setting::SettingParser;
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::output::{Readers, write_file};
use crate::progress::Bar;
use crate::text;
use crate::ui::{BOLD, Ui};
use crate::values::how_many_results;

/// Fewest results of a recall: nDCG is computed over 10. Raised, fewer values of `--limit` are accepted.
const LIMIT_MIN: usize = 10;

/// Measure recall on questions with known evidence
///
/// Takes folders and files. A pair is `NAME.memories.jsonl` (lines for `icm import jsonl`) and `NAME.questions.jsonl`
/// (`query`, `category`, and the keys of the answering memories in `evidence`). A file may also be in LongMemEval's own
/// format. Every pair, and every question of LongMemEval, gets a store in a temporary folder. Your own store is not
/// touched, and no recall is recorded.
///
/// Quality: the first table has a line for each folder or file, in percent. any@k is the share of questions with a
/// piece of evidence among the first k results. evidence@k is the mean share of a question's evidence there. MRR is the
/// mean of 1 / the rank of the first piece. The 95 % interval is in brackets, from 1,000 resamples of the questions,
/// always the same ones. 1 k, 2 k and 4 k are the share of the evidence within the first results that fit into that
/// many tokens (four bytes of content each), of 200 results. p50 and p95 are wall times of a recall. Every result is
/// scored (`--floor 0`), even with the smallest fit.
///
/// Fit: the second table shows the effect of the default floor (`ranking.floor`). Foreign questions are those that
/// nothing in a store answers: the questions of the other pairs of its folder. A folder with one pair is cut in two by
/// articles (topics such as `notes-1` and `notes-2` are one article), and each half is asked the questions of the other
/// half. Names of speakers in a conversation become `someone` in its foreign questions. Several folders ask each
/// other's questions, too, except folders with names such as `xquad-de` and `xquad-en`, which count as translations. A
/// store is asked at most 200 foreign questions of its folder and 100 of other folders. `own lost` is the share of own
/// questions that lose all evidence among their first ten results. Then come the share of first results that are right,
/// by fit, and the same shares at other floors.
///
/// The last tables have the scores by category; all@k is the share of questions with all evidence among the first k.
/// Questions without evidence are skipped and counted, as are LongMemEval's abstentions (`…_abs`).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm bench recall locomo/ notes/ --floor 0.3
  icm bench recall locomo/ --set ranking.neighbours=0.1 --rankings rankings.jsonl
  icm bench recall longmemeval_s.json --granularity session --json")]
pub(crate) struct BenchRecallArgs {
    /// Folders or files
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Values of k, with commas
    #[arg(
        long, value_name = "K,…", value_delimiter = ',', default_value = "1,3,5,10,20",
        value_parser = how_many_results
    )]
    k: Vec<u16>,
    /// Results of each recall, 10 or the largest k to 1000 [default: the largest k, or 10]
    #[arg(short, long, value_name = "N", value_parser = how_many_results)]
    limit: Option<u16>,
    /// The memories of LongMemEval: a turn or a session [default: turn if turns are marked]
    #[arg(long, value_name = "WHAT")]
    granularity: Option<GranularityArg>,
    /// Rank by one signal only [default: as `icm recall`, by `[ranking]` of the config file]
    #[arg(long, value_name = "SIGNAL")]
    only: Option<SignalArg>,
    /// Score only results with at least this fit, 0 to 1
    #[arg(long, value_name = "FIT", default_value_t = 0.0)]
    floor: f64,
    /// Ask no foreign questions, which is quicker
    #[arg(long)]
    no_foreign: bool,
    /// A setting to try, as in the config file
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = SettingParser, hide_possible_values = true)]
    settings: Vec<String>,
    /// Write the results of each question, with their features, as JSON lines
    #[arg(long, value_name = "FILE")]
    rankings: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GranularityArg {
    /// Each message is a memory
    Turn,
    /// Each session is a memory
    Session,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SignalArg {
    /// BM25
    Text,
    /// Nearness of embeddings
    Vectors,
}

pub(crate) fn run(args: BenchRecallArgs, app: &App) -> Result<Outcome, CliError> {
    let config = app.config.with(&args.settings)?;
    let mut ks: Vec<usize> = args.k.into_iter().map(usize::from).collect();
    ks.sort_unstable();
    ks.dedup();
    let largest = ks.last().copied().unwrap_or(0);
    let request = BenchRequest {
        paths: args.paths,
        limit: args.limit.map_or(LIMIT_MIN.max(largest), usize::from),
        ks,
        granularity: args.granularity.map(|granularity| match granularity {
            GranularityArg::Turn => Granularity::Turn,
            GranularityArg::Session => Granularity::Session,
        }),
        weights: config.ranking,
        only: args.only.map(|signal| match signal {
            SignalArg::Text => Signal::Text,
            SignalArg::Vectors => Signal::Vectors,
        }),
        floor: args.floor,
        foreign: !args.no_foreign,
        features: args.rankings.is_some(),
    };

    if let Some(path) = &args.rankings {
        check_rankings(path, &request.paths)?;
    }
    let model = app.model(&config)?;
    let bar = Bar::new(&app.ui);
    let report = match &args.rankings {
        None => bench_recall(&request, &model, &bar, &mut |_| Ok(()))?,
        Some(path) => write_file(path, Readers::Usual, |out| {
            let mut write = |ranking: &Ranking| {
                serde_json::to_writer(&mut *out, ranking)?;
                writeln!(out)
            };
            Ok(bench_recall(&request, &model, &bar, &mut write)?)
        })?,
    };
    drop(bar);

    if app.ui.json {
        app.ui.json(&report)?;
    } else {
        print(&app.ui, &report)?;
    }
    tell(&app.ui, &report);
    Ok(match report.questions {
        0 => Outcome::No,
        _ => Outcome::Fine,
    })
}

/// Refuses a path for the rankings that is an input, is named like one, or is stdout. An older file of rankings is
/// replaced.
fn check_rankings(path: &Path, inputs: &[PathBuf]) -> Result<(), CliError> {
    let name = path.to_string_lossy();
    let is_pair = [".memories.jsonl", ".questions.jsonl"]
        .iter()
        .any(|end| name.ends_with(end));
    let real = path.canonicalize().ok();
    let is_input = real.is_some() && inputs.iter().any(|input| input.canonicalize().ok() == real);
    match name == "-" || is_pair || is_input {
        true => Err(
            CliError::invalid(format!("rankings cannot be written to {name}"))
                .with_hint("name another file: `--rankings rankings.jsonl`"),
        ),
        false => Ok(()),
    }
}

fn print(ui: &Ui, report: &BenchReport) -> Result<(), CliError> {
    print_sets(ui, report)?;
    print_floor(ui, report)?;
    print_fit(ui, &report.all)?;
    print_curve(ui, &report.all)?;
    print_summary(ui, &report.all)?;
    table(ui, report, "any@k", at, |scores| of(&scores.any_at))?;
    table(ui, report, "all@k", at, |scores| of(&scores.all_at))?;
    table(ui, report, "evidence@k", at, |scores| {
        of(&scores.evidence_at)
    })?;
    table(
        ui,
        report,
        "rank, and evidence in tokens",
        |scores| {
            let budgets = scores.evidence_in_tokens.keys();
            let named = budgets.map(|budget| format!("{} k", budget / 1_000));
            ["MRR".to_owned(), "nDCG@10".to_owned()]
                .into_iter()
                .chain(named)
                .collect()
        },
        |scores| {
            [scores.mrr, scores.ndcg_at_10]
                .into_iter()
                .chain(of(&scores.evidence_in_tokens))
                .collect()
        },
    )?;
    ui.line(format_args!(
        "a recall of {} results: p50 {:.2} ms, p95 {:.2} ms",
        report.limit, report.latency_ms.p50, report.latency_ms.p95
    ))
}

/// Returns the sets, and their total if there are several.
fn rows(report: &BenchReport) -> impl Iterator<Item = &SetScores> {
    let all = (report.sets.len() != 1).then_some(&report.all);
    report.sets.iter().chain(all)
}

/// Returns a row of headings; the first one is aligned to the left.
fn head(names: &[&str]) -> Vec<Cell> {
    let cells = names.iter().enumerate().map(|(at, name)| {
        let cell = Cell::new(name).style(BOLD);
        if at == 0 { cell } else { cell.right() }
    });
    cells.collect()
}

/// Returns a row: a name, then numbers.
fn row(name: &str, numbers: impl IntoIterator<Item = String>) -> Vec<Cell> {
    let numbers = numbers.into_iter().map(|number| Cell::new(number).right());
    std::iter::once(Cell::new(name)).chain(numbers).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn print_rows(ui: &Ui, rows: &[Vec<Cell>]) -> Result<(), CliError> {
    columns::print(ui, rows)?;
    ui.line(format_args!(""))
}

fn print_sets(ui: &Ui, report: &BenchReport) -> Result<(), CliError> {
    let names = [
        "set",
        "n",
        "any@1",
        "any@5",
        "any@10",
        "evidence@10",
        "MRR",
        "1 k",
        "2 k",
        "4 k",
        "p50 ms",
        "p95 ms",
    ];
    let figure = |figure: &Figure| {
        let Figure { mean, low, high } = figure;
        format!("{} [{}, {}]", percent(*mean), percent(*low), percent(*high))
    };
    let mut table = vec![head(&names)];
    for set in rows(report) {
        let figures = set.any_at.values().chain(set.evidence_at.values());
        let mut cells = vec![set.n.to_string()];
        cells.extend(figures.chain([&set.mrr]).map(figure));
        cells.extend(set.evidence_in_tokens.values().map(|share| percent(*share)));
        let times = [set.latency_ms.p50, set.latency_ms.p95];
        cells.extend(times.map(|ms| format!("{ms:.2}")));
        table.push(row(&set.name, cells));
    }
    print_rows(ui, &table)
}

/// Returns the share with its total; a dash for a total of 0.
fn of_all(share: Share) -> String {
    match share.of {
        0 => "-".to_owned(),
        of => format!("{} % of {of}", percent(share.share)),
    }
}

fn print_floor(ui: &Ui, report: &BenchReport) -> Result<(), CliError> {
    let title = format!("floor {}", report.all.fit.floor);
    let names = [
        title.as_str(),
        "foreign answered",
        "of other sets",
        "own lost",
        "fit ≥ 0.5: right",
        "right: fit ≥ 0.5",
    ];
    let mut table = vec![head(&names)];
    for set in rows(report) {
        let fit = &set.fit;
        let shares = [fit.same_set, fit.other_set, fit.own, fit.sure, fit.right];
        table.push(row(&set.name, shares.map(of_all)));
    }
    print_rows(ui, &table)
}

fn print_fit(ui: &Ui, all: &SetScores) -> Result<(), CliError> {
    let mut table = vec![head(&["fit", "first results", "right"])];
    for bin in &all.fit.bins {
        let right = match bin.n {
            0 => "-".to_owned(),
            _ => percent(bin.right),
        };
        let name = format!("{:.1} to {:.1}", bin.from, bin.to);
        table.push(row(&name, [bin.n.to_string(), right]));
    }
    print_rows(ui, &table)
}

fn print_curve(ui: &Ui, all: &SetScores) -> Result<(), CliError> {
    let names = ["floor", "foreign answered", "of other sets", "own lost"];
    let mut table = vec![head(&names)];
    let share = |of: Share, share: f64| match of.of {
        0 => "-".to_owned(),
        _ => percent(share),
    };
    for point in &all.fit.curve {
        let cells = [
            share(all.fit.same_set, point.same_set),
            share(all.fit.other_set, point.other_set),
            share(all.fit.own, point.own_lost),
        ];
        table.push(row(&format!("{:.2}", point.floor), cells));
    }
    print_rows(ui, &table)
}

/// Prints the figures at the default floor in one line.
fn print_summary(ui: &Ui, all: &SetScores) -> Result<(), CliError> {
    let fit = &all.fit;
    let foreign = Share {
        of: fit.same_set.of + fit.other_set.of,
        share: mean_of(&[fit.same_set, fit.other_set]),
    };
    ui.line(format_args!(
        "at floor {}: {} foreign questions answered, {} own questions lost; {} first results with fit ≥ 0.5 right, \
         {} right first results with fit ≥ 0.5",
        fit.floor,
        of_all(foreign),
        of_all(fit.own),
        of_all(fit.sure),
        of_all(fit.right),
    ))?;
    ui.line(format_args!(""))
}

/// Returns the share of several sets together.
fn mean_of(shares: &[Share]) -> f64 {
    let of: u64 = shares.iter().map(|share| share.of).sum();
    let those: f64 = shares
        .iter()
        .map(|share| share.share * share.of as f64)
        .sum();
    those / of.max(1) as f64
}

fn of(shares: &BTreeMap<usize, f64>) -> Vec<f64> {
    shares.values().copied().collect()
}

fn at(scores: &Scores) -> Vec<String> {
    scores.any_at.keys().map(|k| format!("@{k}")).collect()
}

/// Prints one group of figures, a row for each category.
fn table(
    ui: &Ui,
    report: &BenchReport,
    title: &str,
    names: impl Fn(&Scores) -> Vec<String>,
    shares: impl Fn(&Scores) -> Vec<f64>,
) -> Result<(), CliError> {
    let head = ["n".to_owned(), "skipped".to_owned()].into_iter();
    let head = head.chain(names(&report.overall));
    let mut rows = vec![
        std::iter::once(Cell::new(title).style(BOLD))
            .chain(head.map(|name| Cell::new(name).style(BOLD).right()))
            .collect(),
    ];
    let categories = report.categories.iter();
    let all = ("all".to_owned(), &report.overall);
    for (name, scores) in categories.map(|(n, s)| (n.clone(), s)).chain([all]) {
        let mut row = vec![Cell::new(name)];
        let counts = [scores.n, scores.skipped].map(|count| count.to_string());
        row.extend(counts.map(|count| Cell::new(count).right()));
        for share in shares(scores) {
            row.push(Cell::new(format!("{:.2}", share * 100.0)).right());
        }
        rows.push(row);
    }
    columns::print(ui, &rows)?;
    ui.line(format_args!(""))
}

fn tell(ui: &Ui, report: &BenchReport) {
    ui.remark(format_args!(
        "{} on {} in {}; skipped: {} without evidence, {}",
        text::count(report.questions, "question", "questions"),
        text::count(report.memories, "memory", "memories"),
        text::count(report.stores, "store", "stores"),
        report.skipped.no_evidence,
        text::count(report.skipped.abstention, "abstention", "abstentions"),
    ));
    if report.unknown_evidence > 0 {
        ui.note(&format!(
            "{}: it counts as never found",
            text::count(
                report.unknown_evidence,
                "piece of evidence names no memory",
                "pieces of evidence name no memory"
            )
        ));
    }
    if report.cut > 0 {
        ui.note(&format!(
            "{} longer than a memory may be: only the beginning was stored",
            text::count(report.cut, "text was", "texts were")
        ));
    }
}
