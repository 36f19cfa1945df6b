//! Long questions: whole prompts and pasted logs, of which a bounded part is searched for.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::recall::prompt::{self, Asking, Line, PART_MAX, cut};
use crate::service::Service;
use icm_api::error::Result;
use icm_api::limits;
use icm_guard::sanitize::clean_line;

/// Bytes of a question that count. Raised, an answer takes more time, and its record more room in the log.
const COUNTED_MAX: usize = 2 * 1_024;
/// Lines of the shortest text of which only a part counts although it is shorter than [`COUNTED_MAX`]; most of them
/// must be no person's. Lowered, one line of a log stands for the whole paste.
const PASTED_LINES: usize = 4;
/// Bytes at the beginning, and as many at the end, that are read of a long question. Raised, a request without a
/// question mark is found further inside, and reading takes longer.
const READ_MAX: usize = 32 * 1_024;
/// Lines with a question mark between those ends that are read, the last ones. Raised, a prompt of megabytes takes
/// longer.
const ASKING_LINES: usize = 64;
/// Bytes of the sentences that ask. Raised, less of [`COUNTED_MAX`] is left for other lines and rare words.
const ASKING_MAX: usize = 1_024;
/// Lines at the end that count. Raised, less room is left for rare words.
const LAST_LINES: usize = 3;
/// Bytes of each end of a text of one line that count. Raised, less room is left for rare words.
const ONE_LINE_MAX: usize = 768;
/// Rare words of the rest that count. Raised, they outweigh the question.
const RARE_WORDS: usize = 16;
/// Rare identifiers of the rest that count beside a question that says what it is about. Raised, they outweigh the
/// question.
const IDENTIFIERS: usize = 4;
/// Different words of the rest among which rare ones are sought, the last ones. Raised, each costs a look-up.
const WORDS_READ: usize = 4_096;
/// Bytes of the longest word that may be rare. A longer word is a path or encoded data.
const WORD_MAX: usize = 64;
/// Digits of the shortest hexadecimal word that is taken for a random id. Raised, more ids count as words.
const HEX_MIN: usize = 8;
/// Characters of the counted text that a note repeats.
const TOLD_CHARS: usize = 160;

/// The part of a question that counts.
pub(crate) struct Question<'q> {
    pub(crate) text: Cow<'q, str>,
    /// Bytes of the whole question, if this is a part of it.
    pub(crate) whole_len: Option<u64>,
}

impl Service {
    /// Returns the part of a question that counts: all of a short question that a person wrote.
    ///
    /// In a long or pasted question, the sentences that ask count, wherever they stand. If they say what they ask
    /// about, the lines beside them and the rarest identifiers of the rest follow. Else the last lines that a person
    /// wrote follow (and the first one, if no sentence asks), and the rarest words of the rest that the store has.
    /// Reads 64 KiB and the lines with question marks. Secrets are masked first, because a word alone no longer shows
    /// that it is one.
    ///
    /// # Errors
    /// `Invalid` for an empty question, and for one with a NUL character.
    pub(crate) fn what_counts<'q>(&self, query: &'q str) -> Result<Question<'q>> {
        limits::text("the query", query, usize::MAX)?;
        if query.len() <= COUNTED_MAX && !is_pasted(query) {
            return Ok(Question {
                text: Cow::Borrowed(query),
                whole_len: None,
            });
        }
        let read = read_of(query.trim());
        let read = self.settings.secrets.masked(&read).unwrap_or(read);
        let Chosen {
            mut parts,
            is_telling,
        } = chosen(&read);
        let mut counted = String::new();
        for part in &parts {
            add(&mut counted, &read[part.clone()], '\n');
        }
        parts.sort_unstable_by_key(|part| part.start);
        let mut rest = String::new();
        let mut at = 0;
        for part in &parts {
            rest.push_str(&read[at..part.start.max(at)]);
            rest.push('\n');
            at = part.end.max(at);
        }
        rest.push_str(&read[at..]);
        let words = words_of(&rest, is_telling);
        let rare = self.with_views(|views| Ok(views.rare_words(&words, RARE_WORDS)?))?;
        let most = match is_telling {
            true => IDENTIFIERS,
            false => RARE_WORDS,
        };
        let rare = rare.iter().filter(|word| !is_telling || is_code(word));
        for word in rare.take(most) {
            add(&mut counted, word, ' ');
        }
        Ok(Question {
            text: Cow::Owned(counted),
            whole_len: Some(query.len() as u64),
        })
    }
}

impl Question<'_> {
    /// Returns a line that tells which part counted; `None` if the whole question did.
    pub(crate) fn note(&self) -> Option<String> {
        let whole_len = self.whole_len?;
        let told: String = clean_line(&self.text).chars().take(TOLD_CHARS).collect();
        let more = match self.text.chars().count() > TOLD_CHARS {
            true => "…",
            false => "",
        };
        Some(format!(
            "{} of the {whole_len} bytes of the question counted (what asks, a person's lines, rare words): {told}{more}",
            self.text.len()
        ))
    }
}

/// Joins two notes, each of which may be missing.
pub(crate) fn notes(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}; {other}")),
        (one, other) => one.or(other),
    }
}

/// Adds a part behind a separator, if it fits and is not yet in the text.
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

/// Returns `true` if most lines of a text are no person's, and at least one is.
fn is_pasted(text: &str) -> bool {
    // Most questions have one line.
    if text.lines().nth(PASTED_LINES - 1).is_none() {
        return false;
    }
    let lines = prompt::lines(text);
    let own = lines.iter().filter(|line| line.is_own).count();
    lines.len() >= PASTED_LINES && own > 0 && 2 * own <= lines.len()
}

/// Returns the beginning and the end of a long text, and lines with question marks from between them.
fn read_of(text: &str) -> String {
    if text.len() <= 2 * READ_MAX {
        return text.to_owned();
    }
    let first = text.floor_char_boundary(READ_MAX);
    let last = text.ceil_char_boundary(text.len() - READ_MAX);
    let between = &text[first..last];
    let mut read = text[..first].to_owned();
    for line in lines_that_may_ask(between) {
        read.push('\n');
        read.push_str(&line[cut(line, &(0..line.len()))]);
    }
    read.push('\n');
    read.push_str(&text[last..]);
    read
}

/// Returns the last lines of a long text that are a person's and have a question mark at the end of a word, in their
/// order.
fn lines_that_may_ask(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut end = text.len();
    while let Some(at) = text[..end].rfind(['?', '？', '؟']) {
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let stop = text[at..].find('\n').map_or(text.len(), |len| at + len);
        let line = &text[start..stop];
        if line.len() <= 4 * PART_MAX && prompt::lines(line).iter().any(|line| line.is_own) {
            found.push(line);
        }
        if found.len() >= ASKING_LINES {
            break;
        }
        end = start;
    }
    found.reverse();
    found
}

/// The parts of a text that count.
struct Chosen {
    /// The parts, disjoint, the most important one first.
    parts: Vec<Range<usize>>,
    /// `true` if they say what is asked about.
    is_telling: bool,
}

/// Chooses the sentences that ask, the last first, then lines.
fn chosen(text: &str) -> Chosen {
    let lines = prompt::lines(text);
    let mut asking: Vec<Asking> = Vec::new();
    let mut left = ASKING_MAX;
    // The last question is meant most.
    for sentence in prompt::questions(text, &lines) {
        if sentence.range.len() > left {
            break;
        }
        left -= sentence.range.len();
        asking.push(sentence);
    }
    let mut parts: Vec<Range<usize>> = asking.iter().map(|asking| asking.range.clone()).collect();
    if let ([line], true) = (lines.as_slice(), parts.is_empty()) {
        return Chosen {
            parts: ends_of_line(text, &line.range),
            is_telling: false,
        };
    }
    let is_telling = parts
        .iter()
        .any(|part| prompt::is_telling(&text[part.clone()]));
    let others = match is_telling {
        true => beside(&asking, &lines),
        false => first_and_last(&lines, asking.is_empty()),
    };
    for number in others {
        let line = cut(text, &lines[number].range);
        // If a question stands in the line, the line adds the text around the question.
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
    Chosen { parts, is_telling }
}

/// Returns the numbers of a person's lines that hold a question or stand next to one.
fn beside(asking: &[Asking], lines: &[Line]) -> Vec<usize> {
    let is_beside = |number: usize| {
        let mut lines = asking.iter().map(|asking| asking.line);
        lines.any(|line| line.abs_diff(number) <= 1)
    };
    let own = lines.iter().enumerate().filter(|(_, line)| line.is_own);
    own.map(|(number, _)| number)
        .filter(|number| is_beside(*number))
        .collect()
}

/// Returns the numbers of the last lines, and of the first one if wanted: of a person's lines, if there are any.
fn first_and_last(lines: &[Line], with_first: bool) -> Vec<usize> {
    let is_own = lines.iter().any(|line| line.is_own);
    let numbers: Vec<usize> = (0..lines.len())
        .filter(|number| lines[*number].is_own == is_own)
        .collect();
    let last = numbers.iter().rev().take(LAST_LINES);
    let mut chosen: Vec<usize> = last.copied().collect();
    if let Some(first) = numbers
        .first()
        .filter(|first| with_first && !chosen.contains(first))
    {
        chosen.push(*first);
    }
    chosen
}

/// Returns the different words of a text among which rare ones are sought, identifiers first. Numbers and random ids
/// are left out.
fn words_of(text: &str, identifiers_only: bool) -> String {
    let mut known: HashSet<&str, FxBuildHasher> = HashSet::default();
    let (mut identifiers, mut others) = (String::new(), String::new());
    for token in text.split_whitespace().rev() {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let is_number = word
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_ascii_punctuation());
        let is_hex = word.len() >= HEX_MIN
            && word
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if is_number
            || is_hex
            || word.len() > WORD_MAX
            || known.len() >= WORDS_READ
            || !known.insert(word)
        {
            continue;
        }
        let words = match is_code(word) {
            true => &mut identifiers,
            false if identifiers_only => continue,
            false => &mut others,
        };
        words.push_str(word);
        words.push('\n');
    }
    identifiers + &others
}

/// Returns `true` if a word is one that only programs are written with, such as `E4711`, `max_size` or `TimeoutError`.
fn is_code(word: &str) -> bool {
    let letters = word.chars().any(char::is_alphabetic);
    let marks = word.chars().any(|c| c.is_ascii_digit() || c == '_');
    let mut pairs = word.chars().zip(word.chars().skip(1));
    letters && (marks || pairs.any(|(one, next)| one.is_lowercase() && next.is_uppercase()))
}

/// Returns the beginning and the end of a text of one line, cut between words: one of them says what it is about.
fn ends_of_line(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let blank = |part: &str| part.find(char::is_whitespace);
    let middle = text.floor_char_boundary(line.start + ONE_LINE_MAX);
    let first = text[line.start..middle].rfind(char::is_whitespace);
    let first = line.start..first.map_or(middle, |at| line.start + at);
    let from = text.ceil_char_boundary(line.end.saturating_sub(ONE_LINE_MAX).max(first.end));
    let last = from + blank(&text[from..line.end]).unwrap_or(0)..line.end;
    vec![last, first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::tests::service;
    use icm_api::{Caller, RecallRequest, StoreRequest};

    fn asking(text: &str) -> Vec<&str> {
        let mut parts = chosen(text).parts;
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

    /// Returns the two parts of a text of one line.
    fn asking_in_order(text: &str) -> [String; 2] {
        let parts = chosen(text).parts.into_iter();
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
            (
                format!("{noise}Where does the deploy key of staging live?\n{noise}"),
                &fact,
            ),
            (
                format!(
                    "```\n{noise}```\nWhere does the deploy key of staging live?\n```\n{noise}```"
                ),
                &fact,
            ),
            (
                format!(
                    "{0}Where does the deploy key of staging live?\n{0}",
                    log_lines(1 << 20)
                ),
                &fact,
            ),
            // An error alone.
            (format!("{noise}fatal: E4711PAY\n{noise}"), &coded),
            (
                format!("{noise}fatal: E4711PAY\n{noise}What does this error mean?"),
                &coded,
            ),
            // A short paste that is mostly a log.
            (
                format!(
                    "{}where does the deploy key of staging live",
                    log_lines(700)
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
            // The recorded part counts in full when it is asked again.
            let again = service.recall_again(&recorded[0]).expect("it answers");
            assert_eq!(again.results[0].memory.id, wanted.id);
        }
    }
}
