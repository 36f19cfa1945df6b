//! Topic filters: from the name that a caller gives to the topic as it is stored.

use std::collections::BTreeSet;

use icm_projections::{Views, topic_fits};

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;

impl Service {
    /// Returns a topic filter in the form in which topics are stored: NFC, without space around it.
    ///
    /// If no topic has exactly that name, case is forgiven: the filter becomes the one topic that differs from it by
    /// case only. A filter that no topic fits stays as it is. A filter with a `/` at its end is for a level and
    /// everything below it; then the case of the level is forgiven. Costs one look-up for a known topic, else a pass
    /// over the names of all topics.
    ///
    /// # Errors
    /// `Nothing` if several topics differ from the filter by case only, with their names.
    pub(crate) fn topic_filter(&self, views: &Views, asked: &str) -> QueryResult<String> {
        let asked = limits::normal(asked);
        let level = asked.strip_suffix('/').unwrap_or(&asked);
        if level.is_empty() || views.knows_topic(level)? {
            return Ok(asked);
        }
        let known = views.topics_ever()?;
        let below = level.len() < asked.len();
        if below && known.iter().any(|known| topic_fits(&asked, &known.topic)) {
            return Ok(asked);
        }
        let named = |known: &str| match below {
            true => of_level(known, level).map(|named| format!("{named}/")),
            false => same_but_for_case(known, level).then(|| known.to_owned()),
        };
        let living = known.iter().filter(|known| known.memories > 0);
        let mut fits: BTreeSet<String> = living.filter_map(|known| named(&known.topic)).collect();
        if fits.is_empty() {
            fits = known
                .iter()
                .filter_map(|known| named(&known.topic))
                .collect();
        }
        Ok(one_of("topic", asked, fits)?)
    }

    /// Returns the topic filter, if one is given.
    pub(crate) fn topic_filter_if_any(
        &self,
        views: &Views,
        asked: Option<&str>,
    ) -> QueryResult<Option<String>> {
        asked
            .map(|asked| self.topic_filter(views, asked))
            .transpose()
    }
}

/// Returns the only name of several, or `asked` if there is none.
///
/// # Errors
/// `Nothing` if there are several, with their names.
pub(crate) fn one_of(what: &str, asked: String, fits: BTreeSet<String>) -> Result<String> {
    let mut names = fits.iter();
    match (names.next(), names.next()) {
        (None, _) => Ok(asked),
        (Some(only), None) => Ok(only.clone()),
        _ => {
            let names: Vec<String> = fits.iter().map(|name| format!("`{name}`")).collect();
            Err(ServiceError::nothing(
                format!("no {what} is named `{asked}`, and several differ from it by case only"),
                format!("name one of them: {}", names.join(", ")),
            ))
        }
    }
}

/// Returns `true` if two names differ by case only.
pub(crate) fn same_but_for_case(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Returns the part of a topic that a level names, but for its case, if the topic is that level or lies below it.
fn of_level<'t>(topic: &'t str, level: &str) -> Option<&'t str> {
    let levels = level.split('/').count();
    let end = topic.match_indices('/').map(|(at, _)| at).nth(levels - 1);
    let named = &topic[..end.unwrap_or(topic.len())];
    same_but_for_case(named, level).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::tests::{service, store_in};
    use icm_api::{
        Caller, ConsolidateRequest, DiffRequest, HealthRequest, ListRequest, LogRequest,
        MemoirRequest, RecallRequest, Summary, TopicsRequest, Trust, Turn, TurnTopicRequest,
        UndoRequest,
    };

    /// Returns how much each way to ask by a topic finds.
    fn found(service: &Service, topic: &str) -> Result<Vec<(&'static str, u64)>> {
        let some = || Some(topic.to_owned());
        let list = service.list(&ListRequest {
            topic: some(),
            ..ListRequest::default()
        })?;
        let recall = service.recall(
            &Caller::default(),
            &RecallRequest {
                topic: some(),
                ..RecallRequest::new("soup")
            },
        )?;
        let topics = service.topic_tree(&TopicsRequest {
            prefix: some(),
            flat: true,
            ..TopicsRequest::default()
        })?;
        let health = service.health(&HealthRequest {
            topic: some(),
            ..HealthRequest::default()
        })?;
        let diff = service.diff(&DiffRequest {
            from: "@0".to_owned(),
            topic: some(),
            ..DiffRequest::default()
        })?;
        let log = service.log(
            &LogRequest {
                kind: Some("memory.stored".to_owned()),
                topic: some(),
                ..LogRequest::default()
            },
            &mut |_| true,
        )?;
        let undo = service.undo(
            &Caller::default(),
            &UndoRequest {
                topic: some(),
                dry_run: true,
                ..UndoRequest::default()
            },
        )?;
        let forget = service.turn_topic(
            &Caller::default(),
            &TurnTopicRequest {
                topic: topic.to_owned(),
                to: Turn::Forget,
                dry_run: true,
                ..TurnTopicRequest::default()
            },
        )?;
        let consolidate = service.consolidate_preview(
            &Caller::default(),
            &ConsolidateRequest {
                topic: topic.to_owned(),
                summary: Summary::Given("soups".to_owned()),
                importance: None,
                keywords: Vec::new(),
                scope: None,
                keep_originals: false,
                allow_secret: false,
                trust: Trust::Agent,
                request_id: None,
            },
        )?;
        Ok(vec![
            ("list", list.len() as u64),
            ("recall", recall.results.len() as u64),
            (
                "topics",
                topics.topics.iter().map(|topic| topic.memories).sum(),
            ),
            ("health", health.memories),
            ("diff", diff.added.len() as u64),
            ("log", log),
            ("undo", undo.events),
            ("forget", forget.memories),
            ("consolidate", consolidate.originals.len() as u64),
        ])
    }

    #[test]
    fn every_filter_finds_its_topic_in_another_form_or_case() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        for content in ["soup of the day is lentil", "soup is served from noon on"] {
            store_in(&service, "Café/Menü", content);
        }
        store_in(&service, "other", "soup of others");
        for asked in [
            "Café/Menü",
            "Cafe\u{301}/Menu\u{308}",
            "  Café/Menü ",
            "café/MENÜ",
            "CAFE\u{301}/menü",
            "Café/",
            "café/",
            "CAFÉ/menü/",
        ] {
            for (what, found) in found(&service, asked).expect(asked) {
                assert_eq!(found, 2, "{what} -t {asked:?}");
            }
        }
    }

    #[test]
    fn the_exact_topic_wins_and_of_several_none_is_guessed() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        store_in(&service, "Ops", "soup in Ops");
        store_in(&service, "ops", "soup in ops");
        store_in(&service, "Ops/night", "soup by night");
        let list = |topic: &str| {
            let request = ListRequest {
                topic: Some(topic.to_owned()),
                ..ListRequest::default()
            };
            let found = service.list(&request)?;
            Ok(found
                .into_iter()
                .map(|memory| memory.topic)
                .collect::<Vec<_>>())
        };
        let exact: Result<_> = list("ops");
        assert_eq!(exact.expect("it is there"), ["ops"]);
        assert_eq!(list("Ops/").expect("it is there"), ["Ops/night", "Ops"]);
        assert_eq!(list("ops/").expect("it is there"), ["ops"]);
        assert_eq!(list("OPS/NIGHT").expect("one fits"), ["Ops/night"]);
        assert_eq!(list("none").expect("none fits"), [""; 0]);
        for (asked, names) in [("OPS", "`Ops`, `ops`"), ("OPS/", "`Ops/`, `ops/`")] {
            let error: ServiceError = found(&service, asked).expect_err(asked);
            assert!(matches!(error, ServiceError::Nothing { .. }), "{error}");
            assert!(
                error.hint().is_some_and(|hint| hint.contains(names)),
                "{error}"
            );
        }
    }

    #[test]
    fn a_forgotten_topic_is_found_unless_a_living_one_fits() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let turn = |topic: &str, to| {
            let request = TurnTopicRequest {
                topic: topic.to_owned(),
                to,
                ..TurnTopicRequest::default()
            };
            let turned = service.turn_topic(&Caller::default(), &request);
            turned.map(|answer| answer.topic)
        };
        store_in(&service, "Plans", "soup on Monday");
        assert_eq!(turn("plans", Turn::Forget).expect("it is there"), "Plans");
        assert_eq!(turn("PLANS", Turn::Revive).expect("it is there"), "Plans");
        turn("Plans", Turn::Forget).expect("it is there");
        store_in(&service, "plans", "soup on Tuesday");
        assert_eq!(turn("PLANS", Turn::Forget).expect("one lives"), "plans");
    }

    #[test]
    fn memoirs_are_found_in_another_case_where_one_fits() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let create = |name: &str| {
            let request = MemoirRequest {
                name: name.to_owned(),
                description: "for tests".to_owned(),
                ..MemoirRequest::default()
            };
            service
                .memoir_create(&Caller::default(), &request)
                .expect("it is new");
        };
        create("Système");
        let forget = |name: &str| service.memoir_forget(&Caller::default(), name);
        assert_eq!(
            forget("syste\u{300}me ").expect("one fits").memoir,
            "Système"
        );
        create("Team");
        create("team");
        let error = forget("TEAM").expect_err("two fit");
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("`Team`, `team`")),
            "{error}"
        );
    }
}
