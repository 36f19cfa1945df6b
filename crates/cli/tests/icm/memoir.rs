//! `icm memoir`: knowledge as a graph.

mod change;
mod concept;
mod deletion;
mod format;
mod mistake;
mod redaction;
mod search;

use serde_json::Value;

use crate::world::{Args, World};

fn memoir(world: &World, args: impl Args) -> Value {
    world.json(("memoir", args))
}

/// Makes a memoir with three concepts and two links.
fn system() -> World {
    let world = World::new();
    world.json("memoir create -n system -d 'How billing hangs together'");
    for (name, definition, labels) in [
        ("invoices", "Rows in PostgreSQL", "kind:data,team:billing"),
        ("api", "The HTTP front for customers", "kind:service"),
        ("mascot", "The office dog called Biscuit", "people"),
    ] {
        let add = [
            "add-concept",
            "-m",
            "system",
            "-n",
            name,
            "-d",
            definition,
            "-l",
            labels,
        ];
        memoir(&world, add);
    }
    link(&world, "link", "api", "invoices", "dependsOn");
    link(&world, "link", "invoices", "api", "part-of");
    world
}

fn link(world: &World, verb: &str, from: &str, to: &str, relation: &str) -> Value {
    world.json(format!(
        "memoir '{verb}' -m system --from '{from}' --to '{to}' -r '{relation}'"
    ))
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|it| it["name"].as_str().unwrap()).collect()
}
