//! `icm topics`

use clap::Args;

use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::ui::{DIM, TOPIC};
use crate::when;

/// List the topics and how many memories are in each
#[derive(Debug, Args)]
pub(crate) struct TopicsArgs {}

pub(crate) fn run(_: TopicsArgs, app: &App) -> Result<Outcome, CliError> {
    let topics = app.service()?.topics()?;

    if app.ui.json {
        app.ui.json(&topics)?;
        return Ok(Outcome::Fine);
    }
    let rows: Vec<_> = topics
        .iter()
        .map(|topic| {
            vec![
                Cell::new(&topic.topic).style(TOPIC),
                Cell::new(topic.memories.to_string()).right(),
                Cell::new(when::ago(app.ui.now, &topic.updated_at)).style(DIM),
            ]
        })
        .collect();
    columns::print(&app.ui, &rows)?;
    if topics.is_empty() {
        app.ui.remark(format_args!("no topics"));
    }
    Ok(Outcome::Fine)
}
