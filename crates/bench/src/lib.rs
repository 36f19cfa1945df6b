//! Measures recall on questions with known evidence.
//!
//! Each conversation becomes a store of its own in a temporary folder, filled and asked through
//! [`Service`](icm_service::Service) like any front, so the measured recall is the one that users get. [`bench_replay`]
//! asks the recorded recalls of a store again with other settings. The arithmetic is in `metrics`, which knows ranks
//! only.
//!
//! Scores come from known evidence: no model judges an answer. This crate opens only stores that it is given or makes.
//! It must never know the files of the log or of the views.
//!
//! ```
//! use icm_api::NoProgress;
//! use icm_bench::bench_recall;
//! use icm_service::Model;
//! # use icm_api::BenchRequest;
//!
//! # let folder = tempfile::tempdir()?;
//! let set = folder.path().join("notes.memories.jsonl");
//! std::fs::write(&set, r#"{"topic":"t","key":"a","content":"Invoices live in PostgreSQL"}"#)?;
//! let questions = folder.path().join("notes.questions.jsonl");
//! std::fs::write(&questions, r#"{"query":"where do invoices live","category":"c","evidence":["a"]}"#)?;
//! let request = BenchRequest {
//!     paths: vec![folder.path().to_owned()],
//!     ks: vec![1, 5],
//!     limit: 10,
//!     granularity: None,
//!     weights: Default::default(),
//!     only: None,
//!     floor: 0.0,
//!     foreign: false,
//!     features: false,
//! };
//! let report = bench_recall(&request, &Model::BuiltIn, &NoProgress, &mut |_ranking| Ok(()))?;
//! assert_eq!((report.memories, report.questions), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bed;
mod fit;
mod foreign;
mod input;
mod longmemeval;
mod metrics;
mod pairs;
mod replay;
mod sets;
mod tally;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::path::Path;

use serde_json::Value;

use icm_projections::ranking::Ranking as Weights;

use bed::Bed;
use fit::{Kind, SHOWN};
use foreign::{Foreign, Pair, Pairs};
use icm_api::error::{Result, ServiceError};
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::tokens;
use icm_api::{
    BenchReport, BenchRequest, Granularity, NoProgress, Progress, Ranked, Ranking, RecallAnswer,
    SetScores, Signal, Skipped,
};
use icm_service::Model;
use input::Input;
use sets::Sums;
use tally::{NDCG_AT, Tally};

pub use replay::bench_replay;

/// Results of the second recall that fills a context. The ranks are scored on a recall of their own, because the limit
/// influences the order of results. Raised, larger contexts are filled and a measurement takes longer.
const FILLING: usize = 200;

/// A question with its evidence.
struct Question {
    /// The line number, or an id.
    id: String,
    query: String,
    category: String,
    /// Keys without duplicates.
    evidence: Vec<String>,
}

/// Measures recall with a model, after every memory is embedded. `each` gets the ranking of every question.
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
    let sets = input::find(&request.paths)?;
    let is_own = |input: &Input| matches!(input, Input::LongMemEval { .. });
    let mut inputs = sets.iter().flat_map(|set| &set.inputs);
    if request.granularity.is_some() && !inputs.any(is_own) {
        return Err(ServiceError::invalid_with(
            "only of LongMemEval files the granularity can be chosen, and none is among these",
            "leave `--granularity` out: the memories of a pair are taken as they are",
        ));
    }
    let known = foreign::read(&sets, request.foreign)?;
    let mut run = Run {
        request,
        set: String::new(),
        sums: Sums::default(),
        all: Sums::default(),
        sets: Vec::new(),
        model,
        tally: Tally::new(&request.ks),
        skipped: Skipped::default(),
        stores: 0,
        memories: 0,
        unknown_evidence: 0,
        cut: 0,
        each,
    };
    for (set, lent) in sets.iter().zip(&known) {
        run.begin(&set.name);
        let mut pairs = lent.pairs.iter();
        for input in &set.inputs {
            match input {
                Input::Pair { stem } => {
                    let pair = pairs.next().expect("every pair was read");
                    run.pair(stem, pair, lent, &known, progress)?;
                }
                Input::LongMemEval { file } => run.long_mem_eval(file, progress)?,
            }
        }
        run.end();
    }
    Ok(run.report())
}

/// Returns the weights for the ranking of the measured stores.
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
    if !(0.0..=1.0).contains(&request.floor) {
        return Err(ServiceError::invalid(format!(
            "the floor is {}, it must be from 0 to 1",
            request.floor
        )));
    }
    match request.ks.contains(&0) {
        true => Err(ServiceError::invalid("a place is 1 or more")),
        false => Ok(()),
    }
}

/// A measurement in progress.
struct Run<'a> {
    request: &'a BenchRequest,
    model: &'a Model,
    /// The name of the current set. Its figures are in `sums`.
    set: String,
    sums: Sums,
    /// The figures of the finished sets.
    all: Sums,
    sets: Vec<SetScores>,
    tally: Tally,
    skipped: Skipped,
    stores: u64,
    memories: u64,
    unknown_evidence: u64,
    cut: u64,
    each: &'a mut dyn FnMut(&Ranking) -> io::Result<()>,
}

/// The store that is asked, with its names for rankings and errors.
struct Place<'a> {
    store: &'a str,
    granularity: Option<Granularity>,
    bed: &'a Bed,
    /// The names of memories, by key.
    names: &'a HashMap<String, String>,
    /// The topics of the memories with each name; empty for LongMemEval.
    topics: &'a HashMap<String, Vec<String>>,
}

impl Place<'_> {
    /// Returns the topic of the first piece of evidence that is a memory.
    fn topic_of(&self, evidence: &[String]) -> Option<String> {
        let mut topics = evidence.iter().filter_map(|name| self.topics.get(name));
        topics.next().and_then(|topics| topics.first().cloned())
    }

    fn ranked(&self, answer: &RecallAnswer) -> Vec<Ranked> {
        let hits = answer.results.iter().enumerate();
        let ranked = hits.map(|(place, hit)| {
            let key = hit.memory.key.as_ref();
            Ranked {
                key: key.and_then(|key| self.names.get(key)).cloned(),
                score: hit.score,
                fit: hit.fit,
                tokens: tokens::estimate(hit.memory.content.as_deref().unwrap_or_default()),
                features: features(answer, place),
            }
        });
        ranked.collect()
    }
}

/// Returns the features of a result, rounded to five decimals; empty unless they were asked for. The prefix `fit.`
/// marks the features of the fit, and `fit.own` the result's own share in the fit.
fn features(answer: &RecallAnswer, place: usize) -> BTreeMap<String, f64> {
    let Some(explain) = &answer.explain else {
        return BTreeMap::new();
    };
    let result = &explain["results"][place];
    let number = |value: &Value| {
        let flag = value.as_bool().map(|is| f64::from(u8::from(is)));
        let number = value.as_f64().or(flag)?;
        Some((number * 1e5).round() / 1e5)
    };
    let own = ["transcript", "with_window"].map(|name| (name, &result[name]));
    let own = own.into_iter().filter(|_| result.is_object());
    let own = own.map(|(name, value)| match name {
        "with_window" => ("fit.own".to_owned(), value),
        name => (name.to_owned(), value),
    });
    let values = result["features"].as_object().into_iter().flatten();
    let values = values.map(|(name, value)| (name.clone(), value));
    let answered = explain["answered"].as_object().into_iter().flatten();
    let answered = answered.map(|(name, value)| (format!("fit.{name}"), value));
    let all = own
        .chain(values)
        .chain(answered.filter(|_| result.is_object()));
    all.filter_map(|(name, value)| Some((name, number(value)?)))
        .collect()
}

impl Run<'_> {
    fn begin(&mut self, set: &str) {
        set.clone_into(&mut self.set);
        self.sums = Sums::default();
    }

    fn end(&mut self) {
        let scores = self.sums.scores(&self.set, self.floor());
        self.sets.push(scores);
        self.all.extend(&self.sums);
    }

    /// Returns the default floor of a recall.
    fn floor(&self) -> f64 {
        self.request.weights.floor
    }

    fn pair(
        &mut self,
        stem: &Path,
        pair: &Pair,
        lent: &Pairs,
        all: &[Pairs],
        progress: &dyn Progress,
    ) -> Result<()> {
        let path = Input::memories(stem);
        let file = File::open(&path).map_err(|source| ServiceError::Io {
            doing: format!("cannot read {}", path.display()),
            source,
        })?;
        let lines = Box::new(BufReader::with_capacity(1 << 16, file));
        let bed = self.store(&path.display().to_string(), lines, progress)?;
        let keys = bed.keys()?;
        for (place, question) in &pair.questions {
            let several = |key: &&String| keys.get(*key).is_some_and(|topics| topics.len() > 1);
            if let Some(key) = question.evidence.iter().find(several) {
                return Err(ServiceError::invalid(format!(
                    "{place}: the evidence `{key}` names {} memories",
                    keys[key].len()
                )));
            }
        }
        let names = keys.keys().map(|key| (key.clone(), key.clone())).collect();
        let here = Place {
            store: &pair.store,
            granularity: None,
            bed: &bed,
            names: &names,
            topics: &keys,
        };
        let count = pair.questions.len() as u64;
        progress.start(&format!("asking {}", pair.store), Some(count));
        for (place, question) in &pair.questions {
            progress.advance(1);
            if self.skips(question, false) {
                continue;
            }
            self.ask(&here, question)
                .map_err(|error| at(place, error))?;
        }
        progress.finish();
        if !self.request.foreign {
            return Ok(());
        }
        let others = foreign::other_sets(all, &self.set);
        self.ask_foreign(&here, Kind::OtherSet, &others, progress)?;
        if lent.pairs.len() > 1 {
            let others = foreign::same_set(lent, &pair.store);
            return self.ask_foreign(&here, Kind::SameSet, &others, progress);
        }
        self.ask_halves(&here, pair, &path, progress)
    }

    /// Asks each half of a pair the questions of the other half.
    fn ask_halves(
        &mut self,
        whole: &Place<'_>,
        pair: &Pair,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<()> {
        let lines = foreign::lines(path)?;
        let halves = foreign::halves(&self.set, pair, &lines);
        for half in halves.into_iter().flatten() {
            let name = path.display().to_string();
            let lines = Box::new(Cursor::new(half.memories));
            let weights = weights(self.request);
            let bed = Bed::new(&name, lines, weights, self.model, progress)?;
            let here = Place {
                bed: &bed,
                ..*whole
            };
            self.ask_foreign(&here, Kind::SameSet, &half.questions, progress)?;
        }
        Ok(())
    }

    fn ask_foreign(
        &mut self,
        here: &Place<'_>,
        kind: Kind,
        questions: &[Foreign],
        progress: &dyn Progress,
    ) -> Result<()> {
        let what = format!("asking {} what others know", here.store);
        progress.start(&what, Some(questions.len() as u64));
        for question in questions {
            progress.advance(1);
            let explain = self.request.features;
            let (answer, _) = here.bed.recall(&question.query, SHOWN, 0.0, explain)?;
            let ranked = here.ranked(&answer);
            self.sums
                .fits
                .foreign(kind, ranked.iter().map(|hit| hit.fit));
            self.hand_on(Ranking {
                set: self.set.clone(),
                store: here.store.to_owned(),
                foreign: true,
                from: Some(question.from.clone()),
                question: question.id.clone(),
                query: question.query.clone(),
                category: question.category.clone(),
                granularity: None,
                evidence: Vec::new(),
                topic: None,
                ranked,
            })?;
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
                topics: &HashMap::new(),
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
        // The first recall opens the views; later recalls find them open. It is therefore not measured.
        bed.recall("warm", self.request.limit, 0.0, false)?;
        Ok(bed)
    }

    /// Counts a question that cannot be scored. Returns `true` if the question is to be skipped.
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
        let BenchRequest {
            limit,
            floor,
            features,
            ..
        } = *self.request;
        let recall =
            |limit, floor, explain| here.bed.recall(&question.query, limit, floor, explain);
        let (answer, time) = recall(limit, floor, features)?;
        self.sums.took(time.as_secs_f64() * 1_000.0);
        let ranked = here.ranked(&answer);
        let filling = match limit < FILLING {
            true => here.ranked(&recall(FILLING, floor, false)?.0),
            false => ranked.clone(),
        };
        // The cost of a floor is computed from the results without a floor.
        let open = match floor > 0.0 {
            true => &recall(limit, 0.0, false)?.0,
            false => &answer,
        };
        let found = here.ranked(open).into_iter().map(|hit| {
            let is_evidence = hit.key.is_some_and(|key| question.evidence.contains(&key));
            (hit.fit, is_evidence)
        });
        self.sums.fits.own(&found.collect::<Vec<_>>());

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
        let ranks = ranks_in(&ranked);
        self.tally.add(&question.category, &ranks, filling);
        self.sums.add(&ranks, filling);

        self.hand_on(Ranking {
            set: self.set.clone(),
            foreign: false,
            from: None,
            store: here.store.to_owned(),
            question: question.id.clone(),
            query: question.query.clone(),
            category: question.category.clone(),
            granularity: here.granularity,
            evidence: question.evidence.clone(),
            topic: here.topic_of(&question.evidence),
            ranked,
        })
    }

    fn hand_on(&mut self, ranking: Ranking) -> Result<()> {
        (self.each)(&ranking).map_err(|source| ServiceError::Io {
            doing: "cannot write the rankings".to_owned(),
            source,
        })
    }

    fn report(self) -> BenchReport {
        let all = self.all.scores("all", self.floor());
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
            floor: self.request.floor,
            latency_ms: all.latency_ms,
            sets: self.sets,
            all,
            overall,
            categories,
        }
    }
}

/// Returns the error with the place of its question in the message.
fn at(place: &str, error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Invalid { message, hint } => ServiceError::Invalid {
            message: format!("{place}: {message}"),
            hint,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn features_are_numbers_of_their_own_result() {
        let explain = json!({ "results": [
            null,
            {
                "cosine": 3,
                "transcript": true,
                "features": { "text": 0.123_456_7, "speaker": 1, "window": "none" },
                "with_window": 0.25,
            },
        ], "answered": { "cosine": 0.5, "speaker": false } });
        let answer = json!({
            "basis": { "position": 1, "event": "e", "at": "t" }, "scope": [], "results": [], "explain": explain,
        });
        let mut answer: RecallAnswer = serde_json::from_value(answer).expect("an answer");
        let expected = [
            ("speaker", 1.0),
            ("text", 0.12346),
            ("fit.cosine", 0.5),
            ("fit.own", 0.25),
            ("fit.speaker", 0.0),
            ("transcript", 1.0),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(features(&answer, 1), BTreeMap::from(expected));
        assert_eq!(features(&answer, 0), BTreeMap::new());
        assert_eq!(features(&answer, 2), BTreeMap::new());
        answer.explain = None;
        assert_eq!(features(&answer, 1), BTreeMap::new());
    }
}
