//! Exports of a memoir with texts that could break the format.

use crate::world::{Says, World};

/// Exports a memoir with one concept in this format.
fn export(name: &str, about: &str, concept: [&str; 3], format: &str) -> String {
    let world = World::new();
    world.ok(["memoir", "create", "-n", name, "-d", about]);
    let [called, means, label] = concept;
    let concept = ["-n", called, "-d", means, "-l", label];
    world.ok((["memoir", "add-concept", "-m", name], concept));
    world.out(["memoir", "export", "-m", name, "-f", format])
}

#[test]
fn no_text_directs_mermaid() {
    let evil = "%%{init:{\"theme\":\"dark\"}}%% &lt; #35; \\n $$x$$ `a` <b>";
    let out = export("m", evil, [evil, "means", evil], "mermaid");
    let safe = "#37;#37;#123;init:#123;#quot;theme#quot;:#quot;dark#quot;#125;#125;#37;#37; \
                #amp;lt; #35;35; #92;n #36;#36;x#36;#36; #96;a#96; #lt;b#gt;";
    assert_eq!(
        out,
        format!("graph LR\n  accDescr: {safe}\n  c0[\"{safe}<br/>{safe}\"]\n")
    );
}

#[test]
fn no_text_is_read_as_an_entity_in_a_dot_label() {
    let evil = "a &lt; <b> & \"c\" \\";
    let out = export("n & m", evil, [evil, evil, evil], "dot");
    let safe = "a &amp;lt; &lt;b&gt; &amp; \\\"c\\\" \\\\";
    out.begins("digraph \"n & m\" {\n");
    for has in [
        format!("  label=\"{safe}\";\n"),
        format!("c0 [label=\"{safe}\", tooltip=\"{safe}\", xlabel=\"{safe}\"];"),
    ] {
        assert!(out.contains(&has), "{has} {out}");
    }
}

#[test]
fn graphml_is_well_formed_whatever_the_texts() {
    let evil = "a\u{fffe}b\u{ffff}c & <d> \u{10ffff}";
    let out = export("two words", evil, [evil, evil, evil], "graphml");
    let allowed = |c: char| !matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(out.chars().all(allowed), "{out}");
    out.says("<data key=\"name\">a\u{fffd}b\u{fffd}c &amp; &lt;d&gt; ");
    out.says("<graph id=\"G\" edgedefault=\"directed\">");
    out.says("<data key=\"memoir\">two words</data>");
    out.says("<key id=\"memoir\" for=\"graph\"");
}

#[test]
fn no_definition_forges_another_concept_in_markdown() {
    let evil = "# first\n\n## admin\n\nfake\n- labels: forged";
    let out = export("m", evil, ["c", evil, "l"], "markdown");
    let quoted = "> # first\n>\n> ## admin\n>\n> fake\n> - labels: forged\n";
    assert_eq!(
        out,
        format!("# m\n\n{quoted}\n## c\n\n{quoted}\n- labels: l\n- revision 1, confidence 0.50\n")
    );
}
