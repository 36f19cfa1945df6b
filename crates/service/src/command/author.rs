//! Who says something.

use icm_log::{ActorId, SessionId, hash};
use icm_projections::fold::Version;

/// Who says something: a session, or an actor where no session is known; the same actor is another one only from
/// session to session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    pub(crate) session: SessionId,
    pub(crate) actor: ActorId,
}

impl Voice {
    pub(crate) fn of(version: &Version) -> Voice {
        let session = version.source.session.as_deref();
        Voice {
            session: session.map_or(SessionId::ZERO, hash::session_id),
            actor: version.author,
        }
    }

    pub(crate) fn is_other_than(self, author: Voice) -> bool {
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

    pub(crate) fn is(self, other: Voice) -> bool {
        self.key() == other.key()
    }
}
