//! Resources: texts that a client can attach to a conversation by URI, without a tool.
//!
//! ```text
//! icm://stats   icm://topics   icm://log
//! icm://memory/{id}   icm://memory/{id}@{position}   icm://topic/{topic}   icm://memoir/{name}
//! ```
//!
//! Texts from the store stand in the [frame](icm_guard::frame) that marks them as data. No stored text gets into names,
//! titles and descriptions.

use jiff::tz::TimeZone;
use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};

use super::McpOptions;
use super::schema::Args;
use super::tools::{Call, Tool, for_offer};
use icm_api::error::{Result, ServiceError};
use icm_api::when;
use icm_api::{Caller, GraphFormat, ListRequest, Memory, NoProgress};
use icm_guard::frame::{Frame, bounded, fair_cap};
use icm_guard::sanitize::clean_line;
use icm_service::Service;

/// The resource that clients may subscribe to.
pub(super) const LOG: &str = "icm://log";
const SCHEME: &str = "icm://";
/// The tool that a resource names.
const TEXT: &str = "text/plain";
/// Most memories of a topic that are shown. Raised, each gets less room.
const SHOWN_MAX: usize = 200;
/// Bytes of the words beside each text, about, and the least room for the text.
const ABOUT_BYTES: usize = 200;
const TEXT_MIN_BYTES: usize = 200;

/// Name, title and description of a resource.
type About = (&'static str, &'static str, &'static str);

const FIXED: [(&str, About); 3] = [
    (
        LOG,
        (
            "log",
            "The event log",
            "the newest events: who changed what, and when",
        ),
    ),
    (
        "icm://stats",
        ("stats", "Statistics", "how much the store holds"),
    ),
    (
        "icm://topics",
        (
            "topics",
            "Topics",
            "the topics as a tree, with counts and weights",
        ),
    ),
];

const TEMPLATES: [(&str, About); 4] = [
    (
        "icm://memoir/{name}",
        ("memoir", "A memoir", "its concepts, definitions and links"),
    ),
    (
        "icm://memory/{id}",
        (
            "memory",
            "A memory",
            "its text, where it came from and who changed it",
        ),
    ),
    (
        "icm://memory/{id}@{position}",
        (
            "memory-at",
            "A memory as it was",
            "its text as of a position of the log",
        ),
    ),
    (
        "icm://topic/{topic}",
        (
            "topic",
            "A topic",
            "the memories of one topic, newest first",
        ),
    ),
];

/// Returns the resources with a fixed URI.
pub(super) fn list() -> Vec<Resource> {
    let resource = |(uri, (name, title, about)): (&str, About)| {
        Resource::new(uri, name)
            .with_title(title)
            .with_description(about)
            .with_mime_type(TEXT)
    };
    FIXED.map(resource).to_vec()
}

/// Returns the URI templates of the other resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, (name, title, about)): (&str, About)| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(about)
            .with_mime_type(TEXT)
    };
    TEMPLATES.map(template).to_vec()
}

/// A resource, parsed from its URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// The text of a tool that is called without arguments.
    Tool(&'static str),
    Memory {
        id: String,
        at: Option<String>,
    },
    Topic(String),
    Memoir(String),
}

impl Named {
    /// Parses a URI; `None` if it names no resource of icm. Escapes are decoded once.
    pub(super) fn of(uri: &str) -> Option<Named> {
        let rest = uri.strip_prefix(SCHEME)?;
        let Some((kind, name)) = rest.split_once('/') else {
            return match rest {
                "log" => Some(Named::Tool("icm_log")),
                "stats" => Some(Named::Tool("icm_memory_stats")),
                "topics" => Some(Named::Tool("icm_memory_list_topics")),
                _ => None,
            };
        };
        let name = percent_decode_str(name).decode_utf8().ok()?;
        if name.trim().is_empty() || name.contains('\0') {
            return None;
        }
        match kind {
            "memory" => {
                let (id, position) = match name.split_once('@') {
                    Some((id, position)) => (id, Some(position)),
                    None => (&*name, None),
                };
                let digits =
                    |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let fits = !id.is_empty()
                    && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
                    && position.is_none_or(digits);
                fits.then(|| Named::Memory {
                    id: id.to_owned(),
                    at: position.map(|position| format!("@{position}")),
                })
            }
            "topic" => Some(Named::Topic(name.into_owned())),
            "memoir" => Some(Named::Memoir(name.into_owned())),
            _ => None,
        }
    }

    /// Returns `true` if the resource never changes, except by a redaction: a memory at a past position.
    pub(super) fn is_past(&self) -> bool {
        matches!(self, Named::Memory { at: Some(_), .. })
    }

    /// Returns the text of the resource.
    ///
    /// # Errors
    /// As the query used; `NotFound` if there is no such memory, topic or memoir.
    pub(super) fn read(
        &self,
        service: &Service,
        caller: &Caller,
        options: McpOptions,
    ) -> Result<String> {
        match self {
            Named::Tool(name) => {
                let tool = Tool::named(name).ok_or_else(|| {
                    ServiceError::Internal(format!("no tool {name} for a resource"))
                })?;
                let call = Call {
                    service,
                    caller,
                    options,
                    progress: &NoProgress,
                };
                let text = (tool.run)(&call, Args::default())?.text;
                Ok(bounded(text, options.answer_max_bytes))
            }
            Named::Memory { id, at } => {
                let memory = service.get(id, at.as_deref())?;
                Ok(framed(&[memory], options, &service.zone()))
            }
            Named::Topic(topic) => {
                let memories = of_topic(service, topic)?;
                let shown = memories.len().min(shown_max(options));
                let mut text = framed(&memories[..shown], options, &service.zone());
                if memories.len() > shown {
                    let others = for_offer("[; {icm_memory_recall} finds the others]", options);
                    text.push_str(&format!(
                        "\nthe newest {shown} of {}{others}",
                        memories.len()
                    ));
                }
                Ok(text)
            }
            Named::Memoir(name) => {
                let exported = service
                    .memoir_export(name, GraphFormat::Markdown, None)?
                    .text;
                let mut frame = Frame::new();
                frame.item("", &exported, "", options.room_bytes());
                Ok(frame.finish())
            }
        }
    }
}

/// Returns the most memories of a topic that an answer shows.
pub(super) fn shown_max(options: McpOptions) -> usize {
    (options.room_bytes() / (ABOUT_BYTES + TEXT_MIN_BYTES)).min(SHOWN_MAX)
}

/// Returns the living memories of a topic, newest first.
///
/// # Errors
/// `NotFound` if there are none.
pub(super) fn of_topic(service: &Service, topic: &str) -> Result<Vec<Memory>> {
    let memories = service.list(&ListRequest {
        topic: Some(topic.to_owned()),
        ..ListRequest::default()
    })?;
    match memories.is_empty() {
        true => Err(ServiceError::NotFound {
            what: "topic",
            id: clean_line(topic).into_owned(),
            nearest: Vec::new(),
        }),
        false => Ok(memories),
    }
}

/// Returns memories with their sources, framed as data, within the longest answer.
pub(super) fn framed(memories: &[Memory], options: McpOptions, zone: &TimeZone) -> String {
    let mut frame = Frame::new();
    let lengths = memories
        .iter()
        .map(|memory| memory.content.as_ref().map_or(0, String::len));
    let room = options.room_bytes();
    let cap = fair_cap(lengths, room.saturating_sub(memories.len() * ABOUT_BYTES));
    for memory in memories {
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let head = format!("{} [{}] ", memory.id, clean_line(&memory.topic));
        let source = &memory.source;
        let mut about = vec![
            memory.importance.name().to_owned(),
            format!("trust {}", memory.trust.name()),
            format!("updated {}", memory.updated_at),
        ];
        if let Some(at) = &memory.occurred_at {
            about.insert(0, format!("of {}", when::day(at, zone)));
        }
        let from = [&source.agent, &source.client, &source.session, &source.file];
        about.extend(
            from.into_iter()
                .flatten()
                .map(|from| clean_line(from).into_owned()),
        );
        about.extend(memory.states().iter().map(|state| state.word().to_owned()));
        frame.item(&head, content, &format!(" ({})", about.join(", ")), cap);
    }
    bounded(frame.finish(), options.answer_max_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_thing_or_nothing() {
        let memory = |id: &str, at: Option<&str>| {
            Some(Named::Memory {
                id: id.into(),
                at: at.map(Into::into),
            })
        };
        for (uri, named) in [
            ("icm://log", Some(Named::Tool("icm_log"))),
            ("icm://stats", Some(Named::Tool("icm_memory_stats"))),
            ("icm://memory/01ABC", memory("01ABC", None)),
            ("icm://memory/01ABC@12", memory("01ABC", Some("@12"))),
            ("icm://memory/01ABC%4012", memory("01ABC", Some("@12"))),
            ("icm://topic/a%2Fb%20c", Some(Named::Topic("a/b c".into()))),
            ("icm://topic/a/b", Some(Named::Topic("a/b".into()))),
            // The escape is decoded once.
            ("icm://topic/a%252Fb", Some(Named::Topic("a%2Fb".into()))),
            ("icm://memoir/system", Some(Named::Memoir("system".into()))),
            ("icm://memory/01ABC@", None),
            ("icm://memory/01ABC@yesterday", None),
            ("icm://memory/../store.toml", None),
            ("icm://memory/", None),
            ("icm://topic/%00", None),
            ("icm://topic/%ff", None),
            ("icm://nothing", None),
            ("icm://log/x", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(Named::of(uri), named, "{uri}");
        }
    }

    #[test]
    fn every_template_names_something_once_it_is_filled_in() {
        for (uri, _) in FIXED {
            assert!(Named::of(uri).is_some(), "{uri}");
        }
        for (uri, _) in TEMPLATES {
            let filled = uri.replace("{id}", "01A").replace("{position}", "7");
            let filled = filled.replace("{topic}", "t").replace("{name}", "n");
            assert!(Named::of(&filled).is_some(), "{filled}");
        }
    }
}
