//! The words of a sentence and their kinds.

use rust_stemmers::{Algorithm, Stemmer};

/// The kind of a word, by its spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word of prose.
    Plain,
    /// A word with a capital letter that does not begin the sentence: `Redis`, `API`.
    Name,
    /// A word in the style of names in programs and files: `src/main.rs`, `max_len`, `--flag`, `v1.2.3`.
    Identifier,
    /// Digits: `16`, `5432`, `3.5`.
    Number,
    /// Text between backticks.
    Code,
    /// An address.
    Url,
}

/// A word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// The word as written, without punctuation around it.
    pub(crate) text: &'a str,
    /// Lower case, without apostrophes.
    pub(crate) folded: String,
    /// The English stem of a plain word or a name; otherwise empty.
    pub(crate) stem: String,
    pub(crate) kind: Kind,
    /// `true` if a colon follows.
    pub(crate) colon: bool,
    /// `true` if a comma or a full stop follows.
    pub(crate) pause: bool,
    /// `true` if the end of a sentence or a colon follows: a capital letter of the next word may mean nothing.
    pub(crate) stop: bool,
}

/// Returns the words of a sentence in order. Text between backticks is one word. Linear in the text.
pub(crate) fn words(sentence: &str) -> Vec<Word<'_>> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found: Vec<Word<'_>> = Vec::new();
    let mut rest = sentence;
    while let Some(at) = rest.find('`') {
        prose(&rest[..at], &stemmer, &mut found);
        let ticks = rest[at..].bytes().take_while(|byte| *byte == b'`').count();
        let inside = &rest[at + ticks..];
        let Some(end) = inside.find(&rest[at..at + ticks]) else {
            // An opening mark without a closing one is punctuation.
            rest = inside;
            continue;
        };
        let text = inside[..end].trim();
        if !text.is_empty() {
            found.push(Word {
                text,
                folded: text.to_lowercase(),
                stem: String::new(),
                kind: Kind::Code,
                colon: inside[end + ticks..].starts_with(':'),
                pause: inside[end + ticks..].starts_with([',', '.', ';']),
                stop: inside[end + ticks..].starts_with(['.', '!', '?', ':']),
            });
        }
        rest = &inside[end + ticks..];
    }
    prose(rest, &stemmer, &mut found);
    found
}

fn prose<'a>(text: &'a str, stemmer: &Stemmer, found: &mut Vec<Word<'a>>) {
    for token in text.split_whitespace() {
        // A dash or an ellipsis separates words.
        for token in token.split(['—', '–', '…']) {
            // A Markdown link is its text and its address.
            for token in token.split("](") {
                word(token, stemmer, found);
            }
        }
    }
}

fn is_edge(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '/' | '_' | '$' | '#' | '@' | '~')
}

fn word<'a>(token: &'a str, stemmer: &Stemmer, found: &mut Vec<Word<'a>>) {
    // French has a space in front of a colon.
    if token.trim_end_matches(['*', '_']) == ":"
        && let Some(before) = found.last_mut()
    {
        (before.colon, before.pause, before.stop) = (true, true, true);
        return;
    }
    // `_Note_:` and `__Note:__` are emphasis, `__init__` is a name.
    let label = token.starts_with('_') && token.trim_end_matches('_').ends_with(':');
    let token = if label {
        token.trim_matches('_')
    } else {
        token
    };
    let flag = token
        .trim_start_matches(['(', '"', '\'', '[', '*'])
        .starts_with("--");
    let text = token.trim_matches(is_edge);
    let text = text.trim_end_matches(['/', '_', '@', '#', '~', '$']);
    if text.is_empty() || !text.chars().any(char::is_alphanumeric) {
        return;
    }
    let after = &token[text.as_ptr() as usize - token.as_ptr() as usize + text.len()..];
    let colon = after.trim_start_matches(['*', '_', '"']).starts_with(':');
    let pause = after.contains([',', '.', ';', ')', ':']);
    let stop = after.contains(['.', '!', '?', ':']);
    let first = found.last().is_none_or(|before| before.stop);
    let kind = kind_of(text, first, flag);
    let push = |text: &'a str, kind: Kind, last: bool, found: &mut Vec<Word<'a>>| {
        let folded: String = text
            .chars()
            .filter(|c| !matches!(c, '\'' | '’'))
            .flat_map(char::to_lowercase)
            .collect();
        let stem = match kind {
            Kind::Plain | Kind::Name => stemmer.stem(&folded).into_owned(),
            _ => String::new(),
        };
        found.push(Word {
            text,
            folded,
            stem,
            kind,
            colon: colon && last,
            pause: pause && last,
            stop: stop && last,
        });
    };
    if kind == Kind::Plain && text.contains(['-', '/']) {
        let mut parts = text
            .split(['-', '/'])
            .filter(|part| !part.is_empty())
            .peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            push(part, Kind::Plain, last, found);
        }
        return;
    }
    push(text, kind, true, found);
}

fn kind_of(text: &str, first: bool, flag: bool) -> Kind {
    if text.contains("://") || text.starts_with("www.") {
        return Kind::Url;
    }
    let has = |is: fn(char) -> bool| text.chars().any(is);
    let (digit, letter) = (has(|c| c.is_ascii_digit()), has(char::is_alphabetic));
    if digit && !letter {
        return Kind::Number;
    }
    let inner = |c: char| {
        let mut parts = text.split(c);
        let first = parts.next().unwrap_or_default();
        let second = parts.next().unwrap_or_default();
        !first.is_empty() && second.starts_with(char::is_alphanumeric)
    };
    let initials = text.split('.').all(|part| part.chars().count() <= 1);
    let mut pairs = text.chars().zip(text.chars().skip(1));
    let path = text.starts_with(['/', '~']) || text.matches('/').count() > 1;
    if flag
        || path
        || digit
        || text.contains('_')
        || text.contains("::")
        || text.starts_with(['@', '#', '$'])
        || (inner('.') && !initials)
        || (text.contains('/') && text.contains('.'))
        || pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
    {
        return Kind::Identifier;
    }
    let capital = text.starts_with(char::is_uppercase);
    let shouted = text.chars().filter(|c| c.is_uppercase()).count() > 1;
    // `I`, `I'm`, `I'll`
    let own = matches!(text.split(['\'', '’']).next(), Some("I"));
    match capital && !own && (!first || (shouted && text.len() > 1)) {
        true => Kind::Name,
        false => Kind::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(sentence: &str) -> Vec<(&str, Kind)> {
        words(sentence)
            .into_iter()
            .map(|word| (word.text, word.kind))
            .collect()
    }

    #[test]
    fn words_are_told_apart_by_how_they_are_written() {
        use Kind::{Code, Identifier, Name, Number, Plain, Url};
        assert_eq!(
            kinds("The API reads `a b` from src/main.rs, e.g. 16 (see https://a.b/c.)"),
            [
                ("The", Plain),
                ("API", Name),
                ("reads", Plain),
                ("a b", Code),
                ("from", Plain),
                ("src/main.rs", Identifier),
                ("e.g", Plain),
                ("16", Number),
                ("see", Plain),
                ("https://a.b/c", Url),
            ]
        );
        assert_eq!(
            kinds("I'm read-only and/or --fast maxLen v1.2 PostgreSQL"),
            [
                ("I'm", Plain),
                ("read", Plain),
                ("only", Plain),
                ("and", Plain),
                ("or", Plain),
                ("fast", Identifier),
                ("maxLen", Identifier),
                ("v1.2", Identifier),
                ("PostgreSQL", Identifier),
            ]
        );
    }

    #[test]
    fn a_colon_and_a_stem_are_kept_and_apostrophes_are_not() {
        let words = words("**Note:** don't deploy `x` migrations");
        assert!(words[0].colon);
        assert_eq!(words[1].folded, "dont");
        assert_eq!(words.last().expect("words").stem, "migrat");
        for label in [
            "_Note_: x",
            "__Note:__ x",
            "**Note**: x",
            "Note : x",
            "**Note :** x",
        ] {
            let words = super::words(label);
            assert_eq!(
                (words[0].folded.as_str(), words[0].colon),
                ("note", true),
                "{label}"
            );
            assert_eq!(words[1].text, "x", "{label}");
        }
        assert_eq!(super::words("__init__")[0].kind, Kind::Identifier);
        assert_eq!(super::words("` alone")[0].text, "alone");
    }
}
