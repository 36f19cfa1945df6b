//! `icm topics`

use clap::Args;
use icm_api::{TopicNode, TopicsRequest};

use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::text;
use crate::ui::{DIM, TOPIC};
use crate::values::how_many;
use crate::when;

/// List the topics as a tree, with their numbers of memories
///
/// Each level has the number of its memories. If there are topics below, a second number with `+` counts all memories
/// of the level and below. Then come the mean weight and the last change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm topics --depth 1
  icm topics --prefix payments --flat    # one line for each topic")]
pub(crate) struct TopicsArgs {
    /// Levels to show; deeper topics are counted in those above
    #[arg(long, value_name = "N", value_parser = how_many)]
    depth: Option<u32>,
    /// Only this topic and everything below it
    #[arg(long, value_name = "TOPIC")]
    prefix: Option<String>,
    /// A plain list of the topics with memories
    #[arg(long)]
    flat: bool,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: TopicsArgs, app: &App) -> Result<Outcome, CliError> {
    let request = TopicsRequest {
        prefix: args.prefix,
        depth: args.depth,
        flat: args.flat,
        at: args.at,
        ..TopicsRequest::default()
    };
    let topics = app.service()?.topic_tree(&request)?;

    if app.ui.json {
        app.ui.json(&topics.topics)?;
        return Ok(Outcome::Fine);
    }
    let mut rows = Vec::with_capacity(topics.topics.len());
    for (node, above, rest) in topics.nested() {
        let name = match request.flat {
            true => Cell::new(&node.topic),
            false => (0..above).fold(Cell::new(rest), |name, _| name.indented()),
        };
        rows.push(row(app, &request, node, name));
    }
    columns::print(&app.ui, &rows)?;
    match &request.prefix {
        Some(prefix) if topics.topics.is_empty() => app.ui.remark(format_args!(
            "no topics in `{}`; see `icm topics`",
            text::one_line(prefix)
        )),
        _ if topics.topics.is_empty() => app.ui.remark(format_args!("no topics")),
        _ => {}
    }
    Ok(Outcome::Fine)
}

fn row(app: &App, request: &TopicsRequest, node: &TopicNode, name: Cell) -> Vec<Cell> {
    let own = match node.memories {
        0 => "-".to_owned(),
        own => own.to_string(),
    };
    let below = &node.with_below;
    let more = !request.flat && below.memories > node.memories;
    let (weight, changed) = match more {
        true => (Some(below.mean_weight), &below.updated_at),
        false => (node.mean_weight, &node.updated_at),
    };
    let mut cells = vec![name.style(TOPIC), Cell::new(own).right()];
    if !request.flat {
        let all = more.then(|| format!("+{}", below.memories - node.memories));
        cells.push(Cell::new(all.unwrap_or_default()).right());
    }
    let weight = weight.map_or(String::new(), |weight| format!("{weight:.2}"));
    cells.push(Cell::new(weight).style(DIM).right());
    cells.push(Cell::new(when::ago(app.ui.now, changed)).style(DIM));
    cells
}

/// Returns the end of the remark for a topic without memories: the name for everything below the topic, if `is_there`
/// finds something there.
pub(super) fn below(
    topic: &str,
    is_there: impl FnOnce(String) -> Result<bool, CliError>,
) -> Result<String, CliError> {
    let below = format!("{topic}/");
    let named = topic.is_empty() || topic.ends_with('/');
    Ok(match !named && is_there(below.clone())? {
        true => format!(
            ", but below it: `{}` means it and everything below it",
            text::one_line(&below)
        ),
        false => String::new(),
    })
}
