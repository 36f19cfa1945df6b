//! Scores and fits of candidates.

use icm_log::facts::Importance;

use super::*;

fn turn(coverage: f64, window: f64) -> Features {
    Features {
        coverage,
        window,
        transcript: true,
        ..Features::default()
    }
}

fn note(coverage: f64, window: f64) -> Features {
    Features {
        transcript: false,
        ..turn(coverage, window)
    }
}

#[test]
fn a_score_is_the_sum_of_its_shares_and_every_weight_can_be_switched_off() {
    let features = Features {
        text: 0.5,
        meaning: 0.25,
        answers: 0.5,
        speaker: true,
        asks: true,
        length: 0.5,
        when: true,
        identifier: true,
        importance: Importance::High.code(),
        ..turn(0.5, 0.25)
    };
    let all = Ranking::default().score(&features);
    type SwitchOff = fn(&mut Ranking);
    let off: [(SwitchOff, f64); 13] = [
        (|ranking| ranking.text = 0.0, 0.5 * 1.5),
        (|ranking| ranking.coverage = 0.0, 0.5 * 4.0),
        (|ranking| ranking.meaning = 0.0, 0.25 * 1.5),
        (|ranking| ranking.window = 0.0, 0.25 * 4.0),
        (|ranking| ranking.answers = 0.0, 0.5 * 2.0),
        (|ranking| ranking.speaker = 0.0, 1.0),
        (|ranking| ranking.asks = 0.0, -0.75),
        (|ranking| ranking.length = 0.0, 0.5),
        (|ranking| ranking.when = 0.0, 1.4),
        (|ranking| ranking.identifier = 0.0, 7.0),
        (|ranking| ranking.importance = 0.0, 0.5 * 0.35),
        // The weights for notes count nothing here.
        (|ranking| ranking.notes_text = 0.0, 0.0),
        (|ranking| ranking.notes_window = 0.0, 0.0),
    ];
    let sum: f64 = off.iter().map(|(_, share)| share).sum();
    assert!((all - sum / 7.0).abs() < 1e-9, "{all}");
    for (at, (switch_off, share)) in off.into_iter().enumerate() {
        let mut ranking = Ranking::default();
        switch_off(&mut ranking);
        let gone = all - ranking.score(&features);
        assert!((gone - share / 7.0).abs() < 1e-9, "weight {at}: {gone}");
    }
    assert_eq!(Ranking::TEXT.score(&features), features.text);
    assert_eq!(Ranking::MEANING.score(&features), features.meaning);
}

#[test]
fn signals_of_transcripts_count_nothing_in_notes() {
    let features = Features {
        answers: 1.0,
        speaker: true,
        asks: true,
        length: 1.0,
        when: true,
        ..note(0.0, 0.0)
    };
    assert_eq!(Ranking::default().score(&features), 0.0);
}

#[test]
fn a_turn_may_be_found_by_what_stands_beside_it_and_a_note_by_its_own_words() {
    let ranking = Ranking::default();
    assert!(ranking.score(&turn(0.0, 0.9)) > ranking.score(&turn(0.3, 0.3)));
    assert!(ranking.score(&note(0.0, 0.9)) < ranking.score(&note(0.4, 0.3)));
}

#[test]
fn neighbours_of_no_words_do_not_push_a_true_hit_down() {
    let ranking = Ranking::default();
    let hit = Features {
        text: 1.0,
        meaning: 0.4,
        ..note(0.8, 0.0)
    };
    // The changed memory about invoices stands at the end of its topic, the other memory in the middle.
    let amid = Features {
        text: 0.4,
        meaning: 1.0,
        neighbours: 1.5,
        ..note(0.4, 0.4)
    };
    assert!(ranking.score(&hit) > ranking.score(&amid));
}

#[test]
fn the_more_of_a_question_is_there_the_surer_is_its_answer() {
    let answered = |coverage: f64, with_window: f64| Answered {
        coverage,
        with_window,
        known: 1.0,
        memories: 300,
        ..Answered::default()
    };
    let [none, half, all] = [0.0, 0.5, 1.0].map(|part| answered(part, part).value());
    assert!(
        none < 0.05 && 0.3 < half && half < 0.7 && 0.9 < all,
        "{none} {half} {all}"
    );
    let floor = Ranking::default().floor;
    // A note needs words of its own; a turn may follow one that has them.
    assert!(answered(1.0, 1.0).fit(&note(0.0, 1.0), 0.0) < floor);
    assert!(answered(1.0, 1.0).fit(&turn(0.0, 1.0), 0.0) > floor);
    // In a talk most words occur, but not the names of other people.
    let talk = Answered {
        transcript: true,
        ..answered(0.4, 0.6)
    };
    let named = Answered {
        speaker: true,
        ..talk
    };
    assert!(talk.value() < floor && named.value() > 0.5);
    // A chosen model may be sure without a common word.
    let chosen = Answered {
        chosen_model: true,
        cosine: 0.9,
        ..answered(0.0, 0.0)
    };
    assert!(chosen.fit(&note(0.0, 0.0), 0.9) > 0.5);
    assert!(chosen.fit(&note(0.0, 0.0), 0.3) < floor);
}

#[test]
fn spans_are_shared_out() {
    let span = Span::of([2.0, 4.0, 3.0].into_iter());
    assert_eq!(
        [2.0, 3.0, 4.0, 9.0].map(|at| span.share(at)),
        [0.0, 0.5, 1.0, 1.0]
    );
    assert_eq!([-1.0, 2.0].map(|at| span.part(at)), [0.0, 0.5]);
    let same = Span::of([2.0, 2.0].into_iter());
    assert_eq!(
        (same.share(2.0), Span::of([0.0].into_iter()).share(0.0)),
        (1.0, 0.0)
    );
    assert_eq!(
        [16, 128, 512, 4_000].map(length_share),
        [-1.0, 0.0, 2.0 / 3.0, 2.0 / 3.0]
    );
}

#[test]
fn marks_count_up_to_a_bound_in_both_directions() {
    let ranking = Ranking::default();
    let share = |useful, wrong| ranking.for_marks(useful, wrong);
    assert_eq!(share(0, 0), 0.0);
    assert_eq!(share(2, 2), 0.0);
    assert_eq!(share(1, 0), ranking.for_confirmations(1));
    assert_eq!(share(0, 1), -share(1, 0));
    assert!(share(2, 0) > share(1, 0) && share(3, 0) > share(2, 0));
    assert_eq!(share(50, 0), share(3, 0));
    assert_eq!(share(0, 50), -share(3, 0));
    assert_eq!(Ranking::TEXT.for_marks(3, 0), 0.0);
}
