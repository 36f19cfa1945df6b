//! What a session learned: found by rules in what is new of its transcript, and stored.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use icm_api::{Caller, RecallRequest};
use icm_clients::hooks::{Input, Moment};
use icm_extract::places::{FILE_NAME, Places};
use icm_extract::{Found, Rules, from_text, from_transcript, says_same};
use icm_service::Service;

use crate::app::App;
use crate::commands::extract::keep::{self, Candidate, Home};
use crate::error::CliError;

/// How long a transcript is read at the end of a turn. The rest is read the next time.
const TURN_WAIT: Duration = Duration::from_secs(2);
/// The same at the end of a session, where clients wait for a second or so.
const END_WAIT: Duration = Duration::from_millis(700);
/// Memories that one hook stores. A turn rarely says more that is worth keeping.
const FOUND_MAX: usize = 8;
/// Memories that a sentence is compared with.
const COMPARED: usize = 5;
/// The topic, followed by the project's name.
const TOPIC: &str = "sessions";

/// Stores what is found in what is new of the session's transcript. What a memory says already is skipped.
///
/// # Errors
/// The transcript cannot be read, or the store not be written.
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
            let places = app.db()?.0.join("cache").join(FILE_NAME);
            let (found, progress) = from_file(path, &places, input, &rules)?;
            (file_name(path), found, Some((places, path, progress)))
        }
        _ => {
            let said = input.last_message.as_deref().unwrap_or_default();
            let name = format!("{}'s last message", input.client.title());
            (name, from_text(said, &rules), None)
        }
    };
    let new = new_ones(service, caller, found)?;
    if !new.is_empty() {
        let home = home(caller)?;
        let candidates = new.into_iter();
        let candidates = candidates.map(|found| Ok(Candidate::by_rules(found, &home.topic)));
        let secrets = app.config.secrets()?;
        keep::store(
            service,
            caller,
            &home,
            (&name, "rules"),
            candidates.collect(),
            &secrets,
        )?;
    }
    if let Some((places, path, progress)) = read
        && let Ok(path) = path.canonicalize()
        && service.is_there()
        && let Err(error) = Places::note(&places, &path, progress)
    {
        // It is read anew the next time, and what is known is skipped.
        tracing::debug!(%error, "how far a transcript was read is not noted");
    }
    Ok(())
}

fn from_file(
    path: &Path,
    places: &Path,
    input: &Input,
    rules: &Rules,
) -> Result<(Vec<Found>, icm_extract::Progress), CliError> {
    let doing = || format!("cannot read {}", path.display());
    let mut file = File::open(path).map_err(|error| CliError::io(doing(), &error))?;
    let whole = path.canonicalize().ok();
    let known = whole.and_then(|path| Places::read(places).get(&path).cloned());
    let wait = match input.moment {
        Moment::SessionEnd => END_WAIT,
        _ => TURN_WAIT,
    };
    let begun = Instant::now();
    let read = from_transcript(&mut file, known, rules, || begun.elapsed() >= wait);
    read.map_err(|error| CliError::failed(format!("{}: {error}", doing())))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Those that no memory says which is seen from here, whatever its topic.
fn new_ones(service: &Service, caller: &Caller, found: Vec<Found>) -> Result<Vec<Found>, CliError> {
    let mut new = Vec::new();
    for found in found {
        let request = RecallRequest {
            query: found.text.clone(),
            limit: Some(COMPARED),
            floor: Some(0.0),
            no_links: true,
            ..RecallRequest::default()
        };
        let near = service.recall(caller, &request)?;
        let mut texts = near
            .results
            .iter()
            .filter_map(|hit| hit.memory.content.as_deref());
        if !texts.any(|known| says_same(&found.text, known)) {
            new.push(found);
        }
    }
    Ok(new)
}

/// The topic of the project, seen in it alone if it can be told from others.
fn home(caller: &Caller) -> Result<Home, CliError> {
    let topic = match &caller.project {
        Some(project) => format!("{TOPIC}/{project}"),
        None => TOPIC.to_owned(),
    };
    Ok(Home {
        topic: icm_api::limits::topic(&topic)?,
        scope: caller.project_id.as_ref().map(|id| format!("project:{id}")),
    })
}
