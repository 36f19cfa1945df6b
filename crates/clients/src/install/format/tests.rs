use super::super::node::{Edit, Node, Seg};
use super::*;

fn entry() -> Node {
    Node::map([
        ("command", Node::text("/abs/icm")),
        ("args", Node::List(vec![Node::text("serve")])),
        ("env", Node::map([("ICM_DB", Node::text("/db"))])),
    ])
}

/// Checks that an edit gives `between`, and that taking it back restores the text.
#[track_caller]
fn there_and_back(format: Format, text: &str, keys: &[&str], between: &str) {
    let path = Seg::keys(keys);
    let edited = format
        .edit(text, &[Edit::Set(path.clone(), entry())])
        .expect("it is set");
    assert_eq!(edited, between);
    let again = format
        .edit(&edited, &[Edit::Set(path.clone(), entry())])
        .expect("it is set again");
    assert_eq!(again, between);
    let back = format
        .edit(&edited, &[Edit::Remove(path)])
        .expect("it is taken out");
    assert_eq!(back, text);
}

#[test]
fn json_keeps_its_layout() {
    there_and_back(
        Format::Json,
        "{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"b\"}, // first\n\t},\n\t\"z\": 1\n}",
        &["mcpServers", "icm"],
        "{\n\t// servers\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"b\"}, // first\n\t\t\"icm\": {\n\t\t\t\"command\": \"/abs/icm\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {\n\t\t\t\t\"ICM_DB\": \"/db\",\n\t\t\t},\n\t\t},\n\t},\n\t\"z\": 1\n}",
    );
    let edited = Format::Json.edit("", &[Edit::Set(Seg::keys(&["a", "b"]), Node::Bool(true))]);
    assert_eq!(
        edited.expect("it is set"),
        "{\n  \"a\": {\n    \"b\": true\n  }\n}\n"
    );
}

#[test]
fn toml_keeps_its_layout() {
    there_and_back(
        Format::Toml,
        "# top\nmodel = \"x\" # inline\n\n[mcp_servers.a]\ncommand = 'b'\n\n# end\n",
        &["mcp_servers", "icm"],
        "# top\nmodel = \"x\" # inline\n\n[mcp_servers.a]\ncommand = 'b'\n\n# end\n\n[mcp_servers.icm]\ncommand = \"/abs/icm\"\nargs = [\"serve\"]\n\n[mcp_servers.icm.env]\nICM_DB = \"/db\"\n",
    );
}

#[test]
fn yaml_keeps_its_layout() {
    there_and_back(
        Format::Yaml,
        "# top\nextensions:\n  # dev\n  developer:\n    enabled: true # inline\n\n# after\nz: 1\n",
        &["extensions", "icm"],
        "# top\nextensions:\n  # dev\n  developer:\n    enabled: true # inline\n  icm:\n    command: /abs/icm\n    args:\n      - serve\n    env:\n      ICM_DB: /db\n\n# after\nz: 1\n",
    );
}

#[test]
fn empty_places_are_filled() {
    for (format, text) in [
        (Format::Json, "{\"a\": null, \"b\": null}"),
        (Format::Json, "{\"a\":{},\"b\":[]} // end"),
        (Format::Toml, "a = {}\nb = []\n"),
        (Format::Toml, "[a]\n"),
        (Format::Toml, "a.x.command = 'y'\n"),
        (Format::Yaml, "a:\nb:\n"),
        (Format::Yaml, "a: {}\nb: []\n"),
        (Format::Yaml, "# nothing\n"),
    ] {
        let edits = [
            Edit::Set(Seg::keys(&["a", "icm"]), entry()),
            Edit::Push(Seg::keys(&["b"]), entry()),
        ];
        let edited = format.edit(text, &edits).expect(text);
        let value = format.parse(&edited).expect(&edited);
        assert_eq!(value["a"]["icm"], entry().value(), "{edited}");
        assert_eq!(value["b"][0], entry().value(), "{edited}");
    }
}

#[test]
fn broken_texts_are_refused() {
    for (format, text) in [
        (Format::Json, "{\"a\": 1"),
        (Format::Json, "a = 1"),
        (Format::Json, "{'a': 1}"),
        (Format::Toml, "{\"a\": 1}"),
        (Format::Toml, "a = 1\na = 2"),
        (Format::Yaml, "a: [1"),
        (Format::Yaml, "a: 1\na: 2"),
    ] {
        let error = format.parse(text).expect_err(text).to_string();
        assert!(
            error.contains("does not parse") && !error.contains('\n'),
            "{error}"
        );
    }
    let error = Format::Json
        .parse("{\"a\": {\"b\": 1, \"b\": 2}}")
        .expect_err("twice");
    assert!(matches!(error, InstallError::DuplicateKey { key } if key == "b"));
    assert!(Format::Json.parse("[]").is_err());
}
