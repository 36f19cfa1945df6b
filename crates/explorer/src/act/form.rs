//! Forms: their token, their fields, and the marks that make a repeated post harmless.

use std::collections::{HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use icm_api::error::{Result, ServiceError};
use maud::{Markup, html};

use crate::Explorer;

/// The hidden field with the token.
pub(super) const TOKEN: &str = "form_token";

/// The hidden field that names this very form, so that a second post of it does nothing.
pub(super) const REQUEST: &str = "request";

/// Forms that were posted and are remembered. Raised, an older form can be posted again without an error.
const POSTED: usize = 256;

/// Makes and checks the tokens of forms. A token belongs to one action and one run of the explorer.
pub(crate) struct FormTokens {
    key: [u8; 32],
    posted: Mutex<Posted>,
    /// Told when a form ends.
    ended: Condvar,
}

/// The forms that were posted.
#[derive(Default)]
struct Posted {
    /// The last ones, each with the page that it led to.
    pages: VecDeque<(blake3::Hash, String)>,
    /// Those that are being carried out.
    running: HashSet<blake3::Hash>,
}

impl Posted {
    /// Returns the page that a form led to before.
    fn page(&self, form: &blake3::Hash) -> Option<String> {
        let found = self.pages.iter().find(|(of, _)| of == form);
        found.map(|(_, page)| page.clone())
    }

    fn keep(&mut self, form: blake3::Hash, page: String) {
        if self.pages.len() >= POSTED {
            self.pages.pop_front();
        }
        self.pages.push_back((form, page));
    }
}

/// The work of a post of a form.
pub(super) enum Begun<'a> {
    /// Nothing: an earlier post led to this page.
    Before(String),
    /// The command.
    Now(Running<'a>),
}

/// A form that is being carried out. Other posts of it wait until this is dropped.
pub(super) struct Running<'a> {
    forms: &'a FormTokens,
    form: blake3::Hash,
}

impl Running<'_> {
    /// Keeps the page to which the form leads.
    pub(super) fn led_to(self, page: String) {
        self.forms.posted().keep(self.form, page);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.forms.posted().running.remove(&self.form);
        self.forms.ended.notify_all();
    }
}

impl FormTokens {
    /// # Errors
    /// `Internal` if the system has no random numbers.
    pub(crate) fn new() -> Result<FormTokens> {
        Ok(FormTokens {
            key: random()?,
            posted: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Begins a post of a form. A second post of it waits for the first one, and then leads to the same page; if the
    /// first one failed, the second one is carried out.
    pub(super) fn begin(&self, form: blake3::Hash) -> Begun<'_> {
        let is_running = |posted: &mut Posted| posted.running.contains(&form);
        let waited = self.ended.wait_while(self.posted(), is_running);
        let mut posted = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = posted.page(&form) {
            return Begun::Before(page);
        }
        posted.running.insert(form);
        Begun::Now(Running { forms: self, form })
    }

    fn posted(&self) -> MutexGuard<'_, Posted> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Returns the hash of a form with its action and all its fields. A form that was changed is another form.
    pub(super) fn digest(&self, action: &str) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let texts = self
            .0
            .iter()
            .flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        for text in std::iter::once(action).chain(texts) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize()
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
        self.labelled(name, name)
    }

    /// Returns a field that the page calls `label` and that must be there.
    ///
    /// # Errors
    /// `Invalid` if it is absent or blank.
    pub(super) fn labelled(&self, name: &str, label: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| {
            ServiceError::invalid_with(format!("`{label}` is empty"), "go back and fill it in")
        })
    }

    /// Returns a text as the person typed it: a browser sends each line end as two characters.
    pub(super) fn text(&self, name: &str, label: &str) -> Result<String> {
        Ok(self.labelled(name, label)?.replace("\r\n", "\n"))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Begun, Fields, FormTokens, POSTED, Posted};

    fn digest(action: &str, fields: &[(&str, &str)]) -> blake3::Hash {
        let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        Fields::new(fields.iter().map(owned).collect()).digest(action)
    }

    #[test]
    fn a_form_is_known_by_its_action_and_all_its_fields() {
        let form = digest("pin", &[("id", "1"), ("request", "a")]);
        assert_eq!(form, digest("pin", &[("id", "1"), ("request", "a")]));
        for other in [
            digest("unpin", &[("id", "1"), ("request", "a")]),
            digest("pin", &[("id", "2"), ("request", "a")]),
            digest("pin", &[("id", "1"), ("request", "")]),
            digest("pin", &[("id", "1r"), ("equest", "a")]),
            digest("pin", &[("id", "1")]),
        ] {
            assert_ne!(form, other);
        }
    }

    #[test]
    fn the_oldest_form_is_forgotten_first() {
        let mut posted = Posted::default();
        let form = |at: usize| digest("pin", &[("id", &at.to_string())]);
        for at in 0..=POSTED {
            posted.keep(form(at), format!("/done/{at}"));
        }
        assert_eq!(posted.page(&form(0)), None);
        assert_eq!(posted.page(&form(1)).as_deref(), Some("/done/1"));
        assert_eq!(posted.page(&form(POSTED)), Some(format!("/done/{POSTED}")));
    }

    #[test]
    fn a_form_waits_for_itself_alone() {
        let forms = FormTokens::new().expect("random numbers");
        let (pin, unpin) = (digest("pin", &[]), digest("unpin", &[]));
        let Begun::Now(first) = forms.begin(pin) else {
            panic!("it was never posted");
        };
        // Another form does not wait.
        let Begun::Now(failed) = forms.begin(unpin) else {
            panic!("it was never posted");
        };
        drop(failed);
        assert!(matches!(forms.begin(unpin), Begun::Now(_)));
        std::thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::channel();
            let forms = &forms;
            scope.spawn(move || {
                let page = match forms.begin(pin) {
                    Begun::Before(page) => Some(page),
                    Begun::Now(_) => None,
                };
                tell.send(page)
            });
            told.recv_timeout(Duration::from_millis(50))
                .expect_err("the first post runs");
            first.led_to("/done/1".to_owned());
            assert_eq!(told.recv(), Ok(Some("/done/1".to_owned())));
        });
    }
}
