//! Pages of the guide that are made from the code, compared with those that are checked in.
//!
//! After an intended change, `ICM_UPDATE_SNAPSHOTS=1` writes the pages again.

use std::path::Path;

/// Compares a page of the guide with the page that `make` returns. `make` gets the page that is checked in; an empty text
/// if there is none.
#[track_caller]
pub(crate) fn check(name: &str, make: impl FnOnce(&str) -> String) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/src");
    let path = guide.join(name);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let now = make(&before);
    if std::env::var_os("ICM_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
        return;
    }
    let first = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(
        before == now,
        "{name} is not what the code says (first difference: {first:?}); `ICM_UPDATE_SNAPSHOTS=1` writes it anew"
    );
}

/// Returns a page with other rows below the header of its first table.
pub(crate) fn with_rows(page: &str, rows: &str) -> String {
    let (head, rest) = page.split_once("---|\n").expect("a page with a table");
    let rest = rest.lines().skip_while(|line| line.starts_with('|'));
    let rest: String = rest.flat_map(|line| [line, "\n"]).collect();
    format!("{head}---|\n{rows}{rest}")
}
