//! Previews that come before a question, with any flags.

use crate::world::{Says, World};

#[test]
fn a_question_comes_after_what_it_is_about() {
    let world = World::with_memories();
    let id = world.id("owner");
    let plans: [(&[&str], &str, &str); 3] = [
        (
            &["undo", "--last", "1"],
            "- gone",
            "Undo 1 event (1 memory gone)? [y/N]",
        ),
        (
            &["redact", &id],
            "all of it",
            "Remove the text of 1 event (20 % of all events with text) for good? [y/N]",
        ),
        (
            &["forget", "-t", "people"],
            "Mira owns billing",
            "Forget 1 memory of `people`? [y/N]",
        ),
    ];
    for (args, shown, question) in plans {
        for flag in ["-q", "--json", "-v"] {
            let args = [&[flag], args].concat();
            let no = world.icm_asked(&args, "n\n").ends(1);
            let (shown, asked) = (no.err.find(shown), no.err.find(question));
            assert!(shown.is_some() && shown < asked, "{args:?} {no:#?}");
            assert_eq!(no.out, "", "{args:?}");
        }
    }
    world.icm_asked("-q undo --last 1", "y\n").ok();
    assert_eq!(world.count("list"), 2);
    // If nobody can be asked, `-q` prints no preview.
    let run = world.icm("-q undo --last 1");
    let run = run.fails(2, "undoing 1 event has to be confirmed");
    run.err.lacks("gone");
}

#[test]
fn a_repair_is_shown_before_it_is_asked_about() {
    let world = crate::repair::damaged();
    let no = world.icm_asked("-q log repair", "n\n").ends(1);
    let shown = no.err.find("aside in torn/");
    assert!(
        shown.is_some() && shown < no.err.find("Repair the log like this? [y/N]"),
        "{no:#?}"
    );
    let yes = world.icm_asked("-q log repair", "y\n").ok();
    yes.out.says("repaired");
    world.ok("log repair");
}
