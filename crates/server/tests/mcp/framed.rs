//! Tests of stored text in answers: marked as data for every client, and within the bound.

use icm_api::Trust;
use icm_server::mcp::{ANSWER_MAX_BYTES, McpOptions, Offer};
use serde_json::{Value, json};

use crate::client::Client;
use crate::list::walk;
use crate::look::Says;

const NEEDLE: &str = "zanzibar";

/// Returns the options of a plain `icm serve`, with every tool.
fn plain() -> McpOptions {
    McpOptions {
        offer: Offer::ALL,
        ..McpOptions::default()
    }
}

/// Fills the store, so that each tool has something to show.
async fn filled(mut client: Client) -> Client {
    for n in 0..3 {
        let content = format!("{NEEDLE} number {n}: invoices live in PostgreSQL");
        client.put("billing", &content, Trust::External);
    }
    let similar = format!("{NEEDLE} number 0: invoices now live in PostgreSQL");
    client.put("billing", &similar, Trust::Agent);
    let create = json!({"name": "system", "description": NEEDLE});
    client.call("icm_memoir_create", create).await;
    let concept = json!({"memoir": "system", "name": "api", "definition": NEEDLE});
    client.call("icm_memoir_add_concept", concept).await;
    client
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn stored_text_goes_out_framed_and_once() {
    let mut client = filled(Client::legacy(plain()).await).await;
    let mut framed = 0;
    for (tool, arguments) in [
        ("icm_memory_recall", json!({"query": "invoices"})),
        ("icm_memory_recall_context", json!({"query": "invoices"})),
        ("icm_log", json!({})),
        ("icm_diff", json!({"from": "@2"})),
        ("icm_memory_health", json!({})),
        ("icm_memoir_list", json!({})),
        ("icm_memoir_show", json!({"name": "system"})),
        (
            "icm_memoir_search",
            json!({"memoir": "system", "query": NEEDLE}),
        ),
        ("icm_memoir_search_all", json!({"query": NEEDLE})),
        (
            "icm_memoir_inspect",
            json!({"memoir": "system", "name": "api"}),
        ),
        ("icm_memoir_export", json!({"memoir": "system"})),
        ("icm_memory_forget_topic", json!({"topic": "billing"})),
        ("icm_memory_prune", json!({"threshold": 1})),
        (
            "icm_memory_store",
            json!({"topic": "billing", "content": format!("{NEEDLE} number 2: invoices live in PostgreSQL!")}),
        ),
        ("icm_memory_consolidate", json!({"topic": "billing"})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert!(
            result.get("structuredContent").is_none(),
            "{tool}: {result}"
        );
        let mut outside = String::new();
        let mut is_inside = false;
        for line in text_of(&result).lines() {
            is_inside |= line.starts_with("<memories nonce=");
            if !is_inside {
                outside.push_str(line);
            }
            is_inside &= line != "</memories>";
        }
        assert!(!outside.contains(NEEDLE), "{tool}: {result}");
        framed += usize::from(text_of(&result).contains(NEEDLE));
    }
    assert!(framed >= 12, "{framed} tools showed stored text");
}

#[tokio::test]
async fn no_tool_announces_a_structure_that_does_not_come() {
    for (structured, schemas) in [(false, 0), (true, 1)] {
        let options = McpOptions {
            structured,
            ..plain()
        };
        let mut client = Client::legacy(options).await;
        let list = client.request("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().expect("tools");
        let with = tools.iter().filter(|tool| tool["outputSchema"].is_object());
        assert_eq!(with.count(), schemas);
        let result = client.call("icm_memory_stats", json!({})).await;
        assert_eq!(
            result["structuredContent"].is_object(),
            structured,
            "{result}"
        );
    }
}

/// Checks that each revision gets only the fields it knows. The columns: structured content and titles, annotations.
#[tokio::test]
async fn nothing_goes_out_that_the_revision_lacks() {
    for (revision, structure, annotations) in [
        ("2024-11-05", false, false),
        ("2025-03-26", false, true),
        ("2025-06-18", true, true),
        ("2025-11-25", true, true),
    ] {
        let options = McpOptions {
            structured: true,
            ..plain()
        };
        let mut client = Client::connect(options);
        let hello = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "test client", "version": "1.2"},
        });
        let reply = client.request("initialize", hello).await;
        assert_eq!(reply["result"]["protocolVersion"], revision, "{reply}");
        let info = &reply["result"];
        assert_eq!(
            info["serverInfo"]["title"].is_string(),
            structure,
            "{reply}"
        );
        assert_eq!(
            info["capabilities"]["completions"].is_object(),
            annotations,
            "{reply}"
        );
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        client.send(initialized.as_bytes()).await;
        let mut client = filled(client).await;
        let mut tools = 0;
        for tool in client.request("tools/list", json!({})).await["result"]["tools"]
            .as_array()
            .expect("tools")
        {
            tools += 1;
            assert_eq!(tool["title"].is_string(), structure, "{revision} {tool}");
            assert_eq!(tool["_meta"].is_object(), structure, "{revision} {tool}");
            assert_eq!(
                tool["annotations"].is_object(),
                annotations,
                "{revision} {tool}"
            );
            assert!(
                structure || tool.get("outputSchema").is_none(),
                "{revision} {tool}"
            );
        }
        assert_eq!(tools, 42);
        for method in ["resources/list", "resources/templates/list", "prompts/list"] {
            let mut titles = 0;
            let list = client.request(method, json!({})).await;
            walk(&list["result"], &mut |key, _| {
                titles += usize::from(key == "title")
            });
            assert_eq!(titles > 0, structure, "{revision} {method}: {list}");
        }
        let recall = json!({"query": "invoices"});
        let result = client.call("icm_memory_recall", recall).await;
        assert_eq!(
            result["structuredContent"].is_object(),
            structure,
            "{result}"
        );
        assert!(text_of(&result).contains(NEEDLE), "{result}");
    }
}

#[tokio::test]
async fn claude_code_is_told_what_to_load_and_how_much_comes() {
    let mut client = Client::legacy(plain()).await;
    let list = client.request("tools/list", json!({})).await;
    let mut always = Vec::new();
    for tool in list["result"]["tools"].as_array().expect("tools") {
        let meta = &tool["_meta"];
        match meta["anthropic/searchHint"].as_str() {
            Some(hint) => assert!((5..=60).contains(&hint.len()), "{tool}"),
            // A tool that is loaded from the start is not searched for.
            None => {
                assert_eq!(meta["anthropic/alwaysLoad"], true, "{tool}");
                always.push(tool["name"].as_str().expect("a name"));
            }
        }
        if tool["annotations"]["readOnlyHint"] == true {
            let most = &meta["anthropic/maxResultSizeChars"];
            assert_eq!(*most, json!(ANSWER_MAX_BYTES), "{tool}");
        }
    }
    assert_eq!(always, ["icm_memory_recall", "icm_memory_store"]);
}

/// Returns a text of about `bytes` bytes with `sentence` in its middle.
fn long(bytes: usize, sentence: &str) -> String {
    let half = "Ada likes hiking near the lake because the weather was fine. ".repeat(bytes / 124);
    format!("{half}{sentence} {half}")
}

#[tokio::test]
async fn a_long_memory_is_shown_around_the_words_that_matched() {
    let mut client = Client::legacy(plain()).await;
    let sentence = "The choir sings Monteverdi in the old gym.";
    let id = client.put("music", &long(60_000, sentence), Trust::User);
    for n in 0..9 {
        let other = long(60_000 - n * 100, &format!("Somebody sings in hall {n}."));
        client.put("music", &other, Trust::User);
    }
    let asked = json!({"query": "who sings Monteverdi", "limit": 10});
    let result = client.call("icm_memory_recall", asked).await;
    let text = text_of(&result);
    assert!(text.len() <= ANSWER_MAX_BYTES, "{}", text.len());
    text.says(sentence);
    let line = text
        .lines()
        .find(|line| line.contains(sentence))
        .expect("a line");
    assert!(line.contains("[cut: ") && line.ends_with(')'), "{line}");
    text.says("icm_log with its id shows it whole");
    text.says("\n</memories>\n");

    // The tool named in the answer leads to every byte.
    let whole = client
        .service
        .get(&id, None)
        .expect("a memory")
        .content
        .expect("text");
    let mut read = String::new();
    let mut arguments = json!({"id": id});
    let mut replies = 0;
    loop {
        let result = client.call("icm_log", arguments.clone()).await;
        let text = text_of(&result);
        replies += 1;
        assert!(
            text.len() <= ANSWER_MAX_BYTES && replies < 10,
            "{}",
            text.len()
        );
        let framed = text
            .lines()
            .skip_while(|line| !line.starts_with("<memories"))
            .nth(1);
        let framed = framed.expect("a line");
        let start = framed.find("Ada").expect("its text");
        let piece = match replies {
            1 => framed[start..].split('…').next().expect("a piece"),
            _ => framed,
        };
        read.push_str(piece);
        let Some((_, cursor)) = text.rsplit_once("more: cursor ") else {
            break;
        };
        let cursor: usize = cursor
            .split(',')
            .next()
            .expect("it")
            .parse()
            .expect("a number");
        read.truncate(cursor);
        arguments["cursor"] = cursor.into();
    }
    assert!(replies >= 3, "{replies} replies");
    assert_eq!(read, whole);
    let beyond = json!({"id": id, "cursor": 1_000_000});
    let said = client.fails("icm_log", beyond).await;
    said.says("has 5");
    said.says("leave it out");
}

/// Checks the longest answers of every tool, with the least bound and the default.
#[tokio::test]
async fn no_answer_is_longer_than_the_bound() {
    for bound in [4_000, ANSWER_MAX_BYTES] {
        let options = McpOptions {
            answer_max_bytes: bound,
            ..plain()
        };
        let mut client = Client::legacy(options).await;
        let create = json!({"name": "system", "description": long(6_000, "System.")});
        client.call("icm_memoir_create", create).await;
        for n in 0..60 {
            let topic = format!("{}/{n}", "t".repeat(110));
            client.put(&topic, &long(3_000, &format!("Hall {n}")), Trust::User);
            let name = format!("{}{n}", "c".repeat(60));
            let concept = json!({"memoir": "system", "name": name, "definition": long(2_000, "x")});
            client.call("icm_memoir_add_concept", concept).await;
        }
        let mut long_ones = 0;
        for (tool, arguments) in [
            (
                "icm_memory_recall",
                json!({"query": "hall weather", "limit": 50}),
            ),
            (
                "icm_memory_recall_context",
                json!({"query": "hall", "budget": 15_000}),
            ),
            ("icm_log", json!({"limit": 200})),
            ("icm_diff", json!({"from": "@2"})),
            ("icm_memory_list_topics", json!({})),
            ("icm_memory_health", json!({})),
            ("icm_undo", json!({"last": 100})),
            ("icm_memoir_list", json!({})),
            ("icm_memoir_show", json!({"name": "system"})),
            (
                "icm_memoir_search",
                json!({"memoir": "system", "query": "hiking", "limit": 50}),
            ),
            ("icm_memoir_export", json!({"memoir": "system"})),
            (
                "icm_memoir_inspect",
                json!({"memoir": "system", "name": format!("{}1", "c".repeat(60))}),
            ),
        ] {
            let result = client.call(tool, arguments).await;
            assert_eq!(result["isError"], false, "{tool}: {result}");
            let text = text_of(&result);
            assert!(text.len() <= bound, "{tool}: {} bytes", text.len());
            let opened = text.matches("<memories nonce=").count();
            assert_eq!(
                opened,
                text.matches("</memories>").count(),
                "{tool}: {text}"
            );
            // The line that leads to the next page is never cut.
            let goes_on = match tool {
                "icm_memory_recall" | "icm_log" => "more: cursor",
                "icm_memory_list_topics" if bound == 4_000 => "the next: cursor",
                "icm_diff" => "the next: page 2",
                "icm_memoir_show" | "icm_memoir_search" | "icm_memoir_export" => "more: give after",
                _ => "",
            };
            assert!(text.contains(goes_on), "{tool}: {text}");
            long_ones += usize::from(text.len() > bound / 3);
        }
        assert!(long_ones >= 7, "{long_ones} answers were long");
    }
}

/// Returns the length of the whole text, from a shown part that may be cut at both ends.
fn whole_len(shown: &str) -> usize {
    let marks = shown.matches("[cut: ").count();
    assert!((1..=2).contains(&marks), "{shown}");
    let missing = shown.split("[cut: ").skip(1).map(|rest| {
        let number = rest.split(' ').next().expect("a number");
        number.parse::<usize>().expect("a number")
    });
    let missing: usize = missing.sum();
    let mut kept = shown;
    if let Some(rest) = kept.strip_prefix("[cut: ") {
        kept = rest.split_once("] …").expect("a mark").1;
    }
    if let Some((before, _)) = kept.rsplit_once("… [cut: ") {
        kept = before;
    }
    missing + kept.len()
}

#[tokio::test]
async fn a_passage_is_cut_once_and_tells_no_places_of_another_text() {
    let options = McpOptions {
        answer_max_bytes: 8_000,
        structured: true,
        ..plain()
    };
    let mut client = Client::legacy(options).await;
    let mut lens = Vec::new();
    for n in 0..6 {
        let line = |at| match at {
            60 => format!("The {NEEDLE} of harbour {n} opens at dawn for ship {n}.\n\n"),
            _ => format!("Line {at} of harbour {n} says nothing that is looked for.\n\n"),
        };
        let content: String = (0..120).map(line).collect();
        client.put("ports", &content, Trust::Agent);
        lens.push(content.len());
    }
    let asked = json!({"query": format!("{NEEDLE} dawn"), "floor": 0});
    let (_, answer) = client.ok("icm_memory_recall", asked).await;
    let results = answer["results"].as_array().expect("results");
    assert!(results.len() > 3, "{answer}");
    for result in results {
        let passage = result["passage"].as_object().expect("a passage");
        assert!(passage.contains_key("number") && passage.contains_key("of"));
        assert!(!passage.contains_key("start") && !passage.contains_key("end"));
        let content = result["content"].as_str().expect("a text");
        assert!(content.len() < 1_400, "{} bytes", content.len());
        content.says(NEEDLE);
        let len = whole_len(content);
        assert!(lens.contains(&len), "{len} of {lens:?}: {content}");
    }
    client.end().await;
}
