//! Dependencies between crates point one way: a crate uses only the crates in its row.

use std::collections::BTreeMap;
use std::path::Path;

/// Each crate with the crates of the workspace that it may use. A crate that is not listed may not exist.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("wait", &[]),
    ("event", &[]),
    ("log", &["event", "wait"]),
    ("text", &["wait"]),
    ("vectors", &["wait"]),
    ("projections", &["log", "text", "vectors", "wait"]),
    ("embedders", &["vectors", "wait"]),
    ("guard", &[]),
    ("clients", &["wait"]),
    ("extract", &["text"]),
    ("replaces", &[]),
    ("api", &["guard", "log", "projections", "text", "wait"]),
    (
        "service",
        &[
            "api",
            "guard",
            "log",
            "projections",
            "replaces",
            "text",
            "vectors",
            "wait",
        ],
    ),
    (
        "agents",
        &["api", "clients", "guard", "log", "projections", "service"],
    ),
    ("bench", &["api", "guard", "projections", "service", "wait"]),
    ("sync", &["api", "log", "service", "wait"]),
    ("objects", &["api", "sync", "wait"]),
    (
        "server",
        &[
            "agents",
            "api",
            "guard",
            "log",
            "projections",
            "service",
            "text",
            "wait",
        ],
    ),
    (
        "explorer",
        &["agents", "api", "guard", "log", "service", "wait"],
    ),
    ("tui", &["api", "guard", "log", "service", "wait"]),
    (
        "cli",
        &[
            "agents",
            "api",
            "bench",
            "clients",
            "embedders",
            "explorer",
            "extract",
            "guard",
            "log",
            "objects",
            "projections",
            "server",
            "service",
            "sync",
            "tui",
            "vectors",
            "wait",
        ],
    ),
];

/// Returns the crates of the workspace among the product dependencies of a manifest, without those of tests.
fn uses(manifest: &str) -> Vec<String> {
    let sections = manifest.split("\n[");
    let product = sections.filter(|section| {
        let name = section.lines().next().unwrap_or_default();
        name.ends_with("dependencies]") && !name.contains("dev-")
    });
    let lines = product.flat_map(str::lines);
    let names = lines.filter_map(|line| line.strip_prefix("icm-"));
    let names = names.filter_map(|rest| rest.split(['.', ' ', '=']).next());
    names.map(str::to_owned).collect()
}

#[test]
fn crates_depend_on_crates_below_them_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(crates).expect("the folder of the crates") {
        let entry = entry.expect("an entry");
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml"));
        let name = entry.file_name().to_string_lossy().into_owned();
        found.insert(name, uses(&manifest.expect("a manifest")));
    }
    assert_eq!(found.len(), MAY_USE.len(), "{found:?}");
    let mut below: Vec<&str> = Vec::new();
    for (name, may_use) in MAY_USE {
        assert!(may_use.iter().all(|used| below.contains(used)), "{name}");
        below.push(name);
        for used in &found[name] {
            assert!(may_use.contains(&used.as_str()), "{name} uses {used}");
        }
    }
    assert_eq!(found["projections"], ["log", "text", "vectors", "wait"]);
}
