//! Long texts: embedded by passages or as a whole.

use super::*;

/// Returns a text of so many passages: paragraphs of 120 words. The first one means something if `meant`; the last one
/// has the word `zebrafish`.
fn long(passages: usize, meant: bool) -> String {
    let paragraph = |at: usize| {
        let word = match at {
            0 if meant => "vimble",
            _ => "word",
        };
        let end = if at + 1 == passages {
            "zebrafish"
        } else {
            "end"
        };
        let words = vec![word; 118].join(" ");
        format!("Part {at} {words} {end}.")
    };
    let paragraphs: Vec<String> = (0..passages).map(paragraph).collect();
    paragraphs.join("\n\n")
}

fn status(service: &Service) -> (Embeds, u64, u64) {
    let status = service.embed_status().expect("a status");
    (status.embeds, status.embedded, status.versions)
}

fn embed(service: &Service) -> u64 {
    service.embed(&NoProgress).expect("it embeds").new
}

#[test]
fn a_text_is_embedded_by_passages_or_once_as_a_whole() {
    let text = long(12, true);
    for (embeds, texts) in [(Embeds::Passages, 32), (Embeds::Texts, 21)] {
        let world = World::new();
        let service = world.open_with(embeds);
        store(&service, &notes(10, 0));
        store(&service, std::slice::from_ref(&text));
        store(&service, &notes(10, 10));
        assert_eq!(embed(&service), texts);
        assert_eq!(world.asked() as u64, texts);
        assert_eq!(status(&service), (embeds, texts, texts));
        let longest = locked(&world.fake.longest).clone();
        assert_eq!(longest == text, embeds == Embeds::Texts);
        // Another process reads the vectors from the file, and nothing is left to embed.
        service.settle();
        drop(service);
        let service = world.open_with(embeds);
        assert_eq!((embed(&service), world.asked()), (0, 0));
        let answer = recall(&service, "any quorl");
        assert!(
            contents(&answer).contains(&text.as_str()),
            "{:?}",
            contents(&answer)
        );
        assert_eq!(vimbles(&answer), 2);
    }
}

#[test]
fn a_passage_that_words_find_has_the_meaning_of_the_whole_text() {
    for embeds in [Embeds::Passages, Embeds::Texts] {
        let world = World::new();
        let service = world.open_with(embeds);
        store(&service, &notes(40, 0));
        store(&service, &[long(12, true)]);
        embed(&service);
        let answer = recall(&service, "the quorl of zebrafish");
        let best = &answer.results[0];
        assert_eq!(best.passage.as_ref().map(|it| it.number), Some(12));
        let explained = answer.explain.as_ref().expect("it was asked for");
        let cosine = explained["results"][0]["cosine"]
            .as_f64()
            .expect("a cosine");
        assert_eq!(cosine > 0.3, embeds == Embeds::Texts, "{cosine}");
    }
}

/// The scale is measured by pairs of vectors, and few rows of a store of long texts have one.
#[test]
fn the_scale_of_a_model_is_of_texts_and_not_of_zeros() {
    let world = World::new();
    world.fake.crowded.store(true, Relaxed);
    let service = world.open_with(Embeds::Texts);
    let text = |at: usize| {
        let word = match at % 10 {
            3 => "vimble",
            _ => ["retry", "colour", "house", "abc", "abcd"][at % 5],
        };
        let paragraph = |part: usize| {
            let words = (0..60).map(|nth| format!("{word} of{at}x{part}x{nth}"));
            words.collect::<Vec<_>>().join(" ")
        };
        (0..20).map(paragraph).collect::<Vec<_>>().join("\n\n")
    };
    store(&service, &(0..60).map(text).collect::<Vec<_>>());
    embed(&service);
    let answer = recall(&service, "any quorl");
    let meant = contents(&answer);
    assert_eq!(meant.len(), 6);
    assert!(meant.iter().all(|text| text.starts_with("vimble")));
}

/// The cache knows a text by the model, so a short one is not embedded again.
#[test]
fn vectors_of_passages_and_of_whole_texts_lie_apart() {
    let world = World::new();
    let by_passages = world.open();
    store(&by_passages, &notes(20, 0));
    store(&by_passages, &[long(12, true)]);
    embed(&by_passages);
    assert_eq!(world.asked(), 32);
    let whole = world.open_with(Embeds::Texts);
    assert_ne!(
        whole.settings_digest(),
        by_passages.settings_digest(),
        "neither answers for the other"
    );
    assert_eq!(status(&whole), (Embeds::Texts, 0, 21));
    assert_eq!((embed(&whole), world.asked()), (21, 1));
    let by_passages = world.open();
    assert_eq!(status(&by_passages), (Embeds::Passages, 32, 32));
    assert_eq!((embed(&by_passages), world.asked()), (0, 0));
    assert_eq!(world.files(".rows").len(), 2);
}

#[test]
fn rows_of_a_whole_text_that_are_cut_off_come_back() {
    let row = 16 + DIM as u64;
    for (rows_left, done) in [(10, 10), (11, 10), (16, 10), (22, 11)] {
        let world = World::new();
        let service = world.open_with(Embeds::Texts);
        store(&service, &notes(10, 0));
        store(&service, &[long(12, true)]);
        embed(&service);
        drop(service);
        let rows = world.files(".rows").pop().expect("there is a file");
        let file = fs::OpenOptions::new().write(true).open(rows);
        file.and_then(|file| file.set_len(64 + rows_left * row))
            .expect("it is cut");
        let service = world.open_with(Embeds::Texts);
        assert_eq!(status(&service), (Embeds::Texts, done, 11));
        assert_eq!(embed(&service), 11 - done);
        assert_eq!(status(&service), (Embeds::Texts, 11, 11));
        assert_eq!(recall(&service, "any quorl").results.len(), 2);
    }
}

/// One long memory does not keep the model from those after it.
#[test]
fn a_recall_embeds_a_long_memory_step_by_step() {
    let world = World::new();
    let service = world.open();
    store(&service, &notes(20, 0));
    embed(&service);
    store(&service, &[long(80, true)]);
    store(&service, &notes(10, 20));
    for done in [52, 84, 110, 110] {
        recall(&service, "any quorl");
        assert_eq!(status(&service), (Embeds::Passages, done, 110));
    }
    assert_eq!(service.take_notices(), [""; 0]);

    // As a whole it is one text, and all are embedded at once.
    let world = World::new();
    let service = world.open_with(Embeds::Texts);
    store(&service, &[long(80, true)]);
    store(&service, &notes(31, 0));
    recall(&service, "any quorl");
    assert_eq!(status(&service), (Embeds::Texts, 32, 32));
}

#[test]
fn a_recall_embeds_nothing_if_more_memories_are_left_and_says_how_many_texts() {
    for (embeds, said) in [
        (
            Embeds::Passages,
            "fake/model:1 has embedded 0 of 44 passages;",
        ),
        (
            Embeds::Texts,
            "fake/model:1 (whole texts) has embedded 0 of 33 texts;",
        ),
    ] {
        let world = World::new();
        let service = world.open_with(embeds);
        store(&service, &notes(32, 0));
        store(&service, &[long(12, false)]);
        recall(&service, "any quorl");
        let answer = recall(&service, "any quorl");
        assert_eq!(world.asked(), 2, "the queries alone");
        let told = service.take_notices();
        assert!(told.len() == 1 && told[0].starts_with(said), "{told:?}");
        let explained = answer.explain.expect("it was asked for");
        assert_eq!(explained["model"]["embeds"], embeds.words().1);
        assert_eq!(explained["model"]["versions"], status(&service).2);
    }
}
