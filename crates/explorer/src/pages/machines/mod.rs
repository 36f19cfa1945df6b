//! The page *Machines*: the chains of the log and who wrote them, and conflicts to settle.

mod conflicts;

use std::collections::BTreeSet;

use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_log::{OriginId, Seq};
use maud::{Markup, html};

use super::log::place;
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::heads::Chain;
use crate::show::{Tone, actor, badge, count, empty, line, number, time};

/// Most actors and branches that are named of a chain.
const NAMED: usize = 6;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let log = explorer.service.log_handle();
    let until = ask.at.as_ref().map(|_| ask.basis.position);
    let chains: Vec<(Chain, Vec<String>)> = (explorer.heads).until(log, until, |seen| {
        let chains = seen.chains.list().into_iter();
        let named = |chain: &Chain| -> Vec<String> {
            let names = chain
                .actors
                .iter()
                .filter_map(|id| seen.sessions.actor(*id));
            let names: BTreeSet<&str> = names.collect();
            names.into_iter().map(str::to_owned).collect()
        };
        chains
            .map(|chain| {
                let names = named(&chain);
                (chain, names)
            })
            .collect()
    })?;
    let own = explorer.service.own_chains()?;
    let is_forked = chains.iter().any(|(chain, _)| !chain.branches.is_empty());
    let main = html! {
        @if chains.is_empty() {
            (empty("No machine has written here yet", &html! { "Store something: " code { (icm_api::STORE_EXAMPLE) } }))
        } @else {
            p {
                "Each machine writes a chain of its own, and "
                code { "icm sync" } " or " code { "icm log export" } " carry chains to others. "
                (count(chains.len() as u64, "chain", "chains")) " here."
            }
            @if is_forked {
                p.log-note { (badge(Tone::Warn, "branches")) " Two machines wrote under one origin: an exact copy of a store went on. Both branches are kept." }
            }
            (table(explorer, ask, &chains, &own))
            (heads(&chains))
        }
        (conflicts::section(explorer, ask)?)
    };
    Ok(Page::new("Machines", main))
}

fn table(
    explorer: &Explorer,
    ask: &Ask,
    chains: &[(Chain, Vec<String>)],
    own: &[OriginId],
) -> Markup {
    html! {
        div.wide {
            table.log-rows.chains {
                caption.unseen { "Chains of the log" }
                thead {
                    tr {
                        th scope="col" { "Machine" }
                        th.n scope="col" { "Events" }
                        th scope="col" { "Newest event" }
                        th scope="col" { "Last heard" }
                        th scope="col" { "Who" }
                        th scope="col" { "Program" }
                    }
                }
                tbody { @for chain in chains { (row(explorer, ask, chain, own)) } }
            }
        }
    }
}

fn row(
    explorer: &Explorer,
    ask: &Ask,
    (chain, actors): &(Chain, Vec<String>),
    own: &[OriginId],
) -> Markup {
    let origin = chain.origin.to_string();
    let is_own = own.contains(&chain.origin);
    html! {
        tr.item data-row id={ "origin-" (origin) } {
            th scope="row" {
                code title=(origin) { (&origin[..8]) } " "
                @if own.last() == Some(&chain.origin) {
                    (badge(Tone::Good, "this machine"))
                } @else if is_own {
                    (badge(Tone::Plain, "this machine, earlier"))
                }
                @if let Some(before) = chain.continues {
                    p.quiet { "goes on from " code { (&before.to_string()[..8]) } }
                }
                @if !chain.branches.is_empty() { p { (branches(&chain.branches)) } }
            }
            td.n { (number(chain.events)) span.unit { " events" } }
            td { (place(ask, chain.newest.0)) " " (time(explorer, ask, &rfc3339(chain.newest.1))) }
            td {
                @match (is_own, chain.learned) {
                    (true, _) => { span.quiet { "writes here" } }
                    (false, Some((position, ms))) => { (time(explorer, ask, &rfc3339(ms))) span.quiet { " with " } (place(ask, position)) }
                    (false, None) => { span.quiet { "unknown" } }
                }
            }
            td {
                ul.log-plain {
                    @for name in actors.iter().take(NAMED) { li { (actor(ask, name)) } }
                    @if actors.len() > NAMED { li.quiet { "… and " (actors.len() - NAMED) " more" } }
                }
            }
            td { @if let Some(program) = &chain.program { (line(program)) } }
        }
    }
}

fn branches(seqs: &[Seq]) -> Markup {
    let shown = seqs.iter().take(NAMED).map(|seq| number(seq.0));
    let shown: Vec<String> = shown.collect();
    html! {
        (badge(Tone::Warn, "branches"))
        " at event " (shown.join(", "))
        @if seqs.len() > NAMED { " … and " (seqs.len() - NAMED) " more" }
    }
}

/// Returns the heads as `icm log heads` prints them.
fn heads(chains: &[(Chain, Vec<String>)]) -> Markup {
    html! {
        details {
            summary { "Heads, to keep elsewhere" }
            p.quiet { "Kept on another machine, these lines prove later that the log still holds these events: " code { "icm log verify --expect FILE" } }
            pre.text tabindex="0" {
                @for (chain, _) in chains { (chain.origin) " " (chain.head.0.0) " " (chain.head.1) "\n" }
            }
        }
    }
}
