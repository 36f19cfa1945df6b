//! Measures recall on questions whose evidence is known.
//!
//! Each conversation becomes a store of its own in a temporary folder, made and asked through
//! [`Service`](crate::Service) as any front would do it, so what is measured is what users get. No
//! other store is opened. The arithmetic is in `metrics`, which knows ranks alone.

mod bed;
mod input;
mod longmemeval;
mod metrics;
mod pairs;
mod replay;
mod tally;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::path::Path;

use icm_projections::ranking::Ranking as Weights;

use crate::api::{
    BenchReport, BenchRequest, Granularity, Latency, NoProgress, Progress, Ranked, Ranking,
    RecallAnswer, Signal, Skipped,
};
use crate::embedding::Model;
use crate::error::{Result, ServiceError};
use crate::limits::RECALL_LIMIT_MAX;
use crate::tokens;
use bed::Bed;
use input::Input;
use tally::{NDCG_AT, Tally};

pub use replay::bench_replay;

/// Results that are asked for to fill a context with, beside those that are looked at rank by rank: how many are
/// asked for has a say in their order.
const FILLING: usize = 200;

/// A question with the names of what answers it.
struct Question {
    /// The line, or an id.
    id: String,
    query: String,
    category: String,
    /// Each once.
    evidence: Vec<String>,
}

/// Measures recall by a model, with every memory embedded; `each` gets every question that was asked with what was found.
pub fn bench_recall(
    request: &BenchRequest,
    model: &Model,
    progress: &dyn Progress,
    each: &mut dyn FnMut(&Ranking) -> io::Result<()>,
) -> Result<BenchReport> {
    check(request)?;
    if request.only == Some(Signal::Vectors) && matches!(model, Model::None) {
        return Err(ServiceError::invalid_with(
            "without a model there are no vectors to rank by",
            "leave `--only vectors` out, or choose a model: `--set embedding.model=static`",
        ));
    }
    let inputs = input::find(&request.paths)?;
    let is_own = |input: &Input| matches!(input, Input::LongMemEval { .. });
    if request.granularity.is_some() && !inputs.iter().any(is_own) {
        return Err(ServiceError::invalid_with(
            "only of LongMemEval files the granularity can be chosen, and none is among these",
            "leave `--granularity` out: the memories of a pair are taken as they are",
        ));
    }
    let mut run = Run {
        request,
        model,
        tally: Tally::new(&request.ks),
        skipped: Skipped::default(),
        stores: 0,
        memories: 0,
        unknown_evidence: 0,
        cut: 0,
        times_ms: Vec::new(),
        each,
    };
    for input in &inputs {
        match input {
            Input::Pair { stem } => run.pair(stem, progress)?,
            Input::LongMemEval { file } => run.long_mem_eval(file, progress)?,
        }
    }
    Ok(run.report())
}

/// What the stores rank by.
fn weights(request: &BenchRequest) -> Weights {
    match request.only {
        None => request.weights,
        Some(Signal::Text) => Weights::TEXT,
        Some(Signal::Vectors) => Weights::MEANING,
    }
}

fn check(request: &BenchRequest) -> Result<()> {
    let least = request.ks.iter().copied().max().unwrap_or(0).max(NDCG_AT);
    if !(least..=RECALL_LIMIT_MAX).contains(&request.limit) {
        return Err(ServiceError::invalid(format!(
            "the limit is {}, it must be from {least} to {RECALL_LIMIT_MAX}",
            request.limit
        )));
    }
    match request.ks.contains(&0) {
        true => Err(ServiceError::invalid("a place is 1 or more")),
        false => Ok(()),
    }
}

/// A measurement on its way.
struct Run<'a> {
    request: &'a BenchRequest,
    model: &'a Model,
    tally: Tally,
    skipped: Skipped,
    stores: u64,
    memories: u64,
    unknown_evidence: u64,
    cut: u64,
    times_ms: Vec<f64>,
    each: &'a mut dyn FnMut(&Ranking) -> io::Result<()>,
}

/// Where questions are asked, as rankings and errors name it.
struct Place<'a> {
    store: &'a str,
    granularity: Option<Granularity>,
    bed: &'a Bed,
    /// What a memory is called, by its key.
    names: &'a HashMap<String, String>,
}

impl Place<'_> {
    fn ranked(&self, answer: &RecallAnswer) -> Vec<Ranked> {
        let hits = answer.results.iter().map(|hit| {
            let key = hit.memory.key.as_ref();
            Ranked {
                key: key.and_then(|key| self.names.get(key)).cloned(),
                score: hit.score,
                tokens: tokens::estimate(hit.memory.content.as_deref().unwrap_or_default()),
            }
        });
        hits.collect()
    }
}

impl Run<'_> {
    fn pair(&mut self, stem: &Path, progress: &dyn Progress) -> Result<()> {
        let questions_path = Input::questions(stem);
        let questions = pairs::questions(&questions_path)?;
        let path = Input::memories(stem);
        let file = File::open(&path).map_err(|source| ServiceError::Io {
            doing: format!("cannot read {}", path.display()),
            source,
        })?;
        let lines = Box::new(BufReader::with_capacity(1 << 16, file));
        let bed = self.store(&path.display().to_string(), lines, progress)?;
        let keys = bed.keys()?;
        for (place, question) in &questions {
            let several = |key: &&String| keys.get(*key).is_some_and(|count| *count > 1);
            if let Some(key) = question.evidence.iter().find(several) {
                return Err(ServiceError::invalid(format!(
                    "{place}: the evidence `{key}` names {} memories",
                    keys[key]
                )));
            }
        }
        let names = keys.into_keys().map(|key| (key.clone(), key)).collect();
        let store = stem.file_name().unwrap_or_default().to_string_lossy();
        let here = Place {
            store: &store,
            granularity: None,
            bed: &bed,
            names: &names,
        };
        progress.start(&format!("asking {store}"), Some(questions.len() as u64));
        for (place, question) in questions {
            progress.advance(1);
            if self.skips(&question, false) {
                continue;
            }
            self.ask(&here, &question)
                .map_err(|error| at(&place, error))?;
        }
        progress.finish();
        Ok(())
    }

    fn long_mem_eval(&mut self, file: &Path, progress: &dyn Progress) -> Result<()> {
        let store = file.file_name().unwrap_or_default().to_string_lossy();
        progress.start(&format!("asking {store}"), None);
        longmemeval::for_each(file, self.request.granularity, |place, haystack| {
            progress.advance(1);
            if self.skips(&haystack.question, haystack.abstention) {
                return Ok(());
            }
            self.cut += haystack.cut;
            let lines = Box::new(Cursor::new(haystack.lines));
            let bed = self.store(place, lines, &NoProgress)?;
            let here = Place {
                store: &store,
                granularity: Some(haystack.granularity),
                bed: &bed,
                names: &haystack.names,
            };
            self.ask(&here, &haystack.question)
                .map_err(|error| at(place, error))
        })?;
        progress.finish();
        Ok(())
    }

    fn store(
        &mut self,
        name: &str,
        lines: Box<dyn io::BufRead>,
        progress: &dyn Progress,
    ) -> Result<Bed> {
        let bed = Bed::new(name, lines, weights(self.request), self.model, progress)?;
        self.stores += 1;
        self.memories += bed.memories;
        // The first recall of a process opens what the others find open.
        bed.recall("warm", self.request.limit)?;
        Ok(bed)
    }

    /// Counts a question that cannot be scored.
    fn skips(&mut self, question: &Question, abstention: bool) -> bool {
        if abstention {
            self.skipped.abstention += 1;
        } else if question.evidence.is_empty() {
            self.skipped.no_evidence += 1;
        } else {
            return false;
        }
        self.tally.skip(&question.category);
        true
    }

    fn ask(&mut self, here: &Place<'_>, question: &Question) -> Result<()> {
        let (answer, time) = here.bed.recall(&question.query, self.request.limit)?;
        self.times_ms.push(time.as_secs_f64() * 1_000.0);
        let ranked = here.ranked(&answer);
        let filling = match self.request.limit < FILLING {
            true => here.ranked(&here.bed.recall(&question.query, FILLING)?.0),
            false => ranked.clone(),
        };

        let known: HashSet<&String> = here.names.values().collect();
        let unknown = question.evidence.iter().filter(|e| !known.contains(e));
        self.unknown_evidence += unknown.count() as u64;

        let ranks_in = |ranked: &[Ranked]| -> Vec<_> {
            let rank_of =
                |name: &String| ranked.iter().position(|hit| hit.key.as_ref() == Some(name));
            let ranks = question.evidence.iter().map(rank_of);
            ranks.map(|index| index.map(|index| index + 1)).collect()
        };
        let tokens: Vec<usize> = filling.iter().map(|hit| hit.tokens).collect();
        let filling = (&ranks_in(&filling)[..], &tokens[..]);
        self.tally
            .add(&question.category, &ranks_in(&ranked), filling);

        let ranking = Ranking {
            store: here.store.to_owned(),
            question: question.id.clone(),
            query: question.query.clone(),
            category: question.category.clone(),
            granularity: here.granularity,
            evidence: question.evidence.clone(),
            ranked,
        };
        (self.each)(&ranking).map_err(|source| ServiceError::Io {
            doing: "cannot write the rankings".to_owned(),
            source,
        })
    }

    fn report(mut self) -> BenchReport {
        self.times_ms.sort_by(f64::total_cmp);
        let (overall, categories) = self.tally.means();
        BenchReport {
            stores: self.stores,
            memories: self.memories,
            questions: overall.n,
            skipped: self.skipped,
            unknown_evidence: self.unknown_evidence,
            cut: self.cut,
            limit: self.request.limit,
            only: self.request.only,
            latency_ms: Latency {
                p50: metrics::percentile(&self.times_ms, 50),
                p95: metrics::percentile(&self.times_ms, 95),
            },
            overall,
            categories,
        }
    }
}

/// The error, and of which question it is.
fn at(place: &str, error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Invalid { message, hint } => ServiceError::Invalid {
            message: format!("{place}: {message}"),
            hint,
        },
        other => other,
    }
}
