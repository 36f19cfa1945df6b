//! Long questions: whole prompts and pasted logs, of which a bounded part is looked for.

use std::borrow::Cow;
use std::ops::Range;

use crate::service::Service;
use icm_api::error::Result;
use icm_api::limits;
use icm_guard::sanitize::clean_line;

/// Bytes of a question that count. More would cost an answer more time, and its record more room in the log.
const COUNTED_MAX: usize = 2 * 1_024;
/// Bytes at the beginning, and as many at the end, of a long question that are read. More would find a question in the
/// middle of a longer text.
const READ_MAX: usize = 32 * 1_024;
/// Bytes of the sentences that ask; what is left of [`COUNTED_MAX`] is for the last lines and rare words.
const ASKING_MAX: usize = 1_024;
/// Lines at the end that count.
const LAST_LINES: usize = 3;
/// Bytes of a sentence or line that count: sentences and lines together stay below [`COUNTED_MAX`].
const PART_MAX: usize = 256;
/// Bytes of each end of a text of one line that count: together they leave room for rare words.
const ONE_LINE_MAX: usize = 768;
/// Rare words of the rest that count.
const RARE_WORDS: usize = 16;
/// Characters of what counted that a note repeats.
const TOLD_CHARS: usize = 160;

/// The part of a question that counts.
pub(crate) struct Question<'q> {
    pub(crate) text: Cow<'q, str>,
    /// Bytes of the whole question, if this is a part of it.
    pub(crate) whole_len: Option<u64>,
}

impl Service {
    /// Returns what counts of a question: all of a short one.
    ///
    /// Of a long one, in this order: sentences that end with a question mark, the last lines (the first line, too, if no
    /// sentence asks), and the rarest words of the rest that the store has. Secrets are masked in it, because a word alone
    /// no longer shows that it is one.
    ///
    /// # Errors
    /// `Invalid` for an empty question, and for one with a NUL character.
    pub(crate) fn what_counts<'q>(&self, query: &'q str) -> Result<Question<'q>> {
        limits::text("the query", query, usize::MAX)?;
        if query.len() <= COUNTED_MAX {
            return Ok(Question {
                text: Cow::Borrowed(query),
                whole_len: None,
            });
        }
        let read = ends_of(query.trim());
        let read = self.settings.secrets.masked(&read).unwrap_or(read);
        let mut parts = parts_that_ask(&read);
        let mut counted = String::new();
        for part in &parts {
            add(&mut counted, &read[part.clone()], '\n');
        }
        parts.sort_unstable_by_key(|part| part.start);
        let mut rest = String::new();
        let mut at = 0;
        for part in &parts {
            rest.push_str(&read[at..part.start]);
            rest.push('\n');
            at = part.end;
        }
        rest.push_str(&read[at..]);
        let rare = self.with_views(|views| Ok(views.rare_words(&rest, RARE_WORDS)?))?;
        for word in rare {
            add(&mut counted, &word, ' ');
        }
        Ok(Question {
            text: Cow::Owned(counted),
            whole_len: Some(query.len() as u64),
        })
    }
}

impl Question<'_> {
    /// Returns a line that tells what counted; `None` if the whole question did.
    pub(crate) fn note(&self) -> Option<String> {
        let whole_len = self.whole_len?;
        let told: String = clean_line(&self.text).chars().take(TOLD_CHARS).collect();
        let more = match self.text.chars().count() > TOLD_CHARS {
            true => "…",
            false => "",
        };
        Some(format!(
            "{} of the {whole_len} bytes of the question counted (what asks, the last lines, rare words): {told}{more}",
            self.text.len()
        ))
    }
}

/// Joins notes that are there.
pub(crate) fn notes(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

/// Adds a part behind a separator, if it fits and is not there already.
fn add(counted: &mut String, part: &str, separator: char) {
    let part = part.trim();
    if counted.len() + 1 + part.len() > COUNTED_MAX || counted.contains(part) {
        return;
    }
    if !counted.is_empty() {
        counted.push(separator);
    }
    counted.push_str(part);
}

/// The beginning and the end of a text that is too long to be read.
fn ends_of(text: &str) -> String {
    if text.len() <= 2 * READ_MAX {
        return text.to_owned();
    }
    let first = &text[..text.floor_char_boundary(READ_MAX)];
    let last = &text[text.ceil_char_boundary(text.len() - READ_MAX)..];
    format!("{first}\n{last}")
}

/// The sentences that ask and then the last lines of a text, the last first, apart from each other.
fn parts_that_ask(text: &str) -> Vec<Range<usize>> {
    let lines = lines(text);
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut left = ASKING_MAX;
    // The last question is meant most.
    for sentence in lines.iter().rev().flat_map(|line| questions(text, line)) {
        if sentence.len() > left {
            break;
        }
        left -= sentence.len();
        parts.push(sentence);
    }
    if let ([line], true) = (lines.as_slice(), parts.is_empty()) {
        return ends_of_line(text, line);
    }
    let first = lines.iter().take(usize::from(parts.is_empty()));
    let last = lines.iter().rev().take(LAST_LINES);
    let lines: Vec<Range<usize>> = last.chain(first).map(|line| cut(text, line)).collect();
    for line in lines {
        // A line that a question stands in counts by what is around the question.
        let inner = parts
            .iter()
            .filter(|part| part.start < line.end && line.start < part.end);
        let start = inner.clone().map(|part| part.start).min();
        let end = inner.map(|part| part.end).max();
        match (start, end) {
            (Some(start), Some(end)) => {
                parts.push(line.start.min(start)..start);
                parts.push(end..line.end.max(end));
            }
            _ => parts.push(line),
        }
    }
    parts.retain(|part| !text[part.clone()].trim().is_empty());
    parts
}

/// The beginning and the end of a text of one line, cut between words: one of them says what it is about.
fn ends_of_line(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let blank = |part: &str| part.find(char::is_whitespace);
    let middle = text.floor_char_boundary(line.start + ONE_LINE_MAX);
    let first = text[line.start..middle].rfind(char::is_whitespace);
    let first = line.start..first.map_or(middle, |at| line.start + at);
    let from = text.ceil_char_boundary(line.end.saturating_sub(ONE_LINE_MAX).max(first.end));
    let last = from + blank(&text[from..line.end]).unwrap_or(0)..line.end;
    vec![last, first]
}

/// The lines of a text that are not empty.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at - line.len()..at
    });
    lines
        .filter(|line| !text[line.clone()].trim().is_empty())
        .collect()
}

/// The sentences of a line that end with a question mark, last first.
fn questions(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let mut questions = Vec::new();
    let mut start = line.start;
    let mut chars = text[line.clone()].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = line.start + at + c.len_utf8();
        // In an address a question mark stands before a letter.
        let ends_word = chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        let ends_text = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let asks = matches!(c, '？' | '؟') || c == '?' && ends_word;
        let ends = matches!(c, '。' | '！') || matches!(c, '.' | '!') && ends_text;
        if asks {
            questions.push(cut(text, &(start..end)));
        }
        if asks || ends {
            start = end;
        }
    }
    questions.reverse();
    questions
}

/// The end of a part that is too long.
fn cut(text: &str, part: &Range<usize>) -> Range<usize> {
    let start = part.start.max(part.end.saturating_sub(PART_MAX));
    text.ceil_char_boundary(start)..part.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::tests::service;
    use icm_api::{Caller, RecallRequest, StoreRequest};

    fn asking(text: &str) -> Vec<&str> {
        let mut parts = parts_that_ask(text);
        parts.sort_unstable_by_key(|part| part.start);
        parts.into_iter().map(|part| text[part].trim()).collect()
    }

    fn log_lines(bytes: usize) -> String {
        let mut text = String::new();
        let mut number = 0;
        while text.len() < bytes {
            number += 1;
            text +=
                &format!("10:00:{number:02} GET /pay?order={number}&retry=1 took {number} ms.\n");
        }
        text
    }

    #[test]
    fn sentences_that_ask_and_the_last_lines_are_what_asks() {
        let noise = log_lines(400);
        let text = format!("{noise}Look at this. Where does the deploy key live? Thanks!\n");
        let found = asking(&text);
        assert_eq!(
            found[found.len() - 3..],
            [
                "Look at this.",
                "Where does the deploy key live?",
                "Thanks!"
            ]
        );
        assert!(found.iter().all(|part| !part.starts_with("10:00:01")));
        let first = asking(&format!("为什么部署失败？\n{noise}"))[0].to_owned();
        assert_eq!(first, "为什么部署失败？");
        // Without a question the first line says what is wanted.
        let first = asking(&format!("Fix the deploy of billing\n{noise}"))[0].to_owned();
        assert_eq!(first, "Fix the deploy of billing");
    }

    #[test]
    fn both_ends_of_a_text_of_one_line_count() {
        let prose = "and then we talked about lunch for a while ".repeat(80);
        let text = format!("Tell me where the deploy key lives. {prose}It is about staging.");
        let [last, first] = asking_in_order(&text);
        assert!(
            first.starts_with("Tell me where the deploy key lives."),
            "{first}"
        );
        assert!(last.ends_with("It is about staging."), "{last}");
        // Words stay whole.
        assert!(first.ends_with(|c: char| c.is_alphabetic()) && prose.contains(&first[40..]));
        let dense = "字".repeat(2_000);
        assert_eq!(
            asking_in_order(&dense).map(|part| part.len() <= ONE_LINE_MAX),
            [true, true]
        );
    }

    /// The two parts of a text of one line.
    fn asking_in_order(text: &str) -> [String; 2] {
        let parts = parts_that_ask(text).into_iter();
        let parts: Vec<String> = parts.map(|part| text[part].trim().to_owned()).collect();
        parts.try_into().expect("two parts")
    }

    #[test]
    fn what_counts_of_any_question_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let questions = [
            "why? ".repeat(2_000),
            "?".repeat(1 << 20),
            "字".repeat(50_000),
            "\n".repeat(5_000) + &"x".repeat(100_000) + "?",
            log_lines(2 << 20),
        ];
        for question in &questions {
            let counted = service.what_counts(question).expect("it is taken");
            assert!(
                (1..=COUNTED_MAX).contains(&counted.text.len()),
                "{}",
                counted.text.len()
            );
            assert_eq!(counted.whole_len, Some(question.len() as u64));
            assert!(counted.note().is_some_and(|note| note.len() < COUNTED_MAX));
        }
        let short = service.what_counts(" why? ").expect("it is taken");
        assert_eq!((&*short.text, short.whole_len), (" why? ", None));
    }

    #[test]
    fn the_question_at_the_end_of_pasted_lines_is_answered_and_recorded_as_it_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let store = |content: String| {
            let request = StoreRequest {
                topic: "ops".to_owned(),
                content,
                ..StoreRequest::default()
            };
            service
                .store(&Caller::default(), request)
                .expect("it stores")
        };
        for number in 0..40 {
            store(format!(
                "GET requests of order {number} took long and were retried"
            ));
        }
        let fact =
            store("The deploy key of staging lives in the vault of the platform team".to_owned());
        let coded = store("Error E4711PAY means that the card was refused twice".to_owned());
        let noise = log_lines(5_900);
        for (question, wanted) in [
            (
                format!("{noise}\nWhere does the deploy key of staging live?"),
                &fact,
            ),
            (
                format!("Where does the deploy key of staging live?\n{noise}"),
                &fact,
            ),
            (format!("{noise}\ndeploy key staging"), &fact),
            (
                format!("{noise}\nfatal: E4711PAY\n{noise}\nWhy is that?"),
                &coded,
            ),
            (
                format!(
                    "{}\nWhere does the deploy key of staging live?",
                    log_lines(1 << 20)
                ),
                &fact,
            ),
        ] {
            let request = RecallRequest {
                query: question.clone(),
                record: true,
                ..RecallRequest::default()
            };
            let answer = service
                .recall(&Caller::default(), &request)
                .expect("it answers");
            assert_eq!(
                answer.results[0].memory.id,
                wanted.id,
                "{}",
                answer.note.as_deref().unwrap_or_default()
            );
            assert!(
                answer
                    .note
                    .is_some_and(|note| note.contains("bytes of the question counted"))
            );
            service.record_recalls();
            let (recorded, _) = service.recorded_recalls(1).expect("it reads");
            let kept = &recorded[0].request.query;
            assert!(kept.len() <= COUNTED_MAX, "{}", kept.len());
            // Asked again it counts in full.
            let again = service.recall_again(&recorded[0]).expect("it answers");
            assert_eq!(again.results[0].memory.id, wanted.id);
        }
    }
}
