//! The tools of feedback, under the names that ICM uses.

pub(super) mod record;
pub(super) mod search;
pub(super) mod stats;

use serde_json::Value;

use super::{
    AS_OF, Call, FLOOR, Hints, Kind, Param, Reply, Tool, clean_value, count, dated, short,
};

const READS: Hints = Hints {
    read_only: true,
    destructive: false,
    idempotent: true,
};

/// Returns an answer as JSON, its texts cleaned.
fn structured<T: serde::Serialize>(answer: &T) -> Value {
    let mut value = serde_json::to_value(answer).unwrap_or_default();
    clean_value(&mut value);
    value
}
