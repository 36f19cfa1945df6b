//! A memoir as text, in one of the formats of [`GraphFormat`].

mod tree;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{Concept, ConceptLink, GraphFormat, MemoirGraph, WholeConcept};
use icm_guard::sanitize::{clean, clean_line};

/// Returns the text of a memoir; it ends with a line break.
pub fn write(graph: &MemoirGraph, format: GraphFormat) -> String {
    match format {
        GraphFormat::Json => {
            let mut text = serde_json::to_string_pretty(graph).unwrap_or_default();
            text.push('\n');
            text
        }
        GraphFormat::Dot => dot(graph),
        GraphFormat::Mermaid => mermaid(graph),
        GraphFormat::Ascii => tree::tree(graph),
        GraphFormat::Markdown => markdown(graph),
        GraphFormat::Graphml => graphml(graph),
    }
}

/// Returns the number of each concept by its name.
fn numbers(graph: &MemoirGraph) -> BTreeMap<&str, usize> {
    let names = graph.concepts.iter().map(|it| it.concept.name.as_str());
    names.zip(0..).collect()
}

/// Returns the links with the numbers of the concepts at their ends.
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

/// Returns the description of the memoir; `None` if it is empty.
fn description(graph: &MemoirGraph) -> Option<&str> {
    let text = graph.memoir.description.as_deref().unwrap_or("(withheld)");
    (!text.trim().is_empty()).then_some(text)
}

/// Returns the labels of a concept in one line; `None` if it has no labels.
fn labels(concept: &Concept) -> Option<String> {
    let labels = concept.labels.iter().map(|label| clean_line(label));
    let labels: Vec<_> = labels.collect();
    (!labels.is_empty()).then(|| labels.join(", "))
}

/// Returns `text` with `entity(c)` in place of each character for which it is not `None`.
fn escaped(text: &str, entity: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match entity(c) {
            Some(entity) => out.push_str(&entity),
            None => out.push(c),
        }
    }
    out
}

/// Returns the entity of a character that has a meaning in markup.
fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

/// Like [`entity`], for Mermaid, whose entities have `#` in place of `&`. Also escaped are `%%{` (a directive),
/// `\n` (a line break), two dollars (mathematics) and a backtick (Markdown).
fn mermaid_entity(c: char) -> Option<String> {
    match c {
        '"' => Some("#quot;".to_owned()),
        '#' | '`' | '%' | '{' | '}' | '\\' | '$' => Some(format!("#{};", u32::from(c))),
        _ => entity(c).map(|entity| entity.replace('&', "#")),
    }
}

/// Like [`entity`], for XML 1.0, which cannot represent some characters: they become U+FFFD.
fn xml_entity(c: char) -> Option<String> {
    match c {
        '"' => Some("&quot;".to_owned()),
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => {
            entity(c).map(str::to_owned)
        }
        _ => Some('\u{fffd}'.to_string()),
    }
}

fn dot(graph: &MemoirGraph) -> String {
    let name = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    // Graphviz reads entities in labels.
    let quoted = |text: &str| {
        name(&escaped(&clean_line(text), |c| {
            entity(c).map(str::to_owned)
        }))
    };
    let mut out = format!(
        "digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n",
        name(&clean_line(&graph.memoir.name))
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
    let quoted = |text: &str| escaped(&clean_line(text), mermaid_entity);
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

/// Returns the text as a Markdown quotation, so that none of its lines can pose as a concept.
fn quote(text: &str) -> String {
    let mut out = String::new();
    for line in clean(text).trim().lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn markdown(graph: &MemoirGraph) -> String {
    let mut out = format!("# {}\n", clean_line(&graph.memoir.name));
    if let Some(text) = description(graph) {
        _ = write!(out, "\n{}", quote(text));
    }
    let mut links: BTreeMap<&str, Vec<&ConceptLink>> = BTreeMap::new();
    for link in &graph.links {
        links.entry(&link.from).or_default().push(link);
    }
    for whole in &graph.concepts {
        let concept = &whole.concept;
        _ = writeln!(out, "\n## {}\n", clean_line(&concept.name));
        _ = writeln!(out, "{}", quote(definition(concept)));
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
    let escaped = |text: &str| escaped(&clean(text), xml_entity);
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
        ("memoir", "graph", "string"),
        ("description", "graph", "string"),
    ] {
        _ = writeln!(
            out,
            "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{id}\" attr.type=\"{kind}\"/>"
        );
    }
    // Ids must be names without blanks, so concepts are numbered.
    out.push_str("  <graph id=\"G\" edgedefault=\"directed\">\n");
    let memoir = escaped(&graph.memoir.name);
    _ = writeln!(out, "    <data key=\"memoir\">{memoir}</data>");
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
