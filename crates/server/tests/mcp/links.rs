//! What a model is told of links, and of topics that have something only below them.

use icm_server::api::LinkRequest;

use super::*;

fn link(client: &Client, from: &str, to: &str, relation: &str, there: bool) {
    let request = LinkRequest {
        from: from.into(),
        to: to.into(),
        relation: relation.into(),
        ..LinkRequest::default()
    };
    let caller = Caller::default();
    let done = match there {
        true => client.service.link(&caller, &request),
        false => client.service.unlink(&caller, &request),
    };
    done.expect("done");
}

#[tokio::test]
async fn links_of_memories_are_compared_and_told_of() {
    let mut client = Client::legacy(EVERYTHING).await;
    let a = client.put("ports", "Redis listens on 6380", Trust::User);
    let b = client.put("hosts", "The cache is a container", Trust::User);
    let then = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    link(&client, &a, &b, "contradicts", true);
    let linked = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    link(&client, &a, &b, "contradicts", false);

    let (from, to) = (format!("@{then}"), format!("@{linked}"));
    let ask = json!({"from": from, "to": to});
    let (text, diff) = client.ok("icm_diff", ask).await;
    assert_eq!(diff["linked"][0]["from"], json!(a), "{diff}");
    assert_eq!(diff["linked"][0]["relation"], "contradicts");
    assert_eq!(diff["linked"][0]["to"], json!(b));
    assert_eq!(diff["unlinked"], json!([]));
    assert!(text.contains(", 1 linked, 0 unlinked from @"), "{text}");
    let line = format!("linked {a} contradicts {b}");
    assert!(text.lines().any(|it| it == line), "{text}");
    let (text, diff) = client.ok("icm_diff", json!({"from": to})).await;
    assert_eq!(diff["linked"], json!([]));
    assert_eq!(diff["unlinked"][0]["to"], json!(b), "{diff}");
    assert!(text.lines().any(|it| it == format!("un{line}")), "{text}");
    let (text, diff) = client.ok("icm_diff", json!({"from": from})).await;
    assert_eq!(
        (&diff["linked"], &diff["unlinked"]),
        (&json!([]), &json!([]))
    );
    assert!(!text.contains("linked"), "{text}");

    let (text, _) = client
        .ok("icm_log", json!({"kind": "memory.unlinked"}))
        .await;
    assert!(text.contains(&format!("contradicts {b}")), "{text}");

    link(&client, &a, &b, "contradicts", true);
    let ask = json!({"query": "Redis 6380"});
    let (text, found) = client.ok("icm_memory_recall", ask).await;
    assert_eq!(
        found["results"].as_array().map(Vec::len),
        Some(2),
        "{found}"
    );
    let line = text
        .lines()
        .find(|it| it.contains(&format!("contradicts {a}")));
    let line = line.expect("the other one");
    assert_eq!(line.matches(&a).count(), 1, "{text}");
    client.end().await;
}

#[tokio::test]
async fn a_topic_with_something_only_below_it_says_how_to_name_that() {
    let mut client = Client::legacy(EVERYTHING).await;
    client.put("payments/cards", "one", Trust::User);
    client.put("payments/banks", "two", Trust::User);
    let tool = "icm_memory_forget_topic";
    let said = client.fails(tool, json!({"topic": "payments"})).await;
    assert!(
        said.ends_with("`payments/` means it and everything below it: 2 memories"),
        "{said}"
    );
    let said = client.fails(tool, json!({"topic": "pay"})).await;
    assert!(said.contains("icm_memory_list_topics"), "{said}");
    let (_, look) = client.ok(tool, json!({"topic": "payments/"})).await;
    assert_eq!(look["memories"], 2);
    client.end().await;
}
