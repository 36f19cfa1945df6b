//! Tests of tags: filters by tags, their list, and putting one in the place of another.

use std::collections::BTreeSet;
use std::time::Duration;

use icm_api::{
    Caller, Importance, ListRequest, RecallRequest, ReplaceTagAnswer, ReplaceTagRequest, Sort,
    StoreRequest, TagFilter, TagsRequest, UndoRequest, UpdateRequest,
};
use icm_service::{OpenOptions, Service};
use proptest::prelude::*;

fn service(folder: &std::path::Path) -> Service {
    Service::open(OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    })
    .expect("a store")
}

fn owned(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

/// Stores a memory with tags; returns its id and its position.
fn store(service: &Service, content: &str, tags: &[&str], scope: &str) -> (String, u64) {
    let request = StoreRequest {
        key: Some(content.to_owned()),
        keywords: owned(tags),
        scope: Some(scope.to_owned()),
        ..StoreRequest::new("fruit", content)
    };
    let stored = service.store(&Caller::default(), request);
    let stored = stored.expect("it stores");
    (stored.id, stored.position)
}

/// Returns the ids that a recall finds.
fn recalled(service: &Service, tags: &TagFilter, limit: usize) -> Vec<String> {
    recalled_at(service, tags, limit, None)
}

fn recalled_at(service: &Service, tags: &TagFilter, limit: usize, at: Option<u64>) -> Vec<String> {
    let request = RecallRequest {
        tags: tags.clone(),
        limit: Some(limit),
        floor: Some(0.0),
        at: at.map(|position| format!("@{position}")),
        no_links: true,
        ..RecallRequest::new("apple")
    };
    let answer = service.recall(&Caller::default(), &request);
    let results = answer.expect("an answer").results.into_iter();
    results.map(|hit| hit.memory.id).collect()
}

fn listed(service: &Service, tags: &TagFilter, limit: Option<usize>) -> Vec<String> {
    let request = ListRequest {
        tags: tags.clone(),
        limit,
        ..ListRequest::default()
    };
    let memories = service.list(&request).expect("a list").into_iter();
    memories.map(|memory| memory.id).collect()
}

/// Returns the tags with their numbers of memories.
fn tags(service: &Service, request: &TagsRequest) -> Vec<(String, u64)> {
    let found = service.tags(&Caller::default(), request);
    let tags = found.expect("tags").tags.into_iter();
    tags.map(|tag| (tag.tag, tag.memories)).collect()
}

fn replace(
    service: &Service,
    (from, to): (&str, &str),
    merge: bool,
) -> icm_api::error::Result<ReplaceTagAnswer> {
    let request = ReplaceTagRequest {
        from: from.to_owned(),
        to: to.to_owned(),
        merge,
        shown: 1,
        ..ReplaceTagRequest::default()
    };
    service.replace_tag(&Caller::default(), &request)
}

fn keywords(service: &Service, id: &str) -> BTreeSet<String> {
    let memory = service.get(id, None).expect("a memory");
    let count = memory.keywords.len();
    let keywords = BTreeSet::from_iter(memory.keywords);
    assert_eq!(keywords.len(), count, "each once");
    keywords
}

fn counts(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    let expected = expected.iter();
    expected
        .map(|(tag, count)| ((*tag).to_owned(), *count))
        .collect()
}

const TAGS: [&str; 4] = ["api", "draft", "later", "old"];

fn some_tags() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(&TAGS[..], 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn filters_by_tags_choose_and_order(
        memories in prop::collection::vec(some_tags(), 1..12),
        all in some_tags(),
        any in some_tags(),
        not in some_tags(),
        limit in 1..6_usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let mut ids = Vec::new();
        for (n, tags) in memories.iter().enumerate() {
            ids.push(store(&service, &format!("apple {n}"), tags, "global").0);
        }
        let of = |id: &String| {
            let at = ids.iter().position(|it| it == id).expect("known");
            memories[at].as_slice()
        };
        let passes = |id: &String| {
            let has = |tag: &&str| of(id).contains(tag);
            all.iter().all(has) && (any.is_empty() || any.iter().any(has))
        };
        let is_last = |id: &String| not.iter().any(|tag| of(id).contains(tag));
        let chosen = TagFilter {
            all: owned(&all),
            any: owned(&any),
            ..TagFilter::default()
        };
        let last = TagFilter {
            not: owned(&not),
            ..chosen.clone()
        };
        let without = TagFilter {
            exclude: true,
            ..last.clone()
        };

        let expected: BTreeSet<String> = ids.iter().filter(|id| passes(id)).cloned().collect();
        for (plain, behind, left, few) in [
            (
                recalled(&service, &chosen, 50),
                recalled(&service, &last, 50),
                recalled(&service, &without, 50),
                recalled(&service, &last, limit),
            ),
            (
                listed(&service, &chosen, None),
                listed(&service, &last, None),
                listed(&service, &without, None),
                listed(&service, &last, Some(limit)),
            ),
        ] {
            prop_assert_eq!(plain.len(), expected.len(), "each once");
            prop_assert_eq!(&BTreeSet::from_iter(plain.iter().cloned()), &expected);
            // The order among those without such a tag, and among those with one, is that without the filter.
            let (tagged, others): (Vec<String>, Vec<String>) = plain.into_iter().partition(is_last);
            prop_assert_eq!(&behind, &[others.clone(), tagged].concat());
            prop_assert_eq!(&few[..], &behind[..limit.min(behind.len())]);
            prop_assert_eq!(
                BTreeSet::from_iter(left.iter().cloned()),
                BTreeSet::from_iter(others.into_iter())
            );
        }

        let mut expected = Vec::new();
        for tag in TAGS {
            let has = memories.iter().filter(|tags| tags.contains(&tag)).count();
            if has > 0 {
                expected.push((tag.to_owned(), has as u64));
            }
        }
        prop_assert_eq!(tags(&service, &TagsRequest::default()), expected);
    }
}

#[test]
fn unwanted_tags_take_no_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    // More than the candidates of a recall, and shorter, so that they rank first.
    for n in 0..120 {
        store(&service, &format!("apple {n}"), &["old"], "global");
    }
    let mut wanted = BTreeSet::new();
    for n in 0..4 {
        let content = format!("an apple and much more besides of it that fills number {n}");
        wanted.insert(store(&service, &content, &["new"], "global").0);
    }
    let first = recalled(&service, &TagFilter::default(), 4);
    assert!(first.iter().all(|id| !wanted.contains(id)), "{first:?}");
    for exclude in [false, true] {
        let not = TagFilter {
            not: owned(&["OLD"]),
            exclude,
            ..TagFilter::default()
        };
        let found = recalled(&service, &not, 4);
        assert_eq!(BTreeSet::from_iter(found), wanted);
        let found = recalled(&service, &not, 6);
        assert_eq!(found.len(), if exclude { 4 } else { 6 });
        assert!(found.iter().take(4).all(|id| wanted.contains(id)));
        assert_eq!(listed(&service, &not, Some(2)).len(), 2);
    }
}

#[test]
fn a_tag_is_renamed_in_one_command_that_one_undo_takes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let (one, _) = store(&service, "apple one", &["todo", "api"], "global");
    let (two, _) = store(&service, "apple two", &["todo"], "project:shop");
    let (gone, _) = store(&service, "apple gone", &["todo"], "global");
    let forgotten = service.forget(&Caller::default(), std::slice::from_ref(&gone));
    let before = forgotten.expect("it forgets")[0].position;

    let request = ReplaceTagRequest {
        from: "TODO".to_owned(),
        to: " later ".to_owned(),
        dry_run: true,
        shown: 1,
        ..ReplaceTagRequest::default()
    };
    let look = service.replace_tag(&Caller::default(), &request);
    let look = look.expect("a plan");
    assert_eq!((look.from.as_str(), look.to.as_str()), ("todo", "later"));
    assert_eq!((look.memories, look.newest.len()), (2, 1));
    assert_eq!(look.event, None);
    assert_eq!(
        keywords(&service, &one),
        BTreeSet::from_iter(owned(&["api", "todo"]))
    );

    // Another memory meanwhile makes another plan.
    let (three, _) = store(&service, "apple three", &["todo"], "global");
    let agreed = ReplaceTagRequest {
        dry_run: false,
        plan: Some(look.plan),
        ..request
    };
    let other = service.replace_tag(&Caller::default(), &agreed);
    other.expect_err("another plan");

    let done = replace(&service, ("todo", "later"), false).expect("it renames");
    assert_eq!(done.memories, 3);
    assert_eq!(done.ids.len(), 3);
    assert_eq!(
        keywords(&service, &one),
        BTreeSet::from_iter(owned(&["api", "later"]))
    );
    for id in [&two, &three] {
        assert_eq!(
            keywords(&service, id),
            BTreeSet::from_iter(owned(&["later"]))
        );
    }
    assert_eq!(
        keywords(&service, &gone),
        BTreeSet::from_iter(owned(&["todo"]))
    );

    // Filters and counts are as of their moment.
    let todo = TagFilter::all(["todo"]);
    assert_eq!(recalled(&service, &todo, 10), Vec::<String>::new());
    let then = recalled_at(&service, &todo, 10, Some(before));
    assert_eq!(
        then,
        std::slice::from_ref(&one),
        "the scope of a project is not seen from here"
    );
    let everywhere = |at: Option<u64>| TagsRequest {
        scope: Some("all".to_owned()),
        at: at.map(|position| format!("@{position}")),
        ..TagsRequest::default()
    };
    let counted = tags(&service, &everywhere(None));
    assert_eq!(counted, counts(&[("api", 1), ("later", 3)]));
    let counted = tags(&service, &everywhere(Some(before)));
    assert_eq!(counted, counts(&[("api", 1), ("todo", 2)]));

    let undo = UndoRequest {
        events: done.event.into_iter().collect(),
        ..UndoRequest::default()
    };
    let undone = service.undo(&Caller::default(), &undo).expect("it undoes");
    assert_eq!((undone.events, undone.commands_total), (3, 1));
    let counted = tags(&service, &everywhere(None));
    assert_eq!(counted, counts(&[("api", 1), ("todo", 3)]));
}

#[test]
fn a_tag_that_exists_is_merged_into() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let (both, _) = store(&service, "apple both", &["apis", "api", "x"], "global");
    let (one, _) = store(&service, "apple one", &["apis"], "global");
    let (other, _) = store(&service, "apple other", &["api"], "global");

    let refused = replace(&service, ("apis", "api"), false).expect_err("it exists");
    assert_eq!(refused.to_string(), "the tag `api` exists already");
    let hint = refused.hint().expect("a hint");
    assert!(hint.contains("icm tags merge \"apis\" \"api\""), "{hint}");
    replace(&service, ("apis", "new"), true).expect_err("there is no such tag");

    let done = replace(&service, ("apis", "api"), true).expect("it merges");
    assert_eq!(done.memories, 2);
    assert_eq!(
        keywords(&service, &both),
        BTreeSet::from_iter(owned(&["api", "x"]))
    );
    for id in [&one, &other] {
        assert_eq!(keywords(&service, id), BTreeSet::from_iter(owned(&["api"])));
    }
    let again = replace(&service, ("apis", "api"), true).expect_err("it is gone");
    assert_eq!(again.to_string(), "no living memory has the tag `apis`");
}

#[test]
fn tags_are_counted_in_scopes_by_pages_and_by_their_letters() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "apple one", &["api", "Café"], "global");
    store(&service, "apple two", &["api", "later"], "project:shop");
    let found = tags(&service, &TagsRequest::default());
    assert_eq!(found, counts(&[("Café", 1), ("api", 1)]));
    let shop = TagsRequest {
        scope: Some("project:shop".to_owned()),
        ..TagsRequest::default()
    };
    let all = counts(&[("Café", 1), ("api", 2), ("later", 1)]);
    assert_eq!(tags(&service, &shop), all);
    let part = TagsRequest {
        filter: Some("CAF".to_owned()),
        ..shop.clone()
    };
    assert_eq!(tags(&service, &part), all[..1]);
    let page = |after: Option<&str>| TagsRequest {
        after: after.map(str::to_owned),
        limit: Some(2),
        ..shop.clone()
    };
    let found = service.tags(&Caller::default(), &page(None)).expect("tags");
    assert_eq!((found.tags.len(), found.total, found.more), (2, 3, true));
    let found = service.tags(&Caller::default(), &page(Some("api")));
    let found = found.expect("tags");
    assert_eq!((found.tags.len(), found.total, found.more), (1, 3, false));
}

#[test]
fn a_repeat_with_an_unwanted_tag_is_named_by_one_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let [older, newer] = [("a", None), ("b", Some("draft"))].map(|(topic, tag)| {
        let request = StoreRequest {
            keywords: tag.into_iter().map(str::to_owned).collect(),
            ..StoreRequest::new(topic, "an apple a day keeps the doctor away")
        };
        let stored = service.store(&Caller::default(), request);
        stored.expect("it stores").id
    });
    let request = RecallRequest {
        tags: TagFilter {
            not: owned(&["draft"]),
            ..TagFilter::default()
        },
        ..RecallRequest::new("apple a day")
    };
    let answer = service.recall(&Caller::default(), &request);
    let results = answer.expect("an answer").results;
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].memory.id, older);
    assert_eq!(results[0].repeats, [newer]);
}

#[test]
fn the_record_of_a_recall_has_its_tags() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "apple one", &["api", "v2", "new"], "global");
    for exclude in [false, true] {
        let tags = TagFilter {
            all: owned(&["api", "v2"]),
            any: owned(&["new", "newer"]),
            not: owned(&["draft"]),
            exclude,
        };
        let request = RecallRequest {
            tags: tags.clone(),
            record: true,
            ..RecallRequest::new("apple")
        };
        let answer = service.recall(&Caller::default(), &request);
        assert_eq!(answer.expect("an answer").results.len(), 1);
        service.record_recalls();
        let (recorded, _) = service.recorded_recalls(1).expect("it reads");
        assert_eq!(recorded[0].request.tags, tags);
    }
}

#[test]
fn a_tag_that_no_keyword_can_be_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let long = TagFilter::all(["x".repeat(65)]);
    let request = RecallRequest {
        tags: long.clone(),
        ..RecallRequest::new("apple")
    };
    let refused = service.recall(&Caller::default(), &request);
    let refused = refused.expect_err("it is too long").to_string();
    assert_eq!(refused, "a tag is 65 bytes long, the limit is 64 bytes");
    let request = ListRequest {
        tags: long,
        ..ListRequest::default()
    };
    let refused = service.list(&request).expect_err("it is too long");
    assert_eq!(
        refused.to_string(),
        "a tag is 65 bytes long, the limit is 64 bytes"
    );
}

#[test]
fn the_pages_of_a_list_hold_each_memory_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let mut early = None;
    for number in 0..25 {
        let tags: &[&str] = if number % 3 == 0 { &["draft"] } else { &[] };
        let (id, position) = store(&service, &format!("apple {number}"), tags, "global");
        if number == 9 {
            early = Some(format!("@{position}"));
        }
        if number % 4 == 0 {
            let high = UpdateRequest {
                id,
                importance: Some(Importance::High),
                ..UpdateRequest::default()
            };
            service.update(&Caller::default(), high).expect("an update");
        }
    }
    let without_drafts = TagFilter {
        not: owned(&["draft"]),
        exclude: true,
        ..TagFilter::default()
    };
    let drafts_last = TagFilter {
        exclude: false,
        ..without_drafts.clone()
    };
    for tags in [TagFilter::default(), without_drafts, drafts_last] {
        for (sort, topic, at) in [
            (Sort::Created, None, None),
            (Sort::Created, None, early.clone()),
            (Sort::Created, Some("fruit"), None),
            (Sort::Weight, None, None),
            (Sort::Weight, None, early.clone()),
            (Sort::Accessed, Some("fruit"), None),
        ] {
            let least = if at.is_some() { 6 } else { 16 };
            let mut request = ListRequest {
                at,
                tags: tags.clone(),
                sort,
                topic: topic.map(str::to_owned),
                ..ListRequest::default()
            };
            let all = service.list(&request).expect("a list");
            assert!(all.len() >= least, "{}", all.len());
            // A list of one topic is made in another way.
            let of_topic = ListRequest {
                topic: Some("fruit".to_owned()),
                ..request.clone()
            };
            assert_eq!(service.list(&of_topic).expect("a list"), all);
            request.limit = Some(4);
            let mut paged = Vec::new();
            loop {
                let page = service.list(&request).expect("a page");
                let Some(last) = page.last() else { break };
                request.after = Some(last.id.clone());
                paged.extend(page);
            }
            assert_eq!(paged, all, "{tags:?} {sort:?} {topic:?}");
        }
    }
    let request = ListRequest {
        after: Some("nowhere".to_owned()),
        ..ListRequest::default()
    };
    let refused = service.list(&request).expect_err("it is no id").to_string();
    assert_eq!(refused, "`nowhere` is no place where a list goes on");
}
