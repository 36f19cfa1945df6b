//! Every use of BLAKE3 in the store: `BLAKE3 keyed with BLAKE3(context)`.
//!
//! Each use has a context of its own, so a digest made for one use never means anything in another.

use std::sync::LazyLock;

use crate::id::{ActorId, EventId, Name, RequestKey, ScopeId, SessionId};

/// Key of event ids.
pub const CONTEXT_EVENT: &str = "icm event id v1";
/// Key of payload commitments.
pub const CONTEXT_COMMITMENT: &str = "icm payload commitment v1";
/// Key of the names of memories.
pub const CONTEXT_MEMORY_NAME: &str = "icm memory name v1";
/// Key of the names of imported lines that have no key.
pub const CONTEXT_LINE_NAME: &str = "icm imported line name v1";
/// Key of the names of memoirs.
pub const CONTEXT_MEMOIR_NAME: &str = "icm memoir name v1";
/// Key of the names of concepts.
pub const CONTEXT_CONCEPT_NAME: &str = "icm concept name v1";
/// Key of scope ids.
pub const CONTEXT_SCOPE: &str = "icm scope id v1";
/// Key of session ids that are not UUIDs.
pub const CONTEXT_SESSION: &str = "icm session id v1";
/// Hashed with the store's secret into actor ids.
pub const CONTEXT_ACTOR: &str = "icm actor id v1";
/// Hashed with the store's secret into request keys.
pub const CONTEXT_REQUEST: &str = "icm request key v1";

/// Key of the digest at the end of a bundle.
pub const CONTEXT_BUNDLE: &str = "icm bundle v1";

/// Every context in use.
pub const CONTEXTS: [&str; 11] = [
    CONTEXT_EVENT,
    CONTEXT_COMMITMENT,
    CONTEXT_MEMORY_NAME,
    CONTEXT_LINE_NAME,
    CONTEXT_MEMOIR_NAME,
    CONTEXT_CONCEPT_NAME,
    CONTEXT_SCOPE,
    CONTEXT_SESSION,
    CONTEXT_ACTOR,
    CONTEXT_REQUEST,
    CONTEXT_BUNDLE,
];

fn key_of(context: &str) -> [u8; 32] {
    *blake3::hash(context.as_bytes()).as_bytes()
}

static EVENT_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| key_of(CONTEXT_EVENT));
static COMMITMENT_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| key_of(CONTEXT_COMMITMENT));

/// Returns the id of the event whose encoded head is `head`.
pub fn event_id(head: &[u8]) -> EventId {
    EventId(*blake3::keyed_hash(&EVENT_KEY, head).as_bytes())
}

/// Returns the commitment to a body. `body` is the salt (16 bytes), then the payload as stored.
pub fn commitment(body: &[u8]) -> [u8; 32] {
    *blake3::keyed_hash(&COMMITMENT_KEY, body).as_bytes()
}

/// Returns a hasher for the bytes of a bundle.
pub fn bundle_hasher() -> blake3::Hasher {
    blake3::Hasher::new_keyed(&key_of(CONTEXT_BUNDLE))
}

/// Returns a digest of `fixed` and text parts. Each part follows its length, so no two lists of parts hash the same
/// bytes.
fn digest(key: &[u8; 32], fixed: &[u8], parts: &[&str]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(fixed);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}

/// Returns the id of a project's or session's scope: a digest of its kind and text. The global scope's id is zero.
pub fn scope_id(kind: u8, text: &str) -> ScopeId {
    ScopeId(digest(&key_of(CONTEXT_SCOPE), &[kind], &[text]))
}

/// Returns the name of the memory with `key` in `topic` of a scope.
pub fn memory_name(scope_kind: u8, scope: ScopeId, topic: &str, key: &str) -> Name {
    let mut fixed = [0; 17];
    fixed[0] = scope_kind;
    fixed[1..].copy_from_slice(&scope.0);
    Name(digest(&key_of(CONTEXT_MEMORY_NAME), &fixed, &[topic, key]))
}

/// Returns the name of the `nth` (from 1) imported line with this content in a topic of a scope.
pub fn line_name(scope_kind: u8, scope: ScopeId, topic: &str, content: &str, nth: u32) -> Name {
    let mut fixed = [0; 21];
    fixed[0] = scope_kind;
    fixed[1..17].copy_from_slice(&scope.0);
    fixed[17..].copy_from_slice(&nth.to_le_bytes());
    Name(digest(
        &key_of(CONTEXT_LINE_NAME),
        &fixed,
        &[topic, content],
    ))
}

/// Returns the digest of a memoir's name.
pub fn memoir_name(name: &str) -> Name {
    Name(digest(&key_of(CONTEXT_MEMOIR_NAME), &[], &[name]))
}

/// Returns the digest of a concept's name within a memoir.
pub fn concept_name(memoir: &str, name: &str) -> Name {
    Name(digest(&key_of(CONTEXT_CONCEPT_NAME), &[], &[memoir, name]))
}

/// Returns the id of a session: the bytes of `text` if it is a UUID, else a digest.
pub fn session_id(text: &str) -> SessionId {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    if text.len() == 36
        && let Some(id) = SessionId::parse_hex(&digits)
    {
        return id;
    }
    SessionId(digest(&key_of(CONTEXT_SESSION), &[], &[text]))
}

/// Returns the id of an actor in the store with this `secret`. It means nothing in another store.
pub fn actor_id(secret: &[u8; 32], name: &str) -> ActorId {
    ActorId(digest(secret, CONTEXT_ACTOR.as_bytes(), &[name]))
}

/// Returns the request key of a client's idempotency key in the store with this `secret`.
pub fn request_key(secret: &[u8; 32], namespace: &str, key: &str) -> RequestKey {
    RequestKey(digest(
        secret,
        CONTEXT_REQUEST.as_bytes(),
        &[namespace, key],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_differ() {
        let keys: std::collections::BTreeSet<_> = CONTEXTS.iter().map(|c| key_of(c)).collect();
        assert_eq!(keys.len(), CONTEXTS.len());
    }

    #[test]
    fn parts_do_not_run_together() {
        let scope = ScopeId::ZERO;
        assert_ne!(
            memory_name(1, scope, "ab", "c"),
            memory_name(1, scope, "a", "bc")
        );
    }

    #[test]
    fn digests_are_for_ever() {
        assert_eq!(event_id(b"head").to_string(), PINNED_EVENT);
        assert_eq!(
            memory_name(1, ScopeId::ZERO, "topic", "key").to_string(),
            PINNED_NAME
        );
    }

    const PINNED_EVENT: &str = "00e32e8edc585cfa00676108d0df95ed5bcc7bab7d507b6ed7c2ef06bcd50209";
    const PINNED_NAME: &str = "0e43d1203d6269549577664cc9888395";

    #[test]
    fn a_uuid_is_its_own_session_id() {
        let id = session_id("0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0");
        assert_eq!(id.to_string(), "0b1c2d3e4f5061728394a5b6c7d8e9f0");
        assert_ne!(session_id("nightly"), session_id("nightly2"));
    }
}
