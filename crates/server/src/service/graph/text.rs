//! A memoir written out: for programs, for drawing, for people, for a model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::api::{Concept, ConceptLink, GraphFormat, MemoirGraph, WholeConcept};
use crate::sanitize::{clean, clean_line};

/// Relations that put a concept below another one in a tree, the closest first.
const BELOW: [&str; 3] = ["part_of", "instance_of", "refines"];

/// The text of a memoir; it ends with a line break.
pub(super) fn write(graph: &MemoirGraph, format: GraphFormat) -> String {
    match format {
        GraphFormat::Json => {
            let mut text = serde_json::to_string_pretty(graph).unwrap_or_default();
            text.push('\n');
            text
        }
        GraphFormat::Dot => dot(graph),
        GraphFormat::Mermaid => mermaid(graph),
        GraphFormat::Ascii => tree(graph),
        GraphFormat::Markdown => markdown(graph),
        GraphFormat::Graphml => graphml(graph),
    }
}

/// The number of each concept by name.
fn numbers(graph: &MemoirGraph) -> BTreeMap<&str, usize> {
    let names = graph.concepts.iter().map(|it| it.concept.name.as_str());
    names.zip(0..).collect()
}

/// The links with the numbers of their ends.
fn numbered(graph: &MemoirGraph) -> Vec<(usize, usize, &ConceptLink)> {
    let numbers = numbers(graph);
    let ends = |link: &ConceptLink| {
        Some((
            *numbers.get(link.from.as_str())?,
            *numbers.get(link.to.as_str())?,
        ))
    };
    let links = graph.links.iter();
    links
        .filter_map(|link| ends(link).map(|(from, to)| (from, to, link)))
        .collect()
}

fn definition(concept: &Concept) -> &str {
    concept.definition.as_deref().unwrap_or("(withheld)")
}

/// What the memoir is about, if that is said.
fn description(graph: &MemoirGraph) -> Option<&str> {
    let text = graph.memoir.description.as_deref().unwrap_or("(withheld)");
    (!text.trim().is_empty()).then_some(text)
}

/// The labels of a concept in a line, if it has any.
fn labels(concept: &Concept) -> Option<String> {
    let labels = concept.labels.iter().map(|label| clean_line(label));
    let labels: Vec<_> = labels.collect();
    (!labels.is_empty()).then(|| labels.join(", "))
}

fn dot(graph: &MemoirGraph) -> String {
    let quoted = |text: &str| {
        let text = clean_line(text).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    let mut out = format!(
        "digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n",
        quoted(&graph.memoir.name)
    );
    if let Some(text) = description(graph) {
        _ = writeln!(out, "  labelloc=t;\n  label={};", quoted(text));
    }
    for (number, WholeConcept { concept, .. }) in graph.concepts.iter().enumerate() {
        let (label, tip) = (quoted(&concept.name), quoted(definition(concept)));
        _ = write!(out, "  c{number} [label={label}, tooltip={tip}");
        if let Some(labels) = labels(concept) {
            _ = write!(out, ", xlabel={}", quoted(&labels));
        }
        out.push_str("];\n");
    }
    for (from, to, link) in numbered(graph) {
        _ = write!(out, "  c{from} -> c{to} [label={}", quoted(&link.relation));
        if let Some(reason) = &link.reason {
            _ = write!(out, ", tooltip={}", quoted(reason));
        }
        out.push_str("];\n");
    }
    out.push_str("}\n");
    out
}

fn mermaid(graph: &MemoirGraph) -> String {
    // Mermaid reads entities with a hash in the place of the ampersand.
    let quoted = |text: &str| {
        clean_line(text)
            .replace('#', "#35;")
            .replace('"', "#quot;")
            .replace('<', "#lt;")
            .replace('>', "#gt;")
            .replace('`', "#96;")
    };
    let mut out = String::from("graph LR\n");
    if let Some(text) = description(graph) {
        _ = writeln!(out, "  accDescr: {}", quoted(text));
    }
    for (number, WholeConcept { concept, .. }) in graph.concepts.iter().enumerate() {
        _ = write!(out, "  c{number}[\"{}", quoted(&concept.name));
        if let Some(labels) = labels(concept) {
            _ = write!(out, "<br/>{}", quoted(&labels));
        }
        out.push_str("\"]\n");
    }
    for (from, to, link) in numbered(graph) {
        _ = writeln!(out, "  c{from} -->|\"{}\"| c{to}", quoted(&link.relation));
    }
    out
}

/// What the lines of a tree are made from.
struct Tree<'g> {
    graph: &'g MemoirGraph,
    below: BTreeMap<usize, Vec<(usize, &'g str)>>,
    other: BTreeMap<usize, Vec<(usize, &'g str)>>,
    written: BTreeSet<usize>,
    out: String,
}

fn tree(graph: &MemoirGraph) -> String {
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
    // What is only below itself, along a circle, begins a tree where nothing else reaches it.
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

/// What is still to be written of a tree, the next one last.
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
        // A tree may be as deep as there are concepts: no recursion.
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

/// Levels of a tree that are indented; what is deeper stands at the last of them.
const INDENT_MAX: usize = 32;
/// Characters of a definition in a line of a tree.
const LINE_CHARS: usize = 72;

fn shortened(text: &str) -> String {
    let line = clean_line(text);
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.into_owned(),
    }
}

fn markdown(graph: &MemoirGraph) -> String {
    let mut out = format!("# {}\n", clean_line(&graph.memoir.name));
    if let Some(text) = description(graph) {
        _ = writeln!(out, "\n{}", clean(text).trim());
    }
    let mut links: BTreeMap<&str, Vec<&ConceptLink>> = BTreeMap::new();
    for link in &graph.links {
        links.entry(&link.from).or_default().push(link);
    }
    for whole in &graph.concepts {
        let concept = &whole.concept;
        _ = writeln!(out, "\n## {}\n", clean_line(&concept.name));
        _ = writeln!(out, "{}\n", clean(definition(concept)).trim());
        if let Some(labels) = labels(concept) {
            _ = writeln!(out, "- labels: {labels}");
        }
        let (revision, confidence) = (concept.revision, concept.confidence);
        _ = writeln!(out, "- revision {revision}, confidence {confidence:.2}");
        if let Some(sources) = whole.sources.shown() {
            _ = writeln!(out, "- from memories: {sources}");
        }
        for link in links.get(concept.name.as_str()).into_iter().flatten() {
            _ = write!(out, "- {}: {}", link.relation, clean_line(&link.to));
            if let Some(reason) = &link.reason {
                _ = write!(out, " ({})", clean_line(reason));
            }
            out.push('\n');
        }
    }
    out
}

fn graphml(graph: &MemoirGraph) -> String {
    let escaped = |text: &str| {
        let text = clean(text);
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
    };
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (id, of, kind) in [
        ("name", "node", "string"),
        ("definition", "node", "string"),
        ("labels", "node", "string"),
        ("confidence", "node", "double"),
        ("revision", "node", "int"),
        ("sources", "node", "string"),
        ("relation", "edge", "string"),
        ("reason", "edge", "string"),
        ("description", "graph", "string"),
    ] {
        _ = writeln!(
            out,
            "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{id}\" attr.type=\"{kind}\"/>"
        );
    }
    let memoir = escaped(&graph.memoir.name);
    _ = writeln!(out, "  <graph id=\"{memoir}\" edgedefault=\"directed\">");
    if let Some(text) = description(graph) {
        let text = escaped(text);
        _ = writeln!(out, "    <data key=\"description\">{text}</data>");
    }
    for (number, whole) in graph.concepts.iter().enumerate() {
        let concept = &whole.concept;
        let mut data = vec![
            ("name", escaped(&concept.name)),
            ("definition", escaped(definition(concept))),
            ("labels", escaped(&concept.labels.join(", "))),
            ("confidence", concept.confidence.to_string()),
            ("revision", concept.revision.to_string()),
        ];
        data.extend(whole.sources.shown().map(|ids| ("sources", ids)));
        _ = write!(out, "    <node id=\"c{number}\">");
        for (key, value) in data {
            _ = write!(out, "<data key=\"{key}\">{value}</data>");
        }
        out.push_str("</node>\n");
    }
    for (from, to, link) in numbered(graph) {
        let relation = escaped(&link.relation);
        _ = write!(
            out,
            "    <edge source=\"c{from}\" target=\"c{to}\"><data key=\"relation\">{relation}</data>"
        );
        if let Some(reason) = &link.reason {
            _ = write!(out, "<data key=\"reason\">{}</data>", escaped(reason));
        }
        out.push_str("</edge>\n");
    }
    out.push_str("  </graph>\n</graphml>\n");
    out
}
