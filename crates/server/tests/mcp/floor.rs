//! Tests of the floor of a search, and of the notes on how each result was found.

use icm_api::Trust;
use serde_json::json;

use crate::client::{COMPACT, Client, EVERYTHING};
use crate::look::{Look, Says};

/// A question whose words are not in the store; one memory is near in meaning.
const OTHER_WORDS: &str = "which database keeps the bills";

async fn client() -> Client {
    let client = Client::legacy(EVERYTHING).await;
    client.put("db", "Invoices live in PostgreSQL", Trust::User);
    client.put("money", "Prices are integer cents", Trust::User);
    client
}

#[tokio::test]
async fn a_recall_that_nothing_fits_says_so_in_one_line() {
    let mut client = client().await;
    let all = json!({"query": OTHER_WORDS, "floor": 0});
    let (_, all) = client.ok("icm_memory_recall", all).await;
    let best = &all["results"][0];
    let (id, fit) = (best["id"].as_str().expect("an id"), &best["fit"]);
    let said = format!(
        "nothing fits; nearest: {id} (fit {:.2}); ask with other words, or floor 0 to see everything",
        fit.as_f64().expect("a fit")
    );
    // A number may come as text.
    for floor in [json!(0.95), json!("0.95")] {
        let ask = json!({"query": OTHER_WORDS, "floor": floor});
        let (text, answer) = client.ok("icm_memory_recall", ask.clone()).await;
        let (_, line) = text.split_once(": ").expect("the scopes first");
        assert_eq!(line, said);
        assert_eq!(answer["results"], json!([]));
        let nearest = json!({
            "id": id, "fit": fit, "topic": best["topic"], "content": best["content"],
        });
        assert_eq!(answer["nearest"], nearest);
        let (text, context) = client.ok("icm_memory_recall_context", ask).await;
        assert_eq!(text, said);
        context.has(json!({"ids": [], "nearest": nearest}));
    }
    assert!(all.get("nearest").is_none(), "{all}");
    for floor in [json!(2), json!(-1), json!("x"), json!("nan")] {
        for tool in ["icm_memory_recall", "icm_memory_recall_context"] {
            let ask = json!({"query": OTHER_WORDS, "floor": floor});
            let said = client.fails(tool, ask).await;
            said.says("`floor` must be a number from 0 to 1");
        }
    }
    client.end().await;
}

#[tokio::test]
async fn each_memory_says_what_it_was_found_by_and_how_well_it_fits() {
    let mut client = client().await;
    for (query, by) in [
        ("where do invoices live", "matched invoices, live"),
        (OTHER_WORDS, "near in meaning"),
    ] {
        let ask = json!({"query": query, "floor": 0});
        let (text, answer) = client.ok("icm_memory_recall", ask).await;
        let hits = answer["results"].as_array().expect("results");
        let best = &hits[0];
        let words: Vec<_> = by.strip_prefix("matched ").into_iter().collect();
        let matched = best["matched"].as_array().expect("words");
        let matched: Vec<_> = matched.iter().filter_map(|word| word.as_str()).collect();
        assert_eq!(matched.join(", "), words.concat(), "{answer}");
        let fit = best["fit"].as_f64().expect("a fit");
        let end = format!(", {by}, fit {fit:.2})");
        let id = best["id"].as_str().expect("an id");
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(id)).expect("a line");
        line.finishes(&end);
    }
    client.end().await;

    let mut client = Client::legacy(COMPACT).await;
    client.put("db", "Invoices live in PostgreSQL", Trust::User);
    let ask = json!({"query": "where do invoices live"});
    let (text, answer) = client.ok("icm_memory_recall", ask).await;
    let fit = answer["results"][0]["fit"].as_f64().expect("a fit");
    let line = format!("[db] Invoices live in PostgreSQL (matched invoices, live, fit {fit:.2})");
    assert!(text.lines().any(|it| it == line), "{text}");
    client.end().await;
}

#[tokio::test]
async fn the_words_of_a_long_question_do_not_fill_the_answer() {
    let mut client = Client::legacy(EVERYTHING).await;
    let words: Vec<String> = (0..60).map(|n| format!("harbour{n}")).collect();
    let long = words.join(" ");
    client.put("ships", &format!("Seen: {long}"), Trust::User);
    let ask = json!({"query": long, "floor": 0});
    let (text, _) = client.ok("icm_memory_recall", ask).await;
    let line = text
        .lines()
        .find(|line| line.contains("Seen: "))
        .expect("a line");
    let (_, tail) = line.rsplit_once(", matched ").expect("what matched");
    assert!(tail.contains(" more, fit ") && tail.len() < 100, "{tail}");
    client.end().await;
}

#[tokio::test]
async fn concepts_say_what_they_were_found_by() {
    let mut client = Client::legacy(EVERYTHING).await;
    let create = json!({"name": "system", "description": "how it works"});
    client.ok("icm_memoir_create", create).await;
    let add = json!({"memoir": "system", "name": "ledger", "definition": "Kept in PostgreSQL"});
    client.ok("icm_memoir_add_concept", add).await;
    for (tool, query, by) in [
        (
            "icm_memoir_search",
            "PostgreSQL",
            "matched PostgreSQL, Postgre, SQL",
        ),
        ("icm_memoir_search_all", OTHER_WORDS, "near in meaning"),
    ] {
        let mut ask = json!({"query": query});
        if tool == "icm_memoir_search" {
            ask["memoir"] = "system".into();
        }
        let (text, found) = client.ok(tool, ask.clone()).await;
        let best = &found["results"][0];
        let fit = best["fit"].as_f64().expect("a fit");
        text.says(format!(", {by}, fit {fit:.2})"));
        if by != "near in meaning" {
            continue;
        }
        ask["floor"] = 0.95.into();
        let (text, found) = client.ok(tool, ask).await;
        let id = best["id"].as_str().expect("an id");
        text.begins(format!("nothing fits; nearest: {id} ("));
        assert_eq!(found["nearest"]["name"], "ledger");
    }
    client.end().await;
}
