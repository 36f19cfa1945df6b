//! `icm log --follow`

use icm_api::LogRequest;

use super::{WIDTHS, row};
use crate::app::App;
use crate::columns;
use crate::error::{CliError, Outcome};
use icm_api::LogEntry;
use icm_api::ids::ID_LEN;

/// Events that are shown first by default.
const FIRST: usize = 10;

/// Prints the newest events, oldest first, then each new event, until the reader closes the pipe.
pub(super) fn run(request: LogRequest, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    if !service.is_there() {
        let dir = app.db()?.0;
        let why = format!(
            "there is no store at {} yet; waiting for one",
            dir.display()
        );
        app.ui.note(&why);
    }
    let mut first = Vec::new();
    let newest = LogRequest {
        limit: request.limit.or(Some(FIRST)),
        oldest_first: false,
        ..request.clone()
    };
    // An event between the two reads counts as new.
    let after = service.newest_position()?;
    service.log(&newest, &mut |entry| {
        first.push(entry);
        true
    })?;
    first.retain(|entry| entry.position <= after);
    for entry in first.iter().rev() {
        print(app, entry)?;
    }
    app.ui.flush()?;
    let mut written = Ok(());
    let go_on = || true;
    service.follow_log(&request, Some(after), &go_on, &mut |entry| {
        written = print(app, &entry).and_then(|()| app.ui.flush());
        written.is_ok()
    })?;
    written.map(|()| Outcome::Fine)
}

fn print(app: &App, entry: &LogEntry) -> Result<(), CliError> {
    match app.ui.json {
        true => app.ui.json_line(entry),
        false => columns::print_row(&app.ui, &row(&app.ui, entry, ID_LEN), &WIDTHS),
    }
}
