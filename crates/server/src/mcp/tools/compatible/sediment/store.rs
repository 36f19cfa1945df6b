//! The tool `store` of Sediment: stores a memory, in place of an older one if `replace_id` names it.

use serde_json::{Value, json};

use super::{SUPERSEDES, own_item, scope_of};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::{TOPIC, answer};
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{Action, LinkRequest, Receipt, StoreRequest, Trust};

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "store",
    title: "Store content",
    description: "Store content for later retrieval: a preference, a fact, reference material. Call it for anything worth remembering, one subject per call; with replace_id if it takes the place of an older item. Not for secrets.",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remember, save, note, decision, preference",
    leaves_work: true,
    params: &[
        Param {
            name: "content",
            kind: Kind::Text,
            required: true,
            about: "the content to store",
        },
        Param {
            name: "scope",
            kind: Kind::OneOf(&["project", "global"]),
            required: false,
            about: "where to store; default project, without a project global",
        },
        Param {
            name: "replace_id",
            kind: Kind::Text,
            required: false,
            about: "ID of an existing item to replace",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let old = match args.text("replace_id") {
        Some(id) => Some(own_item(call, &id, "replace")?),
        None => None,
    };
    let (scope, named) = scope_of(call.caller, args.text("scope").as_deref());
    let request = StoreRequest {
        scope: Some(scope),
        trust: Trust::Agent,
        ..StoreRequest::new(TOPIC, args.required_text("content"))
    };
    let receipt = call.service.store(call.caller, request)?;
    let mut message = match receipt.action {
        Action::Unchanged => format!("Stored already in {named} scope"),
        _ => format!("Stored in {named} scope"),
    };
    // With `dedup.on_similar = "update"` the new text may be in the old memory.
    let old = old.filter(|old| old.id != receipt.id);
    if let Some(old) = &old {
        let link = LinkRequest {
            from: receipt.id.clone(),
            to: old.id.clone(),
            relation: SUPERSEDES.to_owned(),
            ..LinkRequest::default()
        };
        call.service.link(call.caller, &link)?;
        message.push_str(&format!(", in place of {}", old.id));
    }
    let mut stored = json!({"success": true, "id": receipt.id, "message": message});
    if !receipt.warnings.is_empty() {
        stored["warnings"] = json!(receipt.warnings);
    }
    let others = conflicts(&receipt, old.as_ref().map(|old| old.id.as_str()));
    Ok(match others.is_empty() {
        true => answer::plain(stored),
        false => answer::framed(call, stored, vec![("potential_conflicts", others)]),
    })
}

/// Returns the memories that say nearly the same, or that the new one seems to replace, without the replaced one.
fn conflicts(receipt: &Receipt, replaced: Option<&str>) -> Vec<Value> {
    let near = receipt.similar_alone().map(|near| {
        json!({
            "id": near.id,
            "content": near.content.as_deref().map(answer::preview),
            "similarity": format!("{:.2}", near.score),
        })
    });
    let older = receipt.seems_to_replace.iter().map(|old| {
        let mut item = json!({
            "id": old.id,
            "content": answer::preview(&old.content),
            "reason": old.reason,
        });
        if let Some(near) = receipt.similar.as_ref().filter(|near| near.id == old.id) {
            item["similarity"] = format!("{:.2}", near.score).into();
        }
        item
    });
    near.into_iter()
        .chain(older)
        .filter(|item| replaced.is_none_or(|id| item["id"] != id))
        .collect()
}
