//! Conflicts: fields for which concurrent writes left several values.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::basis::Basis;
use super::memory::Receipt;
use super::shown_value::shown_value;

/// The name of a conflict's field if one machine forgot the row while another wrote it.
pub const FORGOTTEN: &str = "forgotten";

/// A request for the conflicts of a store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConflictsRequest {
    /// Only memories in this topic; `a/` for `a` and everything below it. Memoirs and concepts have no topic.
    pub topic: Option<String>,
    /// Most conflicts to list; all are counted.
    pub limit: Option<usize>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// The conflicts of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflicts {
    /// The basis of the answer.
    pub basis: Basis,
    /// The conflicts, the most recently written first.
    pub conflicts: Vec<Conflict>,
    /// Number of all conflicts.
    pub total: u64,
}

/// A field to which machines gave different values without knowing of each other's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// ULID.
    pub id: String,
    /// The kind of row that `id` names.
    pub of: ConflictOf,
    /// The topic of a memory, else the memoir's name.
    pub topic: String,
    /// The concept's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// `content`, `importance`, …; of a concept `definition` or `confidence`; of a memoir `description`. `forgotten` if
    /// one machine forgot the row while another wrote it.
    pub field: String,
    /// The value that is shown, the same on every machine with the same events.
    pub shown: ConflictValue,
    /// The other values, newest first, without repeats.
    pub others: Vec<ConflictValue>,
}

impl Conflict {
    /// Returns `true` if one machine forgot the row while another wrote it.
    pub fn is_about_forgetting(&self) -> bool {
        self.field == FORGOTTEN
    }

    /// Returns a value for people, with times in a zone: the text, or a line `field: value` for each field that was
    /// written while another machine forgot the row.
    pub fn told(&self, value: &ConflictValue, zone: &TimeZone) -> String {
        match &value.value {
            _ if value.withheld => "(withheld)".to_owned(),
            Value::Bool(_) if self.is_about_forgetting() => "(forgotten)".to_owned(),
            Value::Object(fields) if self.is_about_forgetting() => {
                let line = |(field, value): (&String, &Value)| {
                    format!("{field}: {}", shown_value(field, value, zone))
                };
                fields.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            other => shown_value(&self.field, other, zone),
        }
    }
}

/// The kind of row that a conflict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConflictOf {
    /// A memory.
    Memory,
    /// A memoir.
    Memoir,
    /// A concept.
    Concept,
}

/// One value of a field in conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConflictValue {
    /// The value, as the memory has it; `null` if it is empty or withheld. For `forgotten`: `true`, and in the other
    /// values the fields that were written meanwhile.
    pub value: Value,
    /// `true` if the text was taken out or is damaged.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub withheld: bool,
    /// The event that wrote it (64 hex digits).
    pub event: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// The origin that wrote it.
    pub origin: String,
    /// First moment of the value of a fact, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid_from: Option<String>,
}

/// A request to settle a conflict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettleRequest {
    /// Full id; a unique prefix is enough for a memory.
    pub id: String,
    /// The fields to settle; empty for all in conflict.
    pub fields: Vec<String>,
    /// The event whose values win: an id, a prefix or a position. `None` keeps the values that are shown.
    pub take: Option<String>,
    /// The events of the values that the caller saw, the shown one first: if others are in conflict, it is refused.
    /// Empty for no such check.
    pub seen: Vec<String>,
}

/// The receipt of a settled conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettleReceipt {
    /// The receipt of the update. For a concept or a memoir, the topic is the memoir's name.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The fields that were settled.
    pub settled: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_told_in_words() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        let time = "2027-01-15T08:00:00Z";
        let meanwhile = json!({ "content": "MySQL", "metadata": { "a": 1 }, "occurred_at": time });
        for (field, value, withheld, told) in [
            ("content", json!("MySQL"), false, "MySQL"),
            ("content", json!(null), false, "(none)"),
            ("content", json!(null), true, "(withheld)"),
            (
                "expires",
                json!(format!("time {time}")),
                false,
                "time 2027-01-14",
            ),
            ("occurred_at", json!(time), false, "2027-01-15 00:00"),
            ("metadata", json!({ "a": 1 }), false, "{\"a\":1}"),
            ("forgotten", json!(true), false, "(forgotten)"),
            (
                "forgotten",
                meanwhile,
                false,
                "content: MySQL\nmetadata: {\"a\":1}\noccurred_at: 2027-01-15 00:00",
            ),
        ] {
            let value = ConflictValue {
                value,
                withheld,
                event: String::new(),
                at: time.to_owned(),
                actor: "user".to_owned(),
                origin: String::new(),
                valid_from: None,
            };
            let conflict = Conflict {
                id: "01M".to_owned(),
                of: ConflictOf::Memory,
                topic: "decisions".to_owned(),
                name: None,
                field: field.to_owned(),
                shown: value.clone(),
                others: Vec::new(),
            };
            assert_eq!(conflict.told(&value, &zone), told, "{field}");
        }
    }
}
