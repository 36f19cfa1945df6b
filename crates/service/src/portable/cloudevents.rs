//! The log as CloudEvents: JSON lines for other programs and for people. The mapping is described in
//! `schemas/cloudevents.md`; the data of an event are those of `icm log --json`.

use std::io::{self, Write};
use std::ops::ControlFlow;

use icm_log::{Event, OriginId};
use serde::Serialize;
use serde_json::Value;

use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::{ExportSince, LogEntry, LogExported, Progress};

/// The text before the kind in `type`. It claims no domain.
const TYPE_PREFIX: &str = "icm";
/// The text before the origin in `source`.
const SOURCE_PREFIX: &str = "icm://origin/";

impl Service {
    /// Writes the events that [`Service::export_log`] would, by position, one CloudEvent a line. They cannot be
    /// imported; a bundle can.
    ///
    /// # Errors
    /// As [`Service::export_log`].
    pub fn export_cloudevents(
        &self,
        since: &ExportSince,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<LogExported> {
        self.finish_what_was_begun()?;
        let since = self.resolve_since(since)?;
        let names = self.with_views(|views| Ok(views.tally().actors.clone()))?;
        progress.start("exporting", None);
        let mut bytes = 0;
        let mut failed = None;
        let exported = self.log.export_events(&since, &mut |event| {
            progress.advance(1);
            let actor = names.get(&event.head.actor()).cloned();
            let actor = actor.unwrap_or_else(|| event.head.actor().to_string());
            let told = CloudEvent::of(event, self.entry_of(event, actor));
            let mut line = serde_json::to_string(&told).expect("texts and JSON encode");
            line.push('\n');
            bytes += line.len() as u64;
            match out.write_all(line.as_bytes()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        progress.finish();
        let exported = exported.map_err(|error| self.explained(error))?;
        if let Some(error) = failed.or_else(|| out.flush().err()) {
            return Err(writing(error));
        }
        if exported.unlearned > 0 {
            self.notice(format!(
                "{} left out: what lies here and was not learned yet is learned by the next import that brings anything new",
                match exported.unlearned {
                    1 => "1 event was".to_owned(),
                    events => format!("{events} events were"),
                }
            ));
        }
        Ok(LogExported {
            file: None,
            origins: exported.origins,
            events: exported.events,
            withheld: exported.bodiless,
            incomplete: (exported.incomplete.iter())
                .map(OriginId::to_string)
                .collect(),
            bytes,
        })
    }
}

/// An event of the log. The order of the fields matters: a person reads first what the event is, and `log import`
/// recognises its first bytes.
#[derive(Serialize)]
struct CloudEvent {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// An integer of CloudEvents has 32 bits, so these two are texts. `sequence` sorts as a text.
    sequence: String,
    position: String,
    actor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    command: String,
    datacontenttype: &'static str,
    data: Data,
}

#[derive(Serialize)]
struct Data {
    facts: Value,
    payload: Value,
    body: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refs: Vec<String>,
}

impl CloudEvent {
    fn of(event: &Event<'_>, entry: LogEntry) -> CloudEvent {
        let (kind, version) = (entry.kind, event.head.kind_version());
        CloudEvent {
            specversion: "1.0",
            id: entry.event,
            source: format!("{SOURCE_PREFIX}{}", entry.origin),
            r#type: format!("{TYPE_PREFIX}.{kind}.v{version}"),
            time: entry.at,
            subject: entry.subject,
            sequence: format!("{:020}", entry.seq),
            position: entry.position.to_string(),
            actor: attribute(&entry.actor),
            session: entry.session,
            command: entry.command,
            datacontenttype: "application/json",
            data: Data {
                facts: entry.facts,
                payload: entry.payload,
                body: entry.body,
                refs: event.head.refs().map(|id| id.to_string()).collect(),
            },
        }
    }
}

fn writing(source: io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "writing the export".to_owned(),
        source,
    }
}

/// Returns a text that may be an attribute: without control characters and noncharacters.
fn attribute(text: &str) -> String {
    let is_none = |c: char| {
        let code = u32::from(c);
        c.is_control() || code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
    };
    text.replace(is_none, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn attributes_hold_no_control_characters() {
        assert_eq!(attribute("agent:claude — é😀"), "agent:claude — é😀");
        assert_eq!(
            attribute("a\u{7}b\u{85}c\u{fffe}d\u{1ffff}e\u{fdd0}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"
        );
    }
}
