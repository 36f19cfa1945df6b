//! The lines of a prompt: lines that a person wrote, lines of logs and code, and the lines that ask.
//!
//! Decided by form alone, in one pass. A line is a person's if most of its words are plain, and few others begin as it
//! does.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::recall::asking::{About, about, asks_unmarked, opens_question, requests};

/// Bytes of a sentence or line that count. Raised, one line takes the room of others.
pub(super) const PART_MAX: usize = 256;
/// Plain words of a line that a person wrote, in percent. Raised, fewer lines count as a person's.
const PLAIN_PERCENT: usize = 70;
/// Lines that begin with the same two words, as those of a program do. Raised, more lines of logs count as a person's.
const ALIKE_LINES: u32 = 3;
/// Lines of each end of a prompt among which a question comes before all others. Raised, a paste that begins or ends
/// with a question of its own decides more often.
const END_LINES: usize = 3;
/// Bytes of the shortest line that may be wrapped, so that its sentence ends in the next one. Lowered, the line before
/// a question counts as its beginning.
const WRAPPED_MIN: usize = 50;

/// Sentences of a prompt that may decide what is asked, the last ones. Raised, a prompt of many questions takes longer.
const SENTENCES: usize = 64;
/// First words of a line that announce a question.
const ANNOUNCING: [&str; 4] = ["question:", "q:", "frage:", "pregunta:"];

/// A line that is not empty, or several if a sentence is wrapped.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) range: Range<usize>,
    /// `true` if a person wrote the line.
    pub(super) is_own: bool,
}

/// How a sentence shows that it asks, the weakest way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// A question mark in a line that no person wrote, the first or the last one of a prompt.
    Foreign,
    /// Any sign in a person's line of which the sentence is the smaller part.
    Inside,
    /// The first or the last word of a person's sentence.
    Word,
    /// A question mark or a request of a person.
    Plain,
}

/// A sentence that asks.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    pub(super) range: Range<usize>,
    /// The number of its line.
    pub(super) line: usize,
    pub(super) about: About,
    sign: Sign,
}

/// Returns the lines of a text that are not empty, without the fences of code.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let is_fence =
        |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    // If the fences are not paired, none of them counts.
    let fences = text.lines().filter(|line| is_fence(line)).count();
    let (mut at, mut is_fenced) = (0, false);
    let mut lines: Vec<Line> = Vec::new();
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        if is_fence(line) {
            is_fenced = !is_fenced && fences.is_multiple_of(2);
        } else if !line.trim().is_empty() {
            let is_own = !is_fenced && is_prose(line);
            lines.push(Line { range, is_own });
        }
    }
    disown_alike(text, &mut lines);
    let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines {
        match joined.last_mut() {
            Some(last) if is_wrapped(text, last, &line) => last.range.end = line.range.end,
            _ => joined.push(line),
        }
    }
    joined
}

/// Takes lines for a program's that are there twice, and lines of which [`ALIKE_LINES`] begin with the same two words.
fn disown_alike(text: &str, lines: &mut [Line]) {
    let whole = |line: &Line| text[line.range.clone()].trim();
    let begin = |line: &Line| {
        let mut words = text[line.range.clone()].split_whitespace();
        let first = words.next().filter(|word| !opens_question(word));
        first.zip(words.next())
    };
    let mut same: FxHashMap<&str, u32> = FxHashMap::default();
    let mut alike: FxHashMap<(&str, &str), u32> = FxHashMap::default();
    for line in lines.iter().filter(|line| line.is_own) {
        *same.entry(whole(line)).or_default() += 1;
        if let Some(words) = begin(line) {
            *alike.entry(words).or_default() += 1;
        }
    }
    for line in lines.iter_mut().filter(|line| line.is_own) {
        let alike = begin(line).map_or(0, |words| alike[&words]);
        line.is_own = same[whole(line)] == 1 && alike < ALIKE_LINES;
    }
}

/// Returns `true` if the sentence at the end of a person's line goes on in the next line.
fn is_wrapped(text: &str, line: &Line, next: &Line) -> bool {
    let (one, other) = (&text[line.range.clone()], &text[next.range.clone()]);
    let last = one.trim_end().rsplit('\n').next().unwrap_or_default();
    line.is_own
        && next.is_own
        && line.range.end == next.range.start
        && last.len() >= WRAPPED_MIN
        && last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '-'))
        && other.starts_with(char::is_lowercase)
        && !asks_unmarked(other.trim())
}

/// Returns the sentences that decide what is asked, the last first. Questions at the beginning and at the end of a prompt
/// come before those inside. Of these, questions with a mark and requests of a person count; if there are none, a
/// person's sentences that begin or end as questions do; then those of lines that mostly say something else. Of other
/// lines only the first and the last one of a prompt may ask. If one of the sentences says what it is about, those that
/// do not are left out.
pub(super) fn questions(text: &str, lines: &[Line]) -> Vec<Asking> {
    let inwards = |number: usize| number.min(lines.len() - 1 - number);
    let numbered = lines.iter().enumerate();
    let all: Vec<Asking> = numbered
        .filter(|(number, line)| line.is_own || inwards(*number) == 0)
        .flat_map(|(number, line)| asking(text, number, line))
        .collect();
    let own = || all.iter().filter(|asking| asking.sign > Sign::Foreign);
    let last = lines.len().saturating_sub(END_LINES);
    let first = plainest(text, own().filter(|asking| asking.line < END_LINES));
    let last = plainest(text, own().filter(|asking| asking.line >= last));
    // Of lines that ask as plainly, the outermost decides.
    let ends = first.first().into_iter().chain(last.last());
    let weight = |asking: &Asking| (asking.sign, asking.about, Reverse(inwards(asking.line)));
    let most = ends.clone().map(weight).max();
    let deciding: Vec<usize> = ends
        .filter(|asking| Some(weight(asking)) == most)
        .map(|asking| asking.line)
        .collect();
    let is_among = |asking: &&Asking| deciding.is_empty() || deciding.contains(&asking.line);
    let mut found = plainest(text, all.iter().filter(is_among));
    found.reverse();
    found
}

/// Returns the sentences that ask most plainly: of the last [`SENTENCES`], those that say most of what they are about.
fn plainest<'a>(text: &str, asking: impl Iterator<Item = &'a Asking> + Clone) -> Vec<Asking> {
    let sign = asking.clone().map(|asking| asking.sign).max();
    let mut found: Vec<Asking> = asking
        .filter(|asking| Some(asking.sign) == sign)
        .cloned()
        .collect();
    found.drain(..found.len().saturating_sub(SENTENCES));
    for asking in &mut found {
        asking.about = about(&text[asking.range.clone()]);
    }
    let most = found.iter().map(|asking| asking.about).max();
    found.retain(|asking| Some(asking.about) == most);
    found
}

/// Returns the last [`PART_MAX`] bytes of a part that is longer.
pub(super) fn cut(text: &str, part: &Range<usize>) -> Range<usize> {
    let start = part.start.max(part.end.saturating_sub(PART_MAX));
    text.ceil_char_boundary(start)..part.end
}

/// Returns `true` if a line reads as a sentence of a person.
fn is_prose(line: &str) -> bool {
    let line = line.trim_end();
    let text = line.trim_start();
    // Code, a stack trace, or a quotation.
    let is_trace = text.starts_with("Traceback (");
    if is_trace || line.len() - text.len() >= 4 || text.starts_with('>') || line.starts_with('\t') {
        return false;
    }
    if text.contains(is_of_unspaced_script) {
        return !text.starts_with(|c: char| c.is_ascii_digit() || c == '{');
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_announcing = ANNOUNCING.contains(&&*first.to_lowercase());
    let is_first_plain = is_announcing || is_plain(first) && !first.ends_with(':');
    let (mut plain, mut all) = (0, 0);
    for word in text.split_whitespace() {
        all += 1;
        plain += usize::from(is_plain(word));
    }
    // The short question of a person may be about one identifier.
    let is_question = text.ends_with(['?', '？', '؟']) && all > 1;
    is_first_plain && (100 * plain >= PLAIN_PERCENT * all || is_question && 2 * plain >= all)
}

/// Returns `true` if a word is one of prose: letters, with marks of prose around them.
fn is_plain(word: &str) -> bool {
    let word = word.trim_matches(|c: char| {
        c.is_ascii_punctuation() && !matches!(c, '=' | '/' | '\\' | '<' | '>' | '|' | '_' | '$')
    });
    let word = word.trim_matches([
        '“', '”', '„', '«', '»', '’', '‘', '¿', '¡', '…', '؟', '–', '—',
    ]);
    let is_letter = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-');
    !word.is_empty()
        && word.chars().all(is_letter)
        && !word
            .chars()
            .skip(1)
            .zip(word.chars())
            .any(|(c, before)| c.is_uppercase() && before.is_lowercase())
}

/// Returns `true` if a character is of a script that needs no blanks between words.
fn is_of_unspaced_script(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Returns the sentences of a line that ask, in their order.
fn asking(text: &str, number: usize, line: &Line) -> Vec<Asking> {
    let mut found = Vec::new();
    let mut start = line.range.start;
    let mut take = |range: Range<usize>, is_marked: bool| {
        let range = cut(text, &range);
        let sentence = text[range.clone()].trim();
        let sign = match (line.is_own, is_marked) {
            (false, true) => Sign::Foreign,
            (true, true) => Sign::Plain,
            (true, false) if requests(sentence) => Sign::Plain,
            (true, false) if asks_unmarked(sentence) => Sign::Word,
            _ => return,
        };
        let sign = match 2 * sentence.len() < text[line.range.clone()].trim().len() {
            true => sign.min(Sign::Inside),
            false => sign,
        };
        found.push(Asking {
            about: About::Nothing,
            line: number,
            range,
            sign,
        });
    };
    let mut chars = text[line.range.clone()].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = line.range.start + at + c.len_utf8();
        // A question mark in an address stands before a letter.
        let ends_word = chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        let ends_text = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let asks = matches!(c, '？' | '؟' | '\u{37e}') || c == '?' && ends_word;
        let ends = matches!(c, '。' | '！') || matches!(c, '.' | '!') && ends_text;
        if asks || ends {
            take(start..end, asks);
            start = end;
        }
    }
    take(start..line.range.end, false);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Vec<&str> {
        let found = questions(text, &lines(text));
        found
            .into_iter()
            .map(|asking| text[asking.range].trim())
            .collect()
    }

    #[test]
    fn a_persons_lines_are_told_from_those_of_programs() {
        for line in [
            "Which port does the staging database listen on?",
            "the deploy of billing fails since Monday",
            "Look at this, please!",
            "What does E4711PAY mean?",
            "为什么部署失败？",
            "Où est la clé de déploiement ?",
            "¿Dónde está la clave?",
        ] {
            assert!(lines(line)[0].is_own, "{line}");
        }
        for line in [
            "2026-03-14T08:00:01.123Z ERROR [worker] request_id=00ff took 3 ms",
            "10:00:01 GET /pay?order=1&retry=1 took 1 ms.",
            "Traceback: most recent call last",
            "    self.run(session, timeout=3)",
            "\tat com.example.Queue.push(Queue.java:12)",
            "TimeoutError: no answer after 9 ms",
            "{\"level\": \"warn\", \"msg\": \"why? closed\"}",
            "Mar 14 08:00:01 node-3 systemd[1]: a.service: Main process exited, code=exited",
            "> what do you think?",
            "",
        ] {
            assert!(lines(line).iter().all(|line| !line.is_own), "{line}");
        }
        // A line that is there twice is no person's.
        assert!(
            lines("worker lost its lease\nworker lost its lease")
                .iter()
                .all(|line| !line.is_own)
        );
        let fenced = lines("Why does it fail?\n```\ndid you mean this?\n```\n");
        assert_eq!(
            fenced.iter().map(|line| line.is_own).collect::<Vec<_>>(),
            [true, false]
        );
        // A fence without a second one hides nothing.
        assert!(lines("```\nWhy does it fail?")[0].is_own);
    }

    #[test]
    fn questions_of_many_languages_are_found_with_and_without_marks() {
        let log = "08:00:01 INFO x=1\n08:00:02 WARN did you retry=2?\n";
        for question in [
            "Where does the deploy key live?",
            "where does the deploy key live",
            "Wo liegt der Schlüssel für den Deploy?",
            "warum scheitert der Deploy",
            "Où est la clé de déploiement ?",
            "pourquoi la construction échoue",
            "¿Dónde está la clave?",
            "cuándo se rota la clave",
            "デプロイキーはどこですか。",
            "デプロイキーはどこですか",
            "デプロイキーはどこ？",
            "部署密钥在哪里吗",
            "أين مفتاح النشر؟",
            "Где ключ?",
        ] {
            for text in [
                format!("{log}{question}"),
                format!("{question}\n{log}"),
                format!("{log}{question}\n{log}"),
            ] {
                assert_eq!(asked(&text), [question], "{text}");
            }
        }
        // Several questions come last first; a log's question counts at an end.
        assert_eq!(
            asked("Why now? It fails. And who knows?"),
            ["And who knows?", "Why now?"]
        );
        assert_eq!(asked(log), ["08:00:02 WARN did you retry=2?"]);
        // Inside of the log it does not.
        assert!(asked(&format!("{log}08:00:03 INFO x=2\n")).is_empty());
        assert!(asked("GET https://example.com/?id=1").is_empty());
    }

    #[test]
    fn lines_that_begin_alike_are_no_persons() {
        let own =
            |text: &str| -> Vec<bool> { lines(text).iter().map(|line| line.is_own).collect() };
        let log = "npm WARN deprecated glob is no longer supported, use another one\n\
            npm WARN deprecated uuid is no longer supported, use another one\n\
            npm WARN deprecated inflight is no longer supported, do not use it\n";
        assert_eq!(own(log), [false; 3]);
        // Questions are.
        assert_eq!(
            own("Where is Kibana?\nWhere is Sentry?\nWhere is Rashid?"),
            [true; 3]
        );
    }

    #[test]
    fn a_wrapped_sentence_is_one() {
        let question =
            "Which of the machines in the new data centre of Frankfurt\nrenders the thumbnails?";
        assert_eq!(
            asked(&format!("{question}\n10:00:01 x=1\n10:00:02 x=2")),
            [question]
        );
        // A question that begins in the next line is not.
        assert_eq!(
            asked("the log of the server that ran in Frankfurt since yesterday\nwhere is kibana?"),
            ["where is kibana?"]
        );
    }

    #[test]
    fn the_outermost_question_decides() {
        let talk = "I saw the numbers of last week.\nThey are fine, mostly.\nThe queue is slow again. Who has the new ones?\n\
            We copied the index.\nWhy is the index slow?\nShall we ask the tenants?\nNobody knows it yet.\n\
            That was it for today. Who knows more of it? Nobody does, we said.\nWe meet on Monday.\n";
        for question in [
            "Who looks after the parcel tracker?",
            "when do the reports go out",
            "Please tell me how callbacks are signed.",
            "I need to know where Sentry is",
            "Ich muss wissen, wo der Defibrillator hängt",
            "Dis-moi qui remplace Camille.",
            "Necesito saber dónde están los contratos",
            "Question: where is Kibana?",
        ] {
            assert_eq!(asked(&format!("{question}\n\n{talk}")), [question]);
            assert_eq!(
                asked(&format!("Notes of today.\n\n{talk}\n{question}")),
                [question]
            );
        }
        // A question that says what it is about comes before a vague one.
        assert_eq!(
            asked("Where is Kibana?\n10:00:01 x=1\nAny idea?"),
            ["Where is Kibana?"]
        );
        assert_eq!(
            asked("could not connect to the database\n10:00:01 x=1\nWhy is that?"),
            ["Why is that?"]
        );
    }

    #[test]
    fn questions_of_any_number_take_bounded_time() {
        let text = "why? ".repeat(14_000);
        assert_eq!(asked(&text).len(), SENTENCES);
    }
}
