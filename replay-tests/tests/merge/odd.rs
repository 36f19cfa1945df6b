//! Events that no command of today writes.

use super::*;

/// Facts that fit no row, and refs that leave out events seen before: from a newer or a faulty version. The ids are
/// those of memories known to the machine.
#[derive(Debug, Clone)]
pub(super) struct Odd {
    pub(super) what: What,
    pub(super) refs: BTreeSet<usize>,
    pub(super) id: usize,
    pub(super) other: usize,
    pub(super) number: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// With a name, and an id that may be new.
    Store,
    Update,
    Forget,
    Cover,
    Link,
    Unlink,
    Recall,
    Pin,
    Expire,
    Session,
    Alert,
    Delivered,
    /// A verdict that this version does not know, too.
    Judge,
    Correct,
    Decay,
    Prune,
    Undo,
}

pub(super) fn odd() -> impl Strategy<Value = Odd> {
    use What::*;
    let all = [
        Store, Update, Forget, Cover, Link, Unlink, Recall, Pin, Expire, Session, Judge, Correct,
        Alert, Delivered, Decay, Prune, Undo,
    ];
    let what = (0..all.len()).prop_map(move |kind| all[kind]);
    let number = || 0..64_usize;
    let refs = prop::collection::btree_set(number(), 0..4);
    (what, refs, number(), number(), number()).prop_map(|(what, refs, id, other, number)| Odd {
        what,
        refs,
        id,
        other,
        number,
    })
}
