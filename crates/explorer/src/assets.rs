//! Files of the pages: style, scripts, and libraries of others, which are part of the program.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Explorer;
use crate::answer::guarded;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Name, media type, content.
const FILES: [(&str, &str, &str); 6] = [
    ("explorer.css", CSS, include_str!("../assets/explorer.css")),
    ("explorer.js", SCRIPT, include_str!("../assets/explorer.js")),
    ("graph.js", SCRIPT, include_str!("../assets/graph.js")),
    ("icon.svg", SVG, include_str!("../assets/icon.svg")),
    (
        "htmx.js",
        SCRIPT,
        include_str!("../assets/vendor/htmx-2.0.11.min.js"),
    ),
    (
        "cytoscape.js",
        SCRIPT,
        include_str!("../assets/vendor/cytoscape-3.35.0.min.js"),
    ),
];

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    FILES
        .into_iter()
        .fold(Router::new(), |router, (name, kind, content)| {
            let path = format!("/assets/{name}");
            router.route(&path, get(async move || file(kind, content)))
        })
}

fn file(kind: &'static str, content: &'static str) -> Response {
    let mut response = ([(CONTENT_TYPE, kind)], content).into_response();
    guarded(response.headers_mut());
    response
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use sha2::{Digest, Sha256};

    /// Compares the files of others with the table in their README.
    #[test]
    fn files_of_others_are_those_that_the_table_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendor");
        let table = include_str!("../assets/vendor/README.md");
        let mut named = BTreeSet::new();
        for row in table.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(|cell| cell.trim()).collect();
            let [file, hash] = [1, 6].map(|at| cells[at].trim_matches('`'));
            let content = std::fs::read(folder.join(file)).expect("a file of the table");
            let found = Sha256::digest(content);
            let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, hash, "{file}");
            named.insert(file.to_owned());
        }
        let there = std::fs::read_dir(folder).expect("the folder");
        let there = there.map(|entry| entry.expect("an entry").file_name());
        let there = there.filter_map(|name| name.into_string().ok());
        let there: BTreeSet<String> = there.filter(|name| name.ends_with(".js")).collect();
        assert_eq!(there, named);
        assert_eq!(named.len(), 2);
    }
}
