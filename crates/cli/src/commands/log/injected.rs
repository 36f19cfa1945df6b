//! `icm log --injected`

use icm_agents::sessions::{SessionsRequest, sessions};
use icm_agents::shown::{Injection, injections};
use icm_api::LogRequest;
use icm_service::Service;

use super::super::sessions::Names;
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::text::{count, cut, one_line};
use crate::ui::{BOLD, DIM, Ui};
use crate::when;

pub(super) fn run(request: &LogRequest, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let mut found = Vec::new();
    let mut written = Ok(());
    let shown = injections(service, request, &mut |injection| {
        match app.ui.json {
            true => written = app.ui.json_line(&injection),
            false => found.push(injection),
        }
        written.is_ok()
    })?;
    written?;
    if !found.is_empty() {
        let names = Names::read(service)?;
        for injection in &found {
            print(&app.ui, service, injection, &names)?;
        }
    }
    match shown {
        0 => {
            if let Some(session) = &request.session {
                // An unknown session is an error; a known session without injections is not.
                sessions(
                    service,
                    &SessionsRequest {
                        session: Some(session.clone()),
                        ..SessionsRequest::default()
                    },
                )?;
            }
            app.ui.remark(format_args!("nothing was injected"));
            Ok(Outcome::No)
        }
        _ => Ok(Outcome::Fine),
    }
}

/// Characters of each text of a correction.
const CORRECTION_CHARS: usize = 60;

fn print(ui: &Ui, service: &Service, injection: &Injection, names: &Names) -> Result<(), CliError> {
    let place = ui.paint(BOLD, &format!("@{}", injection.position));
    let words = match &injection.words {
        Some(words) => format!(" for \"{}\"", one_line(words)),
        None => String::new(),
    };
    let session = injection.session.as_deref().map_or(String::new(), |id| {
        format!("session {}  ", one_line(names.of(id)))
    });
    let about = format!(
        "{}  {}  {}  {session}{}",
        short_event(&injection.event),
        when::ago(ui.now, &injection.at),
        one_line(&injection.actor),
        count(injection.tokens, "token", "tokens"),
    );
    ui.line(format_args!(
        "{place} {}{words}  {}",
        injection.front,
        ui.paint(DIM, &about)
    ))?;
    let room = ui.columns.unwrap_or(120);
    for alert in &injection.alerts {
        let text = one_line(alert.text.as_deref().unwrap_or("(gone)"));
        ui.line(format_args!("{}", cut(&format!("        {text}"), room)))?;
    }
    for memory in &injection.memories {
        let fit = memory
            .fit
            .map_or("    ".to_owned(), |fit| format!("{fit:.2}"));
        // A redacted memory has no text to show. A hook shows corrections, too.
        let known = service.get(&memory.id, None).ok();
        let text = known.and_then(|memory| memory.content);
        let told = || {
            let correction = service.feedback(&memory.id).ok()?;
            Some(format!("correction: {}", correction.told(CORRECTION_CHARS)))
        };
        let text = text.or_else(told);
        let line = format!(
            "  {fit}  {}  {}",
            memory.id,
            one_line(text.as_deref().unwrap_or("(gone)"))
        );
        ui.line(format_args!("{}", cut(&line, room)))?;
    }
    Ok(())
}
