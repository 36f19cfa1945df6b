//! Forms: their token, their fields, and the marks that make a repeated post harmless.

use icm_api::error::{Result, ServiceError};
use maud::{Markup, html};

use crate::Explorer;

/// The hidden field with the token.
pub(super) const TOKEN: &str = "form_token";

/// The hidden field that names this very form, so that a second post of it does nothing.
pub(super) const REQUEST: &str = "request";

/// Makes and checks the tokens of forms. A token belongs to one action and one run of the explorer.
pub(crate) struct FormTokens {
    key: [u8; 32],
}

impl FormTokens {
    /// # Errors
    /// `Internal` if the system has no random numbers.
    pub(crate) fn new() -> Result<FormTokens> {
        Ok(FormTokens { key: random()? })
    }

    fn token(&self, action: &str) -> blake3::Hash {
        blake3::keyed_hash(&self.key, action.as_bytes())
    }

    /// Returns `true` if `given` is the token for this action.
    pub(super) fn is_of(&self, action: &str, given: &str) -> bool {
        // Two digests are compared in constant time.
        blake3::hash(self.token(action).to_hex().as_bytes()) == blake3::hash(given.as_bytes())
    }
}

fn random() -> Result<[u8; 32]> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| ServiceError::Internal(format!("no random numbers: {error}")))?;
    Ok(random)
}

/// Returns a form that posts to an action.
pub(super) fn form(explorer: &Explorer, action: &str, fields: &Markup) -> Result<Markup> {
    let request = blake3::Hash::from_bytes(random()?).to_hex();
    Ok(html! {
        form.act method="post" action={ "/act/" (action) } {
            input type="hidden" name=(TOKEN) value=(explorer.forms.token(action).to_hex());
            input type="hidden" name=(REQUEST) value={ "explorer-" (&request[..32]) };
            (fields)
        }
    })
}

/// Returns a form that is one button.
pub(super) fn button(
    explorer: &Explorer,
    action: &str,
    hidden: &[(&str, &str)],
    text: &str,
) -> Result<Markup> {
    form(
        explorer,
        action,
        &html! {
            @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
            button type="submit" { (text) }
        },
    )
}

/// The fields of a form that was posted.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn new(fields: Vec<(String, String)>) -> Fields {
        Fields(fields)
    }

    /// Returns a field; `None` if it is absent or blank.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(key, _)| key == name);
        let value = named.next().map(|(_, value)| value.as_str());
        value.filter(|value| !value.trim().is_empty())
    }

    /// Returns a field that must be there.
    ///
    /// # Errors
    /// `Invalid` if it is absent or blank.
    pub(super) fn needed(&self, name: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| {
            ServiceError::invalid_with(format!("`{name}` is empty"), "go back and fill it in")
        })
    }

    /// Returns a text as the person typed it: a browser sends each line end as two characters.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        Ok(self.needed(name)?.replace("\r\n", "\n"))
    }

    /// Returns a list that was typed with commas.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let typed = self.get(name).unwrap_or_default();
        let parts = typed.split(',').map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// Returns the id of this form, for the command.
    pub(super) fn request(&self) -> Option<String> {
        self.get(REQUEST).map(str::to_owned)
    }
}
