//! `icm list`

use clap::{Args, ValueEnum};
use icm_api::{ListRequest, Sort};

use super::topics::below;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::limit_args::LimitArgs;
use crate::tag_args::TagArgs;
use crate::{memory_view, text};

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
    #[command(flatten)]
    limit: LimitArgs,
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
    let request = ListRequest {
        topic: args.topic,
        tags: args.tags.filter(),
        limit: args.limit.asked(),
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

    let is_cut = args.limit.cut(&mut memories);
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
    let shown = format!("first {}", memories.len());
    args.limit.tell_left_out(&app.ui, is_cut, &shown);
    Ok(Outcome::Fine)
}
