//! The choice of tools that a server offers. It is fixed when the server starts, so all clients get the same list for
//! as long as it runs.

use super::tools::{FRONTS, TOOLS, every};
use icm_api::error::{Result, ServiceError};

/// Returns `true` if a set holds the tool of this name.
type Holds = fn(&str) -> bool;

/// Named sets of the tools of icm: name, purpose, and the test of membership. [`FRONTS`] has the sets of other memories.
const SETS: [(&str, &str, Holds); 9] = [
    (
        "default",
        "memories and their care, in at most 2,500 tokens",
        |name| CORE.contains(&name) || CARE.contains(&name),
    ),
    (
        "core",
        "store, recall, change, forget, and the log with undo",
        |name| CORE.contains(&name),
    ),
    (
        "icm",
        "the tools of ICM, under the names that ICM uses",
        |name| {
            let is_of_icm = is_of(name, MEMORY) || is_of(name, MEMOIR) || name == WAKE_UP;
            is_of_icm && !NEWER.contains(&name)
        },
    ),
    ("memory", "everything about memories", |name| {
        is_of(name, MEMORY) || name == WAKE_UP
    }),
    ("memoir", "everything about memoirs and concepts", |name| {
        is_of(name, MEMOIR)
    }),
    (
        "history",
        "the log, undo, differences and conflicts",
        |name| {
            let others = [MEMORY, MEMOIR, ALERT, FACT];
            !others.iter().any(|other| is_of(name, other)) && name != WAKE_UP
        },
    ),
    (
        "facts",
        "one current value for each subject and attribute",
        |name| is_of(name, FACT),
    ),
    ("alerts", "reminders for sessions and projects", |name| {
        is_of(name, ALERT)
    }),
    ("all", "every tool under a name of icm", |_| true),
];

const MEMORY: &str = "icm_memory_";
const ALERT: &str = "icm_alert";
const FACT: &str = "icm_fact_";
const MEMOIR: &str = "icm_memoir_";
/// The tools of feedback are in every set that has those of memories.
const FEEDBACK: &str = "icm_feedback_";
const WAKE_UP: &str = "icm_wake_up";
const CORE: [&str; 7] = [
    "icm_log",
    "icm_memory_forget",
    "icm_memory_list_topics",
    "icm_memory_recall",
    "icm_memory_store",
    "icm_memory_update",
    "icm_undo",
];
const CARE: [&str; 3] = [
    "icm_memory_consolidate",
    "icm_memory_health",
    "icm_memory_stats",
];
/// Tools that ICM does not have.
const NEWER: [&str; 12] = [
    "icm_memoir_describe",
    "icm_memoir_export",
    "icm_memoir_forget",
    "icm_memory_decay",
    "icm_memory_forget_topic",
    "icm_memory_link",
    "icm_memory_list",
    "icm_memory_prune",
    "icm_memory_recall_context",
    "icm_memory_rename_tag",
    "icm_memory_revive",
    "icm_memory_tags",
];

fn is_of(name: &str, family: &str) -> bool {
    name.starts_with(family) || (family == MEMORY && name.starts_with(FEEDBACK))
}

/// A choice of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// A bit for each tool, in the order of [`every`].
    tools: u64,
}

const _: () = assert!(TOOLS.len() < 64);

impl Default for Offer {
    fn default() -> Offer {
        Offer {
            tools: set("default").expect("it is in the table"),
        }
    }
}

impl Offer {
    /// Every tool under a name of icm.
    pub const ALL: Offer = Offer {
        tools: (1 << TOOLS.len()) - 1,
    };

    /// Returns the tools of `sets` and `tools`, without `excluded`. With neither sets nor tools, begins with the
    /// default set.
    ///
    /// # Errors
    /// `Invalid` for an unknown name, if two of the sets give one name to different tools, and if no tool is left.
    pub fn of(sets: &[String], tools: &[String], excluded: &[String]) -> Result<Offer> {
        let mut chosen = match (sets, tools) {
            ([], []) => Offer::default().tools,
            _ => 0,
        };
        for name in sets {
            chosen |= set(name).ok_or_else(|| {
                let known: Vec<&str> = Offer::sets().map(|(name, _)| name).collect();
                let hint = match place(name) {
                    Some(_) => format!("that is a tool: `--tools {name}`"),
                    None => format!("there are {}", known.join(", ")),
                };
                ServiceError::invalid_with(format!("there is no toolset `{name}`"), hint)
            })?;
        }
        refuse_one_name_twice(&named_sets(sets))?;
        let named = chosen | Offer::ALL.tools;
        for name in tools {
            chosen |= one(name, named)?;
        }
        for name in excluded {
            chosen &= !one(name, named)?;
        }
        match chosen {
            0 => Err(ServiceError::invalid_with(
                "no tool is left to offer",
                "exclude fewer of them",
            )),
            tools => Ok(Offer { tools }),
        }
    }

    /// Returns the tools of this choice that only read.
    ///
    /// # Errors
    /// `Invalid` if there are none.
    pub fn that_read(self) -> Result<Offer> {
        let tools = every().enumerate();
        let reading = tools.filter(|(_, tool)| tool.hints.read_only);
        let reading = reading.fold(0, |tools, (place, _)| tools | 1 << place);
        match self.tools & reading {
            0 => Err(ServiceError::invalid_with(
                "no tool is left to offer: none of these only reads",
                "name some that do, or start it without `--read-only`",
            )),
            tools => Ok(Offer { tools }),
        }
    }

    /// Returns `true` if the choice holds the tool at this place of the table.
    pub(super) fn has(self, place: usize) -> bool {
        self.tools & (1 << place) != 0
    }

    /// Returns the names of the sets, with their purposes.
    pub fn sets() -> impl Iterator<Item = (&'static str, &'static str)> {
        let fronts = FRONTS.iter().map(|front| (front.name, front.about));
        let own = SETS.iter().map(|(name, about, _)| (*name, *about));
        own.chain(fronts)
    }
}

fn set(name: &str) -> Option<u64> {
    let mut start = TOOLS.len();
    for front in &FRONTS {
        if front.name == name {
            return Some(((1 << front.tools.len()) - 1) << start);
        }
        start += front.tools.len();
    }
    let (_, _, is_in) = SETS.iter().find(|(known, ..)| *known == name)?;
    let tools = TOOLS.iter().enumerate();
    let chosen = tools.filter(|(_, tool)| is_in(tool.name));
    Some(chosen.fold(0, |set, (at, _)| set | 1 << at))
}

/// A set with the names of its tools, each with its place.
type NamedSet<'a> = (&'a str, Vec<(&'a str, usize)>);

fn named_sets(sets: &[String]) -> Vec<NamedSet<'_>> {
    let named = |name: &String| {
        let tools = set(name).unwrap_or_default();
        let tools = every().enumerate().filter(|(at, _)| tools & (1 << at) != 0);
        tools.map(|(at, tool)| (tool.name, at)).collect()
    };
    sets.iter().map(|set| (set.as_str(), named(set))).collect()
}

/// Checks that no two of the sets give one name to different tools: a client could call only one of these.
///
/// # Errors
/// `Invalid` with the name and the two sets.
fn refuse_one_name_twice(sets: &[NamedSet<'_>]) -> Result<()> {
    for (at, (set, tools)) in sets.iter().enumerate() {
        for (other, others) in &sets[..at] {
            let twice = |(name, place): &&(&str, usize)| {
                let mut others = others.iter();
                others.any(|(other, other_place)| other == name && other_place != place)
            };
            if let Some((name, _)) = tools.iter().find(twice) {
                return Err(ServiceError::invalid_with(
                    format!("the toolsets `{other}` and `{set}` both have a tool `{name}`"),
                    "start a server for each of the two",
                ));
            }
        }
    }
    Ok(())
}

/// Returns the bit of a tool; a tool of another memory is known if its set is among the `known` ones.
fn one(name: &str, known: u64) -> Result<u64> {
    let mut tools = every().enumerate();
    let found = tools.find(|(at, tool)| tool.name == name && known & (1 << at) != 0);
    found.map(|(at, _)| 1 << at).ok_or_else(|| {
        let near: Vec<&str> = near(name).filter(|near| place(near).is_some()).collect();
        let mut fronts = FRONTS.iter();
        let front = fronts.find(|front| front.tools.iter().any(|tool| tool.name == name));
        let hint = if set(name).is_some() {
            format!("that is a toolset: `--toolsets {name}`")
        } else if let (true, Some(front)) = (near.is_empty(), front) {
            format!("it belongs to a toolset: `--toolsets {}`", front.name)
        } else if near.is_empty() {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            format!("there are {}", known.join(", "))
        } else {
            format!("did you mean {}?", near.join(", "))
        };
        ServiceError::invalid_with(format!("there is no tool `{name}`"), hint)
    })
}

/// Returns the tools whose names contain `name`.
pub(super) fn near(name: &str) -> impl Iterator<Item = &'static str> {
    let names = every().map(|tool| tool.name);
    names.filter(move |tool| !name.is_empty() && tool.contains(name))
}

/// Returns the place of a tool under a name of icm.
fn place(name: &str) -> Option<usize> {
    TOOLS.iter().position(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(offer: Offer) -> Vec<&'static str> {
        let tools = every().enumerate();
        let tools = tools.filter(|(at, _)| offer.has(*at));
        tools.map(|(_, tool)| tool.name).collect()
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn sets_hold_what_they_say() {
        let of = |sets: &[&str]| Offer::of(&texts(sets), &[], &[]).expect("sets");
        assert_eq!(
            of(&["memory", "memoir", "history", "alerts", "facts"]),
            Offer::ALL
        );
        assert_eq!(names(of(&["facts"])), ["icm_fact_get", "icm_fact_set"]);
        assert_eq!(names(of(&["alerts"])), ["icm_alert_set", "icm_alerts"]);
        assert_eq!(of(&["all"]), Offer::ALL);
        assert_eq!(of(&["default"]), Offer::default());
        assert_eq!(
            names(of(&["history"])),
            ["icm_conflicts", "icm_diff", "icm_log", "icm_undo"]
        );
        // Each name in the lists is the name of a tool.
        assert_eq!(names(of(&["core"])), CORE);
        assert_eq!(names(of(&["default"])).len(), CORE.len() + CARE.len());
        let icm = names(of(&["icm"]));
        assert_eq!(icm.len(), 22);
        assert!(icm.contains(&WAKE_UP));
        assert!(
            NEWER
                .iter()
                .all(|name| place(name).is_some() && !icm.contains(name))
        );
    }

    #[test]
    fn excluded_tools_are_not_offered_whatever_else_is_said() {
        let [stats, recall] = ["icm_memory_stats", "icm_memory_recall"];
        let alone = Offer::of(&[], &texts(&[stats]), &[]).expect("a tool");
        assert_eq!(names(alone), [stats]);
        let more = Offer::of(&texts(&["core"]), &texts(&[stats]), &texts(&[recall]));
        let more = names(more.expect("a choice"));
        assert!(more.contains(&stats) && !more.contains(&recall) && more.len() == 7);
        assert!(
            !names(Offer::of(&[], &[], &texts(&[recall])).expect("the rest")).contains(&recall)
        );
        for (sets, tools, excluded, why) in [
            (&["cor"][..], &[][..], &[][..], "no toolset `cor`"),
            (&[], &["icm_recall"], &[], "no tool `icm_recall`"),
            (&["core"], &[], &["recall"], "no tool `recall`"),
            (&[], &[stats], &[stats], "no tool is left"),
        ] {
            let error = Offer::of(&texts(sets), &texts(tools), &texts(excluded));
            let error = error.expect_err("it is refused").to_string();
            assert!(error.contains(why), "{error}");
        }
        let hint = |sets: &[&str], tools: &[&str]| {
            let refused = Offer::of(&texts(sets), &texts(tools), &[]);
            refused.expect_err("it is refused").hint()
        };
        let set = hint(&[], &["memoir"]);
        assert_eq!(
            set.as_deref(),
            Some("that is a toolset: `--toolsets memoir`")
        );
        let tool = hint(&["icm_undo"], &[]);
        assert_eq!(tool.as_deref(), Some("that is a tool: `--tools icm_undo`"));
        let near = Offer::of(&[], &[], &texts(&["recall"])).expect_err("it is refused");
        assert_eq!(
            near.hint().as_deref(),
            Some("did you mean icm_memory_recall, icm_memory_recall_context?")
        );
    }

    #[test]
    fn sets_of_other_memories_are_offered_by_name_alone() {
        let of = |sets: &[&str]| Offer::of(&texts(sets), &[], &[]).expect("sets");
        for front in &FRONTS {
            let own: Vec<&str> = front.tools.iter().map(|tool| tool.name).collect();
            assert_eq!(names(of(&[front.name])), own);
            assert_eq!(of(&["all"]).tools & of(&[front.name]).tools, 0);
        }
        assert_eq!(
            names(of(&["sediment"])),
            ["forget", "list", "recall", "store"]
        );
        assert_eq!(names(of(&["core", "sediment"])).len(), CORE.len() + 4);
        let sediment = texts(&["sediment"]);
        let fewer = Offer::of(&sediment, &[], &texts(&["forget"])).expect("a choice");
        assert_eq!(names(fewer), ["list", "recall", "store"]);
        let alone = Offer::of(&[], &texts(&["icm_recall"]), &[]).expect_err("of another set");
        assert_eq!(
            alone.hint().as_deref(),
            Some("it belongs to a toolset: `--toolsets spec`")
        );
        let places = every().count();
        assert!(places <= 64, "{places} tools have no bit each");
    }

    #[test]
    fn two_sets_with_one_name_are_refused() {
        let sets = |other: usize| {
            [
                ("one", vec![("a", 0), ("b", 1)]),
                ("two", vec![("b", other)]),
            ]
        };
        assert!(refuse_one_name_twice(&sets(1)).is_ok());
        let error = refuse_one_name_twice(&sets(2)).expect_err("two tools have one name");
        assert_eq!(
            error.to_string(),
            "the toolsets `one` and `two` both have a tool `b`"
        );
        // All sets together have each name once.
        let all: Vec<String> = Offer::sets().map(|(name, _)| name.to_owned()).collect();
        let all = Offer::of(&all, &[], &[]).expect("they go together");
        assert_eq!(names(all).len(), every().count());
    }

    #[test]
    fn of_tools_that_write_none_is_left_to_read() {
        let undo = Offer::of(&[], &texts(&["icm_undo"]), &[]).expect("it is one");
        let error = undo.that_read().expect_err("it writes");
        assert!(error.to_string().contains("only reads"), "{error}");
        let both = Offer::of(&[], &texts(&["icm_undo", "icm_memory_stats"]), &[]);
        let left = both.expect("they are").that_read().expect("one reads");
        assert_eq!(names(left), ["icm_memory_stats"]);
    }
}
