//! Ceilings on what callers may give, and the checks that name them.

use unicode_normalization::UnicodeNormalization;

use crate::error::{Result, ServiceError};

/// Bytes of a memory's content.
pub const CONTENT_LEN_MAX: usize = 64 * 1_024;
/// Bytes of a verbatim excerpt.
pub const RAW_EXCERPT_LEN_MAX: usize = 64 * 1_024;
/// Bytes of a topic.
pub const TOPIC_LEN_MAX: usize = 128;
/// Bytes of a key.
pub const KEY_LEN_MAX: usize = 256;
/// Keywords of a memory.
pub const KEYWORDS_MAX: usize = 32;
/// Bytes of a keyword.
pub const KEYWORD_LEN_MAX: usize = 64;
/// Bytes of a metadata object, as JSON.
pub const METADATA_LEN_MAX: usize = 64 * 1_024;
/// Bytes of each part of a source, and of a scope's id.
pub const SOURCE_LEN_MAX: usize = 1_024;
/// Bytes of the name of who acts.
pub const ACTOR_LEN_MAX: usize = 256;
/// Longest scope with its kind in front, in bytes.
pub const SCOPE_LEN_MAX: usize = SOURCE_LEN_MAX + "session:".len();
/// Bytes of a query of a benchmark, and of the part of a prompt's task that is recalled by.
pub const QUERY_LEN_MAX: usize = 8 * 1_024;
/// Results of a recall.
pub const RECALL_LIMIT_MAX: usize = 1_000;
/// Bytes of an idempotency key.
pub const REQUEST_ID_LEN_MAX: usize = 256;

/// A length, as people say it.
fn size(bytes: usize) -> String {
    if bytes >= 1_024 && bytes.is_multiple_of(1_024) {
        format!("{} KiB", bytes / 1_024)
    } else {
        format!("{bytes} bytes")
    }
}

/// Checks text that must say something.
pub fn text(what: &str, text: &str, max: usize) -> Result<()> {
    if text.trim().is_empty() {
        return Err(ServiceError::invalid(format!("{what} is empty")));
    }
    optional_text(what, text, max)
}

/// Checks text that may be empty.
pub fn optional_text(what: &str, text: &str, max: usize) -> Result<()> {
    if text.len() > max {
        return Err(ServiceError::invalid_with(
            format!(
                "{what} is {} bytes long, the limit is {}",
                text.len(),
                size(max)
            ),
            format!("shorten it, or split it into several; the limit is {max} bytes"),
        ));
    }
    if let Some(at) = text.find('\0') {
        return Err(ServiceError::invalid_with(
            format!("{what} has a NUL character at byte {at}"),
            "remove it",
        ));
    }
    Ok(())
}

/// Returns a name in the form in which names are stored: NFC, without space around it.
pub fn normal(given: &str) -> String {
    given.trim().nfc().collect()
}

/// Checks and normalises a name (a topic, a key): NFC, no surrounding space, one line.
pub fn name(what: &str, given: &str, max: usize) -> Result<String> {
    text(what, given, max)?;
    let name = normal(given);
    if name.chars().any(char::is_control) {
        return Err(ServiceError::invalid(format!(
            "{what} has a control character in it"
        )));
    }
    optional_text(what, &name, max)?;
    Ok(name)
}

/// Checks and normalises a name that one has to type again: without characters that cannot be seen, too.
pub fn visible_name(what: &str, given: &str, max: usize) -> Result<String> {
    let name = name(what, given, max)?;
    visible(what, &name)?;
    Ok(name)
}

fn visible(what: &str, given: &str) -> Result<()> {
    match icm_guard::sanitize::clean_line(given) == given {
        true => Ok(()),
        false => Err(ServiceError::invalid_with(
            format!("{what} has an invisible character in it"),
            "leave it out",
        )),
    }
}

/// Checks and normalises a topic: a name whose levels, between `/`, all have a name.
pub fn topic(given: &str) -> Result<String> {
    let topic = visible_name("the topic", given, TOPIC_LEN_MAX)?;
    match topic.split('/').all(|level| !level.trim().is_empty()) {
        true => Ok(topic),
        false => Err(ServiceError::invalid_with(
            format!("a level of the topic `{topic}` has no name"),
            "write a name before and after each `/`; `a/` stands for `a` and everything below it",
        )),
    }
}

/// Checks and normalises keywords: trimmed, without empty and repeated ones, in order.
pub fn keywords(given: &[String]) -> Result<Vec<String>> {
    words("keyword", given)
}

/// The same of words that are called otherwise.
pub fn words(called: &str, given: &[String]) -> Result<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    for word in given {
        let word = word.trim();
        if word.is_empty() {
            continue;
        }
        let word = visible_name(&format!("a {called}"), word, KEYWORD_LEN_MAX)?;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.len() > KEYWORDS_MAX {
        return Err(ServiceError::invalid(format!(
            "{} {called}s were given, the limit is {KEYWORDS_MAX}",
            words.len()
        )));
    }
    Ok(words)
}

/// Checks a metadata object and gives its text.
pub fn metadata(value: &serde_json::Value) -> Result<String> {
    if !value.is_object() {
        return Err(ServiceError::invalid_with(
            "metadata is not a JSON object",
            "write it as {\"name\": value}",
        ));
    }
    if has_nul(value) {
        return Err(ServiceError::invalid_with(
            "metadata has a NUL character in it",
            "remove it",
        ));
    }
    let json = value.to_string();
    optional_text("metadata", &json, METADATA_LEN_MAX)?;
    Ok(json)
}

fn has_nul(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => text.contains('\0'),
        serde_json::Value::Array(items) => items.iter().any(has_nul),
        serde_json::Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// Checks a word of the caller's about itself: its actor, its session.
pub fn label(what: &str, given: &str, max: usize) -> Result<()> {
    optional_text(what, given, max)?;
    match given.chars().any(char::is_control) {
        true => Err(ServiceError::invalid(format!(
            "{what} has a control character in it"
        ))),
        false => Ok(()),
    }
}

/// The same of one that is going to be written.
pub fn visible_label(what: &str, given: &str, max: usize) -> Result<()> {
    label(what, given, max)?;
    visible(what, given)
}
