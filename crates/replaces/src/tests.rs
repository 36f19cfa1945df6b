//! Tests of each rule in each language, of pairs that the rules must leave alone, and of bad input.

use crate::{Reason, Statement, Verdict};

fn judged(older: &str, newer: &str) -> (Verdict, Reason) {
    let judged = Statement::of(newer).judge(&Statement::of(older));
    (judged.verdict, judged.reason)
}

/// Returns pairs of an older and a newer statement, one per line, with `||` between them.
fn pairs(lines: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split_once(" || ").expect("a pair"))
}

fn replaces(reason: Reason, lines: &str) {
    for (older, newer) in pairs(lines) {
        let expected = (Verdict::Yes, reason);
        assert_eq!(judged(older, newer), expected, "{older} || {newer}");
    }
}

#[test]
fn another_value_of_the_same_thing_replaces_the_first() {
    replaces(
        Reason::AnotherValue,
        "The host is reachable at 10.0.3.7. || The host is reachable at 10.0.4.12.
         The standup is on Mondays at 9:00. || The standup is on Fridays at 10:30.
         Max works at Acme. || Max works at Globex now.
         Der Server steht in Bonn. || Der Server steht in Kiel.
         Le bureau ferme à 18 h. || Le bureau ferme à 19 h.
         La reunión es a las 10:00. || La reunión es a las 12:00.
         The weekly call is on Tuesday at 10 || The weekly call is now on Wednesday at 11
         Das Team sitzt in Raum 12 || Das Team sitzt jetzt in Raum 14
         Das Büro ist in der Hauptstraße 3 || Das Büro ist jetzt in der Lindenallee 4
         Le serveur est à Paris || Le serveur est maintenant à Lyon",
    );
}

#[test]
fn a_value_that_has_ended_is_replaced() {
    replaces(
        Reason::Ended,
        "We pay for a Figma subscription || We cancelled the Figma subscription
         We use Jenkins for builds || We switched from Jenkins to GitHub Actions for builds
         The user's editor is Vim. || The user stopped using Vim, it is Helix.
         Der Nutzer isst in der Kantine. || Der Nutzer isst daheim, in die Kantine geht er nicht mehr.
         Zoé mange à la cantine. || Zoé ne mange plus à la cantine mais à la maison.
         El equipo usa Excel. || El equipo usa Clockify, ya nadie abre Excel.",
    );
}

#[test]
fn a_change_with_a_subject_and_a_value_replaces_the_first() {
    let lines = "The report is due on 3 June. || The report was postponed to 10 June.
                 The office is in Rotterdam. || The office moved to Utrecht.
                 Karl wohnt in Bonn. || Karl ist nach Kiel gezogen.
                 Der Termin ist am 3. Juni. || Der Termin wurde auf den 10. Juni verschoben.
                 Anne habite à Paris. || Anne a déménagé à Lyon.
                 La revisión es el 9 de abril. || La revisión se aplazó al 23 de abril.
                 Luis vive en Madrid. || Luis se mudó a Sevilla.";
    for (older, newer) in pairs(lines) {
        assert_eq!(judged(older, newer).0, Verdict::Yes, "{older} || {newer}");
    }
}

#[test]
fn the_opposite_replaces_what_it_denies() {
    replaces(
        Reason::Turned,
        "The staging database is backed up. || The staging database isn't backed up.
         Feature flag beta_ui is off for everyone. || Feature flag beta_ui is enabled for all customers.",
    );
}

#[test]
fn another_holder_of_a_role_replaces_the_first() {
    replaces(
        Reason::AnotherHolder,
        "Priya is the lead of payments. || Tomasz took over as lead of payments.
         Ada leads the platform team || Bruno leads the platform team now",
    );
}

#[test]
fn another_subject_person_event_or_exception_stands_beside() {
    let lines = "The staging host is reachable at 10.0.3.7. || The production host is reachable at 10.0.4.12.
                 The budget for the first quarter is 40 euros. || The budget for the second quarter is 55 euros.
                 Das Training der U9 ist dienstags um 16:30 Uhr. || Das Training der U11 ist donnerstags um 17:30 Uhr.
                 Le salon mesure 24 m². || La chambre mesure 13 m².
                 El tren de ida sale a las 16:05. || El tren de vuelta sale a las 19:40.
                 Mia plays the piano. || Mia's brother switched from piano to drums.
                 Ran 5 km on Monday in 27 minutes. || Ran 8 km on Thursday in 46 minutes.
                 No deployments on Fridays. || Deployments on Fridays are allowed if the CTO agrees.
                 The team uses Slack for chat. || The team uses Notion for docs.
                 The user speaks German. || The user also speaks Italian.
                 Anna has a cat. || Anna has a dog.
                 The laptop has 32 GB of RAM. || The laptop has a 1 TB disk.
                 The lift was out of order on 3 July. || The lift was out of order again on 21 August, it was the door.
                 Unknown ids return 404. || Lookups return 410 for ids that were deleted.
                 mTLS is mandatory in the mesh. || Certificates for mTLS in the mesh are replaced every 24 hours.
                 Marta became a nurse in 2016. || Marta became a mother in 2019.
                 The parser dropped Python 2 in version 4. || The parser dropped callbacks in version 5.
                 The outbound flight leaves on Monday at 09:10. || The flight back leaves on Wednesday at 18:45.
                 Rent for the flat is 1,150 a month. || Heating for the flat is 180 a month.
                 Le club ouvre à 7 h en semaine. || Le dimanche, le club ouvre à 9 h.
                 Mia is allergic to peanuts. || Mia is allergic to cat hair.
                 Timeouts for reads are 5 seconds || Timeouts for writes are 20 seconds
                 Ada leads the platform team || Ada leads the hiring committee
                 The API listens on port 8080 || The admin API listens on port 9090
                 The backup runs on Mondays at 3 || The backup runs on Sundays at 5";
    for (older, newer) in pairs(lines) {
        let (verdict, reason) = judged(older, newer);
        assert_ne!(verdict, Verdict::Yes, "{older} || {newer}: {reason:?}");
    }
}

#[test]
fn texts_that_may_be_about_one_thing_are_doubtful() {
    let judged = judged(
        "The blog is hosted on Netlify.",
        "The blog is served from Cloudflare.",
    );
    assert_eq!(judged, (Verdict::Doubtful, Reason::SameSubject));
}

#[test]
fn bad_input_replaces_nothing() {
    let fine = "The host is reachable at 10.0.3.7.";
    let long = "host ".repeat(200_000);
    let sixty_one = "host ".repeat(61);
    let texts = [
        "",
        " ",
        "?!",
        "…",
        "\u{0}",
        "🚀🚀",
        "' ' ’ '",
        "- - -",
        "*",
        "_",
        "~",
        "10",
        "İ",
        "é\u{301}\u{301}",
        "Is the host reachable at 10.0.4.12?",
        "主机的地址是 10.0.4.12。",
        "Сервер доступен по адресу 10.0.4.12.",
        "الخادم على 10.0.4.12",
        &long,
        &sixty_one,
    ];
    for text in texts {
        for (older, newer) in [(fine, text), (text, fine), (text, text)] {
            let verdict = judged(older, newer).0;
            assert_ne!(verdict, Verdict::Yes, "{older:.40} || {newer:.40}");
        }
    }
    assert!(Statement::of(&long).is_empty() && Statement::of(&sixty_one).is_empty());
}
