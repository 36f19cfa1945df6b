//! Importing memories from JSON lines or Markdown: one command a file, one batch of lines at a time. In either format,
//! a memory is the JSON object of a line.

mod batch;
mod lines;
mod request;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;

use icm_log::env::random_16;
use icm_log::{CommandId, Name, SubjectId, hash};
use icm_projections::fold::Carried;
use jiff::Timestamp;
use serde_json::{Map, Value};

use self::batch::{Fate, Line, Unnamed, import_batch};
use self::lines::{Entry, json_lines};
use self::request::request_of;
use crate::command::RequestKeyOf;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::{ID_LEN, id_range, id_text};
use icm_api::limits;
use icm_api::markdown;
use icm_api::when;
use icm_api::when::{DayMeans, rfc3339_signed};
use icm_api::{Caller, ImportReport, ImportedLine, Progress, Rejected};

pub use lines::next_line;

/// The name of an input that is no file.
pub const STDIN: &str = "stdin";
/// Lines that are appended and made durable together. Raised, a batch holds the lock longer.
const BATCH_LINES: usize = 256;
/// Bytes of content of a batch, about. Raised, a batch holds the lock longer.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;
const FIELDS: [&str; 12] = [
    "topic",
    "content",
    "key",
    "importance",
    "keywords",
    "raw_excerpt",
    "occurred_at",
    "expires",
    "scope",
    "trust",
    "source",
    "metadata",
];

/// The format of a file of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Jsonl,
    Markdown,
}

impl Format {
    /// Returns the number of lines or memories in words, as in `1 line`, `2 lines`.
    fn count(self, n: u64) -> String {
        match (self, n) {
            (Format::Jsonl, 1) => "1 line".to_owned(),
            (Format::Jsonl, n) => format!("{n} lines"),
            (Format::Markdown, 1) => "1 memory".to_owned(),
            (Format::Markdown, n) => format!("{n} memories"),
        }
    }
}

/// Names and ids of the lines so far: 9 to 19 bytes a line.
#[derive(Default)]
struct Seen {
    /// The lines without a key, by a short form of their first name.
    lines: HashSet<u64>,
    /// The number of equal lines, for names that came again.
    again: HashMap<Name, u32>,
    ids: HashSet<u64>,
    /// Unknown fields, of all files.
    ignored: BTreeSet<String>,
    /// Number of memories of another program whose `created_at` became `occurred_at`, of all files.
    occurred: u64,
}

impl Seen {
    /// Begins another file.
    fn clear(&mut self) {
        self.lines.clear();
        self.again.clear();
        self.ids.clear();
    }

    /// Adds a line without a key by its first name. Returns how many equal lines there are now.
    fn count(&mut self, name: Name) -> u32 {
        if self.lines.insert(short(&name.0)) {
            return 1;
        }
        let nth = self.again.entry(name).or_insert(1);
        *nth += 1;
        *nth
    }
}

/// Returns a short form of a name or an id. At least half of their bits are random, so two collide with a chance of 1
/// in 2^64.
fn short(bytes: &[u8; 16]) -> u64 {
    let (high, low) = (
        u128::from_be_bytes(*bytes) >> 64,
        u128::from_be_bytes(*bytes),
    );
    high as u64 ^ low as u64
}

impl Service {
    /// Imports JSON lines from named files ([`STDIN`] for an input that is no file). A line without `source.file` gets
    /// the file's name, unless it has a whole `source`. Rejections name the file, too. Valid lines are kept, whatever
    /// the others are. Importing the same file again adds nothing. A line with a secret is rejected, unless the policy
    /// or `allow_secret` says otherwise.
    pub fn import_jsonl(
        &self,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        self.import(
            Format::Jsonl,
            caller,
            files,
            allow_secret,
            progress,
            &mut |_| (),
        )
    }

    /// Imports one file of JSON lines as [`Service::import_jsonl`] does, and reports each valid line once its events
    /// are durable. The report has the rejected lines.
    ///
    /// # Errors
    /// As [`Service::import_jsonl`].
    pub fn import_lines_reported(
        &self,
        caller: &Caller,
        file: (String, Box<dyn BufRead>),
        progress: &dyn Progress,
        report_line: &mut dyn FnMut(ImportedLine),
    ) -> Result<ImportReport> {
        self.import(
            Format::Jsonl,
            caller,
            vec![file],
            false,
            progress,
            report_line,
        )
    }

    /// Imports memories in Markdown, as [`Service::export_markdown`] writes them. A section stands for a line; errors
    /// name the line at which the section begins. Else as [`Service::import_jsonl`].
    pub fn import_markdown(
        &self,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
    ) -> Result<ImportReport> {
        self.import(
            Format::Markdown,
            caller,
            files,
            allow_secret,
            progress,
            &mut |_| (),
        )
    }

    fn import(
        &self,
        format: Format,
        caller: &Caller,
        files: Vec<(String, Box<dyn BufRead>)>,
        allow_secret: bool,
        progress: &dyn Progress,
        report_line: &mut dyn FnMut(ImportedLine),
    ) -> Result<ImportReport> {
        let mut report = ImportReport::default();
        let mut seen = Seen::default();
        progress.start("importing", None);
        let done = self.import_files(
            (format, caller, allow_secret),
            files,
            (&mut report, &mut seen, report_line),
            progress,
        );
        progress.finish();
        if !seen.ignored.is_empty() {
            let masked = |field: String| self.settings.secrets.masked(&field).unwrap_or(field);
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
        (report, seen, report_line): (&mut ImportReport, &mut Seen, &mut dyn FnMut(ImportedLine)),
        progress: &dyn Progress,
    ) -> Result<()> {
        for (name, mut input) in files {
            let command = CommandId(random_16(&*self.ground.env));
            seen.clear();
            let unnamed = RefCell::new(Unnamed::default());
            let mut lines = Vec::new();
            let mut bytes = 0;
            let mut take = |entry: Entry, seen: &mut Seen| -> Result<()> {
                progress.advance(1);
                let fields = entry.fields;
                let file = file_name(&name);
                match fields.and_then(|it| {
                    self.check_line(caller, (entry.line, &it), file, allow_secret, seen)
                }) {
                    Ok(line) => {
                        let place = |warning| format!("{name}:{}: {warning}", entry.line);
                        report.warnings.extend(line.warnings.iter().map(place));
                        bytes += line.checked.content.len();
                        lines.push(line);
                    }
                    Err(error) => report
                        .rejected
                        .push(self.rejected(entry.line, &name, &error)),
                }
                if lines.len() >= BATCH_LINES || bytes >= BATCH_BYTES {
                    self.import_lines(
                        (caller, command, &name),
                        &lines,
                        &unnamed,
                        (report, report_line),
                    )?;
                    lines.clear();
                    bytes = 0;
                }
                Ok(())
            };
            match format {
                Format::Jsonl => json_lines(&mut *input, &name, &mut |it| take(it, seen))?,
                Format::Markdown => {
                    let mut sections = markdown::Sections::of(&mut *input);
                    while let Some(section) = sections
                        .next_section()
                        .map_err(|source| reading(&name, source))?
                    {
                        let fields = section.fields.map_err(ServiceError::invalid);
                        let line = section.line;
                        take(Entry { line, fields }, seen)?;
                    }
                    seen.ignored.extend(sections.ignored);
                }
            }
            self.import_lines(
                (caller, command, &name),
                &lines,
                &unnamed,
                (report, report_line),
            )?;
        }
        Ok(())
    }

    fn rejected(&self, line: u64, name: &str, error: &ServiceError) -> Rejected {
        let mut why = error.to_string();
        // The hint is added if an argument of the command line is enough to go on.
        if let (ServiceError::Secret { .. }, Some(hint)) = (error, error.hint()) {
            why = format!("{why}; {hint}");
        }
        Rejected {
            line,
            file: name.to_owned(),
            why: self.settings.secrets.masked(&why).unwrap_or(why),
        }
    }

    fn import_lines(
        &self,
        (caller, command, name): (&Caller, CommandId, &str),
        lines: &[Line],
        unnamed: &RefCell<Unnamed>,
        (report, report_line): (&mut ImportReport, &mut dyn FnMut(ImportedLine)),
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
            for (line, fate) in batch.iter().zip(fates) {
                let (count, id, unchanged) = match fate {
                    Fate::Refused(error) => {
                        (report.rejected).push(self.rejected(line.number, name, &error));
                        continue;
                    }
                    Fate::Added(id) => (&mut report.added, Some(id), false),
                    Fate::Updated(id) => (&mut report.updated, Some(id), false),
                    Fate::Unchanged(id) => (&mut report.unchanged, id, true),
                };
                *count += 1;
                report_line(ImportedLine {
                    line: line.number,
                    id: id.map(id_text),
                    unchanged,
                    warnings: line.warnings.clone(),
                });
            }
            rest = later;
        }
        self.settle_import();
        Ok(())
    }

    fn check_line(
        &self,
        caller: &Caller,
        (number, fields): (u64, &Map<String, Value>),
        file: Option<&str>,
        allow_secret: bool,
        seen: &mut Seen,
    ) -> Result<Line> {
        let mut request = request_of(fields)?;
        request.allow_secret = allow_secret;
        let id = fields.get("id").and_then(whole_id);
        let time_of = |field: &str| self.time_of(fields.get(field)?);
        let created_ms = time_of("created_at");
        let carried = id.and(created_ms).map(|created_ms| Carried {
            created_ms,
            updated_ms: time_of("updated_at").unwrap_or(created_ms),
        });
        // A memory of another program has no other time.
        let occurred_ms = match (id, &request.occurred_at) {
            (None, None) => created_ms,
            _ => None,
        };
        request.occurred_at = (request.occurred_at).or(occurred_ms.map(rfc3339_signed));
        let unknown = fields.keys().filter(|field| match field.as_str() {
            // An `id` of another program counts as an unknown field.
            "id" => id.is_none(),
            "created_at" => carried.is_none() && occurred_ms.is_none(),
            "updated_at" => carried.is_none(),
            field => !FIELDS.contains(&field),
        });
        seen.ignored.extend(unknown.cloned());
        // A line with a whole source takes none from this import.
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
            && !seen.ids.insert(short(&id.0))
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
                let nth = seen.count(line_name(1));
                checked.nth_line = Some(nth);
                line_name(nth)
            }
        };
        seen.occurred += u64::from(occurred_ms.is_some());
        Ok(Line {
            number,
            warnings,
            checked,
            name,
            id,
        })
    }

    /// Returns the time in a `created_at` or `updated_at`, in milliseconds since the epoch: a text as users write it,
    /// or a number of seconds or milliseconds. `None` for anything else.
    fn time_of(&self, value: &Value) -> Option<i64> {
        let ms = match value {
            Value::String(text) => {
                when::parse_ms(text, self.now_ms(), &self.zone(), DayMeans::Start).ok()??
            }
            // As seconds, smaller numbers reach the year 5138; as milliseconds, larger ones begin in 1973.
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

/// Returns the memory of a full id.
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

/// Returns the name of a file without its folders, which may be private; `None` for stdin.
fn file_name(name: &str) -> Option<&str> {
    let file = (name != STDIN).then(|| Path::new(name).file_name())??;
    file.to_str()
        .filter(|file| file.len() <= limits::SOURCE_LEN_MAX)
}
