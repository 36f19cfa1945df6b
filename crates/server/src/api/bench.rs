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
    /// Wall time of the recalls.
    pub latency_ms: Latency,
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

/// One question and what was found, for others to score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The pair's name, or LongMemEval's file.
    pub store: String,
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
    /// Tokens of its content, as they are estimated here.
    pub tokens: usize,
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
