//! The preview of an undo as entries, which the command line, the terminal view and the explorer print.

use jiff::tz::TimeZone;

use super::expiry::in_zone;
use super::memory::{Memory, Source};
use super::shown_value::shown_text;
use super::undo::{
    RowKind, UndoAction, UndoAlert, UndoAnswer, UndoChange, UndoFact, UndoLink, UndoRow,
};
use super::when::local_time;

/// An entry of a preview: a row, an alert or a value of a fact, and what the undo does to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoEntry<'a> {
    /// The outcome; `None` for an alert that was shown before, for which the undo changes nothing.
    pub action: Option<UndoAction>,
    /// The thing.
    pub target: UndoTarget<'a>,
    /// Topic of a memory; name of a memoir; memoir and name of a concept; subject and attribute of a fact; `alert`.
    pub place: String,
    /// Names of the fields that differ, the time of a value, or why nothing changes; may be empty.
    pub note: String,
    /// The values that differ, the text first.
    pub values: Vec<UndoValue>,
}

/// The thing that an entry of a preview is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoTarget<'a> {
    /// A memory, by its id.
    Memory(&'a str),
    /// A memoir, a concept or feedback, by its id.
    Row(&'a str),
    /// An event, by its position.
    Event(u64),
}

impl UndoTarget<'_> {
    /// Returns the name that commands take: an id, or `@12`.
    pub fn name(self) -> String {
        match self {
            UndoTarget::Memory(id) | UndoTarget::Row(id) => id.to_owned(),
            UndoTarget::Event(position) => format!("@{position}"),
        }
    }
}

/// A value before and after an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoValue {
    /// Name of the field; empty for the text of a row, its links, and the value of a fact.
    pub label: &'static str,
    /// The value before; `None` if there was none.
    pub before: Option<String>,
    /// The value after; `None` if there is none.
    pub after: Option<String>,
    /// `true` for a value that may be long, so that before and after stand on lines of their own.
    pub is_text: bool,
}

impl UndoValue {
    /// Returns the value as one line, `importance: low → high`; `None` if before and after stand on lines of their own.
    pub fn line(&self) -> Option<String> {
        let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
        let (before, after) = (said(&self.before), said(&self.after));
        (!self.is_text).then(|| format!("{}: {before} → {after}", self.label))
    }

    /// Returns one of the values with the name of its field, if it has one.
    pub fn labelled(&self, value: &str) -> String {
        match self.label {
            "" => value.to_owned(),
            label => format!("{label}: {value}"),
        }
    }

    fn text(label: &'static str, before: Option<String>, after: Option<String>) -> UndoValue {
        UndoValue {
            label,
            before,
            after,
            is_text: true,
        }
    }

    fn short(label: &'static str, before: impl ToString, after: impl ToString) -> UndoValue {
        let some = |value: String| Some(value).filter(|value| !value.is_empty());
        UndoValue {
            label,
            before: some(before.to_string()),
            after: some(after.to_string()),
            is_text: false,
        }
    }

    fn differs(&self) -> bool {
        self.before != self.after
    }

    /// Returns the value with times in a zone.
    fn in_zone(self, zone: &TimeZone) -> UndoValue {
        let shown = |text: String| shown_text(self.label, &text, zone);
        UndoValue {
            before: self.before.map(shown),
            after: self.after.map(shown),
            ..self
        }
    }
}

/// Entries of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoEntries<'a> {
    /// The first entries.
    pub entries: Vec<UndoEntry<'a>>,
    /// The line for those that are left out: `… and 3 more alerts`; `None` if there are none.
    pub more: Option<String>,
}

impl UndoAnswer {
    /// Returns the entries of the preview, at most `most` of each kind: rows, values of facts, alerts. Times are those of
    /// a zone.
    pub fn entries(&self, most: usize, zone: &TimeZone) -> [UndoEntries<'_>; 3] {
        let (row, fact) = (
            |it| UndoChange::entry(it, zone),
            |it| UndoFact::entry(it, zone),
        );
        [
            first(&self.changes, most, ["", ""], row),
            first(&self.facts, most, [" value", " values"], fact),
            first(&self.alerts, most, [" alert", " alerts"], UndoAlert::entry),
        ]
    }
}

fn first<'a, T>(
    all: &'a [T],
    most: usize,
    [one, many]: [&str; 2],
    entry: impl Fn(&'a T) -> UndoEntry<'a>,
) -> UndoEntries<'a> {
    let more = all.len().saturating_sub(most);
    UndoEntries {
        entries: all.iter().take(most).map(entry).collect(),
        more: match more {
            0 => None,
            1 => Some(format!("… and 1 more{one}")),
            n => Some(format!("… and {n} more{many}")),
        },
    }
}

impl UndoFact {
    fn entry(&self, zone: &TimeZone) -> UndoEntry<'_> {
        let from = local_time(&self.valid_from, zone);
        let until = self.valid_until.iter();
        let until = until.map(|until| format!(" until {}", local_time(until, zone)));
        let until: String = until.collect();
        let said = |value: &Option<String>| Some(or(value, "(no value)"));
        UndoEntry {
            action: Some(UndoAction::Changed),
            target: UndoTarget::Memory(&self.id),
            place: format!("{} {}", self.subject, self.attribute),
            note: format!("from {from}{until}"),
            values: vec![UndoValue::text("", said(&self.before), said(&self.after))],
        }
    }
}

impl UndoAlert {
    fn entry(&self) -> UndoEntry<'_> {
        let text = or(&self.text, WITHHELD);
        let (note, values) = match (self.shown, self.action) {
            (true, _) => {
                let why = "it was shown before, so the undo changes nothing";
                (format!("{why}: {text}"), Vec::new())
            }
            (_, UndoAction::Back) => {
                let value = UndoValue::text("", None, Some(text));
                (String::new(), vec![value])
            }
            _ => {
                let value = UndoValue::text("", Some(text), None);
                (String::new(), vec![value])
            }
        };
        UndoEntry {
            action: (!self.shown).then_some(self.action),
            target: UndoTarget::Event(self.position),
            place: "alert".to_owned(),
            note,
            values,
        }
    }
}

impl UndoChange {
    fn entry(&self, zone: &TimeZone) -> UndoEntry<'_> {
        UndoEntry {
            action: Some(self.action),
            target: match self.of {
                RowKind::Memory => UndoTarget::Memory(&self.id),
                _ => UndoTarget::Row(&self.id),
            },
            place: self.topic.clone(),
            note: match (self.expired(), self.action) {
                (Some(condition), UndoAction::Back) => {
                    format!("was expired: {}", in_zone(condition, zone))
                }
                (Some(condition), _) => format!("expired: {}", in_zone(condition, zone)),
                (None, _) => self.fields.join(", "),
            },
            values: self.values(zone),
        }
    }

    /// Returns the condition by which the memory expires with the undo, or no longer does.
    fn expired(&self) -> Option<&str> {
        let row = match self.action {
            UndoAction::Gone => &self.after,
            UndoAction::Back => &self.before,
            UndoAction::Changed => &None,
        };
        match row {
            Some(UndoRow::Memory(memory)) if memory.expired => memory.expires.as_deref(),
            _ => None,
        }
    }

    /// Returns the values that the undo takes back: the text, other fields, links. Of a row that comes or goes, the text
    /// stands for all fields.
    fn values(&self, zone: &TimeZone) -> Vec<UndoValue> {
        let text = |row: &Option<UndoRow>| {
            let text = row.as_ref().and_then(UndoRow::text);
            Some(text.unwrap_or(WITHHELD).to_owned())
        };
        let (before, after) = (text(&self.before), text(&self.after));
        let mut values = match self.action {
            UndoAction::Gone => vec![UndoValue::text("", before, None)],
            UndoAction::Back => vec![UndoValue::text("", None, after)],
            UndoAction::Changed => {
                let mut values = vec![UndoValue::text("", before, after)];
                values.extend(self.fields_of_row());
                // The text of a fact may be told as its value instead: then it is none of the fields.
                values.retain(|value| value.differs() && self.names(value.label));
                values.into_iter().map(|it| it.in_zone(zone)).collect()
            }
        };
        values.extend(self.links.iter().map(UndoLink::value));
        values
    }

    /// Returns `true` if a value with this label is one of the fields that differ. Recalls are no field.
    fn names(&self, label: &str) -> bool {
        let field = match (label, self.of) {
            ("recalled", _) => return true,
            ("", RowKind::Memory) => "content",
            ("", RowKind::Memoir) => "description",
            ("", RowKind::Concept) => "definition",
            ("", RowKind::Feedback) => "correct",
            (label, _) => label,
        };
        self.fields.iter().any(|name| name == field)
    }

    /// Returns the fields beside the text, also those that are the same.
    fn fields_of_row(&self) -> Vec<UndoValue> {
        match (&self.before, &self.after) {
            (Some(UndoRow::Memory(before)), Some(UndoRow::Memory(after))) => {
                fields_of_memory(before, after)
            }
            (Some(UndoRow::Concept(before)), Some(UndoRow::Concept(after))) => vec![
                UndoValue::short("name", &before.name, &after.name),
                UndoValue::short("labels", before.labels.join(", "), after.labels.join(", ")),
                UndoValue::short("confidence", before.confidence, after.confidence),
                UndoValue::short("revision", before.revision, after.revision),
            ],
            (Some(UndoRow::Memoir(before)), Some(UndoRow::Memoir(after))) => {
                vec![UndoValue::short("name", &before.name, &after.name)]
            }
            _ => Vec::new(),
        }
    }
}

fn fields_of_memory(before: &Memory, after: &Memory) -> Vec<UndoValue> {
    let given = |value: &Option<String>| value.clone().unwrap_or_default();
    let of = |label, field: fn(&Memory) -> &Option<String>| {
        UndoValue::short(label, given(field(before)), given(field(after)))
    };
    let metadata = |memory: &Memory| memory.metadata.as_ref().map(ToString::to_string);
    let recalled = |memory: &Memory| match memory.access_count {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    vec![
        UndoValue::short("topic", &before.topic, &after.topic),
        of("key", |memory| &memory.key),
        UndoValue::short(
            "importance",
            before.importance.name(),
            after.importance.name(),
        ),
        UndoValue::short("scope", &before.scope, &after.scope),
        UndoValue::short(
            "keywords",
            before.keywords.join(", "),
            after.keywords.join(", "),
        ),
        UndoValue::short("trust", before.trust.name(), after.trust.name()),
        UndoValue::short("source", told(&before.source), told(&after.source)),
        of("occurred_at", |memory| &memory.occurred_at),
        of("pinned", |memory| &memory.pinned_until),
        of("expires", |memory| &memory.expires),
        UndoValue::short("expired", before.expired, after.expired),
        UndoValue::short("created_at", &before.created_at, &after.created_at),
        UndoValue::short("recalled", recalled(before), recalled(after)),
        UndoValue::text(
            "raw_excerpt",
            before.raw_excerpt.clone(),
            after.raw_excerpt.clone(),
        ),
        UndoValue::text("metadata", metadata(before), metadata(after)),
    ]
}

impl UndoLink {
    fn value(&self) -> UndoValue {
        let told = match (&self.name, &self.from) {
            (Some(name), Some(_)) => format!("{name} {}", self.relation),
            (Some(name), None) => format!("{} {name}", self.relation),
            (None, _) => format!("{} {}", self.relation, self.to),
        };
        match self.action {
            UndoAction::Back => UndoValue::text("", None, Some(told)),
            _ => UndoValue::text("", Some(told), None),
        }
    }
}

/// Stands for a text that was redacted or is damaged.
const WITHHELD: &str = "(withheld)";

fn or(value: &Option<String>, other: &str) -> String {
    value.as_deref().unwrap_or(other).to_owned()
}

/// Returns the parts of a source that are given.
fn told(source: &Source) -> String {
    let Source {
        agent,
        client,
        session,
        project,
        file,
    } = source;
    let parts = [agent, client, session, project, file];
    let given: Vec<&str> = parts
        .into_iter()
        .filter_map(|part| part.as_deref())
        .collect();
    given.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn zone() -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(-8))
    }

    fn memory(with: &Value) -> Memory {
        let mut memory = json!({
            "id": "01M", "key": null, "topic": "decisions", "content": "Invoices live in MySQL",
            "importance": "medium", "weight": 1.0, "keywords": [], "scope": "global", "trust": "agent",
            "source": { "agent": "codex" }, "created_at": "2027-01-15T08:00:00Z",
            "updated_at": "2027-01-15T08:00:00Z", "occurred_at": null, "last_accessed": null,
            "access_count": 0, "forgotten": false,
        });
        let fields = with.as_object().expect("an object");
        for (name, value) in fields {
            memory[name] = value.clone();
        }
        serde_json::from_value(memory).expect("a memory")
    }

    fn change(action: UndoAction, fields: &str, before: &Value, after: &Value) -> UndoChange {
        let row = |with: &Value| Some(UndoRow::Memory(Box::new(memory(with))));
        UndoChange {
            id: "01M".to_owned(),
            of: RowKind::Memory,
            topic: "decisions".to_owned(),
            action,
            fields: fields.split_whitespace().map(str::to_owned).collect(),
            before: row(before),
            after: row(after),
            links: Vec::new(),
            later_changes: 0,
        }
    }

    /// Returns the values as lines: one for a short value, else one for each side.
    fn told(entry: &UndoEntry<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for value in &entry.values {
            lines.extend(value.line());
            if value.is_text {
                let before = value.before.iter();
                lines.extend(before.map(|text| format!("- {}", value.labelled(text))));
                let after = value.after.iter();
                lines.extend(after.map(|text| format!("+ {}", value.labelled(text))));
            }
        }
        lines
    }

    #[test]
    fn every_field_that_differs_is_a_value() {
        let before = json!({
            "topic": "archive", "key": "k", "importance": "high", "scope": "project:shop",
            "keywords": ["a", "b"], "trust": "user", "source": { "agent": "codex", "file": "a.md" },
            "occurred_at": "2027-01-01T00:00:00Z", "pinned_until": "2027-02-01T10:00:00Z",
            "expires": "time 2027-01-20T08:00:00Z", "expired": true,
            "created_at": "2027-01-16T08:00:00Z", "access_count": 1, "raw_excerpt": "he said so",
            "metadata": { "a": 1 }, "content": "Invoices live in PostgreSQL",
        });
        let fields = "content topic key importance scope keywords trust source occurred_at pinned expires \
                      expired created_at raw_excerpt metadata";
        let whole = change(UndoAction::Changed, fields, &before, &json!({}));
        let expected = [
            "- Invoices live in PostgreSQL",
            "+ Invoices live in MySQL",
            "topic: archive → decisions",
            "key: k → (none)",
            "importance: high → medium",
            "scope: project:shop → global",
            "keywords: a, b → (none)",
            "trust: user → agent",
            "source: codex, a.md → codex",
            "occurred_at: 2026-12-31 16:00 → (none)",
            "pinned: 2027-02-01 02:00 → (none)",
            "expires: time 2027-01-19 → (none)",
            "expired: true → false",
            "created_at: 2027-01-16T08:00:00Z → 2027-01-15T08:00:00Z",
            "recalled: once → 0 times",
            "- raw_excerpt: he said so",
            "- metadata: {\"a\":1}",
        ];
        assert_eq!(told(&whole.entry(&zone())), expected);
        // The text is told elsewhere.
        let one = change(UndoAction::Changed, "importance scope", &before, &json!({}));
        let entry = one.entry(&zone());
        let expected = [
            "importance: high → medium",
            "scope: project:shop → global",
            "recalled: once → 0 times",
        ];
        assert_eq!(told(&entry), expected);
        assert_eq!(entry.target, UndoTarget::Memory("01M"));
        assert_eq!(entry.note, "importance, scope");
    }

    #[test]
    fn a_row_that_comes_or_goes_is_its_text_and_its_links() {
        let link = |action, from: Option<&str>, name: Option<&str>| UndoLink {
            action,
            relation: "depends_on".to_owned(),
            from: from.map(str::to_owned),
            to: "01T".to_owned(),
            name: name.map(str::to_owned),
            event: String::new(),
        };
        let gone = UndoChange {
            links: vec![
                link(UndoAction::Gone, None, None),
                link(UndoAction::Back, None, Some("api")),
                link(UndoAction::Gone, Some("01F"), Some("mailer")),
            ],
            ..change(
                UndoAction::Gone,
                "",
                &json!({ "importance": "low", "content": null }),
                &json!({}),
            )
        };
        let expected = [
            "- (withheld)",
            "- depends_on 01T",
            "+ depends_on api",
            "- mailer depends_on",
        ];
        assert_eq!(told(&gone.entry(&zone())), expected);
        let back = change(UndoAction::Back, "", &json!({}), &json!({}));
        assert_eq!(told(&back.entry(&zone())), ["+ Invoices live in MySQL"]);
        let expired = json!({ "expires": "time 2027-01-20T08:00:00Z", "expired": true });
        let expires = change(UndoAction::Gone, "", &json!({}), &expired);
        assert_eq!(expires.entry(&zone()).note, "expired: time 2027-01-19");
        let back = change(UndoAction::Back, "", &expired, &json!({}));
        assert_eq!(back.entry(&zone()).note, "was expired: time 2027-01-19");
    }

    #[test]
    fn alerts_and_values_of_facts_are_entries() {
        let alert = |action, shown| UndoAlert {
            event: String::new(),
            position: 7,
            action,
            shown,
            text: Some("call Mira".to_owned()),
        };
        let gone = alert(UndoAction::Gone, false);
        assert_eq!(gone.entry().action, Some(UndoAction::Gone));
        assert_eq!(gone.entry().target.name(), "@7");
        assert_eq!(told(&gone.entry()), ["- call Mira"]);
        assert_eq!(
            told(&alert(UndoAction::Back, false).entry()),
            ["+ call Mira"]
        );
        let shown = alert(UndoAction::Gone, true);
        assert_eq!(shown.entry().action, None);
        let note = "it was shown before, so the undo changes nothing: call Mira";
        assert_eq!(shown.entry().note, note);
        assert_eq!(shown.entry().values, []);

        let fact = UndoFact {
            id: "01M".to_owned(),
            subject: "deploy".to_owned(),
            attribute: "version".to_owned(),
            valid_from: "2027-01-15T08:00:00Z".to_owned(),
            valid_until: Some("2027-01-16T08:00:00Z".to_owned()),
            before: Some("2.0".to_owned()),
            after: None,
        };
        let entry = fact.entry(&zone());
        assert_eq!(entry.place, "deploy version");
        // A person reads local times.
        let note = "from 2027-01-15 00:00 until 2027-01-16 00:00";
        assert_eq!(entry.note, note);
        assert_eq!(told(&entry), ["- 2.0", "+ (no value)"]);

        let facts = [fact.clone(), fact.clone(), fact];
        let entry_of = |it| UndoFact::entry(it, &TimeZone::UTC);
        let some = first(&facts, 2, ["", " values"], entry_of);
        assert_eq!(
            (some.entries.len(), some.more),
            (2, Some("… and 1 more".to_owned()))
        );
        let some = first(&facts, 1, ["", " values"], entry_of);
        assert_eq!(some.more.as_deref(), Some("… and 2 more values"));
        assert_eq!(first(&facts, 3, ["", ""], entry_of).more, None);
    }
}
