//! Sessions with those that work for them.

use std::collections::{BTreeMap, BTreeSet};

use super::Session;

/// Sessions, each above those that work for it.
pub struct Tree<'s> {
    roots: Vec<&'s Session>,
    below: BTreeMap<&'s str, Vec<&'s Session>>,
}

impl<'s> Tree<'s> {
    /// Returns the tree of these sessions. Those at each place keep their order.
    pub fn of(sessions: &'s [Session]) -> Tree<'s> {
        let known: BTreeSet<&str> = sessions.iter().map(|session| &*session.id).collect();
        let mut tree = Tree {
            roots: Vec::new(),
            below: BTreeMap::new(),
        };
        for session in sessions {
            match session.parent.as_deref() {
                Some(parent) if parent != session.id && known.contains(parent) => {
                    tree.below.entry(parent).or_default().push(session);
                }
                _ => tree.roots.push(session),
            }
        }
        // Sessions that are parents of each other; no honest writer makes such a circle.
        let mut reached = BTreeSet::new();
        for root in &tree.roots {
            tree.walk(root, &mut reached, &mut |_, _| true);
        }
        for session in sessions {
            if !reached.contains(&*session.id) {
                tree.walk(session, &mut reached, &mut |_, _| true);
                tree.roots.push(session);
            }
        }
        tree
    }

    /// Returns the sessions that work for none of the others.
    pub fn roots(&self) -> &[&'s Session] {
        &self.roots
    }

    /// Returns these sessions and all below each, with their depth, at most `most`.
    pub fn below(&self, roots: &[&'s Session], most: usize) -> Vec<(&'s Session, usize)> {
        let mut found = Vec::new();
        let mut reached = BTreeSet::new();
        for root in roots {
            self.walk(root, &mut reached, &mut |session, depth| {
                found.push((session, depth));
                found.len() < most
            });
        }
        found.truncate(most);
        found
    }

    /// Calls `each` for a session and all below it that were not reached before, with their depth, until it returns
    /// `false`.
    fn walk(
        &self,
        root: &'s Session,
        reached: &mut BTreeSet<&'s str>,
        each: &mut dyn FnMut(&'s Session, usize) -> bool,
    ) {
        let mut next = vec![(root, 0)];
        while let Some((session, depth)) = next.pop() {
            if !reached.insert(&session.id) {
                continue;
            }
            if !each(session, depth) {
                return;
            }
            let children = self.below.get(&*session.id).into_iter().flatten();
            next.extend(children.rev().map(|child| (*child, depth + 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_stand_below_those_they_work_for_and_a_circle_is_cut() {
        let session = |id: &str, parent: Option<&str>| Session {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            ..Session::default()
        };
        let sessions = [
            session("b", Some("a")),
            session("a", None),
            session("c", Some("b")),
            session("d", Some("a")),
            session("self", Some("self")),
            session("lost", Some("elsewhere")),
            session("x", Some("y")),
            session("y", Some("x")),
        ];
        let tree = Tree::of(&sessions);
        let found = tree.below(tree.roots(), usize::MAX);
        let found: Vec<_> = found.iter().map(|(it, depth)| (&*it.id, *depth)).collect();
        let expected = [
            ("a", 0),
            ("b", 1),
            ("c", 2),
            ("d", 1),
            ("self", 0),
            ("lost", 0),
            ("x", 0),
            ("y", 1),
        ];
        assert_eq!(found, expected);
        assert_eq!(tree.below(tree.roots(), 3).len(), 3);
        assert_eq!(tree.below(&tree.roots()[..1], usize::MAX).len(), 4);
    }
}
