//! Unsafe code of the product: only in the files named here, and each block with its reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each file below `crates/` that may have unsafe blocks, with their number. Ten are the most in all.
const BLOCKS: [(&str, usize); 8] = [
    ("cli/src/signals.rs", 1),
    ("projections/src/forward.rs", 1),
    ("projections/src/rows.rs", 1),
    ("server/src/mcp/stop.rs", 1),
    ("vectors/src/dot.rs", 1),
    ("vectors/src/embed/rows.rs", 1),
    ("vectors/src/file.rs", 1),
    ("vectors/src/graph.rs", 1),
];

/// Returns the Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_where_it_is_expected_with_its_reason() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).expect("the folder of the crates") {
        sources(&entry.expect("an entry").path().join("src"), &mut files);
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    let mut found = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        let lines: Vec<&str> = text.lines().collect();
        let name = file.strip_prefix(&crates).expect("below it");
        for (at, line) in lines.iter().enumerate() {
            if line.trim_start().starts_with("//") || !line.contains("unsafe {") {
                continue;
            }
            let before = lines[..at].iter().rev().take(4);
            let has_reason = before.into_iter().any(|line| line.contains("// SAFETY: "));
            assert!(
                has_reason,
                "{}: line {} has no `// SAFETY:`",
                name.display(),
                at + 1
            );
            let name = name.to_string_lossy().replace('\\', "/");
            *found.entry(name).or_insert(0) += 1;
        }
    }
    let expected: BTreeMap<_, _> = BLOCKS
        .map(|(name, blocks)| (name.to_owned(), blocks))
        .into();
    assert_eq!(found, expected);
    assert!(expected.values().sum::<usize>() <= 10);
}
