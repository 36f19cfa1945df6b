//! The export formats of a memoir.

use super::{link, system};
use serde_json::json;

use crate::world::{Look, Says, World};

#[test]
fn a_memoir_is_written_out_in_every_format() {
    let world = system();
    world.json("memoir add-concept -m system -n 'odd <\"name\">' -d 'a & b -->\nline'");
    for (format, has) in [
        ("json", "\"definition\": \"Rows in PostgreSQL\""),
        ("dot", "c1 [label=\"invoices\""),
        ("dot", "\\\"name\\\""),
        ("mermaid", "c0 -->|\"depends_on\"| c1"),
        ("mermaid", "odd #lt;#quot;name#quot;#gt;"),
        ("ascii", "│   └── invoices (part_of): Rows in PostgreSQL"),
        ("ascii", "depends_on → invoices"),
        (
            "markdown",
            "## invoices\n\n> Rows in PostgreSQL\n\n- labels: kind:data, team:billing",
        ),
        (
            "graphml",
            "<data key=\"definition\">a &amp; b --&gt;\nline</data>",
        ),
    ] {
        let out = world.out(format!("memoir export -m system -f '{format}'"));
        assert!(out.contains(has), "{format}: {out}");
    }
    let file = world.path("graph.dot");
    let file = file.to_str().unwrap();
    world.ok(format!("memoir export -m system -f dot -o '{file}'"));
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .starts_with("digraph \"system\" {")
    );
}

#[test]
fn an_export_has_sources_history_labels_and_reasons() {
    let world = World::with_memories();
    world.json("memoir create -n system -d 'How billing hangs together'");
    let (kept, taken) = (world.id("database"), world.id("money"));
    let sources = format!("{kept},{taken}");
    for (name, definition) in [("db", "PostgreSQL"), ("api", "The front")] {
        world.json(format!(
            "memoir add-concept -m system -n '{name}' -d '{definition}' -L kind:it -s '{sources}'"
        ));
    }
    world.json("memoir refine -m system -n db -d 'PostgreSQL 17'");
    world.json(
        r#"memoir link -m system --from api --to db -r depends_on --reason 'every "call" reads'"#,
    );
    link(&world, "link", "api", "db", "caused_by");
    link(&world, "link", "db", "api", "contradicts");
    world.ok(format!("--yes redact '{taken}'"));

    // A redacted source is shown as withheld.
    let seen = world.json("memoir inspect -m system db");
    seen.has(json!({"sources": [kept], "sources_withheld": [taken]}));
    let said = world.out("memoir inspect -m system db");
    said.says(format!("from {kept}, {taken} (withheld)"));
    said.says("depends_on db (every \"call\" reads)");
    // Every relation to a neighbour is shown.
    said.says("→ contradicts, ← caused_by, ← depends_on");
    let relations = &seen["around"][0]["relations"];
    assert_eq!(relations.count(), 3, "{seen}");
    relations[2].has(json!({"relation": "depends_on", "direction": "in"}));
    let with_reason = seen["links"].as_array().unwrap().iter();
    let with_reason: Vec<_> = with_reason
        .filter(|link| !link["reason"].is_null())
        .collect();
    assert_eq!(with_reason.len(), 1);
    assert_eq!(with_reason[0]["reason"], "every \"call\" reads");

    let whole = world.json("memoir export -m system");
    let db = &whole["concepts"][1];
    db.has(json!({
        "name": "db", "/definitions/0/definition": "PostgreSQL", "/definitions/1/revision": 2,
        "sources": [kept], "sources_withheld": [taken],
    }));
    assert_eq!(whole["links"][1]["reason"], "every \"call\" reads");
    for (format, has) in [
        ("dot", "label=\"How billing hangs together\";"),
        ("dot", "xlabel=\"kind:it\""),
        ("dot", "tooltip=\"every \\\"call\\\" reads\""),
        ("mermaid", "accDescr: How billing hangs together"),
        ("mermaid", "[\"api<br/>kind:it\"]"),
        ("ascii", "system: How billing hangs together\n"),
        ("ascii", "PostgreSQL 17 [kind:it]"),
        ("markdown", "- revision 2, confidence 0.60\n"),
        ("markdown", "- depends_on: db (every \"call\" reads)"),
        (
            "graphml",
            "<data key=\"reason\">every &quot;call&quot; reads</data>",
        ),
        (
            "graphml",
            "<data key=\"description\">How billing hangs together</data>",
        ),
    ] {
        let out = world.icm(format!("memoir export -m system -f '{format}'"));
        let out = out.ok().out;
        assert!(out.contains(has), "{format}: {out}");
    }
    for format in ["markdown", "graphml"] {
        let out = world.icm(format!("memoir export -m system -f '{format}'"));
        let out = out.ok().out;
        assert!(
            out.contains(&format!("{kept}, {taken} (withheld)")),
            "{format}: {out}"
        );
    }
}
