//! Tests of the tools under names of other memories: calls from the documents of mii-memory, Sediment and the first
//! specification of ICM, and the fields of their answers.

mod every;
mod mii;
mod sediment;
mod spec;

use icm_api::Caller;
use serde_json::Value;

use crate::client::{Client, opened_in};
use crate::list::of_set;

/// Returns an agent in the project `shop`, with a session that the server made.
fn in_shop() -> Caller {
    Caller {
        actor: "user".into(),
        session: Some("mcp-1".into()),
        session_is_made: true,
        project_id: Some("shop".into()),
        ..Caller::default()
    }
}

async fn connect(set: &str, caller: Caller) -> Client {
    let folder = tempfile::tempdir().expect("a folder");
    let service = opened_in(folder.path());
    Client::connect_as(caller, service, folder, of_set(set))
        .greeted()
        .await
}

fn id_of(answer: &Value) -> String {
    answer["id"].as_str().expect("an id").to_owned()
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().expect("a list").iter().map(id_of).collect()
}

/// Returns the JSON in the frame of a text.
fn framed_json(text: &str) -> Value {
    let (_, inside) = text.split_once(">\n").expect("a frame");
    let (inside, _) = inside.rsplit_once("</memories>").expect("a closed frame");
    serde_json::from_str(inside).unwrap_or_else(|error| panic!("{error}: {inside}"))
}
