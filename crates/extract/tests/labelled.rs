//! Precision and recall of the rules on two sets of labelled sentences.

#![expect(clippy::print_stderr, reason = "it shows what was told wrongly")]

use icm_extract::{Rules, Signal, from_text};

/// A labelled sentence.
struct Labelled {
    keep: bool,
    text: String,
}

fn read(file: &str) -> Vec<Labelled> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    let labelled = lines.map(|line| {
        let (label, text) = (&line[..3], &line[4..]);
        let speaker = match &label[2..] {
            "u" => "User",
            "a" => "Assistant",
            other => panic!("{other} is no speaker"),
        };
        // Both names make the text a conversation.
        let other = if speaker == "User" {
            "Assistant"
        } else {
            "User"
        };
        Labelled {
            keep: label.starts_with('+'),
            text: format!("{other}: ok\n{speaker}: {text}"),
        }
    });
    labelled.collect()
}

/// Returns precision and recall in percent, and prints the mistakes.
fn measured(name: &str, file: &str) -> (usize, usize) {
    let all = read(file);
    assert!(all.len() >= 50, "{}", all.len());
    let (mut right, mut found, mut wanted) = (0, 0, 0);
    for sentence in &all {
        let kept = from_text(&sentence.text, &Rules::default());
        let is_kept = !kept.is_empty();
        wanted += usize::from(sentence.keep);
        found += usize::from(is_kept);
        right += usize::from(is_kept && sentence.keep);
        if is_kept != sentence.keep {
            let all = Rules {
                threshold: 1,
                ..Rules::default()
            };
            let why: Vec<_> = from_text(&sentence.text, &all)
                .into_iter()
                .map(|it| (it.score, it.signals))
                .collect();
            let said = sentence.text.lines().last().unwrap_or_default();
            eprintln!("{name}: keep {}: {said} {why:?}", sentence.keep);
        }
    }
    let (precision, recall) = (100 * right / found.max(1), 100 * right / wanted.max(1));
    eprintln!(
        "{name}: precision {precision} %, recall {recall} %, of {}",
        all.len()
    );
    (precision, recall)
}

#[test]
fn the_rules_fit_the_sentences_that_they_were_made_for() {
    let (precision, recall) = measured("tuning", include_str!("labelled/tuning.txt"));
    assert!(precision >= 95 && recall >= 95, "{precision} {recall}");
}

#[test]
fn the_rules_fit_sentences_that_they_were_not_made_for() {
    let (precision, recall) = measured("judging", include_str!("labelled/judging.txt"));
    assert!(precision >= 80 && recall >= 70, "{precision} {recall}");
}

#[test]
fn every_signal_has_points_and_a_name_of_its_own() {
    let mut names: Vec<_> = Signal::ALL.iter().map(|signal| signal.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Signal::ALL.len());
    for signal in Signal::ALL {
        let json = serde_json::to_value(signal).expect("it is JSON");
        assert_eq!(json, signal.name());
        assert_ne!(signal.points(), 0);
    }
}
