//! What a measurement of recall is asked and answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Measures how well recall finds evidence that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRequest {
    /// Folders of pairs, files of pairs, LongMemEval's files.
    pub paths: Vec<PathBuf>,
    /// Places to look at, each from 1 to `limit`.
    pub ks: Vec<usize>,
    /// Results that are asked for, 10 to 1000.
    pub limit: usize,
    /// What a memory is, of LongMemEval's files; default: a turn where turns are marked.
    pub granularity: Option<Granularity>,
    /// What counts how much.
    pub weights: icm_projections::ranking::Ranking,
    /// Only one signal, instead.
    pub only: Option<Signal>,
    /// Least fit of a result, 0 to 1; with 0 everything is scored.
    pub floor: f64,
    /// Whether stores are also asked questions that nothing in them answers.
    pub foreign: bool,
    /// Whether rankings carry the features of each result.
    pub features: bool,
}

/// What becomes one memory of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// What one side said at a time.
    Turn,
    /// A whole session.
    Session,
}

/// What a recall ranks by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// BM25.
    Text,
    /// Nearness of embeddings.
    Vectors,
}

/// How well recall found the evidence. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    /// Stores that were made.
    pub stores: u64,
    /// Memories in them.
    pub memories: u64,
    /// Questions that were asked.
    pub questions: u64,
    /// Questions that were not.
    pub skipped: Skipped,
    /// Pieces of evidence that name no memory; they count as never found.
    pub unknown_evidence: u64,
    /// Texts beyond the limit of a memory; only their beginning was stored.
    pub cut: u64,
    /// Results that each recall was asked for.
    pub limit: usize,
    /// The one signal that was used; `None` for all.
    pub only: Option<Signal>,
    /// Least fit of a result that was scored.
    pub floor: f64,
    /// Wall time of the recalls.
    pub latency_ms: Latency,
    /// One entry a folder or file, in the order of the request.
    pub sets: Vec<SetScores>,
    /// Over the questions of all sets.
    pub all: SetScores,
    /// Over all questions.
    pub overall: Scores,
    /// And over those of a category.
    pub categories: BTreeMap<String, Scores>,
}

/// Questions that were not asked, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// No evidence is known.
    pub no_evidence: u64,
    /// There is none: the right answer is that nothing is known.
    pub abstention: u64,
}

/// Percentiles of a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half took no longer.
    pub p50: f64,
    /// And 95 of 100.
    pub p95: f64,
}

/// Means over questions; all 0 where there were none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Questions that were asked.
    pub n: u64,
    /// Questions that were not.
    pub skipped: u64,
    /// Share of questions with a piece of evidence among the first k, by k.
    pub any_at: BTreeMap<usize, f64>,
    /// With all of it.
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
    /// What fit is worth.
    pub fit: FitScores,
}

/// A mean over questions with its 95 % interval by bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// 2.5 % of the resamples have a smaller mean.
    pub low: f64,
    /// 2.5 % have a larger one.
    pub high: f64,
}

/// How well fit tells answers from everything else. All of it is from recalls with floor 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FitScores {
    /// First results by their fit, in steps of 0.1.
    pub bins: Vec<FitBin>,
    /// First results with fit ≥ 0.5, and the share of them that is evidence.
    pub sure: Share,
    /// First results that are evidence, and the share of them that has fit ≥ 0.5.
    pub right: Share,
    /// The default floor: `ranking.floor`. The next three are at this floor.
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

/// A share and what it is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub of: u64,
    /// From 0 to 1; 0 of none.
    pub share: f64,
}

/// What a floor lets through, and what it costs.
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

/// One question and what was found, for others to score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The folder or file that the store is of.
    pub set: String,
    /// The pair's name, or LongMemEval's file.
    pub store: String,
    /// The question is of another store or half: nothing here answers it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub foreign: bool,
    /// The store that a foreign question is of, as `SET/STORE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// LongMemEval's id, or the line of the questions' file.
    pub question: String,
    /// What was asked.
    pub query: String,
    /// Its category; `none` where none is given.
    pub category: String,
    /// What a memory is; `None` where memories came as they are.
    pub granularity: Option<Granularity>,
    /// Names of the memories that answer it.
    pub evidence: Vec<String>,
    /// The topic of the first of them that is a memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// What was found, best first.
    pub ranked: Vec<Ranked>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The memory's name: its key, or `SESSION` or `SESSION:TURN` of LongMemEval's. `None` for one
    /// without a key.
    pub key: Option<String>,
    /// As recall gave it.
    pub score: f64,
    /// How sure it is that this answers the question.
    pub fit: f64,
    /// Tokens of its content, as they are estimated here.
    pub tokens: usize,
    /// Values that the score is made of, by name, where the ranking explains them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub features: BTreeMap<String, f64>,
}

/// How alike two answers to the same recalls are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Recalls with the same results in the same order.
    pub same: u64,
    /// With the same first result.
    pub same_first: u64,
    /// With the same results, in whatever order.
    pub same_set: u64,
    /// The share of what either answer has that both have, from 0 to 1, as the mean over the recalls.
    pub overlap: f64,
    /// Recalls.
    pub of: u64,
}

/// A memory that a recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// Its id.
    pub id: String,
    /// What it said then; `None` where that is withheld or was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A recall that has another answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayedRecall {
    /// The event that recorded it.
    pub position: u64,
    /// What was asked.
    pub query: String,
    /// As in [`Agreement`], of this one.
    pub overlap: f64,
    /// The first result, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Recalled>,
    /// Results that are new.
    pub came: Vec<Recalled>,
    /// Results that are gone.
    pub went: Vec<Recalled>,
}

/// Recorded recalls, asked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayBenchReport {
    /// Recalls that were asked again.
    pub recalls: u64,
    /// Those that say no longer what was asked.
    pub withheld: u64,
    /// What was answered then, and what would be now.
    pub since: Agreement,
    /// What would be answered now, and with the other settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Agreement>,
    /// What changes most first: with the other settings, or else since then.
    pub changed: Vec<ReplayedRecall>,
}
