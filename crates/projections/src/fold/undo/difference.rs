//! The difference of two rows, as bits of their fields.

use std::collections::BTreeSet;

use crate::fold::record::{Version, changed};

/// Returns the difference between two rows of a memory, as bits of fields and of [`changed`].
pub fn difference(before: &Version, after: &Version) -> u32 {
    use icm_log::facts::fields;
    if before.hidden && after.hidden {
        return 0;
    }
    let words = |version: &Version| {
        let keywords = version.keywords.iter();
        keywords
            .map(|keyword| (keyword.event, keyword.index))
            .collect::<BTreeSet<_>>()
    };
    let scope = |version: &Version| (version.scope_kind, version.scope.clone());
    let withheld = before.withheld ^ after.withheld;
    [
        (fields::TOPIC, before.topic != after.topic),
        (fields::CONTENT, before.content != after.content),
        (fields::RAW_EXCERPT, before.raw_excerpt != after.raw_excerpt),
        (fields::IMPORTANCE, before.importance != after.importance),
        (fields::SCOPE, scope(before) != scope(after)),
        (fields::KEY, before.key != after.key),
        (fields::SOURCE, before.source != after.source),
        (
            fields::OCCURRED_AT,
            before.occurred_at_ms != after.occurred_at_ms,
        ),
        (
            fields::PINNED,
            before.pinned_until_ms != after.pinned_until_ms,
        ),
        (fields::EXPIRES, before.expiry != after.expiry),
        (fields::EXPIRED, before.expired != after.expired),
        (fields::METADATA, before.metadata != after.metadata),
        (fields::TRUST, before.trust != after.trust),
        (fields::CONFIDENCE, before.graph != after.graph),
        (changed::KEYWORDS, words(before) != words(after)),
        (
            changed::ALIVE,
            before.is_alive() != after.is_alive() || before.hidden != after.hidden,
        ),
        (
            changed::ROW,
            before.writers != after.writers
                || before.feedback != after.feedback
                || before.causal_length != after.causal_length
                || (
                    before.id,
                    before.created_ms,
                    before.updated_ms,
                    before.carried,
                    before.weight_ppm,
                ) != (
                    after.id,
                    after.created_ms,
                    after.updated_ms,
                    after.carried,
                    after.weight_ppm,
                ),
        ),
    ]
    .iter()
    .filter(|(_, differs)| *differs)
    .fold(withheld, |all, (bit, _)| all | bit)
}
