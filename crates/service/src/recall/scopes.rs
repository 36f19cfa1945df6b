//! The scopes that a recall sees, and which of them are the caller's own.
//!
//! From a project or a session a recall sees `global`, the project, and the session with its parents (`session:a` of
//! `session:a/b`) and its children. It sees no other project or session, unless the request asks for it.

use icm_text::InScope;

use crate::command::Scope;
use icm_api::Caller;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::SOURCE_LEN_MAX;

/// The request for every scope.
const ALL: &str = "all";
const GLOBAL: &str = "global";
const SESSION: &str = "session:";
/// The ending that stands for all sessions below one.
const BELOW: &str = "/*";

/// The scopes of a recall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scopes {
    /// `None`: every scope.
    seen: Option<Vec<ScopeRange>>,
    own: Vec<ScopeRange>,
}

/// One scope, or a scope with those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScopeRange {
    Is(String),
    /// The scope and the scopes below it.
    Under(String),
}

impl ScopeRange {
    fn as_asked(&self) -> InScope<'_> {
        match self {
            ScopeRange::Is(scope) => InScope::Is(scope),
            ScopeRange::Under(scope) => InScope::Under(scope),
        }
    }
}

impl Scopes {
    /// Returns the scopes that the caller sees; or the scopes that are seen from the scope `asked`; or every scope for
    /// `all`.
    pub(crate) fn of(caller: &Caller, asked: Option<&str>) -> Result<Scopes> {
        let own = match asked.map(str::trim) {
            None => home(caller),
            Some(ALL | "*") => {
                return Ok(Scopes {
                    seen: None,
                    own: home(caller),
                });
            }
            Some(asked) => match Scope::parse(Some(asked)) {
                Err(_) if !asked.contains(':') => {
                    return Err(ServiceError::invalid_with(
                        format!("`{asked}` is no scope"),
                        "write `all`, `global`, `project`, `session`, `project:ID` or \
                         `session:PARENT/CHILD`",
                    ));
                }
                scope => line(&scope?.to_text()),
            },
        };
        let global = ScopeRange::Is(GLOBAL.to_owned());
        let seen = std::iter::once(global).chain(own.clone()).collect();
        Ok(Scopes {
            seen: Some(seen),
            own,
        })
    }

    /// Returns the scopes of a recorded recall. Older records saw every scope, or just the one they asked for.
    pub(crate) fn recorded(shown: &[&str], asked: Option<&str>) -> Scopes {
        let part = |text: &&str| match text.strip_suffix(BELOW) {
            Some(above) => ScopeRange::Under(above.to_owned()),
            None => ScopeRange::Is((*text).to_owned()),
        };
        let (seen, own) = match (shown, asked) {
            ([], None) => (None, &[][..]),
            ([], Some(asked)) => (Some(vec![ScopeRange::Is(asked.to_owned())]), &[][..]),
            ([ALL, own @ ..], _) => (None, own),
            (shown, _) => (Some(shown.iter().map(part).collect()), shown),
        };
        let own = own.iter().filter(|scope| **scope != GLOBAL);
        Scopes {
            seen,
            own: own.map(part).collect(),
        }
    }

    /// Returns the names of the scopes for an answer: `all`, or `global`, `project:ID`, `session:ID`, and
    /// `session:ID/*` for the sessions below.
    pub(crate) fn shown(&self) -> Vec<String> {
        match &self.seen {
            None => vec![ALL.to_owned()],
            Some(seen) => texts(seen),
        }
    }

    /// Returns the names of the scopes for a record. After `all` it names the caller's own.
    pub(crate) fn to_record(&self) -> Vec<String> {
        match &self.seen {
            None => [vec![ALL.to_owned()], texts(&self.own)].concat(),
            Some(seen) => texts(seen),
        }
    }

    /// Returns `true` if a memory of this scope is seen.
    pub(crate) fn sees(&self, scope: &str) -> bool {
        (self.seen.as_ref()).is_none_or(|seen| seen.iter().any(|part| part.as_asked().holds(scope)))
    }

    /// Returns `true` if a memory of this scope is not one that the caller sees by default.
    pub(crate) fn is_elsewhere(&self, scope: &str) -> bool {
        let mut own = self.own.iter();
        scope != GLOBAL && !own.any(|part| part.as_asked().holds(scope))
    }

    /// Returns the scopes to search (empty for every scope), the caller's own, and those with the parents and children
    /// of the session.
    pub(crate) fn asked(&self) -> [Vec<InScope<'_>>; 3] {
        let seen = self
            .seen
            .iter()
            .flatten()
            .map(ScopeRange::as_asked)
            .collect();
        let own = self.own.iter().filter_map(|part| match part {
            ScopeRange::Is(scope) if scope.starts_with(SESSION) => None,
            ScopeRange::Is(scope) | ScopeRange::Under(scope) => Some(InScope::Is(scope)),
        });
        let kin = self.own.iter().map(ScopeRange::as_asked);
        [seen, own.collect(), kin.collect()]
    }
}

/// Returns the scopes whose facts a caller sees, the nearest first: the session, its parents, the project, `global`.
pub(crate) fn nearest_first(caller: &Caller) -> Vec<String> {
    let mut scopes = vec![GLOBAL.to_owned()];
    scopes.extend(home(caller).into_iter().map(|range| match range {
        ScopeRange::Is(scope) | ScopeRange::Under(scope) => scope,
    }));
    scopes.reverse();
    scopes
}

/// Returns `true` if a scope is the one asked for, or lies below it if that is a session.
pub(crate) fn scope_fits(asked: &str, scope: &str) -> bool {
    match asked.starts_with(SESSION) {
        true => InScope::Under(asked).holds(scope),
        false => scope == asked,
    }
}

fn texts(parts: &[ScopeRange]) -> Vec<String> {
    let mut texts = Vec::new();
    for part in parts {
        match part {
            ScopeRange::Is(scope) => texts.push(scope.clone()),
            ScopeRange::Under(scope) => texts.extend([scope.clone(), format!("{scope}{BELOW}")]),
        }
    }
    texts
}

/// Returns the project and the session of a caller, with the parents and children of the session.
fn home(caller: &Caller) -> Vec<ScopeRange> {
    let named = |kind: &str, id: &Option<String>| {
        let id = limits::name("the scope's id", id.as_deref()?, SOURCE_LEN_MAX).ok()?;
        Some(line(&format!("{kind}{id}")))
    };
    let project = named("project:", &caller.project_id);
    let session = match caller.session_is_made {
        true => None,
        false => named(SESSION, &caller.session),
    };
    project.into_iter().chain(session).flatten().collect()
}

/// Returns a scope with its parents and children; nothing for `global`, which belongs to nobody.
fn line(scope: &str) -> Vec<ScopeRange> {
    let Some(id) = scope.strip_prefix(SESSION) else {
        return match scope {
            GLOBAL => Vec::new(),
            _ => vec![ScopeRange::Is(scope.to_owned())],
        };
    };
    let slashes = id.match_indices('/').filter(|(at, _)| *at > 0);
    let above = slashes.map(|(at, _)| ScopeRange::Is(format!("{SESSION}{}", &id[..at])));
    above.chain([ScopeRange::Under(scope.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(project: &str, session: &str) -> Caller {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Caller {
            project_id: some(project),
            session: some(session),
            ..Caller::default()
        }
    }

    #[test]
    fn one_sees_what_is_global_and_ones_own_line() {
        for (project, session, asked, shown) in [
            ("", "", None, "global"),
            ("p", "", None, "global project:p"),
            (
                "p",
                "a/b",
                None,
                "global project:p session:a session:a/b session:a/b/*",
            ),
            ("p", "a", Some("global"), "global"),
            ("p", "a", Some("project:q"), "global project:q"),
            ("p", "", Some("session:a"), "global session:a session:a/*"),
            ("p", "a", Some("all"), "all"),
            ("p", "a", Some(" * "), "all"),
        ] {
            let scopes = Scopes::of(&caller(project, session), asked).expect("a scope");
            assert_eq!(scopes.shown().join(" "), shown);
            let record = scopes.to_record();
            let record: Vec<&str> = record.iter().map(String::as_str).collect();
            let again = Scopes::recorded(&record, asked);
            for scope in [
                "global",
                "project:p",
                "project:q",
                "session:a",
                "session:a/b/c",
            ] {
                assert_eq!(
                    again.sees(scope),
                    scopes.sees(scope),
                    "{scope} of {record:?}"
                );
                let elsewhere = scopes.is_elsewhere(scope);
                assert_eq!(
                    again.is_elsewhere(scope),
                    elsewhere,
                    "{scope} of {record:?}"
                );
            }
        }
        assert!(Scopes::of(&caller("", ""), Some("planet:earth")).is_err());
    }

    #[test]
    fn the_nearest_scope_is_the_session() {
        for (project, session, expected) in [
            ("", "", "global"),
            ("p", "", "project:p global"),
            ("p", "a/b", "session:a/b session:a project:p global"),
        ] {
            let scopes = nearest_first(&caller(project, session));
            assert_eq!(scopes.join(" "), expected);
        }
    }

    #[test]
    fn a_session_sees_its_parents_and_its_children_and_none_beside_it() {
        let scopes = Scopes::of(&caller("p", "a/b"), None).expect("a scope");
        for (scope, sees) in [
            ("global", true),
            ("project:p", true),
            ("project:p/b", false),
            ("project:q", false),
            ("session:a", true),
            ("session:a/b", true),
            ("session:a/b/c/d", true),
            ("session:a/c", false),
            ("session:a/bc", false),
            ("session:ab", false),
            ("session:b", false),
        ] {
            assert_eq!(scopes.sees(scope), sees, "{scope}");
            assert_eq!(scopes.is_elsewhere(scope), !sees, "{scope}");
        }
        let all = Scopes::of(&caller("p", "a/b"), Some("all")).expect("a scope");
        assert!(all.sees("project:q") && all.is_elsewhere("project:q"));
        assert!(!all.is_elsewhere("project:p"));
    }

    #[test]
    fn what_older_recalls_saw() {
        let all = Scopes::recorded(&[], None);
        assert!(all.sees("project:q") && all.own.is_empty());
        let one = Scopes::recorded(&[], Some("project:q"));
        assert!(one.sees("project:q") && !one.sees("global"));
    }

    #[test]
    fn a_scope_is_listed_with_what_lies_below_a_session() {
        assert!(scope_fits("session:a", "session:a/b"));
        assert!(!scope_fits("project:a", "project:a/b"));
        assert!(scope_fits("global", "global"));
    }
}
