//! The lines of a prompt: lines that a person wrote, lines of logs and code, and the sentences that ask.
//!
//! Decided by form alone, in one pass. A line is a person's if most of its words are plain and no other line is the same.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// Bytes of a sentence or line that count. Raised, one line takes the room of others.
pub(super) const PART_MAX: usize = 256;
/// Plain words of a line that a person wrote, in percent. Raised, fewer lines count as a person's.
const PLAIN_PERCENT: usize = 70;
/// Words of a question that say what it is about. With fewer, as in *Why is that?*, the rest of the prompt says it.
const TELLING_WORDS: usize = 2;
/// Characters of the shortest word that says what a question is about. Raised, fewer questions count as telling.
const TELLING_CHARS: usize = 4;
/// Characters of a script without blanks that count as [`TELLING_WORDS`]. Raised, fewer such questions count as
/// telling.
const TELLING_DENSE_CHARS: usize = 5;

/// First words of a question without a mark.
const ASKING: &str = "what which where when who whom whose why how is are was were does do did can could should would \
    was welche welcher welches wo wann wer wem wen warum wieso weshalb wie woher wohin wofür kann können darf gibt ist sind \
    que quoi quel quelle quels quelles où quand qui pourquoi comment combien est-ce peut-on \
    qué cuál cuáles dónde cuándo quién quiénes cómo cuánto cuántos por \
    che cosa quale quali dove quando chi perché come quanto wat welke waar wanneer wie waarom hoe \
    что где когда кто почему как какой какая какие сколько";
/// Words that many questions about a pasted text have.
const VAGUE: &str = "what which where when whose that this these those does mean means meant happen happens happened happening \
    wrong error errors warning fail fails failed failing here there with from your help explain about know could would should \
    please have tell show going line lines message \
    warum wieso welche welcher welches bitte hier dieser diese dieses fehler passiert bedeutet heißt kann können nicht \
    pourquoi comment quelle erreur cette veut dire signifie passe \
    dónde cómo cuál esto este esta error significa pasa quiere decir";
/// Ends of questions in languages that need no mark.
const ASKING_ENDS: [&str; 6] = ["か", "吗", "呢", "嗎", "까", "나요"];

/// A line that is not empty.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) range: Range<usize>,
    /// `true` if a person wrote the line.
    pub(super) is_own: bool,
}

/// A sentence that asks.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    pub(super) range: Range<usize>,
    /// The number of its line.
    pub(super) line: usize,
    /// `true` if the sentence ends with a question mark.
    is_marked: bool,
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
    let mut times: FxHashMap<&str, u32> = FxHashMap::default();
    for line in lines.iter().filter(|line| line.is_own) {
        *times.entry(text[line.range.clone()].trim()).or_default() += 1;
    }
    let lines_again: Vec<bool> = lines
        .iter()
        .map(|line| {
            times
                .get(text[line.range.clone()].trim())
                .is_some_and(|times| *times > 1)
        })
        .collect();
    for (line, is_again) in lines.iter_mut().zip(lines_again) {
        line.is_own &= !is_again;
    }
    lines
}

/// Returns the sentences that ask, the last first: sentences with a question mark in a person's lines; if there are
/// none, sentences that begin or end as questions do; else sentences with a mark in other lines.
pub(super) fn questions(text: &str, lines: &[Line]) -> Vec<Asking> {
    let of = |is_own: bool| {
        let lines = lines
            .iter()
            .enumerate()
            .filter(move |(_, line)| line.is_own == is_own);
        lines
            .flat_map(|(number, line)| asking(text, number, line))
            .collect::<Vec<_>>()
    };
    let own = of(true);
    let marked: Vec<Asking> = own
        .iter()
        .filter(|asking| asking.is_marked)
        .cloned()
        .collect();
    let mut found = match (marked.is_empty(), own.is_empty()) {
        (false, _) => marked,
        (true, false) => own,
        (true, true) => of(false),
    };
    found.reverse();
    found
}

/// Returns `true` if a text says what it asks about, so that no other line has to.
pub(super) fn is_telling(text: &str) -> bool {
    let (mut telling, mut dense) = (0, 0);
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        dense += word.chars().filter(|c| is_dense(*c)).count();
        let lower = word.to_lowercase();
        let is_vague = VAGUE.split_whitespace().any(|vague| vague == lower);
        telling += usize::from(
            word.chars().count() >= TELLING_CHARS && !is_vague && !word.contains(is_dense),
        );
    }
    telling >= TELLING_WORDS || dense >= TELLING_DENSE_CHARS
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
    if line.len() - text.len() >= 4 || line.starts_with('\t') || text.starts_with('>') {
        return false;
    }
    if text.contains(is_dense) {
        return !text.starts_with(|c: char| c.is_ascii_digit() || c == '{');
    }
    let is_first_plain = text
        .split_whitespace()
        .next()
        .is_some_and(|word| is_plain(word) && !word.ends_with(':'));
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
fn is_dense(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Returns the sentences of a line that ask, in their order.
fn asking(text: &str, number: usize, line: &Line) -> Vec<Asking> {
    let mut found = Vec::new();
    let mut start = line.range.start;
    let mut take = |range: Range<usize>, is_marked: bool| {
        let sentence = text[range.clone()].trim();
        if is_marked || line.is_own && asks_unmarked(sentence) {
            found.push(Asking {
                range: cut(text, &range),
                line: number,
                is_marked,
            });
        }
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

/// Returns `true` if a sentence without a question mark asks.
fn asks_unmarked(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    let first = bare
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric());
    let is_word = !first.is_empty() && ASKING.split_whitespace().any(|word| word == first);
    is_word || ASKING_ENDS.iter().any(|end| bare.ends_with(end))
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
        // Several questions come last first; questions of a log count only if there are no others.
        assert_eq!(
            asked("Why now? It fails. And who knows?"),
            ["And who knows?", "Why now?"]
        );
        assert_eq!(asked(log), ["08:00:02 WARN did you retry=2?"]);
        assert!(asked("GET https://example.com/?id=1").is_empty());
    }

    #[test]
    fn a_question_is_telling_if_it_names_what_it_is_about() {
        for text in [
            "Where does the deploy key live?",
            "Warum scheitert der Deploy von Billing?",
            "デプロイキーはどこですか",
        ] {
            assert!(is_telling(text), "{text}");
        }
        for text in [
            "Why is that?",
            "What does this error mean?",
            "Was bedeutet dieser Fehler?",
            "?",
            "为什么？",
        ] {
            assert!(!is_telling(text), "{text}");
        }
    }
}
