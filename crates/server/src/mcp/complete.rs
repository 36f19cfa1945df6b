//! Completes names that a user types into a prompt or the URI of a resource: topics and memoirs.

use rmcp::model::{CompletionInfo, Reference};

use super::prompts;
use icm_api::TopicsRequest;
use icm_api::error::{Result, ServiceError};
use icm_guard::sanitize::clean_line;
use icm_service::Service;

/// The kind of names that an argument takes.
enum What {
    Topics,
    Memoirs,
}

/// Returns names that contain `typed`, those that begin with it first, at most 100, and the number of all such names.
///
/// # Errors
/// `Invalid` for an unknown prompt or template; as the queries used.
pub(super) fn complete(
    service: &Service,
    reference: &Reference,
    argument: &str,
    typed: &str,
) -> Result<CompletionInfo> {
    let what = match reference {
        Reference::Prompt(prompt) => match prompts::argument(&prompt.name) {
            Some(name) => (name == argument && name == "topic").then_some(What::Topics),
            None => return Err(unknown("prompt")),
        },
        Reference::Resource(resource) => match (&*resource.uri, argument) {
            ("icm://topic/{topic}", "topic") => Some(What::Topics),
            ("icm://memoir/{name}", "name") => Some(What::Memoirs),
            (uri, _) if uri.starts_with("icm://") => None,
            _ => return Err(unknown("resource")),
        },
        _ => None,
    };
    let names = match what {
        None => Vec::new(),
        Some(What::Topics) => {
            let request = TopicsRequest {
                flat: true,
                ..TopicsRequest::default()
            };
            let topics = service.topic_tree(&request)?.topics;
            topics.into_iter().map(|topic| topic.topic).collect()
        }
        Some(What::Memoirs) => {
            let memoirs = service.memoir_list(None)?.memoirs;
            memoirs.into_iter().map(|memoir| memoir.name).collect()
        }
    };
    let mut names = fitting(names, typed);
    let total = names.len();
    names.truncate(CompletionInfo::MAX_VALUES);
    let more = total > names.len();
    CompletionInfo::with_pagination(names, u32::try_from(total).ok(), more)
        .map_err(ServiceError::Internal)
}

/// Returns the names that contain `typed`, those that begin with it first; upper and lower case are equal. Names that
/// need cleaning are left out, because they cannot be typed either.
fn fitting(names: Vec<String>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let mut ranked: Vec<(bool, String)> = names
        .into_iter()
        .filter(|name| clean_line(name) == *name)
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let found = lower.contains(&typed);
            found.then_some((!lower.starts_with(&typed), name))
        })
        .collect();
    ranked.sort();
    ranked.into_iter().map(|(_, name)| name).collect()
}

fn unknown(what: &str) -> ServiceError {
    ServiceError::invalid(format!("there is no such {what} to complete"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_match_is_before_a_match_within() {
        let names = ["db/Pool", "pool", "people", "ops\u{202e}pool", "Poolside"];
        let names = names.map(str::to_owned).to_vec();
        assert_eq!(fitting(names, "POOL"), ["Poolside", "pool", "db/Pool"]);
    }
}
