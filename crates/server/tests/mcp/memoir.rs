//! Tests of memoirs and their concepts.

use serde_json::json;

use crate::client::{Client, EVERYTHING};
use crate::look::{Look, Says};

#[tokio::test]
async fn a_memoir_over_mcp() {
    let mut client = Client::legacy(EVERYTHING).await;
    let create = json!({"name": "system", "description": "How billing hangs together"});
    let (text, made) = client.ok("icm_memoir_create", create).await;
    text.begins("added memoir \"system\" (event ");
    assert_eq!(made["action"], "stored");
    for (name, definition, labels) in [
        ("invoices", "Rows in PostgreSQL", "kind:data, team:billing"),
        ("api", "The HTTP front", ""),
    ] {
        let add = json!({
            "memoir": "system", "name": name, "definition": definition, "labels": labels,
        });
        let (_, added) = client.ok("icm_memoir_add_concept", add).await;
        assert_eq!(added["revision"], 1);
    }
    let then = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    let link = json!({
        "memoir": "system", "from": "api", "to": "invoices", "relation": "depends_on",
    });
    let (text, _) = client.ok("icm_memoir_link", link.clone()).await;
    text.begins("linked \"api\" depends_on \"invoices\" in memoir");
    let refine = json!({
        "memoir": "system", "name": "invoices", "definition": "Rows in PostgreSQL 17",
    });
    let (text, refined) = client.ok("icm_memoir_refine", refine).await;
    assert_eq!(refined["revision"], 2);
    text.says(", revision 2 (event ");

    let inspect = json!({"memoir": "system", "name": "invoices", "depth": 2});
    let (text, seen) = client.ok("icm_memoir_inspect", inspect).await;
    assert_eq!(seen["concept"]["definition"], "Rows in PostgreSQL 17");
    assert_eq!(seen["definitions"].count(), 2);
    seen.has(json!({"/around/0/name": "api", "/links/0/relation": "depends_on"}));
    for line in [
        "invoices: Rows in PostgreSQL 17 (revision 2, confidence 0.60, kind:data, team:billing)",
        "before, revision 1: Rows in PostgreSQL",
        "link: api depends_on invoices",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
    text.begins("<memories nonce=\"");
    let inspect = json!({
        "memoir": "system", "name": "invoices", "as_of": format!("@{then}"),
    });
    let (_, seen) = client.ok("icm_memoir_inspect", inspect).await;
    seen.has(json!({"/concept/definition": "Rows in PostgreSQL", "links": []}));

    let search = json!({"memoir": "system", "query": "PostgreSQL"});
    let (_, found) = client.ok("icm_memoir_search", search).await;
    found.has(json!({"/results/0/name": "invoices", "next": null}));
    let search = json!({"label": "team:billing"});
    let (text, found) = client.ok("icm_memoir_search_all", search).await;
    assert_eq!(found["results"][0]["name"], "invoices");
    text.says("system / invoices: ");

    let (_, list) = client.ok("icm_memoir_list", json!({})).await;
    assert_eq!(list["memoirs"][0]["concepts"], 2);
    let (text, shown) = client
        .ok("icm_memoir_show", json!({"name": "system"}))
        .await;
    text.begins("2 concepts, 1 link\n");
    assert_eq!(shown["concept_list"][1]["name"], "invoices");
    let export = json!({"memoir": "system", "as": "mermaid"});
    let (text, written) = client.ok("icm_memoir_export", export).await;
    let drawn = written["text"].as_str().expect("a text");
    drawn.begins("graph LR\n");
    text.says("depends_on");

    let mut unlink = link;
    unlink["remove"] = true.into();
    let (_, gone) = client.ok("icm_memoir_link", unlink).await;
    assert_eq!(gone["action"], "unlinked");
    let (text, diff) = client
        .ok("icm_diff", json!({"from": format!("@{then}")}))
        .await;
    assert_eq!(
        diff["graph"]["changed"][0]["name"], "invoices",
        "{diff} {text}"
    );
    let compare = json!({"from": format!("@{then}"), "memoir": "system"});
    let (text, diff) = client.ok("icm_diff", compare).await;
    diff["graph"]["changed"][0].has(json!({"fields": ["definition", "confidence"]}));
    text.says("changed system / invoices: definition, confidence");
    let undo = json!({"memoir": "system", "since": format!("@{then}")});
    let (_, plan) = client.ok("icm_undo", undo).await;
    plan["changes"][0]["after"].has(json!({"definition": "Rows in PostgreSQL"}));
    let bad = json!({"memoir": "systm", "name": "x", "definition": "y"});
    let said = client.fails("icm_memoir_add_concept", bad).await;
    said.says("no memoir systm");
    client.end().await;
}

#[tokio::test]
async fn memoirs_take_names_and_labels_as_models_write_them() {
    let mut client = Client::legacy(EVERYTHING).await;
    let said = client.fails("icm_memoir_create", json!({})).await;
    said.says("missing argument `name`: what to call the memoir");
    client.ok("icm_memoir_create", json!({"name": "m"})).await;
    for (name, labels) in [
        ("a", json!("x:1, y")),
        ("b", json!(["x:1", "y"])),
        ("c", json!(null)),
    ] {
        let add = json!({"memoir": "m", "name": name, "definition": "It", "labels": labels});
        client.ok("icm_memoir_add_concept", add).await;
    }
    let bad = json!({"memoir": "m", "name": "d", "definition": "It", "labels": {"x": 1}});
    let said = client.fails("icm_memoir_add_concept", bad).await;
    said.says("`labels` must be a list of strings");
    for (to, relation) in [("b", "part-of"), ("c", "partOf"), ("b", "Superseded-By")] {
        let link = json!({"memoir": "m", "from": "a", "to": to, "relation": relation});
        client.ok("icm_memoir_link", link).await;
    }
    let inspect = json!({"memoir": "m", "name": "a", "relation": "partOf"});
    let (_, seen) = client.ok("icm_memoir_inspect", inspect).await;
    let relations = seen["links"].as_array().expect("links").iter();
    let relations: Vec<_> = relations.map(|link| &link["relation"]).collect();
    assert_eq!(relations, ["part_of", "part_of"]);
    let back = json!({"memoir": "m", "from": "b", "to": "a", "relation": "superseded_by"});
    let (text, _) = client.ok("icm_memoir_link", back).await;
    text.says("warning: `a` is superseded by `b`, too");
    let bad = json!({"memoir": "m", "from": "a", "to": "b", "relation": "eats"});
    let said = client.fails("icm_memoir_link", bad).await;
    said.says("must be one of part_of, depends_on");

    // Pages of a search by a label only.
    let search = json!({"memoir": "m", "label": "y", "limit": 1});
    let (text, first) = client.ok("icm_memoir_search", search.clone()).await;
    assert_eq!(first["results"][0]["name"], "a");
    let next = first["next"].as_str().expect("there is more");
    text.finishes(format!("more: give after = \"{next}\""));
    let mut second = search;
    second["after"] = next.into();
    let (_, second) = client.ok("icm_memoir_search", second).await;
    second.has(json!({"/results/0/name": "b", "next": null}));
    let said = client.fails("icm_memoir_search_all", json!({})).await;
    said.says("give words to look for, or a label");

    // A forgotten concept can be revived, and the error names the call for it.
    let forget = json!({"memoir": "m", "name": "b"});
    let (text, gone) = client.ok("icm_memoir_forget", forget).await;
    assert_eq!(gone["action"], "forgotten", "{text}");
    let inspect = json!({"memoir": "m", "name": "b"});
    let said = client.fails("icm_memoir_inspect", inspect.clone()).await;
    said.says("icm_memoir_forget (revive: true)");
    let revive = json!({"memoir": "m", "name": "b", "revive": true});
    let (_, back) = client.ok("icm_memoir_forget", revive).await;
    assert_eq!(back["action"], "revived");
    let (_, seen) = client.ok("icm_memoir_inspect", inspect).await;
    assert_eq!(seen["links"].count(), 3);
    let (_, gone) = client.ok("icm_memoir_forget", json!({"memoir": "m"})).await;
    gone.has(json!({"action": "forgotten", "concepts": 3}));
    let revive = json!({"memoir": "m", "revive": true});
    client.ok("icm_memoir_forget", revive).await;
    let describe = json!({"name": "m", "description": "Letters"});
    client.ok("icm_memoir_describe", describe).await;
    let (_, shown) = client.ok("icm_memoir_show", json!({"name": "m"})).await;
    shown.has(json!({"description": "Letters", "concepts": 3}));

    // A refinement may leave the definition as it is.
    let refine = json!({"memoir": "m", "name": "c", "labels": ["z"]});
    client.ok("icm_memoir_refine", refine).await;
    let (_, seen) = client
        .ok("icm_memoir_inspect", json!({"memoir": "m", "name": "c"}))
        .await;
    seen["concept"].has(json!({"definition": "It", "labels": ["z"]}));
    let said = client
        .fails("icm_memoir_refine", json!({"memoir": "m", "name": "c"}))
        .await;
    said.says("give at least one of definition, labels");
    client.end().await;
}
