//! Makes the file that `icm config init` writes.

use super::{Config, table};
use crate::text;

const HEAD: &str = "\
# Configuration of icm. A flag or an environment variable overrides this file.
# `icm config show` prints the values in force and where each comes from.
";

/// Columns of a comment, without its `# `.
const COLUMNS: usize = 98;

/// Returns a file with every key in a comment, each with its default value or an example.
pub(crate) fn template() -> String {
    let mut file = HEAD.to_owned();
    let mut within = "";
    for (key, value) in Config::default().values() {
        let (section, field) = key.split();
        file.push('\n');
        if section != within {
            within = section;
            file.push_str(&format!("[{section}]\n"));
            push_comment(&mut file, table::about(section));
            file.push('\n');
        }
        push_comment(&mut file, key.about);
        // A JSON value of these kinds is also a TOML value.
        let value = key.example.map_or_else(|| value.to_string(), str::to_owned);
        file.push_str(&format!("# {field} = {value}  # {}\n", key.takes));
    }
    file
}

fn push_comment(file: &mut String, words: &str) {
    for line in text::wrap(words, Some(COLUMNS)) {
        file.push_str(&format!("# {line}\n"));
    }
}
