//! Reads Markdown one section at a time, because a file may be long.

use std::io::{self, BufRead, Read};

use serde_json::{Map, Value};

use super::{COMMENT, COMMENT_END, DIVIDER, FENCE, heading, is_blank, means_more, unescaped, yaml};

/// Most bytes of a section: all texts of a memory at their limits, each character written as six bytes.
const SECTION_LEN_MAX: usize = 2 * 1_024 * 1_024;

/// Some editors put this before the first line.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A memory, or the error at its place.
#[derive(Debug, PartialEq)]
pub struct Section {
    /// Line of its start or of the error, from 1.
    pub line: u64,
    /// Its fields, as in a line of JSON; or the error.
    pub fields: Result<Map<String, Value>, String>,
}

/// The sections of a file, read one after another.
pub struct Sections<'i> {
    input: &'i mut dyn BufRead,
    number: u64,
    /// The next line, read before it was needed.
    ahead: Option<String>,
    topic: Option<Value>,
    /// `true` right behind front matter or a comment with the topic: the topic's heading may follow.
    heading: bool,
    /// `true` if the front matter is wrong, so nothing of the file is read.
    lost: bool,
    /// Names of fields of the front matter that mean nothing here.
    pub ignored: Vec<String>,
}

/// The text of a section.
#[derive(Default)]
struct Body {
    lines: Vec<String>,
    len_bytes: usize,
    /// Number of its first line that is not blank.
    first: Option<u64>,
}

enum Line {
    Text(String),
    NoText(String),
    End,
}

impl<'i> Sections<'i> {
    /// Reads sections from `input`.
    pub fn of(input: &'i mut dyn BufRead) -> Self {
        Sections {
            input,
            number: 0,
            ahead: None,
            topic: None,
            heading: false,
            lost: false,
            ignored: Vec::new(),
        }
    }

    /// Reads the next section; `None` at the end.
    pub fn next_section(&mut self) -> io::Result<Option<Section>> {
        if self.number == 0
            && let Some(wrong) = self.front_matter()?
        {
            self.lost = true;
            return Ok(Some(wrong));
        }
        if self.lost {
            return Ok(None);
        }
        loop {
            // Fields start here, or a text without fields.
            let begins = self.number + 1;
            match self.line()? {
                Line::End => return Ok(None),
                Line::NoText(why) => return Ok(Some(self.wrong(self.number, why))),
                Line::Text(line) if line.trim_end() == DIVIDER => self.heading = false,
                Line::Text(line) if begins_fields(&line) => {
                    let fields = match self.comment(&line)? {
                        Ok(fields) => fields,
                        Err(wrong) => {
                            // The text below wrong fields is skipped.
                            let _ = self.body()?;
                            return Ok(Some(wrong));
                        }
                    };
                    let only_topic = fields.len() == 1;
                    if let (true, Some(topic)) = (only_topic, fields.get("topic")) {
                        self.topic = Some(topic.clone());
                        self.heading = true;
                        continue;
                    }
                    self.heading = false;
                    let body = self.body()?;
                    return Ok(Some(self.section(begins, fields, body)));
                }
                Line::Text(line) => {
                    self.number -= 1;
                    self.ahead = Some(line);
                    let body = self.body()?;
                    let is_empty = matches!(&body, Ok(body) if body.first.is_none());
                    if !is_empty {
                        return Ok(Some(self.section(begins, Map::new(), body)));
                    }
                }
            }
        }
    }

    fn wrong(&self, line: u64, why: impl Into<String>) -> Section {
        Section {
            line,
            fields: Err(why.into()),
        }
    }

    fn section(
        &self,
        begins: u64,
        mut fields: Map<String, Value>,
        body: Result<Body, Section>,
    ) -> Section {
        let body = match body {
            Ok(body) => body,
            Err(wrong) => return wrong,
        };
        let line = match fields.is_empty() {
            true => body.first.unwrap_or(begins),
            false => begins,
        };
        match (fields.contains_key("content"), body.first.is_some()) {
            (true, true) => {
                return self.wrong(line, "its text stands twice: in `content`, and below it");
            }
            (false, false) => return self.wrong(line, "no text stands below these fields"),
            (true, false) => {}
            (false, true) => {
                fields.insert("content".to_owned(), Value::String(body.text()));
            }
        }
        if !fields.contains_key("topic") {
            match &self.topic {
                Some(topic) => {
                    fields.insert("topic".to_owned(), topic.clone());
                }
                None => {
                    return self.wrong(
                        line,
                        "no topic: begin the file with `---`, `topic: NAME`, `---`, a line each; from free notes, \
                         `icm extract -t NAME FILE` takes the sentences that are worth keeping",
                    );
                }
            }
        }
        Section {
            line,
            fields: Ok(fields),
        }
    }

    /// Reads front matter, if the file begins with it. Returns the error in it, if any.
    fn front_matter(&mut self) -> io::Result<Option<Section>> {
        let first = match self.line()? {
            Line::Text(line) => line,
            Line::NoText(why) => return Ok(Some(self.wrong(1, why))),
            Line::End => return Ok(None),
        };
        let first = first
            .strip_prefix(BYTE_ORDER_MARK)
            .map_or(first.clone(), str::to_owned);
        if first.trim_end() != FENCE {
            self.number -= 1;
            self.ahead = Some(first);
            return Ok(None);
        }
        let mut text = String::new();
        loop {
            match self.line()? {
                Line::Text(line) if [FENCE, "..."].contains(&line.trim_end()) => break,
                Line::Text(line) if text.len() + line.len() <= SECTION_LEN_MAX => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Line::Text(_) => return Ok(Some(self.wrong(1, too_long()))),
                Line::NoText(why) => return Ok(Some(self.wrong(self.number, why))),
                Line::End => {
                    let why = "the front matter that begins here has no end: a line `---`";
                    return Ok(Some(self.wrong(1, why)));
                }
            }
        }
        match yaml::read(&text) {
            Ok(mut fields) => {
                self.topic = fields.remove("topic");
                self.heading = true;
                let known = ["memories", "as_of", "at"];
                let others = fields.into_iter().map(|(name, _)| name);
                self.ignored = others
                    .filter(|name| !known.contains(&name.as_str()))
                    .collect();
                Ok(None)
            }
            Err((line, why)) => Ok(Some(self.wrong(1 + line.unwrap_or(0), why))),
        }
    }

    /// Reads the fields whose first line is `first`.
    fn comment(&mut self, first: &str) -> io::Result<Result<Map<String, Value>, Section>> {
        let begins = self.number;
        let mut text = String::new();
        let mut line = first[COMMENT.len()..].to_owned();
        loop {
            if let Some(end) = line.find(COMMENT_END) {
                text.push_str(&line[..end]);
                let rest = &line[end + COMMENT_END.len()..];
                if !is_blank(rest) {
                    let why = "text stands behind the `-->`: write it below";
                    return Ok(Err(self.wrong(self.number, why)));
                }
                break;
            }
            text.push_str(&line);
            text.push('\n');
            let unended = "the fields that begin here have no end: a line `-->`";
            match self.line()? {
                Line::Text(next) if means_more(&next) => {
                    self.number -= 1;
                    self.ahead = Some(next);
                    return Ok(Err(self.wrong(begins, unended)));
                }
                Line::Text(_) if text.len() > SECTION_LEN_MAX => {
                    return Ok(Err(self.wrong(begins, too_long())));
                }
                Line::Text(next) => line = next,
                Line::NoText(why) => return Ok(Err(self.wrong(self.number, why))),
                Line::End => return Ok(Err(self.wrong(begins, unended))),
            }
        }
        Ok(yaml::read(&text).map_err(|(line, why)| {
            let line = line.map_or(begins, |line| begins + line.saturating_sub(1));
            self.wrong(line, why)
        }))
    }

    /// Reads text up to the start of the next section.
    fn body(&mut self) -> io::Result<Result<Body, Section>> {
        let mut body = Body::default();
        let mut wrong = None;
        loop {
            let line = match self.line()? {
                Line::End => break,
                Line::NoText(why) => {
                    wrong.get_or_insert(self.wrong(self.number, why));
                    continue;
                }
                Line::Text(line) if line.trim_end() == DIVIDER || begins_fields(&line) => {
                    self.number -= 1;
                    self.ahead = Some(line);
                    break;
                }
                Line::Text(line) => line,
            };
            if body.first.is_none() && is_blank(&line) {
                continue;
            }
            if body.first.is_none() && std::mem::take(&mut self.heading) {
                let topic = self.topic.as_ref().and_then(Value::as_str);
                if topic.is_some_and(|topic| line.trim_end() == heading(topic.trim())) {
                    continue;
                }
            }
            body.first.get_or_insert(self.number);
            body.len_bytes += line.len() + 1;
            if body.len_bytes <= SECTION_LEN_MAX {
                body.lines.push(line);
            }
        }
        if body.len_bytes > SECTION_LEN_MAX {
            let line = body.first.unwrap_or(self.number);
            wrong.get_or_insert(self.wrong(line, too_long()));
        }
        Ok(match wrong {
            Some(wrong) => Err(wrong),
            None => Ok(body),
        })
    }

    /// Reads the next line, without its line break.
    fn line(&mut self) -> io::Result<Line> {
        if let Some(line) = self.ahead.take() {
            self.number += 1;
            return Ok(Line::Text(line));
        }
        let mut bytes = Vec::new();
        let most = SECTION_LEN_MAX as u64 + 1;
        if Read::take(&mut *self.input, most).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(Line::End);
        }
        self.number += 1;
        if bytes.len() as u64 == most && bytes.last() != Some(&b'\n') {
            self.skip_line()?;
            return Ok(Line::NoText(too_long()));
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        Ok(match String::from_utf8(bytes) {
            Ok(line) => Line::Text(line),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Line::NoText(format!("not UTF-8 at byte {at} of the line"))
            }
        })
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let available = self.input.fill_buf()?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let (used, done) = match (end, available.is_empty()) {
                (Some(end), _) => (end + 1, true),
                (None, true) => (0, true),
                (None, false) => (available.len(), false),
            };
            self.input.consume(used);
            if done {
                return Ok(());
            }
        }
    }
}

impl Body {
    /// Returns the text without the blank lines after it, and without escaping backslashes.
    fn text(mut self) -> String {
        while self.lines.last().is_some_and(|line| is_blank(line)) {
            self.lines.pop();
        }
        for line in &mut self.lines {
            if line.starts_with('\\') && means_more(unescaped(line)) {
                line.remove(0);
            }
        }
        self.lines.join("\n")
    }
}

/// Returns `true` if a line begins the fields of a memory: with the start of the comment, and nothing that makes
/// another word of it.
fn begins_fields(line: &str) -> bool {
    line.strip_prefix(COMMENT).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(COMMENT_END)
    })
}

fn too_long() -> String {
    format!("it is longer than {} KiB", SECTION_LEN_MAX / 1_024)
}
