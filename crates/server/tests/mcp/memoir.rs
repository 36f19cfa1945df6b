//! Tests of memoirs and their concepts.

use serde_json::{Value, json};

use crate::client::{Client, EVERYTHING};

#[tokio::test]
async fn a_memoir_over_mcp() {
    let mut client = Client::legacy(EVERYTHING).await;
    let create = json!({"name": "system", "description": "How billing hangs together"});
    let (text, made) = client.ok("icm_memoir_create", create).await;
    assert!(
        text.starts_with("added memoir \"system\" (event "),
        "{text}"
    );
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
    assert!(
        text.starts_with("linked \"api\" depends_on \"invoices\" in memoir"),
        "{text}"
    );
    let refine = json!({
        "memoir": "system", "name": "invoices", "definition": "Rows in PostgreSQL 17",
    });
    let (text, refined) = client.ok("icm_memoir_refine", refine).await;
    assert_eq!(refined["revision"], 2);
    assert!(text.contains(", revision 2 (event "), "{text}");

    let inspect = json!({"memoir": "system", "name": "invoices", "depth": 2});
    let (text, seen) = client.ok("icm_memoir_inspect", inspect).await;
    assert_eq!(seen["concept"]["definition"], "Rows in PostgreSQL 17");
    assert_eq!(seen["definitions"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen["around"][0]["name"], "api");
    assert_eq!(seen["links"][0]["relation"], "depends_on");
    for line in [
        "invoices: Rows in PostgreSQL 17 (revision 2, confidence 0.60, kind:data, team:billing)",
        "before, revision 1: Rows in PostgreSQL",
        "link: api depends_on invoices",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}: {text}");
    }
    assert!(text.starts_with("<memories nonce=\""), "{text}");
    let inspect = json!({
        "memoir": "system", "name": "invoices", "as_of": format!("@{then}"),
    });
    let (_, seen) = client.ok("icm_memoir_inspect", inspect).await;
    assert_eq!(seen["concept"]["definition"], "Rows in PostgreSQL");
    assert_eq!(seen["links"], json!([]));

    let search = json!({"memoir": "system", "query": "PostgreSQL"});
    let (_, found) = client.ok("icm_memoir_search", search).await;
    assert_eq!(found["results"][0]["name"], "invoices");
    assert_eq!(found["next"], Value::Null);
    let search = json!({"label": "team:billing"});
    let (text, found) = client.ok("icm_memoir_search_all", search).await;
    assert_eq!(found["results"][0]["name"], "invoices");
    assert!(text.contains("system / invoices: "), "{text}");

    let (_, list) = client.ok("icm_memoir_list", json!({})).await;
    assert_eq!(list["memoirs"][0]["concepts"], 2);
    let (text, shown) = client
        .ok("icm_memoir_show", json!({"name": "system"}))
        .await;
    assert!(text.starts_with("2 concepts, 1 link\n"), "{text}");
    assert_eq!(shown["concept_list"][1]["name"], "invoices");
    let export = json!({"memoir": "system", "as": "mermaid"});
    let (text, written) = client.ok("icm_memoir_export", export).await;
    let drawn = written["text"].as_str().expect("a text");
    assert!(drawn.starts_with("graph LR\n"), "{drawn}");
    assert!(text.contains("depends_on"), "{text}");

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
    assert_eq!(
        diff["graph"]["changed"][0]["fields"],
        json!(["definition", "confidence"])
    );
    assert!(
        text.contains("changed system / invoices: definition, confidence"),
        "{text}"
    );
    let undo = json!({"memoir": "system", "since": format!("@{then}")});
    let (_, plan) = client.ok("icm_undo", undo).await;
    assert_eq!(
        plan["changes"][0]["after"]["definition"], "Rows in PostgreSQL",
        "{plan}"
    );
    let bad = json!({"memoir": "systm", "name": "x", "definition": "y"});
    let said = client.fails("icm_memoir_add_concept", bad).await;
    assert!(said.contains("no memoir systm"), "{said}");
    client.end().await;
}

#[tokio::test]
async fn memoirs_take_names_and_labels_as_models_write_them() {
    let mut client = Client::legacy(EVERYTHING).await;
    let said = client.fails("icm_memoir_create", json!({})).await;
    assert!(
        said.contains("missing argument `name`: what to call the memoir"),
        "{said}"
    );
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
    assert!(
        said.contains("`labels` must be a list of strings"),
        "{said}"
    );
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
    assert!(
        text.contains("warning: `a` is superseded by `b`, too"),
        "{text}"
    );
    let bad = json!({"memoir": "m", "from": "a", "to": "b", "relation": "eats"});
    let said = client.fails("icm_memoir_link", bad).await;
    assert!(
        said.contains("must be one of part_of, depends_on"),
        "{said}"
    );

    // Pages of a search by a label only.
    let search = json!({"memoir": "m", "label": "y", "limit": 1});
    let (text, first) = client.ok("icm_memoir_search", search.clone()).await;
    assert_eq!(first["results"][0]["name"], "a");
    let next = first["next"].as_str().expect("there is more");
    assert!(
        text.ends_with(&format!("more: give after = \"{next}\"")),
        "{text}"
    );
    let mut second = search;
    second["after"] = next.into();
    let (_, second) = client.ok("icm_memoir_search", second).await;
    assert_eq!(second["results"][0]["name"], "b");
    assert_eq!(second["next"], Value::Null);
    let said = client.fails("icm_memoir_search_all", json!({})).await;
    assert!(
        said.contains("give words to look for, or a label"),
        "{said}"
    );

    // A forgotten concept can be revived, and the error names the call for it.
    let forget = json!({"memoir": "m", "name": "b"});
    let (text, gone) = client.ok("icm_memoir_forget", forget).await;
    assert_eq!(gone["action"], "forgotten", "{text}");
    let inspect = json!({"memoir": "m", "name": "b"});
    let said = client.fails("icm_memoir_inspect", inspect.clone()).await;
    assert!(said.contains("icm_memoir_forget (revive: true)"), "{said}");
    let revive = json!({"memoir": "m", "name": "b", "revive": true});
    let (_, back) = client.ok("icm_memoir_forget", revive).await;
    assert_eq!(back["action"], "revived");
    let (_, seen) = client.ok("icm_memoir_inspect", inspect).await;
    assert_eq!(seen["links"].as_array().map(Vec::len), Some(3));
    let (_, gone) = client.ok("icm_memoir_forget", json!({"memoir": "m"})).await;
    assert_eq!(
        (&gone["action"], &gone["concepts"]),
        (&json!("forgotten"), &json!(3))
    );
    let revive = json!({"memoir": "m", "revive": true});
    client.ok("icm_memoir_forget", revive).await;
    let describe = json!({"name": "m", "description": "Letters"});
    client.ok("icm_memoir_describe", describe).await;
    let (_, shown) = client.ok("icm_memoir_show", json!({"name": "m"})).await;
    assert_eq!(
        (&shown["description"], &shown["concepts"]),
        (&json!("Letters"), &json!(3))
    );

    // A refinement may leave the definition as it is.
    let refine = json!({"memoir": "m", "name": "c", "labels": ["z"]});
    client.ok("icm_memoir_refine", refine).await;
    let (_, seen) = client
        .ok("icm_memoir_inspect", json!({"memoir": "m", "name": "c"}))
        .await;
    assert_eq!(seen["concept"]["definition"], "It");
    assert_eq!(seen["concept"]["labels"], json!(["z"]));
    let said = client
        .fails("icm_memoir_refine", json!({"memoir": "m", "name": "c"}))
        .await;
    assert!(
        said.contains("give at least one of definition, labels"),
        "{said}"
    );
    client.end().await;
}
