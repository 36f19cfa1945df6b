//! Passages of JSON and YAML: values under the paths of their keys.

use std::ops::Range;
use std::rc::Rc;

use super::pieces::{Break, Path, Piece, add_line, step};
use super::prose::lines;

/// Lines of ten that have a key or are items or comments in YAML: 8. A larger value takes fewer texts for YAML.
const YAML_LINES_OF_TEN: usize = 8;
/// Fewest keys without a value on their line: 2, because a transcript has none. A larger value takes fewer texts for
/// YAML.
const YAML_PARENTS_MIN: usize = 2;
/// Deepest nesting of values that are read: 128. A larger value takes more stack.
const DEPTH_MAX: usize = 128;

/// Returns the values of JSON, of JSON lines or of YAML as pieces; `None` for any other text.
pub(super) fn pieces(text: &str) -> Option<Vec<Piece>> {
    match text.trim_start().starts_with(['{', '[']) {
        true => json(text),
        false => yaml(text),
    }
}

/// Returns the values of JSON as pieces, each with its key.
fn json(text: &str) -> Option<Vec<Piece>> {
    let mut reader = Json {
        text,
        at: 0,
        pieces: Vec::new(),
        steps: Vec::new(),
        done: 0,
        looked_at: 0,
        path: Rc::from([]),
    };
    reader.skip_blanks();
    while reader.at < text.len() {
        reader.value()?;
        reader.piece();
        reader.skip_blanks();
    }
    let end = text.len();
    reader.pieces.last_mut()?.place.end = end;
    Some(reader.pieces)
}

/// A reader of JSON that records the places of values. It accepts some texts that are not quite JSON.
struct Json<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<Piece>,
    /// The keys that lead to the current value.
    steps: Vec<String>,
    /// The end of the last piece.
    done: usize,
    /// The end of the text after `done` that has no letter or digit.
    looked_at: usize,
    /// The path of the last piece.
    path: Path,
}

impl Json<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Skips a value, and adds its pieces; each value of a list with more than one becomes a piece.
    fn value(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.peek()? {
            b'{' => self.members(b'}', true),
            b'[' => self.members(b']', false),
            b'"' => self.string().map(|_| ()),
            _ => self.scalar(),
        }
    }

    fn members(&mut self, close: u8, has_keys: bool) -> Option<()> {
        self.at += 1;
        if self.steps.len() >= DEPTH_MAX {
            return None;
        }
        let mut nth = 0;
        while !self.take(close) {
            let key = match has_keys {
                true => {
                    self.skip_blanks();
                    let key = self.string()?;
                    let key = self.text[key].to_owned();
                    self.take(b':').then_some(key)?
                }
                false => nth.to_string(),
            };
            self.steps.push(key);
            self.value()?;
            self.take(b',');
            self.piece();
            self.steps.pop();
            nth += 1;
        }
        Some(())
    }

    /// Returns the place of a string between its quotes.
    fn string(&mut self) -> Option<Range<usize>> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.text.as_bytes().get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(start..at)
    }

    fn scalar(&mut self) -> Option<()> {
        let start = self.at;
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
        while self.peek().is_some_and(is_of_it) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Makes a piece of the text since the last one.
    fn piece(&mut self) {
        let new = &self.text[self.done.max(self.looked_at)..self.at];
        self.looked_at = self.at;
        if !new.contains(char::is_alphanumeric) {
            // Brackets belong to the piece that they close.
            if let Some(last) = self.pieces.last_mut() {
                last.place.end = self.at;
                self.done = self.at;
            }
            return;
        }
        let mut steps = Vec::new();
        for name in &self.steps {
            step(&mut steps, name);
        }
        let same = self.path.iter().zip(&steps);
        let same = same.take_while(|(one, other)| one == other).count();
        let before = leaving(self.path.len() - same);
        self.path = steps.into();
        add_line(
            self.text,
            self.done..self.at,
            before,
            &self.path,
            &mut self.pieces,
        );
        self.done = self.at;
    }
}

/// Returns the break before a value if `keys` keys on the path of the value before are not on its own path. More than
/// one such key ends a group.
fn leaving(keys: usize) -> Break {
    match keys {
        0 | 1 => Break::Line,
        _ => Break::Heading,
    }
}

/// Returns the lines of YAML as pieces, each under the keys that it is indented below.
fn yaml(text: &str) -> Option<Vec<Piece>> {
    if !is_yaml(text) {
        return None;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut keys: Vec<(usize, String)> = Vec::new();
    for place in lines(text) {
        let line = &text[place.clone()];
        if line.trim().is_empty() {
            if let Some(last) = pieces.last_mut() {
                last.place.end = place.end;
            }
            continue;
        }
        let mut left = 0;
        if let Some((at, key, _)) = key_of(line) {
            left = keys.len();
            keys.retain(|(above, _)| *above < at);
            left -= keys.len();
            keys.push((at, key.to_owned()));
        }
        let mut steps = Vec::new();
        for (_, key) in &keys {
            step(&mut steps, key);
        }
        add_line(text, place, leaving(left), &steps.into(), &mut pieces);
    }
    (!pieces.is_empty()).then_some(pieces)
}

/// Returns the column and the name of the key of a line of YAML, and `true` if a value follows.
fn key_of(line: &str) -> Option<(usize, &str, bool)> {
    let mut rest = line.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    let column = line.len() - rest.len();
    let (key, value) = rest.split_once(':')?;
    let is_key_char = |c: char| c.is_alphanumeric() || "_-./ \"'".contains(c);
    let fits = !key.is_empty() && key.chars().all(is_key_char) && !key.contains("  ");
    let stands_alone = value.trim().is_empty();
    (fits && (stands_alone || value.starts_with([' ', '\t']))).then_some((
        column,
        key.trim_matches(['"', '\'']),
        !stands_alone,
    ))
}

fn is_yaml(text: &str) -> bool {
    let (mut all, mut fitting, mut parents) = (0, 0, 0);
    let mut open: Option<usize> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        all += 1;
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if open
            .take()
            .is_some_and(|above| indent > above || trimmed.starts_with("- "))
        {
            parents += 1;
        }
        let key = key_of(line);
        if key.is_some() || trimmed.starts_with("- ") || trimmed.starts_with('#') {
            fitting += 1;
        }
        if let Some((_, _, false)) = key {
            open = Some(indent);
        }
    }
    parents >= YAML_PARENTS_MIN && fitting * 10 >= all * YAML_LINES_OF_TEN
}
