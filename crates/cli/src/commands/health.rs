//! `icm health`

use clap::Args;
use icm_api::{FindingItem, FindingKind, Health, HealthFinding, HealthRequest};

use super::topics::below;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::{cleaned, count, one_line};
use crate::ui::{BOLD, DIM, GOOD, TOPIC, WARN};
use crate::{memory_view, when};

/// Show memories that need attention, with a command for each
///
/// Checks all memories, counts those of each finding, and names the first few. A stale memory was neither changed nor
/// recalled for a long time. Stale and never recalled memories have medium or low importance and no pin: a session is
/// shown the others at its start. Near-duplicates are linked as similar, or have most words in common. Another memory
/// supersedes a superseded memory. Expired memories are not counted; those that expire within 7 days are named.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm health
  icm health -t payments/ --stale-days 30")]
pub(crate) struct HealthArgs {
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// Days without change or recall after which a memory is stale
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    stale_days: u32,
    /// Memories to name for each finding
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    limit: u16,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: HealthArgs, app: &App) -> Result<Outcome, CliError> {
    let request = HealthRequest {
        topic: args.topic,
        at: args.at,
        stale_days: args.stale_days,
        named: usize::from(args.limit),
    };
    let health = app.service()?.health(&request)?;
    if app.ui.json {
        app.ui.json(&health)?;
        return Ok(Outcome::Fine);
    }
    print(app, &health)?;
    if let (Some(topic), 0) = (&request.topic, health.memories) {
        let below = below(topic, |topic| {
            let look = HealthRequest {
                topic: Some(topic),
                ..request.clone()
            };
            Ok(app.service()?.health(&look)?.memories > 0)
        })?;
        let topic = one_line(topic);
        app.ui.remark(format_args!(
            "no memories in `{topic}`{below}; see `icm topics`"
        ));
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, health: &Health) -> Result<(), CliError> {
    let ui = &app.ui;
    let memories = count(health.memories, "memory", "memories");
    ui.line(format_args!("{} looked at", ui.paint(BOLD, &memories)))?;
    for finding in &health.findings {
        let n = finding.count;
        let style = if n > 0 { WARN } else { GOOD };
        let name = name(finding.finding, n);
        ui.line(format_args!("{} {name}", ui.paint(style, &n.to_string())))?;
        for found in &finding.first {
            ui.line(format_args!("  {}", said(app, found)))?;
            if let Some(content) = &found.content {
                let line = content.lines().next().unwrap_or_default();
                memory_view::print_quoted(ui, line)?;
            }
        }
        print_rest(app, finding)?;
    }
    Ok(())
}

fn print_rest(app: &App, finding: &HealthFinding) -> Result<(), CliError> {
    let left = finding.count - finding.first.len() as u64;
    if left > 0 {
        app.ui.line(format_args!("  … and {left} more"))?;
    }
    if finding.count > 0 {
        // A command is shown unchanged: its words may contain several spaces.
        let help = cleaned(&format!("→ {}", finding.command));
        app.ui
            .line(format_args!("  {}", app.ui.paint(DIM, &help)))?;
    }
    Ok(())
}

fn said(app: &App, found: &FindingItem) -> String {
    let topic = app.ui.paint(TOPIC, &one_line(&found.topic));
    let score = found.score.map_or(String::new(), |score| {
        format!(" ({})", icm_api::likeness(score))
    });
    match found.memories {
        Some(memories) => {
            let of = match &found.scope {
                Some(scope) => format!(" of {}", one_line(scope)),
                None => String::new(),
            };
            format!("{topic} {}{of}", count(memories, "memory", "memories"))
        }
        None => {
            let expires = found.expires.as_deref().map(when::expires);
            let expires = expires.map_or(String::new(), |told| format!("  {told}"));
            format!("{} {topic}{score}{expires}", found.ids.join("  "))
        }
    }
}

fn name(finding: FindingKind, n: u64) -> &'static str {
    let (one, many) = match finding {
        FindingKind::Stale => ("stale", "stale"),
        FindingKind::NearDuplicates => (
            "pair that says nearly the same",
            "pairs that say nearly the same",
        ),
        FindingKind::Contradictions => ("contradicting pair", "contradicting pairs"),
        FindingKind::NeverRecalled => (
            "never recalled in 30 days or more",
            "never recalled in 30 days or more",
        ),
        FindingKind::ExpireSoon => ("expires within 7 days", "expire within 7 days"),
        FindingKind::Crowded => ("crowded topic", "crowded topics"),
    };
    if n == 1 { one } else { many }
}
