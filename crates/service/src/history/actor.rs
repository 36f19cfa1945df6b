//! Finding the actors that a person names.

use icm_api::clients::same_actor;
use icm_api::error::Result;
use icm_projections::Views;

use crate::service::Service;

/// Most actors that a hint names. Raised, the hint is longer.
const NEAREST_MAX: usize = 3;

/// The actors that a name means.
pub(super) struct NamedActor {
    name: String,
    /// `true` if no actor has this name in full: `codex` then means `agent:codex`, and every other kind of that name.
    of_any_kind: bool,
}

impl NamedActor {
    pub(super) fn of(views: &Views, name: &str) -> NamedActor {
        let mut known = views.tally().actors.iter();
        let is_whole = known.any(|(id, known)| same_actor(name, known) || id.to_string() == name);
        NamedActor {
            name: name.to_owned(),
            of_any_kind: !is_whole,
        }
    }

    /// Returns `true` for an actor that is meant, given by its name, or by its id if the log has no name for it.
    pub(super) fn is(&self, actor: &str) -> bool {
        same_actor(&self.name, actor) || (self.of_any_kind && self.is_of_a_kind(actor))
    }

    fn is_of_a_kind(&self, actor: &str) -> bool {
        let kind = actor.split_once(':').map(|(kind, _)| kind);
        kind.is_some_and(|kind| same_actor(&format!("{kind}:{}", self.name), actor))
    }
}

/// Returns a line for a name that no actor has, with the nearest names; `None` if an actor has it.
pub(super) fn unknown_actor(views: &Views, name: &str) -> Option<String> {
    let meant = NamedActor::of(views, name);
    let mut known: Vec<&str> = views.tally().actors.values().map(String::as_str).collect();
    if !meant.of_any_kind || known.iter().any(|actor| meant.is(actor)) {
        return None;
    }
    known.sort_unstable();
    known.dedup();
    // The sort is stable: actors that are equally near stay in the order of their names.
    known.sort_by_key(|actor| std::cmp::Reverse(common_start(name, actor)));
    known.truncate(NEAREST_MAX);
    let nearest = match known.is_empty() {
        true => String::new(),
        false => format!("; nearest: {}", known.join(", ")),
    };
    Some(format!("no actor is named `{name}`{nearest}"))
}

/// Returns the number of characters with which both names begin, their kinds aside.
fn common_start(one: &str, other: &str) -> usize {
    let bare = |name: &str| {
        let (_, bare) = name.split_once(':').unwrap_or(("", name));
        bare.to_lowercase()
    };
    let (one, other) = (bare(one), bare(other));
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

impl Service {
    /// Returns a line for a name that no actor of this store has, with the nearest names; `None` if an actor has it.
    ///
    /// # Errors
    /// If the views cannot be read.
    pub fn unknown_actor(&self, name: &str) -> Result<Option<String>> {
        let unknown = self.with_views(|views| Ok(unknown_actor(views, name)))?;
        Ok(unknown.map(|line| self.without_secret(&line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_its_kind_is_that_of_any_kind_if_none_has_it_in_full() {
        let actor = |name: &str, of_any_kind| NamedActor {
            name: name.to_owned(),
            of_any_kind,
        };
        for (name, other, whole, any) in [
            ("codex", "agent:codex", false, true),
            ("codex", "agent:codex-mcp-client", false, true),
            ("mira", "user:mira", false, true),
            ("Mira", "user:mira", false, false),
            ("user", "user", true, true),
            ("agent:codex", "agent:codex", true, true),
            ("agent:codex", "user:codex", false, false),
            ("code", "agent:codex", false, false),
        ] {
            assert_eq!(actor(name, false).is(other), whole, "{name} {other}");
            assert_eq!(actor(name, true).is(other), any, "{name} {other}");
        }
        assert_eq!(common_start("Codxe", "agent:codex"), 3);
    }
}
