//! Finds the agent's session in a request.

use serde_json::{Map, Value};

use icm_api::limits::{SOURCE_LEN_MAX, label};

/// Returns the agent's session in the `_meta` of a request, as Codex sends it. A name that icm does not accept (too
/// long, or with control characters) is ignored.
pub(super) fn session_in(meta: &Map<String, Value>) -> Option<String> {
    let named = |value: Option<&Value>| {
        let session = value?.as_str()?;
        let fits = !session.is_empty() && label("the session", session, SOURCE_LEN_MAX).is_ok();
        fits.then(|| session.to_owned())
    };
    let of_turn = meta.get("x-codex-turn-metadata");
    named(meta.get("sessionId"))
        .or_else(|| named(meta.get("threadId")))
        .or_else(|| named(of_turn.and_then(|turn| turn.get("session_id"))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_what_the_client_says_it_is() {
        let long = "x".repeat(SOURCE_LEN_MAX + 1);
        for (meta, session) in [
            (json!({"sessionId": "s1", "threadId": "t1"}), Some("s1")),
            (json!({"threadId": "t1"}), Some("t1")),
            (
                json!({"x-codex-turn-metadata": {"session_id": "s2"}}),
                Some("s2"),
            ),
            (json!({"sessionId": "", "threadId": "t1"}), Some("t1")),
            (json!({"sessionId": 7}), None),
            (json!({"sessionId": "a\nb"}), None),
            (json!({"sessionId": long}), None),
            (json!({"progressToken": 1}), None),
        ] {
            let named = meta.as_object().expect("metadata");
            assert_eq!(session_in(named).as_deref(), session, "{meta}");
        }
    }
}
