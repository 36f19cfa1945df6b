//! The request and the reports of a recall benchmark.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A request to measure how well recall finds known evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRequest {
    /// Folders of pairs, files of pairs, LongMemEval's files.
    pub paths: Vec<PathBuf>,
    /// The ranks k to score at, each from 1 to `limit`.
    pub ks: Vec<usize>,
    /// Results per recall, 10 to 1000.
    pub limit: usize,
    /// The size of a memory made of LongMemEval's files. Default: a turn if turns are marked.
    pub granularity: Option<Granularity>,
    /// The weights of the ranking.
    pub weights: icm_projections::ranking::Ranking,
    /// The only signal to rank by; `None` for all.
    pub only: Option<Signal>,
    /// Least fit of a result, 0 to 1; with 0 every result is scored.
    pub floor: f64,
    /// `true` to ask each store foreign questions, too: nothing in the store answers them.
    pub foreign: bool,
    /// `true` to add the features of each result to the rankings.
    pub features: bool,
}

/// The part of a conversation that becomes one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// The words of one side until the other side speaks.
    Turn,
    /// A whole session.
    Session,
}

/// A signal that a recall ranks by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// BM25.
    Text,
    /// Nearness of embeddings.
    Vectors,
}

/// The report of a benchmark. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    /// Stores that were made.
    pub stores: u64,
    /// Memories in them.
    pub memories: u64,
    /// Questions that were asked.
    pub questions: u64,
    /// Questions that were not asked.
    pub skipped: Skipped,
    /// Pieces of evidence that name no memory; they count as never found.
    pub unknown_evidence: u64,
    /// Texts beyond the limit of a memory; only their beginning was stored.
    pub cut: u64,
    /// Results per recall.
    pub limit: usize,
    /// The one signal that was used; `None` for all.
    pub only: Option<Signal>,
    /// Least fit of a result that was scored.
    pub floor: f64,
    /// Wall time of the recalls.
    pub latency_ms: Latency,
    /// One entry per folder or file, in the order of the request.
    pub sets: Vec<SetScores>,
    /// Figures over the questions of all sets.
    pub all: SetScores,
    /// Scores over all questions.
    pub overall: Scores,
    /// Scores over the questions of each category.
    pub categories: BTreeMap<String, Scores>,
}

/// Questions that were not asked, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The set does not say what the evidence is.
    pub no_evidence: u64,
    /// There is no evidence: the right answer is that nothing is known.
    pub abstention: u64,
}

/// Percentiles of a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The median: half the recalls took no longer.
    pub p50: f64,
    /// 95 of 100 recalls took no longer.
    pub p95: f64,
}

/// Means over questions; all 0 if there were no questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Questions that were asked.
    pub n: u64,
    /// Questions that were not asked.
    pub skipped: u64,
    /// Share of questions with a piece of evidence among the first k, by k.
    pub any_at: BTreeMap<usize, f64>,
    /// Share of questions with all evidence among the first k, by k.
    pub all_at: BTreeMap<usize, f64>,
    /// Mean share of a question's evidence among the first k.
    pub evidence_at: BTreeMap<usize, f64>,
    /// Mean reciprocal rank of the first piece.
    pub mrr: f64,
    /// Normalised discounted cumulative gain of the first ten.
    pub ndcg_at_10: f64,
    /// Mean share of the evidence among the first results that fit into so many tokens.
    pub evidence_in_tokens: BTreeMap<usize, f64>,
}

/// Figures of one set, with intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SetScores {
    /// The folder or file; `all` for all of them.
    pub name: String,
    /// Questions that were asked.
    pub n: u64,
    /// Share of questions with a piece of evidence among the first 1, 5 and 10.
    pub any_at: BTreeMap<usize, Figure>,
    /// Mean share of a question's evidence among the first 10.
    pub evidence_at: BTreeMap<usize, Figure>,
    /// Mean reciprocal rank of the first piece.
    pub mrr: Figure,
    /// Mean share of the evidence among the first results that fit into so many tokens.
    pub evidence_in_tokens: BTreeMap<usize, f64>,
    /// Wall time of the recalls.
    pub latency_ms: Latency,
    /// The quality of fit as a mark of evidence.
    pub fit: FitScores,
}

/// A mean over questions with its 95 % interval by bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// 2.5 % of the resamples have a smaller mean.
    pub low: f64,
    /// 2.5 % of the resamples have a larger mean.
    pub high: f64,
}

/// The quality of fit: does it tell answers from everything else? Measured in recalls with floor 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FitScores {
    /// First results by their fit, in steps of 0.1.
    pub bins: Vec<FitBin>,
    /// First results with fit ≥ 0.5, and the share of them that is evidence.
    pub sure: Share,
    /// First results that are evidence, and the share of them that has fit ≥ 0.5.
    pub right: Share,
    /// The default floor, `ranking.floor`; the next three shares are at this floor.
    pub floor: f64,
    /// Questions with evidence among the first ten, and the share that loses all of it.
    pub own: Share,
    /// Foreign questions of the same set, and the share that gets a result.
    pub same_set: Share,
    /// Foreign questions of other sets, and the share that gets a result.
    pub other_set: Share,
    /// The same shares at the floors 0, 0.05, … 0.95.
    pub curve: Vec<CurvePoint>,
}

/// First results whose fit is within a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FitBin {
    /// Least fit.
    pub from: f64,
    /// The next step's least fit.
    pub to: f64,
    /// First results.
    pub n: u64,
    /// Share of them that is evidence.
    pub right: f64,
}

/// A share, and the number of things that it is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The number of things.
    pub of: u64,
    /// The share, from 0 to 1; 0 if `of` is 0.
    pub share: f64,
}

/// The results that a floor lets through, and the evidence that it costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Least fit of a result.
    pub floor: f64,
    /// Share of own questions that lose all their evidence of the first ten.
    pub own_lost: f64,
    /// Share of foreign questions of the same set that get a result.
    pub same_set: f64,
    /// Share of foreign questions of other sets that get a result.
    pub other_set: f64,
}

/// One question and its results, to be scored by other programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The folder or file that the store belongs to.
    pub set: String,
    /// The pair's name, or LongMemEval's file.
    pub store: String,
    /// `true` if the question belongs to another store or half, so nothing here answers it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub foreign: bool,
    /// The store of a foreign question, as `SET/STORE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// LongMemEval's id, or the line of the questions' file.
    pub question: String,
    /// The text of the question.
    pub query: String,
    /// Its category; `none` if the set gives none.
    pub category: String,
    /// The size of a memory; `None` if the set brings memories of its own.
    pub granularity: Option<Granularity>,
    /// Names of the memories that answer the question.
    pub evidence: Vec<String>,
    /// The topic of the first evidence that is a memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// The results, best first.
    pub ranked: Vec<Ranked>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The memory's name: its key, or `SESSION` or `SESSION:TURN` of LongMemEval. `None` if it has no key.
    pub key: Option<String>,
    /// The score that recall gave.
    pub score: f64,
    /// Fit: confidence that the memory answers the question, 0 to 1.
    pub fit: f64,
    /// Tokens of its content, estimated by [`crate::tokens`].
    pub tokens: usize,
    /// The features behind the score, by name; empty unless the request asked for features.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub features: BTreeMap<String, f64>,
}

/// The agreement of two runs of the same recalls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Recalls with the same results in the same order.
    pub same: u64,
    /// Recalls with the same first result.
    pub same_first: u64,
    /// Recalls with the same results in any order.
    pub same_set: u64,
    /// Results that both answers have, as a share of those that either has: the mean over the recalls, from 0 to 1.
    pub overlap: f64,
    /// Recalls that were compared.
    pub of: u64,
}

/// A memory that a recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Its id.
    pub id: String,
    /// Its text at the time; `None` if the text is withheld or was not looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A recorded recall whose answer differs when it is asked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayedRecall {
    /// Position of the event that recorded the recall.
    pub position: u64,
    /// The query.
    pub query: String,
    /// The overlap of this recall, as in [`Agreement::overlap`].
    pub overlap: f64,
    /// The new first result, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Recalled>,
    /// Results that are new.
    pub came: Vec<Recalled>,
    /// Results that are gone.
    pub went: Vec<Recalled>,
}

/// The report on recorded recalls that were asked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayBenchReport {
    /// Recalls that were asked again.
    pub recalls: u64,
    /// Recorded recalls whose query is withheld.
    pub withheld: u64,
    /// The recorded answers compared with today's.
    pub since: Agreement,
    /// Today's answers compared with those of the other settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Agreement>,
    /// The recalls whose answers differ most, most changed first: by the other settings if given, else since they were
    /// recorded.
    pub changed: Vec<ReplayedRecall>,
}
