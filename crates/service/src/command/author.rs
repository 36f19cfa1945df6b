//! The author of a memory or of a confirmation.

use icm_log::{ActorId, SessionId, hash};
use icm_projections::fold::Version;

/// An author: a session, or an actor if no session is known. In different sessions the same actor counts as different
/// authors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Author {
    pub(crate) session: SessionId,
    pub(crate) actor: ActorId,
}

impl Author {
    pub(crate) fn of(version: &Version) -> Author {
        let session = version.source.session.as_deref();
        Author {
            session: session.map_or(SessionId::ZERO, hash::session_id),
            actor: version.author,
        }
    }

    pub(crate) fn is_other_than(self, author: Author) -> bool {
        let known = self.session != SessionId::ZERO && author.session != SessionId::ZERO;
        match known {
            true => self.session != author.session,
            false => self.actor != author.actor,
        }
    }

    pub(crate) fn key(self) -> (SessionId, Option<ActorId>) {
        let actor = (self.session == SessionId::ZERO).then_some(self.actor);
        (self.session, actor)
    }

    pub(crate) fn is(self, other: Author) -> bool {
        self.key() == other.key()
    }
}
