//! The view as a whole: tiers, tail, filters, commits.

mod files;
mod filters;
mod near;
mod order;
mod pruning;
mod queries;
mod tail;
mod tiers;

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Everything is visible, the older one first.
const ALL: Sight<'static> = Sight {
    visible: &|_| true,
    tie: &|ordinal| ordinal as u128,
};

fn doc(ordinal: u64, content: &str) -> Doc<'_> {
    Doc {
        ordinal,
        content,
        topic: "topic",
        scope: "global",
        stored: content.as_bytes(),
        ..Doc::default()
    }
}

fn ask(text: &str) -> TextQuery<'_> {
    TextQuery {
        text,
        limit: 10,
        ..TextQuery::default()
    }
}

/// Returns an index of these documents, made in `commits` commits.
fn index_of(docs: &[Doc<'_>], commits: usize) -> Result<TextIndex, TextError> {
    let mut index = TextIndex::in_memory()?;
    for chunk in docs.chunks(docs.len().div_ceil(commits).max(1)) {
        let mut writer = index.writer()?;
        for doc in chunk {
            writer.add_live(doc);
        }
        writer.commit("test")?;
        index.reload()?;
    }
    Ok(index)
}

fn ordinals(index: &TextIndex, tail: &Tail, query: &TextQuery<'_>) -> Result<Vec<u64>, TextError> {
    let answer = index.search(tail, query, &|_| true)?;
    Ok(answer.hits.iter().map(|hit| hit.ordinal).collect())
}
