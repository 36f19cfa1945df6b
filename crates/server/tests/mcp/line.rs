//! Tests of lines that are not requests.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::client::{Client, EVERYTHING};
use crate::look::Says;

/// The table holds each bad line, with the id and the code of its answer. A good call follows every line.
#[tokio::test]
async fn every_bad_line_has_an_answer_and_the_server_goes_on() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}{}}}"#,
        r#"{"x":"#.repeat(5000),
        "}".repeat(5000)
    );
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":6,"method":"{}"}}"#,
        "x".repeat(20 << 20)
    );
    let long_id_last = format!(
        r#"{{"method":"tools/call","params":{{"id":1,"x":"{}"}},"jsonrpc":"2.0","id":"last"}}"#,
        "y".repeat(5 << 20)
    );
    let invalid_utf8 = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"no/such\xff\xfe\"}";
    let table: &[(&[u8], Value, i64)] = &[
        (b"garbage", Value::Null, -32700),
        (b"\xff\xfe\x00", Value::Null, -32700),
        (
            br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"#,
            json!(3),
            -32700,
        ),
        (deep.as_bytes(), json!(5), -32700),
        (long.as_bytes(), json!(6), -32600),
        (long_id_last.as_bytes(), json!("last"), -32600),
        (invalid_utf8, json!(7), -32601),
        (
            br#"[{"jsonrpc":"2.0","id":8,"method":"ping"}]"#,
            json!(8),
            -32600,
        ),
        (br#"[]"#, Value::Null, -32600),
        (
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            Value::Null,
            -32600,
        ),
        (
            br#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#,
            json!(9),
            -32600,
        ),
        (br#"{"jsonrpc":"2.0","id":10}"#, json!(10), -32600),
        (
            br#"{"jsonrpc":"2.0","id":[11],"method":"ping"}"#,
            Value::Null,
            -32600,
        ),
        (br#"42"#, Value::Null, -32600),
    ];
    let mut client = Client::legacy(EVERYTHING).await;
    for (line, id, code) in table {
        client.send(line).await;
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let reply = client.next().await.expect("an answer");
        assert_eq!(reply["id"], *id, "{shown}: {reply}");
        assert_eq!(reply["error"]["code"], *code, "{shown}: {reply}");
        client.ok("icm_memory_stats", json!({})).await;
    }
    // Valid lines: half a surrogate pair where no tool reads it, as `JSON.stringify` writes it, a repeated key, `\r\n`,
    // and blank lines.
    for line in [
        r#"{"jsonrpc":"2.0","id":20,"method":"ping","params":{"_meta":{"note":"cut \ud83d"}}}"#,
        r#"{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"x","name":"icm_memory_stats"}}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":20,\"method\":\"ping\"}\r",
        "\r\n\n   \n{\"jsonrpc\":\"2.0\",\"id\":20,\"method\":\"ping\"}",
    ] {
        client.send(line.as_bytes()).await;
        let reply = client.next().await.expect("an answer");
        assert_eq!(reply["id"], 20, "{line}: {reply}");
        assert!(reply["result"].is_object(), "{line}: {reply}");
        assert_ne!(reply["result"]["isError"], true, "{line}: {reply}");
    }
    // The last line need not end in a newline.
    let input = client.input.as_mut().expect("open");
    let last = br#"{"jsonrpc":"2.0","id":30,"method":"ping"}"#;
    input.write_all(last).await.expect("write");
    let (rest, _) = client.end().await;
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": 30, "result": {}})]);
}

#[tokio::test]
async fn half_a_character_is_not_stored_as_another_one() {
    let mut client = Client::legacy(EVERYTHING).await;
    for (arguments, field) in [
        (r#"{"topic":"t","content":"cut \ud83d"}"#, "content"),
        (
            r#"{"topic":"\ude00","content":"whole \ud83d\ude00"}"#,
            "topic",
        ),
        (
            r#"{"topic":"t","content":"c","keywords":["a","b\ud83d"]}"#,
            "keywords",
        ),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{{"name":"icm_memory_store","arguments":{arguments}}}}}"#
        );
        client.send(line.as_bytes()).await;
        let reply = client.next().await.expect("an answer");
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let text = reply["result"]["content"][0]["text"].as_str();
        let expected = format!("`{field}` holds half of a surrogate pair");
        assert!(
            text.is_some_and(|text| text.starts_with(&expected)),
            "{reply}"
        );
    }
    let (_, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["events"], 0);
}

#[tokio::test]
async fn bad_lines_before_the_handshake_have_answers_too() {
    let mut client = Client::connect(EVERYTHING);
    client.send(b"garbage").await;
    let reply = client.next().await.expect("an answer");
    assert_eq!(reply["error"]["code"], -32700);
    // None of these lines may end the server.
    client
        .send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    client
        .send(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    client
        .send(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .await;
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    let says = |reply: &Value, what: &str| {
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        let message = reply["error"]["message"].as_str().expect("text");
        message.says(what);
    };
    let reply = client.request("tools/list", json!({})).await;
    says(&reply, "send `initialize` first");
    let half = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let reply = client.request("tools/list", json!({"_meta": half})).await;
    says(&reply, "io.modelcontextprotocol/clientCapabilities");
    let nameless = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let reply = client.request("initialize", nameless).await;
    says(&reply, "initialize: missing field `clientInfo`");
    let reply = client.request("initialize", Value::Null).await;
    says(&reply, "initialize: ");
    client
        .send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    let params = json!({
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": {"name": "old", "version": ""},
    });
    let reply = client.request("initialize", params).await;
    assert_eq!(reply["result"]["protocolVersion"], "2024-11-05", "{reply}");
    client.ok("icm_memory_stats", json!({})).await;
    client.end().await;
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let mut client = Client::legacy(EVERYTHING).await;
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let both = [&ping[..], b"\n", &ping[..]].concat();
    client.send(&both).await;
    let replies = [
        client.next().await.expect("one"),
        client.next().await.expect("two"),
    ];
    assert!(replies.iter().all(|reply| reply["id"] == 1), "{replies:?}");
    assert_eq!(
        replies
            .iter()
            .filter(|reply| reply["result"].is_object())
            .count(),
        1,
        "{replies:?}"
    );
    client.send(ping).await;
    assert_eq!(client.next().await.expect("three")["result"], json!({}));
}
