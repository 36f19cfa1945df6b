//! Extracts memories from the new part of a session's transcript by rules, and stores them.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use icm_api::Caller;
use icm_api::ids::ID_LEN;
use icm_clients::hooks::{Input, Moment};
use icm_extract::read_offsets::{FILE_NAME, ReadOffsets};
use icm_extract::{Found, Rules, from_text, from_transcript};
use icm_service::Service;
use icm_wait::bounds;

use crate::app::App;
use crate::commands::extract::keep::{self, By, Candidate, Destination, Run};
use crate::error::CliError;

/// Most memories that one hook stores. Raised, more sentences of low value are stored.
const FOUND_MAX: usize = 16;
/// The first level of the topic; the second is the project's name.
const TOPIC: &str = "sessions";

/// Stores the sentences that the rules find in the new part of the session's transcript, except those that a memory
/// says already.
///
/// # Errors
/// The transcript cannot be read, or the store cannot be written.
pub(super) fn learn(
    service: &Service,
    caller: &Caller,
    input: &Input,
    app: &App,
) -> Result<(), CliError> {
    let rules = Rules {
        max: FOUND_MAX,
        tool_output: app.config.hooks.tool_output,
        ..Rules::default()
    };
    let (name, found, read) = match &input.transcript {
        Some(path) if path.is_file() => {
            let offsets = app.db()?.0.join("cache").join(FILE_NAME);
            let (found, progress) = from_file(path, &offsets, input, &rules)?;
            (file_name(path), found, Some((offsets, path, progress)))
        }
        _ => {
            let said = input.last_message.as_deref().unwrap_or_default();
            let name = format!("{}'s last message", input.client.title());
            (name, from_text(said, &rules), None)
        }
    };
    let found: Vec<Found> = found
        .into_iter()
        .filter(|found| !recites(&found.text))
        .collect();
    if !found.is_empty() {
        let destination = destination(caller)?;
        let candidates = found.into_iter();
        let candidates = candidates.map(|found| Ok(Candidate::by_rules(found, &destination.topic)));
        let run = Run {
            service,
            caller,
            destination: &destination,
            from: &name,
            by: By::Rules,
            secrets: &app.config.secrets()?,
        };
        keep::keep(&run, candidates.collect(), false)?;
    }
    if let Some((offsets, path, progress)) = read
        && let Ok(path) = path.canonicalize()
        && service.is_there()
        && let Err(error) = ReadOffsets::note(&offsets, &path, progress)
    {
        // The next hook reads the same part again and skips known sentences.
        tracing::debug!(%error, "how far a transcript was read is not noted");
    }
    Ok(())
}

fn from_file(
    path: &Path,
    offsets: &Path,
    input: &Input,
    rules: &Rules,
) -> Result<(Vec<Found>, icm_extract::Progress), CliError> {
    let doing = || format!("cannot read {}", path.display());
    let mut file = File::open(path).map_err(|error| CliError::io(doing(), &error))?;
    let whole = path.canonicalize().ok();
    let known = whole.and_then(|path| ReadOffsets::read(offsets).get(&path).cloned());
    // The next hook reads the rest. At the end of a session some clients wait only about a second.
    let wait = match input.moment {
        Moment::SessionEnd => bounds::MOMENT,
        _ => bounds::HOOK,
    };
    let begun = Instant::now();
    let read = from_transcript(&mut file, known, rules, || begun.elapsed() >= wait);
    read.map_err(|error| CliError::from(error).at(&doing()))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns `true` if a sentence names a memory by its id: then the model recites a shown memory.
fn recites(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| word.len() == ID_LEN && icm_api::ids::id_range(word).is_some())
}

/// Returns the topic of the project. The scope is the project, or the session if the project has no id, so that no text
/// reaches other projects.
fn destination(caller: &Caller) -> Result<Destination, CliError> {
    let topic = match &caller.project {
        Some(project) => format!("{TOPIC}/{project}"),
        None => TOPIC.to_owned(),
    };
    Ok(Destination {
        topic: icm_api::limits::topic(&topic)?,
        scope: match (&caller.project_id, &caller.session) {
            (Some(id), _) => Some(format!("project:{id}")),
            (None, Some(session)) => Some(format!("session:{session}")),
            (None, None) => None,
        },
    })
}
