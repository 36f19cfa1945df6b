//! Reads JSON values tolerantly, as a kind of argument means them.

use serde_json::Value;

/// Returns a value as text: a string as is, a number or flag as written.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns a value as a number; it may be written as text.
pub(super) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        value => value.as_f64(),
    }
}

/// Returns a value as a whole number; it may be written as text or as a double (`5.0`).
pub(super) fn whole_of(value: &Value) -> Option<i128> {
    let exact = match value {
        Value::String(text) => text.trim().parse::<i128>().ok(),
        value => {
            let unsigned = value.as_u64().map(i128::from);
            unsigned.or_else(|| value.as_i64().map(i128::from))
        }
    };
    // The cast saturates; the bounds of every parameter are within the type.
    let whole = |number: f64| (number.fract() == 0.0).then_some(number as i128);
    exact.or_else(|| number_of(value).and_then(whole))
}

/// Returns a value as a flag; it may be a word.
pub(super) fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        value => match value.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
    }
}

/// Returns the list in a text: in JSON, or between brackets as in Python (`['a', 'b']`, `[a, b]`).
pub(super) fn list_in(text: &str) -> Option<Value> {
    let list = text.trim();
    let inner = list.strip_prefix('[')?.strip_suffix(']')?;
    match serde_json::from_str(list) {
        Ok(list) => Some(list),
        Err(_) => Some(words_in(inner).into()),
    }
}

/// Returns the words between commas, each without its quotes.
fn words_in(text: &str) -> Vec<String> {
    let words = text.split([',', '，', '、']).map(|word| {
        let word = word.trim();
        let quoted = ['"', '\''].iter().find_map(|quote| {
            let word = word.strip_prefix(*quote)?;
            word.strip_suffix(*quote)
        });
        quoted.unwrap_or(word).to_owned()
    });
    words.collect()
}

/// Returns a value as a list of texts: a list, a list in a text, or words between commas. Empty texts are left out.
pub(super) fn texts_of(value: &Value) -> Option<Value> {
    let texts: Option<Vec<String>> = match value {
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            items.map(text_of).collect()
        }
        Value::String(text) => match list_in(text) {
            Some(list) => return texts_of(&list),
            // A text that only begins as a list was cut.
            None if text.trim_start().starts_with('[') => None,
            None => Some(words_in(text)),
        },
        Value::Number(_) | Value::Bool(_) => text_of(value).map(|text| vec![text]),
        _ => None,
    };
    let texts = texts?.into_iter().map(|text| text.trim().to_owned());
    Some(texts.filter(|text| !text.is_empty()).collect())
}

/// Returns the letters that all spellings of a name share.
pub(super) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}
