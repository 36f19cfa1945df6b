//! Importing memories, as JSON lines or Markdown: a file a command, a batch of lines at a time. Whatever the
//! format, a memory is the JSON object of a line.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use icm_log::env::random_16;
use icm_log::{CommandId, Name, NewEvent, SubjectId, hash};
use icm_projections::Views;
use icm_projections::fold::{Carried, Family, Version};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::command::{Change, Command, NEWEST, RequestKeyOf, ValidatedStore};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::{ID_LEN, id_range};
use icm_api::limits;
use icm_api::limits::KEYWORDS_MAX;
use icm_api::markdown;
use icm_api::when;
use icm_api::when::{DayMeans, rfc3339_signed};
use icm_api::{Caller, ImportReport, Importance, Progress, Rejected, Source, StoreRequest, Trust};
use icm_guard::json;

/// The name of an input that is no file.
pub const STDIN: &str = "stdin";
/// Lines that are appended, and made durable, together.
const BATCH_LINES: usize = 256;
/// Bytes of content that are appended together, at most about.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;
/// Bytes of a line.
const LINE_LEN_MAX: usize = 1_024 * 1_024;

const FIELDS: [&str; 11] = [
    "topic",
    "content",
    "key",
    "importance",
    "keywords",
    "raw_excerpt",
    "occurred_at",
    "scope",
    "trust",
    "source",
    "metadata",
];

/// How files of memories are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Jsonl,
    Markdown,
}

impl Format {
    /// Returns `1 line`, `2 lines`, or the same of memories.
    fn count(self, n: u64) -> String {
        match (self, n) {
            (Format::Jsonl, 1) => "1 line".to_owned(),
            (Format::Jsonl, n) => format!("{n} lines"),
            (Format::Markdown, 1) => "1 memory".to_owned(),
            (Format::Markdown, n) => format!("{n} memories"),
        }
    }
}

/// A memory of a file, or what is wrong where one should be.
struct Entry {
    /// From 1.
    line: u64,
    fields: Result<Map<String, Value>>,
}

/// What a file has said so far.
#[derive(Default)]
struct Seen {
    /// How often a line without a key was there.
    lines: HashMap<Name, u32>,
    ids: HashSet<SubjectId>,
    /// Fields that mean nothing here, of all files.
    ignored: BTreeSet<String>,
    /// Memories of another program whose `created_at` became `occurred_at`, of all files.
    occurred: u64,
}

/// A good line on its way into the log.
struct Line {
    checked: ValidatedStore,
    /// Names the memory: by its key, or by scope, topic, content and how often they came before.
    name: Name,
    /// The memory that it was exported from, which this store may have.
    id: Option<SubjectId>,
}

/// How many memories that no name tells apart had a content in a topic (and scope) before the
/// import: lines that say the same are not news.
#[derive(Default)]
struct Unnamed {
    topics: HashMap<String, HashMap<(String, String), u32>>,
}

impl Unnamed {
    fn count(&mut self, views: &Views, checked: &ValidatedStore) -> QueryResult<u32> {
        if !self.topics.contains_key(&checked.topic) {
            let mut contents: HashMap<(String, String), u32> = HashMap::new();
            for entity in views.members(&checked.topic)? {
                let mut seen = BTreeSet::new();
                for version in views.versions(entity, NEWEST)? {
                    if version.name.is_zero()
                        && version.topic.as_ref() == Some(&checked.topic)
                        && let Some(content) = &version.content
                        && seen.insert(content.clone())
                    {
                        let place = (version.scope_text(), content.clone());
                        *contents.entry(place).or_insert(0) += 1;
                    }
                }
            }
            self.topics.insert(checked.topic.clone(), contents);
        }
        let place = (checked.scope.to_text(), checked.content.clone());
        let contents = self.topics.get(&checked.topic);
        Ok(contents
            .and_then(|contents| contents.get(&place))
            .copied()
            .unwrap_or(0))
    }
}

/// What became of a line.
enum Fate {
    Added,
    Updated,
    Unchanged,
}

impl Service {
    /// Imports JSON lines of files by their names ([`STDIN`] where it is none). A line that names no
    /// `source.file` gets the file's, unless it has a whole `source`. Names are used in rejections, too. Good lines
    /// are kept whatever the others are. Importing again what is there adds nothing. A line that holds a secret is
    /// a bad one, unless the policy or `allow_secret` says otherwise.
    pub fn import_jsonl(
        &self,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        self.import(Format::Jsonl, caller, files, allow_secret, progress)
    }

    /// The same of memories in Markdown, as [`Service::export_markdown`] writes them: what stands for a line there
    /// is a section, and is named by the line that it begins at.
    pub fn import_markdown(
        &self,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        self.import(Format::Markdown, caller, files, allow_secret, progress)
    }

    fn import(
        &self,
        format: Format,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        let mut seen = Seen::default();
        progress.start("importing", None);
        let done = self.import_files(
            (format, caller, allow_secret),
            files,
            (&mut report, &mut seen),
            progress,
        );
        progress.finish();
        if !seen.ignored.is_empty() {
            let masked = |field: String| self.secrets.masked(&field).unwrap_or(field);
            let fields: Vec<_> = seen.ignored.into_iter().map(masked).collect();
            self.notice(format!(
                "fields that mean nothing here were left out: {}",
                fields.join(", ")
            ));
        }
        if seen.occurred > 0 {
            self.notice(format!(
                "`created_at` was taken as `occurred_at` where no `id` of icm stands beside it ({})",
                format.count(seen.occurred)
            ));
        }
        match (done, report.added + report.updated + report.unchanged) {
            (Ok(()), _) => Ok(report),
            (Err(error), 0) => Err(error),
            (Err(error), taken) => Err(ServiceError::ImportEnded {
                taken: format.count(taken),
                source: Box::new(error),
            }),
        }
    }

    fn import_files(
        &self,
        (format, caller, allow_secret): (Format, &Caller, bool),
        files: Vec<(String, Box<dyn BufRead>)>,
        (report, seen): (&mut ImportReport, &mut Seen),
        progress: &dyn Progress,
    ) -> Result<()> {
        for (name, mut input) in files {
            let command = CommandId(random_16(&*self.ground.env));
            seen.lines.clear();
            seen.ids.clear();
            let unnamed = RefCell::new(Unnamed::default());
            let mut lines = Vec::new();
            let mut bytes = 0;
            let mut take = |entry: Entry, seen: &mut Seen| -> Result<()> {
                progress.advance(1);
                let fields = entry.fields;
                let file = file_name(&name);
                match fields.and_then(|it| self.check_line(caller, &it, file, allow_secret, seen)) {
                    Ok((line, warnings)) => {
                        let place = |warning| format!("{name}:{}: {warning}", entry.line);
                        report.warnings.extend(warnings.into_iter().map(place));
                        bytes += line.checked.content.len();
                        lines.push(line);
                    }
                    Err(error) => report
                        .rejected
                        .push(self.rejected(entry.line, &name, &error)),
                }
                if lines.len() >= BATCH_LINES || bytes >= BATCH_BYTES {
                    self.import_lines(caller, command, &lines, &unnamed, report)?;
                    lines.clear();
                    bytes = 0;
                }
                Ok(())
            };
            match format {
                Format::Jsonl => json_lines(&mut *input, &name, &mut |it| take(it, seen))?,
                Format::Markdown => {
                    let mut sections = markdown::Sections::of(&mut *input);
                    while let Some(section) =
                        sections.next().map_err(|source| reading(&name, source))?
                    {
                        let fields = section.fields.map_err(ServiceError::invalid);
                        let line = section.line;
                        take(Entry { line, fields }, seen)?;
                    }
                    seen.ignored.extend(sections.ignored);
                }
            }
            self.import_lines(caller, command, &lines, &unnamed, report)?;
        }
        Ok(())
    }

    fn rejected(&self, line: u64, name: &str, error: &ServiceError) -> Rejected {
        let mut why = error.to_string();
        // How to go on, where a word on the command line is all that it takes.
        if let (ServiceError::Secret { .. }, Some(hint)) = (error, error.hint()) {
            why = format!("{why}; {hint}");
        }
        Rejected {
            line,
            file: name.to_owned(),
            why: self.secrets.masked(&why).unwrap_or(why),
        }
    }

    fn import_lines(
        &self,
        caller: &Caller,
        command: CommandId,
        lines: &[Line],
        unnamed: &RefCell<Unnamed>,
        report: &mut ImportReport,
    ) -> Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            // Two lines of one name go into two batches, so that the second sees the first.
            let mut names = BTreeSet::new();
            let end = rest
                .iter()
                .position(|line| !names.insert(line.name))
                .unwrap_or(rest.len());
            let (batch, later) = rest.split_at(end);
            let fates = self.command(
                caller,
                Some(command),
                RequestKeyOf(None),
                |command, views| import_batch(command, views, batch, &mut unnamed.borrow_mut()),
            )?;
            for fate in fates {
                match fate {
                    Fate::Added => report.added += 1,
                    Fate::Updated => report.updated += 1,
                    Fate::Unchanged => report.unchanged += 1,
                }
            }
            rest = later;
        }
        Ok(())
    }

    fn check_line(
        &self,
        caller: &Caller,
        fields: &Map<String, Value>,
        file: Option<&str>,
        allow_secret: bool,
        seen: &mut Seen,
    ) -> Result<(Line, Vec<String>)> {
        let mut request = request_of(fields)?;
        request.allow_secret = allow_secret;
        let id = fields.get("id").and_then(whole_id);
        let time_of = |field: &str| self.time_of(fields.get(field)?);
        let created_ms = time_of("created_at");
        let carried = id.and(created_ms).map(|created_ms| Carried {
            created_ms,
            updated_ms: time_of("updated_at").unwrap_or(created_ms),
        });
        // Of another program's memory it is the only time there is.
        let occurred_ms = match (id, &request.occurred_at) {
            (None, None) => created_ms,
            _ => None,
        };
        request.occurred_at = (request.occurred_at).or(occurred_ms.map(rfc3339_signed));
        let unknown = fields.keys().filter(|field| match field.as_str() {
            // Not every program's ids are ours.
            "id" => id.is_none(),
            "created_at" => carried.is_none() && occurred_ms.is_none(),
            "updated_at" => carried.is_none(),
            field => !FIELDS.contains(&field),
        });
        seen.ignored.extend(unknown.cloned());
        // What says all of where it is from does not come from here.
        let nobody = Caller::default();
        let from = match fields.get("source") {
            Some(Value::Object(_)) => &nobody,
            _ => {
                request.source.file = file.map(str::to_owned);
                caller
            }
        };
        let warnings = self.guard_store(&mut request)?;
        let mut checked = self.check_store(from, &request)?;
        checked.carried = carried;
        if let Some(id) = id
            && !seen.ids.insert(id)
        {
            return Err(ServiceError::invalid(
                "its `id` stands above, too: a memory of its own has none",
            ));
        }
        let name = match &checked.key {
            Some(_) => checked.name(),
            None => {
                let line_name = |nth| {
                    let kind = checked.scope.kind.code();
                    hash::line_name(
                        kind,
                        checked.scope.id,
                        &checked.topic,
                        &checked.content,
                        nth,
                    )
                };
                let nth = seen.lines.entry(line_name(1)).or_insert(0);
                *nth += 1;
                let name = line_name(*nth);
                checked.nth_line = Some(*nth);
                name
            }
        };
        seen.occurred += u64::from(occurred_ms.is_some());
        Ok((Line { checked, name, id }, warnings))
    }

    /// Returns the time that a `created_at` or `updated_at` names, milliseconds since the epoch: a text as users write
    /// it, or a number of seconds or milliseconds. `None` for anything else.
    fn time_of(&self, value: &Value) -> Option<i64> {
        let ms = match value {
            Value::String(text) => {
                when::parse_ms(text, self.now_ms(), &self.zone(), DayMeans::Start).ok()??
            }
            // In seconds these are the years up to 5138, in milliseconds 1973.
            Value::Number(number) => match number.as_i64()? {
                seconds if seconds.unsigned_abs() < 100_000_000_000 => seconds * 1_000,
                ms => ms,
            },
            _ => return None,
        };
        Timestamp::from_millisecond(ms)
            .ok()
            .map(Timestamp::as_millisecond)
    }
}

/// Hands out the objects of JSON lines.
fn json_lines(
    input: &mut dyn BufRead,
    name: &str,
    take: &mut dyn FnMut(Entry) -> Result<()>,
) -> Result<()> {
    let mut number = 0;
    let mut begun = false;
    let mut ahead = None;
    while let Some(text) = match ahead.take() {
        Some(text) => Some(text),
        None => next_line(input, name, number + 1)?,
    } {
        number += 1;
        if !begun && !is_blank(&text) {
            begun = true;
            ahead = next_line(input, name, number + 1)?;
            if let Some(why) = no_lines(&text, ahead.as_deref()) {
                let fields = Err(ServiceError::invalid(why));
                return take(Entry {
                    line: number,
                    fields,
                });
            }
        }
        if let Some(fields) = object_of(text).transpose() {
            take(Entry {
                line: number,
                fields,
            })?;
        }
    }
    Ok(())
}

/// The form of a file that has no JSON lines, and the way to make some of it.
const ARRAY: &str =
    "this is a JSON array, and one object a line is wanted: convert the file with `jq -c '.[]'`";
const SPREAD: &str = "this is a JSON object over several lines, and one object a line is wanted: convert the file with `jq -c .`";
const TABLE: &str = "this is a table (CSV), and one JSON object a line is wanted: convert the file with `mlr --icsv --ojsonl cat`";

/// Says what a file holds in place of JSON lines, by its first line that is not blank and the line after it; `None`
/// where it may hold JSON lines, good or bad ones.
fn no_lines(first: &[u8], next: Option<&[u8]>) -> Option<&'static str> {
    let wrong = |line: &[u8]| serde_json::from_slice::<IgnoredAny>(line).err();
    let why = wrong(first)?;
    let first = first.trim_ascii();
    match first.first() {
        Some(b'[') => {
            // Lines of other programs begin with `[INFO]`.
            let rest = first[1..].trim_ascii_start();
            (rest.is_empty() || rest.starts_with(b"{")).then_some(ARRAY)
        }
        Some(b'{') if first.len() <= LINE_LEN_MAX => {
            // Whole lines may follow one that was cut.
            let goes_on = next.is_some_and(|next| wrong(next).is_some());
            (why.is_eof() && (first == b"{" || goes_on)).then_some(SPREAD)
        }
        _ => {
            let names = first.split(|byte| *byte == b',');
            let names: Vec<_> = names.map(|name| name.trim_ascii()).collect();
            let has = |name: &[u8]| {
                let quoted = [b"\"", name, b"\""].concat();
                names.iter().any(|it| *it == name || *it == quoted)
            };
            (has(b"topic") && has(b"content")).then_some(TABLE)
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// The object of a line; none of one that is blank.
fn object_of(text: Vec<u8>) -> Result<Option<Map<String, Value>>> {
    if text.len() > LINE_LEN_MAX {
        return Err(ServiceError::invalid(format!(
            "the line is longer than {} KiB",
            LINE_LEN_MAX / 1_024
        )));
    }
    let text = String::from_utf8(text).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ServiceError::invalid(format!("not UTF-8 at byte {at}"))
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    match json::parse(&text).map_err(ServiceError::invalid)? {
        Value::Object(object) => Ok(Some(object)),
        Value::Array(_) => Err(ServiceError::invalid(ARRAY)),
        _ => Err(ServiceError::invalid("not a JSON object")),
    }
}

/// The memory that is named, if it is named whole.
fn whole_id(id: &Value) -> Option<SubjectId> {
    let text = id.as_str()?.trim();
    let (low, high) = id_range(text)?;
    (text.len() == ID_LEN && low == high).then_some(low)
}

fn reading(name: &str, source: io::Error) -> ServiceError {
    ServiceError::Io {
        doing: format!("reading {name}"),
        source,
    }
}

/// The name of a file without its folders, which are nobody's business elsewhere; none for stdin.
fn file_name(name: &str) -> Option<&str> {
    let file = (name != STDIN).then(|| Path::new(name).file_name())??;
    file.to_str()
        .filter(|file| file.len() <= limits::SOURCE_LEN_MAX)
}

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The next line without its end, and the first one without a byte order mark; `None` at the end of the input. A line far beyond the limit is
/// read to its end, but not kept.
pub fn next_line(input: &mut dyn BufRead, name: &str, number: u64) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let available = input.fill_buf().map_err(|source| ServiceError::Io {
            doing: format!("reading line {number} of {name}"),
            source,
        })?;
        if number == 1 && line.is_empty() && available.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
            continue;
        }
        if available.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() <= LINE_LEN_MAX {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() {
                // An empty line in the middle is no end.
                line.push(b' ');
            }
            return Ok(Some(line));
        }
    }
}

fn request_of(object: &Map<String, Value>) -> Result<StoreRequest> {
    let text = |field: &str| match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ServiceError::invalid(format!(
            "`{field}` is not text: put it in quotes"
        ))),
    };
    let required = |field: &str| {
        text(field)?.ok_or_else(|| ServiceError::invalid(format!("`{field}` is missing")))
    };
    let importance = match text("importance")? {
        None => None,
        Some(word) => Some(parse_importance(&word)?),
    };
    let trust = match text("trust")? {
        None => Trust::External,
        Some(word) => parse_trust(&word)?,
    };
    let keywords = match object.get("keywords") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        Some(Value::Array(items)) if items.len() <= KEYWORDS_MAX => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                _ => Err(ServiceError::invalid("a keyword is not text")),
            })
            .collect::<Result<_>>()?,
        Some(Value::Array(items)) => {
            let count = items.len();
            return Err(ServiceError::invalid(format!(
                "{count} keywords were given, the limit is {KEYWORDS_MAX}"
            )));
        }
        Some(_) => return Err(ServiceError::invalid("`keywords` is not a list of texts")),
    };
    let source = match object.get("source") {
        None | Some(Value::Null) => Source::default(),
        Some(Value::String(agent)) => Source {
            agent: Some(agent.clone()),
            ..Source::default()
        },
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|error| ServiceError::invalid(format!("`source`: {error}")))?,
    };
    Ok(StoreRequest {
        topic: required("topic")?,
        content: required("content")?,
        importance,
        keywords,
        raw_excerpt: text("raw_excerpt")?,
        key: text("key")?,
        occurred_at: text("occurred_at")?,
        source,
        metadata: object
            .get("metadata")
            .filter(|value| !value.is_null())
            .cloned(),
        scope: text("scope")?,
        trust,
        request_id: None,
        allow_secret: false,
    })
}

/// The importance that a word names.
pub(crate) fn parse_importance(word: &str) -> Result<Importance> {
    serde_json::from_value(Value::String(word.trim().to_ascii_lowercase())).map_err(|_| {
        ServiceError::invalid_with(
            format!("`{word}` is no importance"),
            "write low, medium, high or critical",
        )
    })
}

fn parse_trust(word: &str) -> Result<Trust> {
    serde_json::from_value(Value::String(word.trim().to_ascii_lowercase())).map_err(|_| {
        ServiceError::invalid_with(
            format!("`{word}` is no trust"),
            "write user, agent or external",
        )
    })
}

/// The versions of the memory that a line is about, and whether a name led to it; none where it is new here.
fn known(views: &Views, line: &Line) -> QueryResult<Option<(Vec<Version>, bool)>> {
    type Found = QueryResult<Option<(Vec<Version>, bool)>>;
    let named = || -> Found {
        Ok(match views.named(line.name)? {
            Some(entity) => Some((views.versions(entity, NEWEST)?, true)),
            None => None,
        })
    };
    let with_id = || -> Found {
        let Some(id) = line.id else {
            return Ok(None);
        };
        let versions = views.versions(views.resolve(id)?, NEWEST)?;
        // One that was copied to make another one of it, with a key or in a topic of its own, is not meant.
        let is_same =
            |newest: &Version| newest.family() == Family::Memory && newest.key == line.checked.key;
        let was_in_topic = |version: &Version| version.topic.as_ref() == Some(&line.checked.topic);
        let is_meant = versions.last().is_some_and(is_same) && versions.iter().any(was_in_topic);
        Ok(is_meant.then_some((versions, false)))
    };
    // A key is the writer's own word for it; without one the name is of the content, which may be new.
    let has_key = line.checked.key.is_some();
    let first = if has_key { named()? } else { with_id()? };
    match first {
        Some(found) => Ok(Some(found)),
        None if has_key => with_id(),
        None => named(),
    }
}

/// Appends one batch of lines that all have different names.
fn import_batch(
    command: &mut Command<'_>,
    views: &Views,
    lines: &[Line],
    unnamed: &mut Unnamed,
) -> QueryResult<Vec<Fate>> {
    let mut events: Vec<NewEvent> = Vec::new();
    let mut fates = Vec::with_capacity(lines.len());
    for line in lines {
        let Some((versions, by_name)) = known(views, line)? else {
            if let Some(nth) = line.checked.nth_line
                && nth <= unnamed.count(views, &line.checked)?
            {
                fates.push(Fate::Unchanged);
                continue;
            }
            events.push(stored_event(command, &line.checked));
            fates.push(Fate::Added);
            continue;
        };
        // What was ever stored here is not news, even if it was changed or forgotten since.
        if let Some(hidden) = versions.last().filter(|it| it.hidden && by_name) {
            // An import that was undone is done anew.
            events.push(line.checked.stored_over(hidden));
            fates.push(Fate::Added);
            continue;
        }
        let known = versions
            .iter()
            .any(|version| version.content.as_deref() == Some(line.checked.content.as_str()));
        let newest = versions.last().filter(|version| version.is_alive());
        match (known, newest) {
            (false, Some(before)) => match updated_event(before, &line.checked) {
                Some(event) => {
                    events.push(event);
                    fates.push(Fate::Updated);
                }
                None => fates.push(Fate::Unchanged),
            },
            _ => fates.push(Fate::Unchanged),
        }
    }
    if !events.is_empty() {
        command.append(views, events)?;
    }
    Ok(fates)
}

/// The event that stores an imported line which is new.
pub(crate) fn stored_event(command: &Command<'_>, checked: &ValidatedStore) -> NewEvent {
    checked.stored(command.new_id())
}

/// The event that gives a memory the content and other values of an imported line.
pub(crate) fn updated_event(before: &Version, checked: &ValidatedStore) -> Option<NewEvent> {
    Change::of_store(checked).event(before)
}
