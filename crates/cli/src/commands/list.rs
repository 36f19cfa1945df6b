//! `icm list`

use clap::{Args, ValueEnum};
use icm_api::{ListRequest, Sort};

use super::topics::below;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::tag_args::TagArgs;
use crate::values::how_many;
use crate::{memory_view, text};

const LIMIT_DEFAULT: usize = 50;

/// List memories, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm list -t payments/ --all
  icm list --any-tag api,sdk --not-tag draft --exclude
  icm list --expired    # bring one back with `icm revive`")]
pub(crate) struct ListArgs {
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    #[command(flatten)]
    tags: TagArgs,
    /// Only this scope; for a session also those below it
    #[arg(long)]
    scope: Option<String>,
    /// At most N [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Order: newest, heaviest or most recently recalled first
    #[arg(long, value_enum, default_value_t = SortArg::Created)]
    sort: SortArg,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Include forgotten memories
    #[arg(long)]
    forgotten: bool,
    /// Only expired memories, which nothing else shows
    #[arg(long, conflicts_with = "forgotten")]
    expired: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SortArg {
    Weight,
    Created,
    Accessed,
}

pub(crate) fn run(args: ListArgs, app: &App) -> Result<Outcome, CliError> {
    let limit = match args.limit {
        Some(limit) => limit as usize,
        None => LIMIT_DEFAULT,
    };
    let request = ListRequest {
        topic: args.topic,
        tags: args.tags.filter(),
        // One more than shown, to notice that some are left out.
        limit: (!args.all).then(|| limit.saturating_add(1)),
        sort: match args.sort {
            SortArg::Weight => Sort::Weight,
            SortArg::Created => Sort::Created,
            SortArg::Accessed => Sort::Accessed,
        },
        scope: app.scope(args.scope)?,
        at: args.at,
        forgotten: args.forgotten,
        expired: args.expired,
        after: None,
    };

    let mut memories = app.service()?.list(&request)?;

    let cut = !args.all && memories.len() > limit;
    if cut {
        memories.truncate(limit);
    }
    if app.ui.json {
        app.ui.json(&memories)?;
    } else {
        memory_view::print_list(app, &memories, true)?;
        match &request.topic {
            Some(topic) if memories.is_empty() => {
                let below = below(topic, |topic| {
                    let look = ListRequest {
                        topic: Some(topic),
                        limit: Some(1),
                        ..request.clone()
                    };
                    Ok(!app.service()?.list(&look)?.is_empty())
                })?;
                app.ui.remark(format_args!(
                    "no memories in `{}`{below}; see `icm topics`",
                    text::one_line(topic)
                ));
            }
            None if memories.is_empty() => app.ui.remark(format_args!("no memories")),
            _ => {}
        }
    }
    if cut && args.limit.is_none() {
        app.ui.note(&format!(
            "only the first {limit} are shown; see the rest with `--all` or `-l N`"
        ));
    }
    Ok(Outcome::Fine)
}
