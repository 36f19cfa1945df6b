//! The tools of MCP: one table, from which the list, the schemas and the routes are made.
//!
//! Names, descriptions and schemas are constants. Stored text never gets into them, so a memory cannot change what a
//! client knows of a tool.

mod alerts;
mod compatible;
mod conflicts;
mod consolidate;
mod decay;
mod diff;
mod embed_all;
mod fact;
mod feedback;
mod forget;
mod forget_topic;
mod health;
mod link;
mod list;
mod list_topics;
pub(crate) mod log;
mod memoir;
mod naming;
mod paging;
mod prune;
mod recall;
mod recall_context;
mod receipt;
mod rename_tag;
mod revive;
mod stats;
mod store;
mod tags;
mod undo;
mod update;
mod wake_up;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{MetaObject, ToolAnnotations};
use serde_json::Value;

use super::McpOptions;
use super::schema;
use super::schema::{Args, Kind, Param};
pub(super) use compatible::{FRONTS, as_named};
use icm_api::error::ServiceError;
use icm_api::ids::short_event as short;
use icm_api::{Basis, Caller, Progress, TagFilter, expiry, when};
use icm_guard::sanitize::{clean, clean_line};
use icm_service::{Delivery, Service};
pub(super) use naming::{for_offer, if_offered};

/// All tools under names of icm, sorted by name.
pub(super) static TOOLS: [&Tool; 42] = [
    &alerts::SET,
    &alerts::DUE,
    &conflicts::TOOL,
    &diff::TOOL,
    &fact::get::TOOL,
    &fact::set::TOOL,
    &feedback::record::TOOL,
    &feedback::search::TOOL,
    &feedback::stats::TOOL,
    &log::TOOL,
    &memoir::add_concept::TOOL,
    &memoir::create::TOOL,
    &memoir::describe::TOOL,
    &memoir::export::TOOL,
    &memoir::forget::TOOL,
    &memoir::inspect::TOOL,
    &memoir::link::TOOL,
    &memoir::list::TOOL,
    &memoir::refine::TOOL,
    &memoir::search::TOOL,
    &memoir::search_all::TOOL,
    &memoir::show::TOOL,
    &consolidate::TOOL,
    &decay::TOOL,
    &embed_all::TOOL,
    &forget::TOOL,
    &forget_topic::TOOL,
    &health::TOOL,
    &link::TOOL,
    &list::TOOL,
    &list_topics::TOOL,
    &prune::TOOL,
    &recall::TOOL,
    &recall_context::TOOL,
    &rename_tag::TOOL,
    &revive::TOOL,
    &stats::TOOL,
    &store::TOOL,
    &tags::TOOL,
    &update::TOOL,
    &undo::TOOL,
    &wake_up::TOOL,
];

/// Returns the tools of icm, then the sets of tools under names of other memories. The place of a tool is its index here.
pub(super) fn every() -> impl Iterator<Item = &'static Tool> {
    let fronts = FRONTS.iter().flat_map(|front| front.tools);
    TOOLS.iter().chain(fronts).copied()
}

/// Returns the tools that these options offer, sorted by name within icm's own and within each other set.
pub(super) fn offered(options: McpOptions) -> impl Iterator<Item = &'static Tool> {
    let tools = every().enumerate();
    let offered = tools.filter(move |(place, _)| options.offer.has(*place));
    let tools = offered.map(|(_, tool)| tool);
    tools.filter(move |tool| !options.read_only || tool.hints.read_only)
}

/// Returns the name of a tool on offer that does the same as this one of icm: its own name first, then the name that
/// another memory has for it.
pub(super) fn offered_as(options: McpOptions, own: &str) -> Option<&'static str> {
    let mut found = None;
    for tool in offered(options) {
        if tool.name == own {
            return Some(tool.name);
        }
        if found.is_none() && compatible::own_name(tool.name) == own {
            found = Some(tool.name);
        }
    }
    found
}

/// The tools under the names of another memory. Each maps its arguments to a command of icm, so events are the same.
pub(super) struct Front {
    /// The name of the set.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Sorted by name.
    pub(super) tools: &'static [&'static Tool],
}

/// A tool.
pub(crate) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// At most 300 characters: what the tool does, when to call it, what it is not for. Parts that name other tools are in
    /// brackets, and the names in braces, see [`for_offer`].
    pub(super) description: &'static str,
    pub(super) hints: Hints,
    /// Words that a model may search for when it wants this tool, and that its name lacks.
    pub(super) search_hint: &'static str,
    /// `true` if a call leaves work for after its answer: views to bring up to date, a recall to record.
    pub(super) leaves_work: bool,
    pub(crate) params: &'static [Param],
    /// The schema of the structured content, for tools whose clients gain from knowing it.
    pub(super) output: Option<fn() -> Value>,
    pub(crate) run: fn(&Call<'_>, Args) -> Result<Reply, ServiceError>,
}

/// Hints that a client may show its user about a tool. No tool reaches beyond the store.
pub(crate) struct Hints {
    pub(super) read_only: bool,
    pub(super) destructive: bool,
    pub(super) idempotent: bool,
}

/// A call of a tool: the service, the caller and the options.
pub(crate) struct Call<'a> {
    pub(crate) service: &'a Service,
    pub(crate) caller: &'a Caller,
    pub(crate) options: McpOptions,
    /// Takes the progress of long work, and tells whether the call was cancelled.
    pub(crate) progress: &'a dyn Progress,
}

impl Call<'_> {
    /// Returns the bytes that the texts of the answer may take together.
    fn room_bytes(&self) -> usize {
        self.options.room_bytes()
    }

    /// Returns the day of a time in the service's zone, as `2026-11-02`.
    fn day(&self, time: &str) -> String {
        self.service.day(time)
    }

    /// Returns a time to the minute with the service's zone, as `2026-11-02 10:00 Europe/Berlin`.
    fn time(&self, time: &str) -> String {
        let local = when::local_time(time, &self.service.zone());
        format!("{local} {}", self.service.zone_name())
    }

    /// Returns a condition to expire, with a relative path as one in the folder of the session.
    fn condition(&self, given: Option<String>) -> Option<String> {
        let given = given?;
        Some(match &self.caller.folder {
            Some(folder) => expiry::settled(&given, folder, &self.service.zone()),
            None => given,
        })
    }

    /// Returns what a condition to expire means, with times in the service's zone and what is left of a number of recalls.
    fn expires(&self, condition: &str, left: Option<u64>) -> String {
        let told = expiry::told_left(condition, left, &self.service.zone());
        let told = clean_line(&told).into_owned();
        let is_period = condition.starts_with("period ") && condition.contains("..");
        match condition.starts_with("time ") || is_period {
            true => format!("{told} {}", self.service.zone_name()),
            false => told,
        }
    }

    /// Returns words of this program without the parts about tools that are not on offer, see [`for_offer`].
    fn told(&self, words: &str) -> String {
        for_offer(words, self.options)
    }

    /// Returns how the model reads a memory whole; if no tool on offer does that, the command for the user.
    fn way_to_the_whole(&self) -> String {
        if_offered("{icm_log} with its id shows it whole", self.options)
            .unwrap_or_else(|| "`icm get ID` (for the user to run) shows it whole".to_owned())
    }
}

/// The answer of a tool, in two forms: text for the model, JSON for a program.
pub(crate) struct Reply {
    pub(super) text: String,
    pub(crate) structured: Value,
    /// The delivery of the alerts in the text; recorded once this answer is written.
    pub(crate) delivery: Option<Delivery>,
}

impl Reply {
    /// Returns an answer without alerts.
    fn new(text: String, structured: Value) -> Reply {
        Reply {
            text,
            structured,
            delivery: None,
        }
    }

    /// Puts a first line about arguments whose values were changed to fit.
    pub(super) fn tell_notes(&mut self, notes: &[String]) {
        if notes.is_empty() {
            return;
        }
        self.text = format!("note: {}\n{}", notes.join("; "), self.text);
        if let Value::Object(structured) = &mut self.structured {
            structured.insert("notes".to_owned(), notes.into());
        }
    }

    /// Puts a last line with a hint for the session.
    pub(super) fn tell_hint(&mut self, hint: &str) {
        self.text = format!("{}\n{hint}", self.text);
        if let Value::Object(structured) = &mut self.structured {
            structured.insert("hint".to_owned(), hint.into());
        }
    }

    /// Puts a first line that the log is damaged, so that results may be missing.
    pub(super) fn tell_damage(&mut self, damage: &str) {
        let damage = clean_line(damage);
        self.text = format!(
            "note: {damage}; what is not found may lie behind the damage: whoever keeps the store should run `icm doctor`\n{}",
            self.text
        );
        if let Value::Object(structured) = &mut self.structured {
            structured.insert("damage".to_owned(), damage.into());
        }
    }
}

impl Tool {
    /// Returns the metadata of a tool that Claude Code reads.
    fn meta(&self, options: McpOptions) -> MetaObject {
        let mut meta = MetaObject::new();
        match ALWAYS_LOADED.contains(&compatible::own_name(self.name)) {
            true => meta.0.insert("anthropic/alwaysLoad".into(), true.into()),
            // A model searches for the other tools.
            false => (meta.0).insert("anthropic/searchHint".into(), self.search_hint.into()),
        };
        if self.hints.read_only {
            // Claude Code keeps longer answers in a file, which the model has to open.
            let most = options.answer_max_bytes;
            meta.0
                .insert("anthropic/maxResultSizeChars".into(), most.into());
        }
        meta
    }

    /// Returns the tool of this name.
    pub(super) fn named(name: &str) -> Option<&'static Tool> {
        every().find(|tool| tool.name == name)
    }

    /// Returns `true` if the answers of this tool are JSON, in the shape of another memory.
    pub(super) fn answers_json(&self) -> bool {
        !self.name.starts_with("icm_")
    }

    /// Returns the name that the set of another memory, if this tool is of one, has for a tool of icm; `None` if no such
    /// tool is on offer.
    pub(super) fn beside(&self, own: &str, options: McpOptions) -> Option<&'static str> {
        let is_in = |front: &&Front| front.tools.iter().any(|tool| tool.name == self.name);
        let front = FRONTS.iter().find(is_in)?;
        let mut names = offered(options).map(|tool| tool.name);
        names.find(|name| {
            let mut tools = front.tools.iter();
            compatible::own_name(name) == own && tools.any(|tool| tool.name == *name)
        })
    }

    /// Returns the tool as it stands in `tools/list` of the newest revision.
    pub(super) fn definition(&self, options: McpOptions) -> rmcp::model::Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.hints.read_only)
            .destructive(self.hints.destructive)
            .idempotent(self.hints.idempotent)
            .open_world(false);
        let input = schema::input_schema(self.params);
        let description = for_offer(self.description, options);
        let tool = rmcp::model::Tool::new(self.name, description, input)
            .with_title(self.title)
            .with_annotations(hints)
            .with_meta(self.meta(options));
        match self
            .output
            .filter(|_| options.structured)
            .map(|schema| schema())
        {
            Some(Value::Object(schema)) => tool.with_raw_output_schema(Arc::new(schema)),
            _ => tool,
        }
    }
}

/// Tools that Claude Code shows a model from the start; the model has to search for all others by name.
const ALWAYS_LOADED: [&str; 2] = ["icm_memory_recall", "icm_memory_store"];

const ALLOW_SECRET: Param = Param {
    name: "allow_secret",
    kind: Kind::Flag,
    required: false,
    about: "store a secret too, if the user insists",
};

/// The answer to a preview: the change is made if it is still the one that was shown.
const CONFIRM: Param = Param {
    name: "confirm",
    kind: Kind::Text,
    required: false,
    about: "the plan that the preview named",
};

const SCOPE_TO_STORE: Param = Param {
    name: "scope",
    kind: Kind::Text,
    required: false,
    about: "global (default), project, session or project:ID",
};

pub(crate) const IMPORTANCE: Kind = Kind::OneOf(&["low", "medium", "high", "critical"]);

/// `1 memory`, `2 memories`.
fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns a basis in words.
fn basis_text(basis: &Basis) -> String {
    let Basis {
        position,
        event,
        at,
        moment: _,
    } = basis;
    format!("as of @{position} ({at}, event {})", short(event))
}

/// Returns [`clean`] of an owned text.
fn cleaned(text: String) -> String {
    match clean(&text) {
        Cow::Owned(cleaned) => cleaned,
        Cow::Borrowed(_) => text,
    }
}

/// Cleans every string in `value`.
pub(crate) fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(cleaned) = clean(text) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(fields) => fields.values_mut().for_each(clean_value),
        _ => {}
    }
}

/// A condition to expire. Its forms are those of [`icm_api::expiry`].
const EXPIRES: Param = Param {
    name: "expires",
    kind: Kind::Text,
    required: false,
    about: "time 30d, usage 3, file-exists PATH, file-pristine PATH, period FROM..UNTIL",
};

const TOPIC: Param = Param {
    name: "topic",
    kind: Kind::Text,
    required: false,
    about: "only this topic; a/ for all below a",
};

/// The scope that a search or a count is made from.
const SCOPE_SEEN: Param = Param {
    name: "scope",
    kind: Kind::Text,
    required: false,
    about: "seen from it, or all; default: global, this project and session",
};

/// Keywords that memories have, all of them.
const KEYWORD: Param = Param {
    name: "keyword",
    kind: Kind::Words,
    required: false,
    about: "only with this keyword; with commas: with all",
};

const ANY_TAGS: Param = Param {
    name: "any_tags",
    kind: Kind::Words,
    required: false,
    about: "only with one of these keywords",
};

const NOT_TAGS: Param = Param {
    name: "not_tags",
    kind: Kind::Words,
    required: false,
    about: "with one of these keywords last",
};

const EXCLUDE: Param = Param {
    name: "exclude",
    kind: Kind::Flag,
    required: false,
    about: "leave those of not_tags out",
};

/// Takes the filter of [`KEYWORD`], [`ANY_TAGS`], [`NOT_TAGS`] and [`EXCLUDE`].
fn tag_filter(args: &mut Args) -> TagFilter {
    TagFilter {
        all: args.texts("keyword").unwrap_or_default(),
        any: args.texts("any_tags").unwrap_or_default(),
        not: args.texts("not_tags").unwrap_or_default(),
        exclude: args.flag("exclude"),
    }
}

/// The least fit of the results shown.
pub(crate) const FLOOR: Param = Param {
    name: "floor",
    kind: Kind::Share,
    required: false,
    about: "least fit, 0 for all",
};

const SINCE: Param = Param {
    name: "since",
    kind: Kind::Text,
    required: false,
    about: "happened then or later: date or 2h ago",
};

const UNTIL: Param = Param {
    name: "until",
    kind: Kind::Text,
    required: false,
    about: "happened then or earlier",
};

const AS_OF: Param = Param {
    name: "as_of",
    kind: Kind::Text,
    required: false,
    about: "a time, 2h ago, or @position",
};

/// Returns an answer, preceded by its basis if an earlier time was asked for.
fn dated(text: String, basis: &Basis, as_of: bool) -> String {
    match as_of {
        true => format!("{}\n{text}", basis_text(basis)),
        false => text,
    }
}
