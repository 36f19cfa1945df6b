//! The tools of Sediment. An item is a memory of the topic `notes`; a replaced item stays, and a link says what
//! supersedes it.

pub(super) mod forget;
pub(super) mod list;
pub(super) mod recall;
pub(super) mod store;

use crate::mcp::tools::Call;
use icm_api::error::ServiceError;
use icm_api::{Caller, Direction, Memory};

const PROJECT: &str = "project";
const GLOBAL: &str = "global";
const SUPERSEDES: &str = "supersedes";

/// Returns the scope for a word of Sediment, and its name. Without a project, the default `project` is `global`.
fn scope_of(caller: &Caller, word: Option<&str>) -> (String, &'static str) {
    match (&caller.project_id, word) {
        (Some(id), None | Some(PROJECT)) => (format!("project:{id}"), PROJECT),
        _ => (GLOBAL.to_owned(), GLOBAL),
    }
}

/// Returns `true` if a memory belongs to another project than the caller's.
fn is_of_another_project(caller: &Caller, scope: &str) -> bool {
    let project = scope.strip_prefix("project:");
    project.is_some_and(|id| Some(id) != caller.project_id.as_deref())
}

/// Returns `true` if a newer memory supersedes this one.
fn is_superseded(memory: &Memory) -> bool {
    let mut links = memory.related.iter();
    links.any(|link| link.relation == SUPERSEDES && link.direction == Direction::In)
}

/// Returns the item that is to be deleted or replaced.
///
/// # Errors
/// `Nothing` for an item that is forgotten, `Invalid` for one of another project.
fn own_item(call: &Call<'_>, id: &str, verb: &str) -> Result<Memory, ServiceError> {
    let item = call.service.get(id, None)?;
    if item.end().is_some() {
        return Err(ServiceError::nothing(
            format!("cannot {verb} item {}: it is forgotten", item.id),
            "see `icm list`",
        ));
    }
    match is_of_another_project(call.caller, &item.scope) {
        false => Ok(item),
        true => Err(ServiceError::invalid_with(
            format!("cannot {verb} item {} from a different project", item.id),
            "work in that project",
        )),
    }
}
