//! Random input causes no panic, and answers always parse.

use icm_clients::hooks::{self, HookError};
use icm_clients::names::Client;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The fields of the clients, so that random values are read.
const FIELDS: [&str; 23] = [
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "conversationId",
    "taskId",
    "trajectory_id",
    "agent_id",
    "agentId",
    "parent_agent_id",
    "agent_type",
    "agentName",
    "cwd",
    "directory",
    "workspace_roots",
    "workspaceRoots",
    "transcript_path",
    "transcriptPath",
    "prompt",
    "source",
    "reason",
    "tool_info",
    "userPromptSubmit",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("prompt|user_prompt|text|a", inner), 0..4)
                .prop_map(|pairs| Value::from(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let pair = (prop::sample::select(&FIELDS[..]), value());
    let pairs = prop::collection::vec(pair, 0..8);
    pairs.prop_map(|pairs| {
        Value::from_iter(
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        )
    })
}

fn client() -> impl Strategy<Value = Client> {
    prop::sample::select(Client::ALL)
}

/// Returns `true` if a client can parse an answer: no bytes, an object, or for Kiro the context itself.
fn parses(client: Client, answer: &[u8], context: &str) -> bool {
    answer.is_empty()
        || serde_json::from_slice::<Map<String, Value>>(answer).is_ok()
        || (client == Client::Kiro && answer == context.as_bytes())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(client in client(), event in ".{0,30}", stdin in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = hooks::read(client, &event, &stdin) {
            prop_assert!(!error.to_string().is_empty());
        }
        for row in hooks::events(client) {
            let error = hooks::read(client, row.name, &stdin).err();
            let unknown = matches!(error, Some(HookError::UnknownEvent { .. } | HookError::NoHooks { .. }));
            prop_assert!(!unknown, "{}", row.name);
        }
        hooks::which(|_| None, &stdin);
    }

    #[test]
    fn any_object_is_read_or_refused_and_each_answer_parses(client in client(), object in object(), context in ".{0,50}") {
        let stdin = object.to_string();
        for row in hooks::events(client) {
            match hooks::read(client, row.name, stdin.as_bytes()) {
                Ok(input) => {
                    prop_assert_eq!(&input.event, row.name);
                    for text in ["", context.as_str()] {
                        let answer = hooks::answer(&input, text);
                        prop_assert!(parses(client, &answer, text), "{:?}", answer);
                    }
                }
                Err(error) => {
                    let refused = matches!(error, HookError::WrongType { .. });
                    prop_assert!(refused, "{}", error);
                }
            }
        }
        hooks::which(|name| Some(name.to_owned()), stdin.as_bytes());
    }
}

#[test]
fn the_random_objects_reach_the_fields() {
    let input = json!({ "session_id": "s", "prompt": "p", "cwd": "/src" });
    let read =
        hooks::read(Client::ClaudeCode, "Stop", input.to_string().as_bytes()).expect("an input");
    assert!(read.session.is_some() && read.prompt.is_some() && read.folder.is_some());
    for name in input.as_object().expect("an object").keys() {
        assert!(FIELDS.contains(&name.as_str()), "{name}");
    }
}
