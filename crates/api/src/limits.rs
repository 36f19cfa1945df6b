//! Limits on what callers may give, and checks whose errors name the limit.

use unicode_normalization::UnicodeNormalization;

use crate::error::{Result, ServiceError};

/// Most bytes of a memory's content.
pub const CONTENT_LEN_MAX: usize = 64 * 1_024;
/// Most bytes of a verbatim excerpt.
pub const RAW_EXCERPT_LEN_MAX: usize = 64 * 1_024;
/// Most bytes of an alert. A hook shows it whole within the default budget of a wake-up pack.
pub const ALERT_LEN_MAX: usize = 2 * 1_024;
/// Most alerts of a store that wait to be shown.
pub const ALERTS_PENDING_MAX: usize = 1_000;
/// Most alerts of one answer.
pub const ALERTS_SHOWN_MAX: usize = 100;
/// Most bytes of a topic.
pub const TOPIC_LEN_MAX: usize = 128;
/// Most bytes of a fact's subject: `facts/` stands before it in the topic.
pub const SUBJECT_LEN_MAX: usize = TOPIC_LEN_MAX - "facts/".len();
/// Most bytes of a key.
pub const KEY_LEN_MAX: usize = 256;
/// Most keywords of a memory.
pub const KEYWORDS_MAX: usize = 32;
/// Most bytes of a keyword.
pub const KEYWORD_LEN_MAX: usize = 64;
/// Most bytes of each text of feedback.
pub const FEEDBACK_LEN_MAX: usize = 16 * 1_024;
/// Most bytes of a metadata object, as JSON.
pub const METADATA_LEN_MAX: usize = 64 * 1_024;
/// Most bytes of each part of a source, and of a scope's id.
pub const SOURCE_LEN_MAX: usize = 1_024;
/// Most bytes of an actor's name.
pub const ACTOR_LEN_MAX: usize = 256;
/// Most bytes of a condition under which a memory expires.
pub const EXPIRES_LEN_MAX: usize = 4_096;
/// Most bytes of a scope with its kind in front.
pub const SCOPE_LEN_MAX: usize = SOURCE_LEN_MAX + "session:".len();
/// Most bytes of a benchmark's query, and of the part of a prompt's task that is recalled by.
pub const QUERY_LEN_MAX: usize = 8 * 1_024;
/// Most results of a recall.
pub const RECALL_LIMIT_MAX: usize = 1_000;
/// Most bytes of an idempotency key.
pub const REQUEST_ID_LEN_MAX: usize = 256;

/// Returns a length for people.
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
        return Err(ServiceError::invalid_with(
            format!("{what} is empty"),
            "give it a text",
        ));
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
        return Err(ServiceError::invalid_with(
            format!("{what} has a control character in it"),
            "leave it out",
        ));
    }
    optional_text(what, &name, max)?;
    Ok(name)
}

/// Checks and normalises a name that people have to type again: also refuses invisible characters.
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

/// Checks and normalises a topic: a name with `/` between levels that are not empty.
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

/// Checks and normalises keywords: trimmed, in order, without empty and repeated ones. Commas are allowed, because older
/// memories have some; see [`refuse_comma`].
pub fn keywords(given: &[String]) -> Result<Vec<String>> {
    words("keyword", given)
}

/// Checks and normalises one tag.
pub fn tag(given: &str) -> Result<String> {
    visible_name("the tag", given, KEYWORD_LEN_MAX)
}

/// Refuses new keywords with commas, as [`refuse_comma`] does.
///
/// # Errors
/// `Invalid` for the first one with a comma.
pub fn refuse_commas(keywords: &[String]) -> Result<()> {
    keywords
        .iter()
        .try_for_each(|keyword| refuse_comma(keyword))
}

/// Refuses a new tag with a comma: the filters of the command line take a comma for the end of a tag.
///
/// # Errors
/// `Invalid`, with the tags that were probably meant.
pub fn refuse_comma(tag: &str) -> Result<()> {
    if !tag.contains(',') {
        return Ok(());
    }
    let parts = tag
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(|part| format!("`{part}`")).collect();
    Err(ServiceError::invalid_with(
        format!("the tag `{tag}` has a comma, which parts tags"),
        match parts.as_slice() {
            [] => "give a tag without a comma".to_owned(),
            parts => format!("give {} each by itself", parts.join(" and ")),
        },
    ))
}

/// Like [`keywords`], for words that messages call `called`.
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
        return Err(ServiceError::invalid_with(
            format!(
                "{} {called}s were given, the limit is {KEYWORDS_MAX}",
                words.len()
            ),
            "leave some of them out",
        ));
    }
    Ok(words)
}

/// Checks a metadata object and returns its JSON.
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

/// Checks a word of the caller about itself, such as its actor or session.
pub fn label(what: &str, given: &str, max: usize) -> Result<()> {
    optional_text(what, given, max)?;
    match given.chars().any(char::is_control) {
        true => Err(ServiceError::invalid_with(
            format!("{what} has a control character in it"),
            "leave it out",
        )),
        false => Ok(()),
    }
}

/// Like [`label`], for words that will be written: also refuses invisible characters.
pub fn visible_label(what: &str, given: &str, max: usize) -> Result<()> {
    label(what, given, max)?;
    visible(what, given)
}
