//! The reference page of the config file, made from the table of keys.

use super::{Config, table};

const HEAD: &str = "\
# Configuration

<!-- Made by the tests of `icm-cli` from the table of keys. `ICM_UPDATE_SNAPSHOTS=1` writes it anew. -->

The config file is `config.toml` in the platform's config folder, on Linux `~/.config/icm/config.toml`. `--config FILE` or
`ICM_CONFIG` names another file. The file is TOML, and no key is required.

- `icm config init` writes a file with every key in a comment. It never overwrites a file.
- `icm config show` prints each value in force and where it comes from.
- A flag goes before an environment variable, a variable before the file, and the file before the default.
- An unknown key and a value that a key does not take are errors with exit code 2.
- `icm bench recall` and `icm bench replay` try keys of `[ranking]` and `[embedding]` by `--set KEY=VALUE`.
";

/// Returns the page.
fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut within = None;
    for (key, value) in Config::default().values() {
        let (section, _) = key.split();
        if within != Some(section) {
            within = Some(section);
            if section.is_empty() {
                page.push_str("\n## Before the first section\n");
            } else {
                page.push_str(&format!(
                    "\n## `[{section}]`\n\n{}\n",
                    table::about(section)
                ));
            }
            page.push_str("\n| key | takes | default | effect |\n|---|---|---|---|\n");
        }
        let default = match key.example {
            Some(example) => format!("none; for example `{example}`"),
            None => format!("`{value}`"),
        };
        let (name, takes, about) = (key.name, &key.takes, key.about);
        page.push_str(&format!("| `{name}` | {takes} | {default} | {about} |\n"));
    }
    page
}

#[test]
fn the_reference_page_is_as_checked_in() {
    crate::checked_in::check("reference/configuration.md", |_| page());
}
