//! Tools under the names of other memories, so that clients and prompts made for those need no change. A tool here maps
//! its arguments to a command of icm and the answer to the fields of the other memory. So the events in the log are the
//! same, whatever front was used.

mod answer;
mod mii;
mod sediment;
mod spec;

use serde_json::{Map, Value};

use super::{Front, Tool};

/// The sets of tools of other memories.
pub(in crate::mcp) static FRONTS: [Front; 3] = [
    Front {
        name: "mii",
        about: "memories by tags and alerts, as mii-memory has them",
        tools: &[
            &mii::alerts::SET,
            &mii::alerts::GET,
            &mii::list_tags::TOOL,
            &mii::memory_get::TOOL,
            &mii::memory_set::TOOL,
        ],
    },
    Front {
        name: "sediment",
        about: "store, recall, list, forget, as Sediment has them",
        tools: &[
            &sediment::forget::TOOL,
            &sediment::list::TOOL,
            &sediment::recall::TOOL,
            &sediment::store::TOOL,
        ],
    },
    Front {
        name: "spec",
        about: "the six tools of the first specification of ICM",
        tools: &[
            &spec::CONSOLIDATE,
            &spec::FORGET,
            &spec::LIST_TOPICS,
            &spec::RECALL,
            &spec::STATS,
            &spec::STORE,
        ],
    },
];

/// Names of tools of other memories, each with the tool of icm that does the same.
const OWN_NAMES: [(&str, &str); 15] = [
    ("alert_set", "icm_alert_set"),
    ("alerts_get", "icm_alerts"),
    ("forget", "icm_memory_forget"),
    ("icm_consolidate", "icm_memory_consolidate"),
    ("icm_forget", "icm_memory_forget"),
    ("icm_list_topics", "icm_memory_list_topics"),
    ("icm_recall", "icm_memory_recall"),
    ("icm_stats", "icm_memory_stats"),
    ("icm_store", "icm_memory_store"),
    ("list", "icm_memory_list"),
    ("list_tags", "icm_memory_tags"),
    ("memory_get", "icm_memory_recall"),
    ("memory_set", "icm_memory_store"),
    ("recall", "icm_memory_recall"),
    ("store", "icm_memory_store"),
];

/// Arguments that other memories accept under more than one name: the tool, the other name, and the name in the schema.
const OTHER_NAMES: [(&str, &str, &str); 9] = [
    ("memory_get", "n-tag", "n_tag"),
    ("memory_get", "n_tags", "n_tag"),
    ("memory_get", "negative_tags", "n_tag"),
    ("memory_get", "p-tag", "p_tag"),
    ("memory_get", "p_tags", "p_tag"),
    ("memory_get", "positive_tags", "p_tag"),
    ("memory_get", "tags", "tag"),
    ("memory_set", "tag", "tags"),
    ("store", "replace", "replace_id"),
];

/// The topic of memories that come from a memory without topics.
const TOPIC: &str = "notes";

/// Returns the name of the tool of icm that does the same as this one; other names stay.
pub(super) fn own_name(name: &str) -> &str {
    let same = OWN_NAMES.iter().find(|(other, _)| *other == name);
    same.map_or(name, |(_, own)| *own)
}

/// Returns arguments under the names of the schema, and an object for `metadata` as its text.
pub(in crate::mcp) fn as_named(tool: &Tool, mut given: Map<String, Value>) -> Map<String, Value> {
    for (of, other, name) in OTHER_NAMES {
        if of == tool.name
            && !given.contains_key(name)
            && let Some(value) = given.remove(other)
        {
            given.insert(name.to_owned(), value);
        }
    }
    if let Some(metadata) = given.get_mut("metadata").filter(|value| value.is_object()) {
        *metadata = metadata.to_string().into();
    }
    given
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_name_in_the_tables_is_one_of_a_tool() {
        let tools = || FRONTS.iter().flat_map(|front| front.tools);
        for (name, own) in OWN_NAMES {
            assert!(tools().any(|tool| tool.name == name), "{name}");
            let own = crate::mcp::tools::TOOLS
                .iter()
                .find(|tool| tool.name == own);
            assert!(own.is_some(), "{name}");
        }
        for (name, other, argument) in OTHER_NAMES {
            let tool = tools().find(|tool| tool.name == name).expect(name);
            let has = |name: &str| tool.params.iter().any(|param| param.name == name);
            assert!(has(argument) && !has(other), "{name} {other}");
        }
        for front in &FRONTS {
            assert!(front.tools.is_sorted_by_key(|tool| tool.name));
        }
    }

    #[test]
    fn arguments_go_by_every_name_that_the_other_memory_knows() {
        let given = |value: Value| match value {
            Value::Object(given) => given,
            other => panic!("{other}"),
        };
        let get = Tool::named("memory_get").expect("a tool");
        let named = as_named(get, given(json!({"query": "q", "positive_tags": ["a"]})));
        assert_eq!(Value::from(named), json!({"query": "q", "p_tag": ["a"]}));
        let set = Tool::named("memory_set").expect("a tool");
        let named = as_named(set, given(json!({"tag": "a", "metadata": {"n": 1}})));
        let read = json!({"tags": "a", "metadata": "{\"n\":1}"});
        assert_eq!(Value::from(named), read);
    }
}
