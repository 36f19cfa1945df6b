//! Hooks of every client: sample inputs, the answers that clients take, and broken input.

mod answers;
mod bad;
mod bundle;
mod fresh;
mod module;
mod plugin;
mod random;
mod samples;

use std::path::{Path, PathBuf};

use icm_clients::names::Client;

/// The folder of the samples.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// A sample input: the client, the event of the file's name, and the bytes.
struct Sample {
    client: Client,
    name: String,
    bytes: Vec<u8>,
}

impl Sample {
    /// Returns the event; samples of a plugin have the events of Claude Code.
    fn event(&self) -> &str {
        self.name.strip_prefix("plugin-").unwrap_or(&self.name)
    }
}

/// Returns every sample, in the order of clients and names.
fn samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for client in Client::ALL {
        let Ok(files) = std::fs::read_dir(folder().join(client.name())) else {
            continue;
        };
        for file in files {
            let path = file.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy();
            all.push(Sample {
                client: *client,
                name: name.into_owned(),
                bytes: std::fs::read(&path).expect("a sample"),
            });
        }
    }
    all.sort_by(|a, b| (a.client, &a.name).cmp(&(b.client, &b.name)));
    all
}
