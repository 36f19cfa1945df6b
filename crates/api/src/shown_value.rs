//! Values of fields as people read them.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::expiry::in_zone;
use super::when::local_time;

/// Returns the text value of a memory's field, with times in a zone. Another text is returned unchanged.
pub fn shown_text(field: &str, text: &str, zone: &TimeZone) -> String {
    match field {
        "expires" => in_zone(text, zone),
        "pinned" | "pinned_until" if text == "unpinned" => "until it is unpinned".to_owned(),
        "occurred_at" | "pinned" | "pinned_until" => local_time(text, zone),
        _ => text.to_owned(),
    }
}

/// Returns a value of a field, with times in a zone: a text, `(none)`, or JSON.
pub fn shown_value(field: &str, value: &Value, zone: &TimeZone) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => shown_text(field, text, zone),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_shown_with_its_end() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        for (field, text, shown) in [
            ("pinned", "unpinned", "until it is unpinned"),
            ("pinned_until", "unpinned", "until it is unpinned"),
            ("pinned_until", "2027-01-15T08:00:00Z", "2027-01-15 00:00"),
            ("content", "unpinned", "unpinned"),
        ] {
            assert_eq!(shown_text(field, text, &zone), shown, "{field}");
        }
    }
}
