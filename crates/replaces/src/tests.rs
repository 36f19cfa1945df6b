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

fn apart(lines: &str) {
    for (older, newer) in pairs(lines) {
        let (verdict, reason) = judged(older, newer);
        assert_ne!(verdict, Verdict::Yes, "{older} || {newer}: {reason:?}");
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
    apart("The staging host is reachable at 10.0.3.7. || The production host is reachable at 10.0.4.12.
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
                 The backup runs on Mondays at 3 || The backup runs on Sundays at 5");
}

#[test]
fn another_tool_instead_of_the_old_one_replaces_it() {
    replaces(
        Reason::Ended,
        "Use npm for the frontend. || Use bun instead of npm.
         Use npm for the frontend. || Use bun instead of npm for the frontend.
         Use tabs. || Use spaces instead of tabs.
         We use yarn. || We switched from yarn to bun.
         We use yarn. || Switched from yarn to bun.
         We host on AWS. || We migrated from AWS to Hetzner.
         Nutze npm für das Frontend. || Nutze bun statt npm.
         Wir nutzen yarn. || Wir sind von yarn auf bun umgestiegen.
         Utilise npm pour le frontend. || Utilise bun au lieu de npm.
         Nous utilisons yarn. || Nous sommes passés de yarn à bun.
         Usa npm para el frontend. || Usa bun en vez de npm.
         Usamos yarn. || Cambiamos de yarn a bun.
         Usamos yarn. || Hemos pasado de yarn a bun.",
    );
}

#[test]
fn a_tool_that_another_team_or_another_task_gave_up_stands_beside() {
    apart(
        "Use npm for the frontend. || Use cargo instead of make for the backend.
         Use npm in the web app. || Use bun instead of npm in the CLI.
         Use npm. || Use bun instead of npm in the docs repo.
         We use npm for the web app. || We switched from npm to bun for the CLI.
         We use yarn. || The docs team switched from yarn to bun.
         We use npm. || Anna switched from npm to bun.
         Use bun instead of npm. || Anna switched from npm to bun.
         We switched from yarn to bun. || We switched from Jira to Linear.
         Ahora desplegamos con GitHub Actions. || Pasamos CI de CircleCI a GitHub Actions.
         The user drinks coffee in the morning. || The user drinks tea instead of coffee in the evening.
         Wir nutzen npm. || Das Docs-Team ist von npm auf bun umgestiegen.
         Nutze Tabs in Go. || Nutze Leerzeichen statt Tabs in Python.
         Nous utilisons npm. || Paul est passé de npm à bun.
         Usamos npm. || Luis pasó de npm a bun.
         We use AWS. || We moved the shop from AWS to Hetzner.
         Build with make on Linux. || Run tests with just instead of make.",
    );
}

#[test]
fn another_value_that_holds_now_replaces_the_first() {
    replaces(
        Reason::AnotherValue,
        "Anna lives in Berlin. || Anna lives in Hamburg now.
         The user lives in Berlin. || The user lives in Munich now.
         I work at Acme. || I work at Globex now.
         We use npm. || We use pnpm now.
         The team uses Slack. || The team now uses Teams.
         The user drives a VW Golf. || The user drives a Tesla now.
         The frontend is built with webpack. || The frontend is built with Vite now.
         The user prefers dark mode. || The user now prefers light mode.
         Max is a student. || Max is a teacher now.
         Anna wohnt in Berlin. || Anna wohnt jetzt in Hamburg.
         Wir nutzen yarn. || Wir nutzen jetzt bun.
         Anna habite à Berlin. || Anna habite maintenant à Hambourg.
         On utilise Jenkins. || On utilise maintenant GitHub Actions.
         Ana vive en Madrid. || Ana vive ahora en Sevilla.
         Usamos Jenkins. || Ahora usamos GitHub Actions.",
    );
}

#[test]
fn now_with_another_person_relation_or_purpose_replaces_nothing() {
    apart(
        "Anna lives in Berlin. || Anna's brother lives in Hamburg now.
         Anna lives in Berlin. || Anna also lives in Hamburg now.
         Anna also lives in Hamburg. || Anna lives in Berlin.
         Anna lived in Berlin. || Anna lives in Hamburg now.
         We used SVN. || We use Git now.
         Tom was the team lead. || Anna is the team lead now.
         Anna is our team lead. || Tom is their team lead.
         Paul works at Siemens. || Paula works at Bosch now.
         Anna works at Acme. || Anna works from home now.
         Anna lives in Berlin. || Anna lives with Peter.
         Anna lives in Berlin. || Anna lives in a flat.
         Anna works in Berlin. || Anna works in marketing.
         Tests run with pytest. || Tests run in parallel now.
         The user likes jazz. || The user likes rock now.
         The user prefers window seats. || The user prefers vegetarian meals now.
         We use Slack for chat. || We use Notion for docs now.
         El equipo usa Notion para la documentación. || El equipo ahora usa Teams.
         The project uses Rust. || The project uses Docker.
         My manager is Anna. || His manager is Peter now.
         The app supports English. || The app supports German now.
         The app supports iOS 15. || The app supports Android 12.
         Anna wohnt in Berlin. || Anna wohnt jetzt allein.
         Das Team nutzt Slack für den Chat. || Das Team nutzt jetzt Notion für die Doku.
         Paul travaille chez Siemens. || Paul travaille maintenant à la maison.
         Pablo trabaja en Siemens. || Pablo trabaja ahora desde casa.",
    );
}

#[test]
fn another_value_of_a_label_with_one_value_replaces_the_first() {
    replaces(
        Reason::AnotherValue,
        "Database: MySQL || Database: PostgreSQL
         Default branch: master || Default branch: main
         Indentation: tabs || Indentation: 4 spaces
         Node version: 18 || Node version: 22
         Time zone: Europe/Berlin || Time zone: America/New_York
         Datenbank: MySQL || Datenbank: PostgreSQL
         Projektname: Falke || Projektname: Adler
         Sprache: Deutsch || Sprache: Englisch
         Base de données : MySQL || Base de données : PostgreSQL
         Éditeur : Vim || Éditeur : Helix
         Base de datos: MySQL || Base de datos: PostgreSQL
         Idioma: inglés || Idioma: español",
    );
}

#[test]
fn a_label_of_many_notes_replaces_nothing() {
    apart(
        "Tool: ripgrep || Tool: fd
         Note: the build is slow || Note: the tests are flaky
         TODO: write docs || TODO: fix tests
         Decision: use Postgres || Decision: use Redis
         Contact: Anna || Contact: Peter
         Tip: use rg || Tip: use fd
         Team member: Anna || Team member: Tom
         Code review: Anna || Code review: Tom
         Next meeting: Monday || Next meeting: room Alpha
         Environment variable: DB_URL || Environment variable: API_KEY
         API endpoint: /users || API endpoint: /orders
         Anna Schmidt: Berlin || Anna Schmidt: Acme
         Database: MySQL || Database: port 3306
         Database: port 3306 || Database: 40 tables
         Name: Anna || Name: Tom
         Email: anna@acme.com || Email: tom@acme.com
         Customer: Acme || Customer: Globex
         Risk: vendor lock-in || Risk: cost
         Weight: 80 kg on 3 May || Weight: 78 kg on 10 May
         Frontend package manager: npm || Backend package manager: poetry
         Min replicas: 2 || Max replicas: 10
         Version 1.2: fixes login || Version 1.3: fixes export
         2024-05-01: deployed v1 || 2024-05-02: deployed v2
         Package manager: npm || The package manager is outdated.
         Kontakt: Anna || Kontakt: Peter
         Entscheidung: Rust || Entscheidung: kein Windows
         Note : le build est lent || Note : les tests échouent
         Contacto: Ana || Contacto: Luis",
    );
}

#[test]
fn a_known_thing_with_another_name_replaces_the_first() {
    replaces(
        Reason::AnotherValue,
        "The default branch is master. || The default branch is main.
         Our meeting room is Alpha. || Our meeting room is Beta.
         The database is MySQL. || The database is PostgreSQL.
         My manager is Anna. || My manager is Peter.
         The user's preferred language is German. || The user's preferred language is English.
         The server runs Ubuntu 20.04. || The server runs Ubuntu 24.04.
         Der Standard-Branch ist master. || Der Standard-Branch ist main.
         Unser Besprechungsraum ist Alpha. || Unser Besprechungsraum ist Beta.
         La branche par défaut est master. || La branche par défaut est main.
         Notre salle de réunion est Alpha. || Notre salle de réunion est Beta.
         The conference is in Lisbon. || The conference is in Porto.
         The status of the migration is blocked. || The status of the migration is ready.
         La langue préférée est l'anglais. || La langue préférée est le français.
         La rama por defecto es master. || La rama por defecto es main.
         Nuestra sala de reuniones es Alpha. || Nuestra sala de reuniones es Beta.",
    );
    replaces(
        Reason::AnotherHolder,
        "Sarah is the CTO. || Mike is the CTO.
         Lisa is our designer. || Tim is our designer now.
         Peter is responsible for billing. || Maria is responsible for billing now.",
    );
}

#[test]
fn a_property_one_of_many_or_another_thing_replaces_nothing() {
    apart(
        "The staging branch is develop. || The production branch is main.
         The meeting room on the first floor is Alpha. || The meeting room on the second floor is Beta.
         Our meeting room is Alpha. || Our lunch room is Beta.
         The meeting room is Alpha. || The meeting room is locked.
         A meeting room is Alpha. || A meeting room is Beta.
         One of the rooms is Alpha. || One of the rooms is Beta.
         The user's friend is Anna. || The user's friend is Peter.
         The database is PostgreSQL. || The database is backed up nightly.
         The database is PostgreSQL. || The database is 40 GB.
         The default branch is master. || The default branch is protected.
         The default branch is main. || The default branch is develop in the docs repo.
         The default branch was master. || The default branch is main.
         The linter is ruff. || The linter is strict.
         My manager is Anna. || My manager is vegetarian.
         The user is a developer. || The user is a father.
         The minimum length is 8. || The maximum length is 64.
         The timeout for reads is 5 seconds. || The timeout is 30 seconds.
         The user owns a Golf. || The user owns a Tesla.
         Our customer is Acme. || Our customer is Globex.
         The EU cluster runs Kubernetes 1.27. || The US cluster runs Kubernetes 1.29 now.
         The shop opens at 9. || The shop closes at 18.
         Checkout is at 11:00. || Check-in is at 15:00.
         The movie is Alien. || The movie is Heat.
         The host is zeus. || The host is hera.
         Room Alpha is on floor 1. || Room Alpha seats 8.
         Der Chef ist Peter. || Der Chef ist krank.
         Der Nutzer ist Entwickler. || Der Nutzer ist Vater.
         La base de données est MySQL. || La base de données est lente.
         El jefe es Pedro. || El jefe es vegetariano.",
    );
}

#[test]
fn another_value_for_the_same_purpose_replaces_the_first() {
    replaces(
        Reason::AnotherValue,
        "Use camelCase for variables. || Use snake_case for variables.
         Verwende Jest für die Tests. || Verwende Vitest für die Tests.",
    );
    apart(
        "Use camelCase for variables. || Use PascalCase for classes.
         Use Python for scripts. || Use Rust for services.",
    );
}

#[test]
fn the_writer_who_moved_lives_elsewhere() {
    replaces(
        Reason::Changed,
        "I live in Berlin. || I moved to Munich.
         Ich wohne in Köln. || Ich bin nach Bonn gezogen.
         J'habite à Paris. || J'ai déménagé à Lyon.
         Vivo en Madrid. || Me mudé a Sevilla.",
    );
    apart(
        "I live in Berlin. || I moved the files to S3.
         I live in Berlin. || My sister moved to Munich.
         We live in Berlin. || We moved the servers from Bonn to Kiel.
         We live in Berlin. || They moved to Munich.",
    );
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
