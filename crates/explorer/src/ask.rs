//! A request for a page: its path, its parameters and its moment.

use std::str::FromStr;

use axum::http::Uri;
use icm_api::Basis;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::QUERY_LEN_MAX;
use icm_api::when::timestamp;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Explorer;

/// Most bytes of a path, and of a name or a value of a parameter: 8 KiB, as those of a question. Raised, a page that
/// repeats one in its links is larger.
const PART_LEN_MAX: usize = QUERY_LEN_MAX;

/// Characters of a path's part or a parameter that are written as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Writes a text so that it can stand in a path or a query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// A request for a page.
pub(crate) struct Ask {
    /// Its path, as it was written.
    pub(crate) path: String,
    /// The parameters of the query, in their order, without empty ones and without `at`.
    params: Vec<(String, String)>,
    /// The moment of the page, as `--at`; `None` for now.
    pub(crate) at: Option<String>,
    /// The event that the moment means.
    pub(crate) basis: Basis,
}

impl Ask {
    /// Reads path and query, and resolves the moment.
    ///
    /// # Errors
    /// `Invalid` for a moment that is none, or lies before the first event, and for a part that is too long to name
    /// something: a page repeats it in many links.
    pub(crate) fn of(explorer: &Explorer, uri: &Uri, params: Vec<(String, String)>) -> Result<Ask> {
        let is_long = |text: &str| text.len() > PART_LEN_MAX;
        if is_long(uri.path())
            || params
                .iter()
                .any(|(name, value)| is_long(name) || is_long(value))
        {
            return Err(ServiceError::invalid_with(
                format!("a part of this address is longer than {PART_LEN_MAX} bytes"),
                "go back, and give a shorter text",
            ));
        }
        let mut at = None;
        let mut kept = Vec::new();
        for (name, value) in params {
            match name.as_str() {
                _ if value.trim().is_empty() => {}
                "at" => at = Some(value),
                _ => kept.push((name, value)),
            }
        }
        let basis = explorer.service.basis(at.as_deref())?;
        Ok(Ask {
            path: uri.path().to_owned(),
            params: kept,
            at,
            basis,
        })
    }

    /// Returns a request for the page of now at this path, without parameters. A path that is too long is left out.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(crate) fn now(explorer: &Explorer, path: &str) -> Result<Ask> {
        let is_long = path.len() > PART_LEN_MAX;
        Ok(Ask {
            path: if is_long { "/" } else { path }.to_owned(),
            params: Vec::new(),
            at: None,
            basis: explorer.service.basis(None)?,
        })
    }

    /// Returns the time of the page: now, or that of the event that the moment means.
    pub(crate) fn time(&self, explorer: &Explorer) -> Timestamp {
        let then = match self.at {
            Some(_) => self.basis.at.parse().ok(),
            None => None,
        };
        then.unwrap_or_else(|| timestamp(explorer.service.now_ms()))
    }

    /// Returns the first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.params.iter().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str())
    }

    /// Returns a parameter as a number; `None` if it is absent.
    ///
    /// # Errors
    /// `Invalid` for another text.
    pub(crate) fn number<N: FromStr>(&self, name: &str) -> Result<Option<N>> {
        let number = self.get(name).map(|text| text.trim().parse());
        number.transpose().map_err(|_| {
            let message = format!("`{name}` is no number that fits here");
            ServiceError::invalid_with(message, "give a whole number, or leave it out")
        })
    }

    /// Returns the values of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.params.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Returns all parameters but `at`.
    pub(crate) fn params(&self) -> &[(String, String)] {
        &self.params
    }

    /// Returns a link to another page at the same moment.
    pub(crate) fn link(&self, path: &str, params: &[(&str, &str)]) -> String {
        address(path, params.iter().copied(), self.at.as_deref())
    }

    /// Returns a link to this page with other values of these parameters; an empty value removes one.
    pub(crate) fn link_with(&self, changed: &[(&str, &str)]) -> String {
        let is_kept = |name: &str| changed.iter().all(|(key, _)| *key != name);
        let kept = self.params.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let changed = changed
            .iter()
            .copied()
            .filter(|(_, value)| !value.is_empty());
        address(&self.path, kept.chain(changed), self.at.as_deref())
    }

    /// Returns a link to this page at another moment; `None` for now.
    pub(crate) fn link_at(&self, at: Option<&str>) -> String {
        let params = self.params.iter();
        let params = params.map(|(name, value)| (name.as_str(), value.as_str()));
        address(&self.path, params, at)
    }
}

/// Writes a path with parameters; `at` comes last.
pub(crate) fn address<'a>(
    path: &str,
    params: impl Iterator<Item = (&'a str, &'a str)>,
    at: Option<&'a str>,
) -> String {
    let mut text = path.to_owned();
    let mut sign = '?';
    for (name, value) in params.chain(at.map(|at| ("at", at))) {
        text.push(sign);
        text.push_str(&encoded(name));
        text.push('=');
        text.push_str(&encoded(value));
        sign = '&';
    }
    text
}
