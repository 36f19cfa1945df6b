//! A memoir as a tree in plain text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{definition, description, labels, numbered};
use crate::MemoirGraph;
use icm_guard::sanitize::clean_line;

/// Relations that put a concept below another one, most binding first.
const BELOW: [&str; 3] = ["part_of", "instance_of", "refines"];

/// The state while a tree is written.
struct Tree<'g> {
    graph: &'g MemoirGraph,
    below: BTreeMap<usize, Vec<(usize, &'g str)>>,
    other: BTreeMap<usize, Vec<(usize, &'g str)>>,
    written: BTreeSet<usize>,
    out: String,
}

pub(super) fn tree(graph: &MemoirGraph) -> String {
    let links = numbered(graph);
    let mut parents: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (at, (from, _, link)) in links.iter().enumerate() {
        let rank = BELOW.iter().position(|relation| *relation == link.relation);
        if let Some(rank) = rank {
            let known = parents.entry(*from).or_insert((rank, at));
            *known = (*known).min((rank, at));
        }
    }
    let mut tree = Tree {
        graph,
        below: BTreeMap::new(),
        other: BTreeMap::new(),
        written: BTreeSet::new(),
        out: clean_line(&graph.memoir.name).into_owned(),
    };
    if let Some(text) = description(graph) {
        tree.out.push_str(&format!(": {}", shortened(text)));
    }
    tree.out.push('\n');
    for (at, (from, to, link)) in links.iter().enumerate() {
        if parents.get(from).is_some_and(|(_, parent)| *parent == at) {
            tree.below
                .entry(*to)
                .or_default()
                .push((*from, &link.relation));
        } else {
            tree.other
                .entry(*from)
                .or_default()
                .push((*to, &link.relation));
        }
    }
    let mut roots: Vec<usize> = (0..graph.concepts.len())
        .filter(|number| !parents.contains_key(number))
        .collect();
    // Concepts in a circle have no root, so one of them becomes a root if no other root reaches it.
    let mut reached: BTreeSet<usize> = BTreeSet::new();
    let mut open = roots.clone();
    for number in 0..=graph.concepts.len() {
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(
                    tree.below
                        .get(&at)
                        .into_iter()
                        .flatten()
                        .map(|(from, _)| *from),
                );
            }
        }
        if number < graph.concepts.len() && !reached.contains(&number) {
            roots.push(number);
            open.push(number);
        }
    }
    let last = roots.len();
    for (at, root) in roots.into_iter().enumerate() {
        tree.add(root, None, at + 1 == last);
    }
    tree.out
}

/// A concept to be written next; the stack's top comes first.
struct Open {
    number: usize,
    relation: Option<String>,
    prefix: String,
    last: bool,
}

impl Tree<'_> {
    fn add(&mut self, root: usize, relation: Option<String>, last: bool) {
        let mut open = vec![Open {
            number: root,
            relation,
            prefix: String::new(),
            last,
        }];
        // The tree may be as deep as there are concepts, so there is no recursion.
        while let Some(at) = open.pop() {
            let again = !self.written.insert(at.number);
            self.line(&at, again);
            if again {
                continue;
            }
            let mut prefix = at.prefix.clone();
            if prefix.chars().count() < 4 * INDENT_MAX {
                prefix.push_str(if at.last { "    " } else { "│   " });
            }
            let others = self.other.get(&at.number).cloned().unwrap_or_default();
            let below = self.below.get(&at.number).cloned().unwrap_or_default();
            for (place, (to, relation)) in others.iter().enumerate() {
                let last = below.is_empty() && place + 1 == others.len();
                let (branch, to) = (branch(last), &self.graph.concepts[*to].concept.name);
                _ = writeln!(self.out, "{prefix}{branch}{relation} → {}", clean_line(to));
            }
            for (place, (from, relation)) in below.iter().enumerate().rev() {
                open.push(Open {
                    number: *from,
                    relation: Some((*relation).to_owned()),
                    prefix: prefix.clone(),
                    last: place + 1 == below.len(),
                });
            }
        }
    }

    fn line(&mut self, at: &Open, again: bool) {
        let concept = &self.graph.concepts[at.number].concept;
        let (prefix, branch) = (&at.prefix, branch(at.last));
        _ = write!(self.out, "{prefix}{branch}{}", clean_line(&concept.name));
        if let Some(relation) = &at.relation {
            _ = write!(self.out, " ({relation})");
        }
        match again {
            true => self.out.push_str(" ↺\n"),
            false => {
                _ = write!(self.out, ": {}", shortened(definition(concept)));
                if let Some(labels) = labels(concept) {
                    _ = write!(self.out, " [{labels}]");
                }
                self.out.push('\n');
            }
        }
    }
}

fn branch(last: bool) -> &'static str {
    if last { "└── " } else { "├── " }
}

/// Most levels that are indented; deeper levels stand below the last one. Raised, lines get longer.
const INDENT_MAX: usize = 32;
/// Most characters of a definition in a line. Raised, lines get longer.
const LINE_CHARS: usize = 72;

fn shortened(text: &str) -> String {
    let line = clean_line(text);
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.into_owned(),
    }
}
