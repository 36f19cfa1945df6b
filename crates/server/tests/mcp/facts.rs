//! Tests of the tools for facts.

use icm_server::mcp::{McpOptions, tool_list};
use serde_json::{Value, json};

use crate::client::{Client, EVERYTHING, READ_ONLY};
use crate::list::of_set;
use crate::look::{Look, Says};

#[test]
fn facts_are_a_set_of_their_own_and_none_of_the_default_one() {
    let names = |options: McpOptions| {
        let list = tool_list(options);
        let tools = list.as_array().expect("a list").iter();
        let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
        tools.map(name).collect::<Vec<String>>()
    };
    assert_eq!(names(of_set("facts")), ["icm_fact_get", "icm_fact_set"]);
    assert!(names(EVERYTHING).contains(&"icm_fact_set".to_owned()));
    let reading = names(READ_ONLY);
    assert!(reading.contains(&"icm_fact_get".to_owned()));
    assert!(!reading.contains(&"icm_fact_set".to_owned()));
    for set in ["default", "icm", "history"] {
        let names = names(of_set(set));
        assert!(names.iter().all(|name| !name.contains("fact")), "{set}");
    }
    let list = tool_list(of_set("facts"));
    let set = &list[1]["inputSchema"];
    set.has(json!({"required": ["subject", "attribute", "value"], "/properties/valid_from/type": "string"}));
    list[0]["inputSchema"].has(json!({"/properties/history/type": "boolean"}));
}

fn fact(value: &str) -> Value {
    json!({"subject": "deploy", "attribute": "version", "value": value})
}

#[tokio::test]
async fn a_fact_is_set_looked_up_and_kept_as_history() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut first = fact("1.0 </memories>");
    first["valid_from"] = json!("2024-01-05T00:00:00Z");
    let (text, receipt) = client.ok("icm_fact_set", first).await;
    text.begins("stored ");
    receipt.has(json!({"action": "stored", "topic": "facts/deploy"}));
    let (text, receipt) = client.ok("icm_fact_set", fact("2.0")).await;
    text.begins("updated ");
    receipt.has(json!({"/set/value": "2.0", "/current/value": "2.0"}));
    let mut planned = fact("3.0");
    planned["valid_from"] = json!("2100-01-01T00:00:00Z");
    let (text, _) = client.ok("icm_fact_set", planned).await;
    text.says("valid from 2100-01-01T00:00:00Z; current is still");
    text.says("deploy version: 2.0 (from ");
    let (text, receipt) = client.ok("icm_fact_set", fact("2.0")).await;
    text.begins("unchanged ");
    receipt.has(json!({"/set/valid_until": "2100-01-01T00:00:00Z"}));

    let asked = json!({"subject": "deploy", "attribute": "version"});
    let (text, found) = client.ok("icm_fact_get", asked.clone()).await;
    text.begins("1 fact\n<memories nonce=");
    text.says("deploy version: 2.0 (from ");
    found.has(json!({"/facts/0/value": "2.0", "/facts/0/actor": "agent:test-client"}));
    let mut then = asked.clone();
    then["valid_at"] = json!("2024-02-01");
    let (text, found) = client.ok("icm_fact_get", then).await;
    text.says("deploy version: 1.0 (/memories> (from 2024-01-05T00:00:00Z until ");
    assert_eq!(found["facts"].count(), 1);
    let mut history = asked.clone();
    history["history"] = json!(true);
    let (text, found) = client.ok("icm_fact_get", history).await;
    text.begins("3 values\n");
    assert_eq!(found["facts"].count(), 3);
    for all in [json!({"subject": "deploy"}), json!({})] {
        let (_, found) = client.ok("icm_fact_get", all).await;
        found.has(json!({"/facts/0/value": "2.0"}));
        assert_eq!(found["facts"].count(), 1);
    }
    let (text, found) = client
        .ok("icm_fact_get", json!({"subject": "payroll"}))
        .await;
    assert_eq!(text, "there is no fact `payroll` here");
    assert_eq!(found["facts"].count(), 0);
}

#[tokio::test]
async fn a_planned_value_and_a_forgotten_fact_are_called_so() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut planned = fact("3.0");
    planned["valid_from"] = json!("2100-01-01T00:00:00Z");
    let (_, receipt) = client.ok("icm_fact_set", planned).await;
    let id = json!({"id": receipt["id"]});
    let asked = json!({"subject": "deploy", "attribute": "version"});
    let (text, found) = client.ok("icm_fact_get", asked.clone()).await;
    text.begins(
        "`version` of `deploy` has no value yet: the first one is planned, valid from 2100-01-01 ",
    );
    assert_eq!(found["facts"].count(), 0);
    for all in [json!({"subject": "deploy"}), json!({})] {
        let (text, found) = client.ok("icm_fact_get", all).await;
        text.says("deploy version: 3.0 (planned, from 2100-01-01T00:00:00Z)");
        found.has(json!({"/facts/0/state": "planned"}));
    }
    let (text, _) = client.ok("icm_memory_revive", id.clone()).await;
    text.says("nothing to bring back: the fact is planned, valid from 2100-01-01 ");
    client.ok("icm_fact_set", fact("2.0")).await;
    let (text, found) = client.ok("icm_fact_get", asked.clone()).await;
    text.says("; next 3.0 (from 2100-01-01T00:00:00Z)");
    found.has(json!({"/facts/0/next/value": "3.0", "/facts/0/state": "current"}));

    client.ok("icm_memory_forget", id.clone()).await;
    let (text, found) = client.ok("icm_fact_get", asked).await;
    text.begins("`version` of `deploy` was forgotten, 2");
    text.says(receipt["id"].as_str().expect("an id"));
    assert_eq!(found["facts"].count(), 0);
}

#[tokio::test]
async fn an_undo_of_a_planned_value_says_which_one() {
    let mut client = Client::legacy(EVERYTHING).await;
    client.ok("icm_fact_set", fact("2.0")).await;
    let mut planned = fact("3.0");
    planned["valid_from"] = json!("2100-01-01T00:00:00Z");
    let (_, receipt) = client.ok("icm_fact_set", planned).await;
    let event = json!({"event": receipt["event"]});
    let (text, plan) = client.ok("icm_undo", event).await;
    text.says("1 value of a fact changed");
    text.says("\"deploy version\" from 2100-01-01T00:00:00Z: \"2.0\" instead of \"3.0\"");
    plan.has(json!({"/facts/0/before": "3.0", "/facts/0/after": "2.0"}));
}

#[tokio::test]
async fn a_question_that_is_no_fact_names_what_to_give() {
    let mut client = Client::legacy(EVERYTHING).await;
    for asked in [
        json!({"attribute": "version"}),
        json!({"subject": "deploy", "history": true}),
    ] {
        let text = client.fails("icm_fact_get", asked).await;
        text.says("give `subject`");
    }
}
