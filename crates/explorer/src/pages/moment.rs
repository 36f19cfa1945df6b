//! The forms that choose a moment, without script as with it: they lead back to their page at that moment.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use icm_api::error::Result;
use icm_api::when::{DayMeans, parse_moment, rfc3339_signed};

use crate::Explorer;
use crate::answer::{failed, guarded, in_background};
use crate::ask::address;
use crate::time::{fields, of_slider};

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new().route("/moment", get(chosen))
}

async fn chosen(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
) -> Response {
    in_background(move || match page_at(&explorer, params) {
        Ok(address) => {
            let mut response = Redirect::to(&address).into_response();
            guarded(response.headers_mut());
            response
        }
        Err(error) => failed(&explorer, "/", &error),
    })
    .await
}

/// Returns the address of the page that the form was on, at the moment that was chosen.
fn page_at(explorer: &Explorer, params: Vec<(String, String)>) -> Result<String> {
    let (mut own, mut kept) = (Vec::new(), Vec::new());
    for (name, value) in params {
        match name.starts_with("moment-") {
            true => own.push((name, value)),
            false => kept.push((name, value)),
        }
    }
    let get = |name: &str| {
        let named = own.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.trim()).unwrap_or_default()
    };
    let changed = |name, was| minute(get(name)) != minute(get(was));
    let at = if changed(fields::FIELD, fields::FIELD_WAS) {
        match get(fields::FIELD) {
            "" => None,
            text => {
                let (now, zone) = (explorer.service.now_ms(), explorer.service.zone());
                Some(rfc3339_signed(parse_moment(
                    text,
                    now,
                    &zone,
                    DayMeans::End,
                )?))
            }
        }
    } else if changed(fields::SLIDER, fields::SLIDER_WAS)
        && let Ok(seconds) = get(fields::SLIDER).parse()
    {
        let log = explorer.service.log_handle();
        explorer.heads.with(log, |seen| of_slider(seen, seconds))?
    } else {
        Some(get(fields::WAS).to_owned()).filter(|was| !was.is_empty())
    };
    let param = match get(fields::PARAM) {
        "with" => "with",
        _ => "at",
    };
    kept.retain(|(name, value)| name != param && !value.is_empty());
    let kept = kept.iter().map(|(name, value)| (&**name, &**value));
    let chosen = at.iter().map(|at| (param, &**at));
    Ok(address(path(get(fields::TO)), kept.chain(chosen), None))
}

/// Returns a local time without seconds that are 0, as browsers send it; other texts as they are.
fn minute(text: &str) -> &str {
    match text.len() == "2026-11-27T10:00:00".len() {
        true => text.strip_suffix(":00").unwrap_or(text),
        false => text,
    }
}

/// Returns a path of this server; `/` for a text that is none. A form of another site could name another server.
fn path(text: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte);
    match text.starts_with('/') && !text.starts_with("//") && text.bytes().all(is_plain) {
        true => text,
        false => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::{minute, path};

    #[test]
    fn seconds_that_are_zero_are_no_change() {
        assert_eq!(minute("2026-11-27T10:00:00"), minute("2026-11-27T10:00"));
        assert_ne!(minute("2026-11-27T10:00:05"), minute("2026-11-27T10:00"));
        assert_ne!(minute("2026-11-27T10:00"), minute("2026-11-27T11:00"));
    }

    #[test]
    fn a_form_leads_to_no_other_server() {
        for (given, meant) in [
            ("/log", "/log"),
            ("/memories/01%2Fx", "/memories/01%2Fx"),
            ("//example.org", "/"),
            ("/\\example.org", "/"),
            ("https://example.org", "/"),
            ("/log\r\nSet-Cookie: a", "/"),
            ("", "/"),
        ] {
            assert_eq!(path(given), meant, "{given:?}");
        }
    }
}
