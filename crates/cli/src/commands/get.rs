//! `icm get`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Direction, Memory};

use crate::app::App;
use crate::columns;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::ui::{DIM, Ui};
use crate::{memory_view, text, when};

/// Show one memory with all its fields
///
/// Exits with 1 if there is no memory with this id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm get 01J9X4
  icm get 01J9X4 --at yesterday    # the memory as it was then")]
pub(crate) struct GetArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: GetArgs, app: &App) -> Result<Outcome, CliError> {
    let memory = app
        .service()?
        .get(&args.id, args.at.as_deref())
        .map_err(CliError::from);
    let memory = match memory {
        Ok(memory) => memory,
        Err(error) => {
            if app.ui.json && error.kind == ErrorKind::NotFound {
                app.ui.json(&serde_json::Value::Null)?;
            }
            return Err(error);
        }
    };

    if app.ui.json {
        app.ui.json(&memory)?;
    } else {
        print(&app.ui, &memory)?;
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, memory: &Memory) -> Result<(), CliError> {
    memory_view::print(ui, memory, "")?;
    if let Some(raw) = &memory.raw_excerpt {
        ui.line(format_args!("{}", ui.paint(DIM, "made from:")))?;
        memory_view::print_quoted(ui, raw)?;
    }
    let mut rows = Vec::new();
    let mut add = |name: &'static str, value: String| {
        if !value.is_empty() {
            rows.push((name, value));
        }
    };
    let time = |at: &Option<String>| at.as_deref().map(|at| when::at_and_ago(ui.now, at));
    let source = &memory.source;
    add("weight", format!("{:.3}", memory.weight));
    add("keywords", memory.keywords.join(", "));
    add("scope", memory.scope.clone());
    let text_by = memory.authors.as_ref().map(|authors| &authors.text);
    let trust = text_by.map_or(memory.trust, |author| author.trust);
    add("trust", trust.name().into());
    let (text_by, made_by) = memory_view::authors(ui, memory);
    add("written by", text_by.unwrap_or_default());
    add("made by", made_by.unwrap_or_default());
    add("agent", source.agent.clone().unwrap_or_default());
    add("client", source.client.clone().unwrap_or_default());
    add("session", source.session.clone().unwrap_or_default());
    add("project", source.project.clone().unwrap_or_default());
    add("file", source.file.clone().unwrap_or_default());
    add("occurred", time(&memory.occurred_at).unwrap_or_default());
    add("created", when::at_and_ago(ui.now, &memory.created_at));
    add("updated", when::at_and_ago(ui.now, &memory.updated_at));
    add("recalled", recalled(ui, memory));
    let metadata = memory.metadata.as_ref().map(ToString::to_string);
    add("metadata", metadata.unwrap_or_default());
    add("withheld", memory.withheld.join(", "));
    add("in conflict", conflicts(memory));
    if let Some(until) = &memory.pinned_until {
        add("pinned", pinned(ui, until));
    }
    add("expires", expires(ui, memory));
    if let Some(from) = &memory.planned_from {
        let from = when::local(from);
        add("planned", format!("valid from {from}, hidden until then"));
    }
    if memory.confirmations > 0 {
        add(
            "confirmed",
            text::count(memory.confirmations, "time", "times"),
        );
    }
    add(
        "recalled with",
        text::one_line(&memory.often_together.join(", ")),
    );
    for related in &memory.related {
        let id = text::one_line(&related.id);
        let relation = text::one_line(&related.relation);
        rows.push((
            "link",
            match related.direction {
                Direction::Out => format!("{relation} {id}"),
                Direction::In => format!("{id} {relation} this one"),
            },
        ));
    }
    columns::print_pairs(ui, &rows)
}

fn conflicts(memory: &Memory) -> String {
    match memory.conflicts.join(", ") {
        none if none.is_empty() => none,
        fields => format!("{fields} (see `icm conflicts`)"),
    }
}

fn expires(ui: &Ui, memory: &Memory) -> String {
    let again = memory.expires.as_deref();
    let again = again.and_then(|condition| when::shown_again(ui.now, condition));
    match (when::condition_of(memory), memory.expired, again) {
        (None, ..) => String::new(),
        (Some(condition), false, _) => condition,
        (Some(condition), true, Some(again)) => {
            format!("{condition}: hidden now, shown again by itself {again}")
        }
        (Some(condition), true, None) => {
            let id = text::one_line(&memory.id);
            format!("{condition}: hidden now (`icm revive {id}` brings it back)")
        }
    }
}

fn pinned(ui: &Ui, until: &str) -> String {
    match until {
        "unpinned" => "until it is unpinned".to_owned(),
        until => format!("until {}", when::at_and_ago(ui.now, until)),
    }
}

fn recalled(ui: &Ui, memory: &Memory) -> String {
    let times = match memory.access_count {
        0 => return "never".into(),
        1 => "once".to_string(),
        n => format!("{n} times"),
    };
    match &memory.last_accessed {
        Some(at) => format!("{times}, last {}", text::one_line(&when::ago(ui.now, at))),
        None => times,
    }
}
