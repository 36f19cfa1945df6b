//! Long questions: whole prompts and pasted logs, of which a bounded part is searched for.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::recall::asking::{self, About};
use crate::recall::prompt::{self, Asking, Line, PART_MAX, cut};
use crate::service::Service;
use icm_api::error::Result;
use icm_api::limits;
use icm_guard::sanitize::clean_line;

/// Bytes of a question that count. Raised, an answer takes more time, and its record more room in the log.
const COUNTED_MAX: usize = 2 * 1_024;
/// Bytes of the longest question that counts whole if a person wrote it. Raised, a question within a letter is searched
/// for together with the letter; lowered, what is told to explain a question gets lost.
const WHOLE_MAX: usize = 512;
/// Lines of the shortest text of which only a part counts although it is shorter than [`WHOLE_MAX`]; most of them
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
/// Rare words of the rest that count if it has no rare identifiers. Raised, they outweigh the question.
const RARE_WORDS: usize = 16;
/// Rare identifiers of the rest that count. Raised, they outweigh the question.
const IDENTIFIERS: usize = 4;
/// Different words of the rest among which rare ones are sought, the last ones. Raised, each costs a look-up.
const WORDS_READ: usize = 4_096;
/// Bytes of the longest word that may be rare. A longer word is a path or encoded data.
const WORD_MAX: usize = 64;
/// Characters of the shortest hexadecimal word that is taken for a random id. Raised, more ids count as words.
const HEX_MIN: usize = 8;
/// Letters of the shortest word in capitals that is taken for an identifier. Lowered, levels such as `ERROR` are taken for
/// one.
const CAPITALS_MIN: usize = 6;
/// Share of the lines of the rest that a rare word is in at most: a tenth. A word of more lines is of the form of a log.
/// Raised, fewer words count as rare.
const LINES_SHARE: usize = 10;
/// Times that a word may be in the rest however few lines that has. Raised, names of a short log count as rare.
const TIMES_MIN: usize = 2;
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
    /// In a long or pasted question, the lines that ask count, wherever they stand. If they say what they ask about,
    /// nothing else counts. If they point to something else, a person's lines next to them follow, and the rarest
    /// identifiers of the rest that the store has. Without a line that asks, the last lines of a person and the first
    /// one come before those identifiers. What says nothing counts only if there are no identifiers; then rare words of
    /// the rest follow. Reads 64 KiB and the lines with question marks. Secrets are masked first, because a word alone no
    /// longer shows that it is one.
    ///
    /// # Errors
    /// `Invalid` for an empty question, and for one with a NUL character.
    pub(crate) fn what_counts<'q>(&self, query: &'q str) -> Result<Question<'q>> {
        limits::text("the query", query, usize::MAX)?;
        if query.len() <= WHOLE_MAX && !is_pasted(query) {
            return Ok(Question {
                text: Cow::Borrowed(query),
                whole_len: None,
            });
        }
        let read = read_of(query.trim());
        let read = self.settings.secrets.masked(&read).unwrap_or(read);
        let Chosen { parts, about } = chosen(&read);
        let rare = match about {
            About::Itself => Rare::default(),
            _ => self.rare_of(&rest_of(&read, &parts), about)?,
        };
        let mut counted = String::new();
        for part in &parts {
            if part.says || !rare.are_identifiers {
                add(&mut counted, &read[part.range.clone()], '\n');
            }
        }
        for word in &rare.words {
            add(&mut counted, word, ' ');
        }
        Ok(Question {
            text: Cow::Owned(counted),
            whole_len: Some(query.len() as u64),
        })
    }

    /// Returns the rare words of a text that the store has: identifiers; if there are none, other words, unless the
    /// question says what it is about.
    fn rare_of(&self, rest: &str, about: About) -> Result<Rare> {
        let words = words_of(rest);
        for (words, are_identifiers) in words.iter().zip([true, true, false, false]) {
            if !are_identifiers && about == About::Both {
                break;
            }
            let rare = self.with_views(|views| Ok(views.rare_words(words, RARE_WORDS)?))?;
            let words: Vec<String> = match are_identifiers {
                true => {
                    let identifiers = rare.into_iter().filter(|word| is_code(word));
                    identifiers.take(IDENTIFIERS).collect()
                }
                false => rare,
            };
            if !words.is_empty() {
                return Ok(Rare {
                    words,
                    are_identifiers,
                });
            }
        }
        Ok(Rare::default())
    }
}

/// Rare words of a text.
#[derive(Default)]
struct Rare {
    words: Vec<String>,
    are_identifiers: bool,
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
    /// The most important one first.
    parts: Vec<Part>,
    about: About,
}

/// A line of a text, or a sentence of a long one.
struct Part {
    range: Range<usize>,
    /// `true` if it asks or a person wrote it, and it says something.
    says: bool,
}

/// Chooses the lines that ask, the last first, then others if those do not say what they ask about.
fn chosen(text: &str) -> Chosen {
    let lines = prompt::lines(text);
    let asking = prompt::questions(text, &lines);
    let about = asking.iter().map(|asking| asking.about).max();
    let about = about.unwrap_or(About::Nothing);
    let part = |range: Range<usize>, is_own: bool| Part {
        says: is_own && asking::about(&text[range.clone()]) > About::Nothing,
        range,
    };
    if let ([line], true) = (lines.as_slice(), asking.is_empty()) {
        let ends = ends_of_line(text, &line.range).into_iter();
        let parts = ends.map(|end| part(end, line.is_own)).collect();
        return Chosen { parts, about };
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut left = ASKING_MAX;
    // The last question is meant most.
    for sentence in &asking {
        let line = &lines[sentence.line];
        let range = match about {
            _ if text[line.range.clone()].trim().len() <= PART_MAX => line.range.clone(),
            About::Itself => sentence.range.clone(),
            _ => cut(text, &(line.range.start..sentence.range.end)),
        };
        if parts.iter().any(|part| part.range == range) {
            continue;
        }
        if range.len() > left {
            break;
        }
        left -= range.len();
        parts.push(part(range, true));
    }
    let others = match about {
        About::Itself => Vec::new(),
        _ if asking.is_empty() => first_and_last(&lines),
        _ => beside(&asking, &lines),
    };
    for number in others {
        let line = &lines[number];
        parts.push(part(cut(text, &line.range), line.is_own));
    }
    Chosen { parts, about }
}

/// Returns the text between the parts that say something.
fn rest_of(text: &str, parts: &[Part]) -> String {
    let mut said: Vec<&Range<usize>> = parts
        .iter()
        .filter(|part| part.says)
        .map(|part| &part.range)
        .collect();
    said.sort_unstable_by_key(|part| part.start);
    let mut rest = String::new();
    let mut at = 0;
    for part in said {
        rest.push_str(&text[at..part.start.max(at)]);
        rest.push('\n');
        at = part.end.max(at);
    }
    rest + &text[at..]
}

/// Returns the numbers of a person's lines that stand next to one that asks.
fn beside(asking: &[Asking], lines: &[Line]) -> Vec<usize> {
    let asks = |number: usize| asking.iter().any(|asking| asking.line == number);
    let numbers = 0..lines.len();
    let beside = numbers.filter(|number| asks(number + 1) || *number > 0 && asks(number - 1));
    beside
        .filter(|number| lines[*number].is_own && !asks(*number))
        .collect()
}

/// Returns the numbers of the last lines and of the first one: of a person's lines, if there are any.
fn first_and_last(lines: &[Line]) -> Vec<usize> {
    let is_own = lines.iter().any(|line| line.is_own);
    let numbers: Vec<usize> = (0..lines.len())
        .filter(|number| lines[*number].is_own == is_own)
        .collect();
    let last = numbers.iter().rev().take(LAST_LINES);
    let mut chosen: Vec<usize> = last.copied().collect();
    if let Some(first) = numbers.first().filter(|first| !chosen.contains(first)) {
        chosen.push(*first);
    }
    chosen
}

/// Words behind which a number is a code.
const BEFORE_CODES: &str =
    "code error errno exit sqlstate signal exception fehler fehlercode erreur código exitcode";

/// Returns `true` if a word that begins with a digit is a code: `0x80070005`, or a number behind *error*.
fn is_numbered_code(before: Option<&&str>, word: &str) -> bool {
    let is_behind = |before: &&str| {
        let before = before.to_lowercase();
        BEFORE_CODES.split(' ').any(|word| word == before)
    };
    word.starts_with(|c: char| c.is_ascii_digit())
        && (word.starts_with("0x") || before.is_some_and(is_behind))
}

/// Returns the different words of a text among which rare ones are sought: identifiers of few lines, those of many, other
/// words of few lines, those of many. Numbers that are no codes, and random ids, are left out.
fn words_of(text: &str) -> [String; 4] {
    let mut times: FxHashMap<&str, usize> = FxHashMap::default();
    let mut known: Vec<&str> = Vec::new();
    let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.');
    let tokens = text.rsplit(marks).filter(|token| !token.is_empty());
    let mut tokens = tokens.peekable();
    while let Some(token) = tokens.next() {
        let word = token.trim_matches(['-', '.']);
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            || is_numbered_code(tokens.peek(), word);
        let is_hex = word.len() >= HEX_MIN
            && word
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_name || is_hex || word.len() > WORD_MAX {
            continue;
        }
        if let Some(times) = times.get_mut(word) {
            *times += 1;
        } else if known.len() < WORDS_READ {
            times.insert(word, 1);
            known.push(word);
        }
    }
    let most = TIMES_MIN.max(text.lines().count() / LINES_SHARE);
    let mut words: [String; 4] = Default::default();
    for word in known {
        let of = 2 * usize::from(!is_code(word)) + usize::from(times[word] > most);
        words[of].push_str(word);
        words[of].push('\n');
    }
    words
}

/// Returns `true` if a word is one that only programs are written with, such as `E4711`, `max_size`, `TimeoutError` or
/// `ECONNRESET`. A word that begins with a digit is one: other numbers were left out before.
fn is_code(word: &str) -> bool {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let letters = word.chars().any(char::is_alphabetic);
    let marks = word.chars().any(|c| c.is_ascii_digit() || c == '_');
    let capitals = word.len() >= CAPITALS_MIN && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut pairs = word.chars().zip(word.chars().skip(1));
    let change = pairs.any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    letters && (marks || capitals || change)
}

/// Returns the beginning and the end of a text of one line, cut between words: one of them says what it is about.
fn ends_of_line(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let blank = |part: &str| part.find(char::is_whitespace);
    let middle = text.floor_char_boundary(line.end.min(line.start + ONE_LINE_MAX));
    let first = text[line.start..middle].rfind(char::is_whitespace);
    let first = line.start..first.map_or(middle, |at| line.start + at);
    let from = text.ceil_char_boundary(line.end.saturating_sub(ONE_LINE_MAX).max(first.end));
    let last = from + blank(&text[from..line.end]).unwrap_or(0)..line.end;
    vec![last, first]
}

#[cfg(test)]
mod tests;
