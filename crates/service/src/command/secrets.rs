//! The check of one write for secrets.

use serde_json::Value;

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, FeedbackRequest, StoreRequest, UpdateRequest};
use icm_guard::secrets::{Action, Found, Policy, mask};

/// Looks for secrets in the texts of one write, and treats them by the policy.
pub(crate) struct Guard<'p> {
    policy: &'p Policy,
    action: Action,
    warnings: Vec<String>,
}

impl<'p> Guard<'p> {
    /// Returns a guard for one write. `allowed`: the writer said that it may hold a secret.
    pub(crate) fn new(policy: &'p Policy, allowed: bool) -> Guard<'p> {
        Guard {
            policy,
            action: if allowed {
                Action::Off
            } else {
                policy.action()
            },
            warnings: Vec::new(),
        }
    }

    /// Returns the warnings for the receipt.
    pub(crate) fn warnings(self) -> Vec<String> {
        self.warnings
    }

    /// Checks every text of a store.
    pub(crate) fn store(&mut self, request: &mut StoreRequest) -> Result<()> {
        self.name("topic", Some(&request.topic))?;
        self.name("key", request.key.as_deref())?;
        self.name("scope", request.scope.as_deref())?;
        self.name("condition", request.expires.as_deref())?;
        self.text("content", Some(&mut request.content))?;
        self.text("raw excerpt", request.raw_excerpt.as_mut())?;
        for word in &mut request.keywords {
            self.text("keywords", Some(word))?;
        }
        let source = &mut request.source;
        for (field, text) in [
            ("source's agent", &mut source.agent),
            ("source's client", &mut source.client),
            ("source's session", &mut source.session),
            ("source's project", &mut source.project),
            ("source's file", &mut source.file),
        ] {
            self.text(field, text.as_mut())?;
        }
        match &mut request.metadata {
            Some(value) => self.metadata(value),
            None => Ok(()),
        }
    }

    /// Checks every text of an update.
    pub(crate) fn update(&mut self, request: &mut UpdateRequest) -> Result<()> {
        self.name("topic", request.topic.as_deref())?;
        self.name("scope", request.scope.as_deref())?;
        self.name("condition", request.expires.as_deref())?;
        self.text("content", request.content.as_mut())?;
        for word in request.keywords.iter_mut().flatten() {
            self.text("keywords", Some(word))?;
        }
        Ok(())
    }

    /// Checks every text of a memoir or a concept: its name, its `text` (called `field`), its labels.
    pub(crate) fn graph(
        &mut self,
        name: &str,
        field: &str,
        text: Option<&mut String>,
        labels: &mut [String],
    ) -> Result<()> {
        self.name("name", Some(name))?;
        self.text(field, text)?;
        labels
            .iter_mut()
            .try_for_each(|label| self.text("label", Some(label)))
    }

    /// Checks a tag that is put in the place of another.
    pub(crate) fn tag(&mut self, tag: &mut String) -> Result<()> {
        self.text("tag", Some(tag))
    }

    /// Checks the text of an alert, and the session that it names.
    pub(crate) fn alert(&mut self, session: Option<&str>, text: &mut String) -> Result<()> {
        self.name("session", session)?;
        self.text("alert", Some(text))
    }

    /// Checks a condition under which memories expire.
    pub(crate) fn condition(&mut self, expires: Option<&str>) -> Result<()> {
        self.name("condition", expires)
    }

    /// Checks every text of feedback.
    pub(crate) fn feedback(&mut self, request: &mut FeedbackRequest) -> Result<()> {
        self.name("scope", request.scope.as_deref())?;
        self.text("topic", request.topic.as_mut())?;
        self.text("prediction", Some(&mut request.predicted))?;
        self.text("correction", Some(&mut request.correct))?;
        self.text("context", Some(&mut request.context))?;
        self.text("reason", request.reason.as_mut())?;
        self.text("source's agent", request.source.agent.as_mut())
    }

    /// Checks the reason for adding or removing a link.
    pub(crate) fn reason(&mut self, reason: Option<&mut String>) -> Result<()> {
        self.text("reason", reason)
    }

    /// Checks the names that a caller gives itself. Digests of them outlive a redaction.
    pub(crate) fn caller(&mut self, caller: &Caller) -> Result<()> {
        self.name("actor", Some(&caller.actor))?;
        self.name("session", caller.session.as_deref())?;
        self.name("client", caller.client.as_deref())?;
        self.name("project", caller.project.as_deref())
    }

    /// Checks a text that is stored as a payload.
    fn text(&mut self, field: &str, text: Option<&mut String>) -> Result<()> {
        let Some(text) = text.filter(|_| self.action != Action::Off) else {
            return Ok(());
        };
        let found = self.policy.found(text);
        if found.is_empty() {
            return Ok(());
        }
        self.act(field, &found)?;
        if self.action == Action::Mask
            && let Some(masked) = mask(text, &found)
        {
            *text = masked;
        }
        Ok(())
    }

    /// Checks a name, or a text that a digest is made of. A secret in it is refused, as the masked name would be
    /// another name.
    fn name(&mut self, field: &str, text: Option<&str>) -> Result<()> {
        let Some(text) = text.filter(|_| self.action != Action::Off) else {
            return Ok(());
        };
        let found = self.policy.found(text);
        match (found.first(), self.action) {
            (None, _) => Ok(()),
            (Some(first), Action::Mask) => Err(refused(field, first.rule)),
            (Some(_), _) => self.act(field, &found),
        }
    }

    fn act(&mut self, field: &str, found: &[Found]) -> Result<()> {
        for found in found {
            let rule = found.rule;
            let warning = match self.action {
                Action::Refuse => return Err(refused(field, rule)),
                Action::Mask => format!("a secret in the {field} was masked ({rule})"),
                _ => format!("the {field} holds what looks like a secret ({rule})"),
            };
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        Ok(())
    }

    /// Checks each text of a JSON value, alone and as the value assigned to its name.
    fn metadata(&mut self, value: &mut Value) -> Result<()> {
        match value {
            Value::String(text) => self.text("metadata", Some(text)),
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.metadata(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.name("metadata", Some(name))?;
                    self.assigned(name, value)?;
                    self.metadata(value)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks a value as in `{"password": "…"}`, which is a secret only together with its name.
    fn assigned(&mut self, name: &str, value: &mut Value) -> Result<()> {
        let text = match value {
            Value::String(text) => text,
            Value::Array(items) => {
                return items
                    .iter_mut()
                    .filter(|item| item.is_string())
                    .try_for_each(|item| self.assigned(name, item));
            }
            Value::Object(fields) => {
                return match fields.get_mut("value") {
                    Some(value @ Value::String(_)) => self.assigned(name, value),
                    _ => Ok(()),
                };
            }
            _ => return Ok(()),
        };
        if self.action == Action::Off || !self.policy.found(text).is_empty() {
            return Ok(());
        }
        let found = self.policy.found(&format!("{name}=\"{text}\""));
        let Some(first) = found.first() else {
            return Ok(());
        };
        self.act("metadata", &found)?;
        if self.action == Action::Mask {
            *text = format!("[secret: {}]", first.rule);
        }
        Ok(())
    }
}

fn refused(field: &str, rule: &'static str) -> ServiceError {
    ServiceError::Secret {
        field: field.to_owned(),
        rule,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use icm_guard::secrets::{Action, Policy};
    use serde_json::json;

    use super::*;
    use crate::service::{OpenOptions, Service};

    fn stored(request: StoreRequest) -> StoreRequest {
        StoreRequest {
            topic: "t".to_owned(),
            content: "c".to_owned(),
            ..request
        }
    }

    #[test]
    fn lists_and_values_of_metadata_are_assigned() {
        let word = ["Tr0ub", "4dor&3x"].concat();
        let policy = Policy::new(Action::Mask, &[]).expect("it is fine");
        let masked = "[secret: password-assignment]";
        for (given, expected) in [
            (
                json!({ "password": [word] }),
                json!({ "password": [masked] }),
            ),
            (
                json!({ "password": { "value": word, "age": "2d" } }),
                json!({ "password": { "value": masked, "age": "2d" } }),
            ),
            (
                json!({ "password": { "rule": "minLength=8" }, "rooms": [word] }),
                json!({ "password": { "rule": "minLength=8" }, "rooms": [word] }),
            ),
        ] {
            let mut request = stored(StoreRequest {
                metadata: Some(given),
                ..StoreRequest::default()
            });
            let mut guard = Guard::new(&policy, false);
            guard.store(&mut request).expect("it is masked");
            assert_eq!(request.metadata, Some(expected));
        }
    }

    #[test]
    fn mistakes_are_told_without_a_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(OpenOptions {
            dir: folder.path().to_owned(),
            lock_wait: Duration::from_secs(5),
            read_only: false,
        })
        .expect("it opens");
        let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        let store = |request| service.store(&Caller::default(), stored(request));
        let error = store(StoreRequest {
            occurred_at: Some(token.clone()),
            ..StoreRequest::default()
        });
        let why = error.expect_err("it is no time").to_string();
        assert_eq!(why, "`[secret: github-pat]` is no point in time");
        let keyed = |key: &str| {
            store(StoreRequest {
                key: Some(key.to_owned()),
                request_id: Some(token.clone()),
                ..StoreRequest::default()
            })
        };
        keyed("one").expect("it stores");
        let why = keyed("two").expect_err("it was used").to_string();
        assert!(why.contains("[secret: github-pat]"), "{why}");
        assert!(!why.contains(&token), "{why}");
    }
}
