//! `icm serve --list-tools`: the tools on offer and the toolsets, with their tokens.

use icm_server::mcp::{McpOptions, Offer, tool_list, tool_tokens};
use serde::Serialize;
use serde_json::Value;

use super::ServeArgs;
use crate::app::App;
use crate::columns;
use crate::columns::Cell;
use crate::error::{CliError, Outcome};
use crate::ui::{DIM, TOPIC};

/// The tools on offer, and all sets.
#[derive(Serialize)]
struct Listed {
    tools: Vec<Counted>,
    tokens: usize,
    toolsets: Vec<Set>,
}

/// A tool on offer.
#[derive(Serialize)]
struct Counted {
    name: String,
    tokens: usize,
}

/// A set of tools.
#[derive(Serialize)]
struct Set {
    name: &'static str,
    tools: usize,
    tokens: usize,
    about: &'static str,
}

/// Prints the tools of this choice, then all sets.
pub(super) fn print(args: &ServeArgs, offer: Offer, app: &App) -> Result<Outcome, CliError> {
    let options = super::options(args, offer, app);
    let listed = Listed {
        tools: tools(options),
        tokens: tool_tokens(options),
        toolsets: sets(options)?,
    };
    if app.ui.json {
        app.ui.json(&listed)?;
        return Ok(Outcome::Fine);
    }
    let number = |number: usize| Cell::new(number.to_string()).right();
    let heading = |names: &[&str]| -> Vec<Cell> {
        let cells = names.iter().map(|name| Cell::new(name).style(DIM));
        cells.collect()
    };
    let mut rows = vec![heading(&["tool on offer", "tokens"])];
    for tool in &listed.tools {
        rows.push(vec![
            Cell::new(&tool.name).style(TOPIC),
            number(tool.tokens),
        ]);
    }
    rows.push(vec![Cell::new("together"), number(listed.tokens)]);
    columns::print(&app.ui, &rows)?;
    app.ui.line(format_args!(""))?;
    let mut rows = vec![heading(&["toolset", "tools", "tokens", "purpose"])];
    for set in &listed.toolsets {
        rows.push(vec![
            Cell::new(set.name).style(TOPIC),
            number(set.tools),
            number(set.tokens),
            Cell::new(set.about).style(DIM),
        ]);
    }
    columns::print(&app.ui, &rows)?;
    Ok(Outcome::Fine)
}

fn tools(options: McpOptions) -> Vec<Counted> {
    let tools = match tool_list(options) {
        Value::Array(tools) => tools,
        _ => Vec::new(),
    };
    let counted = tools.iter().map(|tool| Counted {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        tokens: icm_api::tokens::estimate(&tool.to_string()),
    });
    counted.collect()
}

fn sets(options: McpOptions) -> Result<Vec<Set>, CliError> {
    let mut sets = Vec::new();
    for (name, about) in Offer::sets() {
        let offer = Offer::of(&[name.to_owned()], &[], &[])?;
        let options = McpOptions { offer, ..options };
        sets.push(Set {
            name,
            tools: tools(options).len(),
            tokens: tool_tokens(options),
            about,
        });
    }
    Ok(sets)
}
