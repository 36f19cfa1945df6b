//! `icm bench recall`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use icm_server::api::{BenchReport, BenchRequest, Granularity, Ranking, Scores, Signal};
use icm_server::bench_recall;

use crate::app::App;
use crate::args::how_many_results;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::output::{Readers, write_file};
use crate::progress::Bar;
use crate::text;
use crate::ui::{BOLD, Ui};

/// Fewest results that are asked for: nDCG looks at so many.
const LIMIT_MIN: usize = 10;

/// Measure recall on questions whose evidence is known
///
/// Takes pairs of files, `NAME.memories.jsonl` (lines as `icm import jsonl` takes them) and
/// `NAME.questions.jsonl` (`query`, `category`, and in `evidence` the keys of the memories that
/// answer it), a folder of such pairs, or a file in LongMemEval's own format. Every pair, and every
/// question of LongMemEval, gets a store in a temporary folder; your own store is not touched, and
/// no recall is recorded.
///
/// Prints by category, in percent: any@k, questions with a piece of evidence among the first k
/// results; all@k, with all of it; evidence@k, the share of a question's evidence there; MRR,
/// nDCG@10; the share within the first results that fit into 1,000, 2,000 and 4,000 tokens, a token
/// being four bytes of content, where 200 results or more are asked for; and the wall time of a recall. Questions without evidence are
/// skipped and counted, LongMemEval's abstentions (`…_abs`) too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm bench recall locomo/ --rankings rankings.jsonl
  icm bench recall locomo/ --set ranking.neighbours=0.1 --set embedding.model=all-MiniLM-L6-v2
  icm bench recall longmemeval_s.json --granularity session --json")]
pub(crate) struct BenchRecallArgs {
    /// Folders or files
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// How many results to look at
    #[arg(
        long, value_name = "K,…", value_delimiter = ',', default_value = "1,3,5,10,20",
        value_parser = how_many_results
    )]
    k: Vec<u16>,
    /// How many results to ask for, from 10 and from the largest k to 1000 [default: the largest k, or 10]
    #[arg(short, long, value_name = "N", value_parser = how_many_results)]
    limit: Option<u16>,
    /// Of LongMemEval: what a memory is [default: turn where turns are marked]
    #[arg(long, value_name = "WHAT")]
    granularity: Option<GranularityArg>,
    /// Rank by one signal alone [default: as `icm recall`, by `[ranking]` of the config file]
    #[arg(long, value_name = "SIGNAL")]
    only: Option<SignalArg>,
    /// A setting to try, as in the config file
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Write what each question found, one JSON line each
    #[arg(long, value_name = "FILE")]
    rankings: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GranularityArg {
    /// Everything that was said is a memory
    Turn,
    /// Every session is one
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

/// Rankings may stand in the place of older ones, and of nothing that is measured.
fn check_rankings(path: &Path, inputs: &[PathBuf]) -> Result<(), CliError> {
    let name = path.to_string_lossy();
    let is_pair = [".memories.jsonl", ".questions.jsonl"]
        .iter()
        .any(|end| name.ends_with(end));
    let real = path.canonicalize().ok();
    let is_input = real.is_some() && inputs.iter().any(|input| input.canonicalize().ok() == real);
    match name == "-" || is_pair || is_input {
        true => Err(
            CliError::invalid(format!("{name} is no place for rankings"))
                .with_hint("name another file: `--rankings rankings.jsonl`"),
        ),
        false => Ok(()),
    }
}

fn print(ui: &Ui, report: &BenchReport) -> Result<(), CliError> {
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

fn of(shares: &BTreeMap<usize, f64>) -> Vec<f64> {
    shares.values().copied().collect()
}

fn at(scores: &Scores) -> Vec<String> {
    scores.any_at.keys().map(|k| format!("@{k}")).collect()
}

/// One group of figures, a row a category.
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
