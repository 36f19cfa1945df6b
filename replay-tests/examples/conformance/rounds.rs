//! Fixtures that first ask the client for something; the client calls again, with the answers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use icm_log::env::random_16;
use icm_service::SystemEnv;
use rmcp::model::{
    ClientCapabilities, ErrorData, InputRequests, InputRequiredResult, InputResponses,
};
use serde_json::{Value, json};

use super::table::{Asked, Fixture};

/// The next step of a call.
pub(crate) enum Step {
    Ask(InputRequiredResult),
    Done,
}

/// Returns the step after these answers. A missing or malformed answer is asked for again. A question that needs a
/// capability which the client has not declared is never asked. An answer to no question is ignored.
///
/// # Errors
/// A state that another process or another fixture made.
pub(crate) fn step(
    fixture: &Fixture,
    capabilities: &Value,
    answers: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<Step, ErrorData> {
    let round = match state {
        Some(state) if fixture.sealed => opened(fixture, state)?,
        _ => 0,
    };
    let asked_in = |round: usize| {
        let asked = fixture.rounds.get(round)?.iter();
        let able = asked.filter(|(_, asked)| asked.is_in(capabilities));
        Some(able.collect::<BTreeMap<_, _>>())
    };
    let answered = asked_in(round).is_some_and(|asked| {
        let answered = |(key, asked): (&String, &Asked)| {
            let answer = answers.and_then(|answers| answers.get(key));
            answer.is_some_and(|answer| asked.is_answered_by(answer))
        };
        asked.into_iter().all(answered)
    });
    let next = round + usize::from(answered);
    let Some(asked) = asked_in(next) else {
        return Ok(Step::Done);
    };
    let requests = asked.into_iter().map(|(key, asked)| {
        let request = serde_json::from_value(asked.request());
        (key.clone(), request.expect("a request that clients know"))
    });
    let state = fixture.sealed.then(|| sealed(fixture, next));
    let requests: InputRequests = requests.collect();
    Ok(Step::Ask(InputRequiredResult::new(Some(requests), state)))
}

/// Refuses a client that has not declared the capability of the fixture.
pub(crate) fn check_required(fixture: &Fixture, capabilities: &Value) -> Result<(), ErrorData> {
    match &fixture.requires {
        Some(required) if capabilities.get(required).is_none() => {
            let required: ClientCapabilities = serde_json::from_value(json!({ required: {} }))
                .expect("a capability that clients know");
            Err(ErrorData::missing_required_client_capability(required))
        }
        _ => Ok(()),
    }
}

impl Asked {
    fn is_in(&self, capabilities: &Value) -> bool {
        let (capability, _) = self.method.split_once('/').expect("a method has a slash");
        capabilities.get(capability).is_some()
    }

    fn is_answered_by(&self, answer: &Value) -> bool {
        match &*self.method {
            "elicitation/create" => {
                let wanted = self.wants.keys();
                answer["action"] == "accept"
                    && wanted
                        .into_iter()
                        .all(|key| !answer["content"][key].is_null())
            }
            "roots/list" => answer["roots"].is_array(),
            _ => answer["content"].is_object(),
        }
    }

    fn request(&self) -> Value {
        let params = match &*self.method {
            "elicitation/create" => json!({
                "message": self.about,
                "requestedSchema": {
                    "type": "object",
                    "properties": self.wants,
                    "required": self.wants.keys().collect::<Vec<_>>(),
                },
            }),
            "roots/list" => json!({}),
            _ => json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": self.about}}],
                "maxTokens": 100,
            }),
        };
        json!({ "method": self.method, "params": params })
    }
}

/// Returns the round with a signature, which needs the key of this process.
fn sealed(fixture: &Fixture, round: usize) -> String {
    format!("{round}.{}", signature(fixture, round))
}

fn opened(fixture: &Fixture, state: &str) -> Result<usize, ErrorData> {
    let parts = state.split_once('.').and_then(|(round, signed)| {
        let round: usize = round.parse().ok()?;
        Some((round, blake3::Hash::from_hex(signed).ok()?))
    });
    match parts {
        Some((round, signed)) if signed == signature(fixture, round) => Ok(round),
        _ => Err(ErrorData::invalid_params(
            "`requestState` is not what the server sent",
            None,
        )),
    }
}

fn signature(fixture: &Fixture, round: usize) -> blake3::Hash {
    static KEY: LazyLock<[u8; 32]> =
        LazyLock::new(|| blake3::derive_key("icm conformance state", &random_16(&SystemEnv)));
    let mut hasher = blake3::Hasher::new_keyed(&KEY);
    hasher.update(&(round as u64).to_le_bytes());
    hasher.update(fixture.name.as_bytes());
    hasher.finalize()
}
