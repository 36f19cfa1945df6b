//! Conditions that a file makes come true.

use std::path::Path;
use std::slice::from_ref;

use super::{
    DAY_MS, TEXT, assert_hidden, go_to, listed, newest, opened, recalled, recalled_at, store,
};
use crate::service::Service;
use crate::service::tests::{reading, service};
use icm_api::{Action, Caller, HealthRequest};

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
}

#[track_caller]
fn assert_notices(reader: &Service, id: &str) {
    let notices = reader.take_notices();
    let about: Vec<_> = notices.iter().filter(|line| line.contains(id)).collect();
    assert_eq!(about.len(), 1, "{notices:?}");
}

#[test]
fn a_file_hides_its_memory_for_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lock");
    write(&file, "one");
    let dir = folder.path().join("store");
    let service = service(&dir);
    let id = store(&service, TEXT, &format!("file-pristine {}", file.display()));
    let other = store(&service, "The payments service has a demo each month", "");
    assert_hidden(&service, &id, false);
    write(&file, "another");
    // A process that may not write hides the memory and says so.
    let reader = reading(&dir);
    assert_eq!(recalled(&reader), from_ref(&other));
    assert_notices(&reader, &id);
    // So it does if it only counts: each of these is the first answer of its process.
    let reader = reading(&dir);
    let stats = reader.stats(None).expect("it counts");
    assert_eq!((stats.memories, stats.expired), (1, 1));
    assert_notices(&reader, &id);
    let topics = reading(&dir).topics().expect("it counts");
    let in_topics: u64 = topics.iter().map(|topic| topic.memories).sum();
    assert_eq!(in_topics, 1);
    let health = reading(&dir).health(&HealthRequest::default());
    assert_eq!(health.expect("it looks").memories, 1);
    assert_eq!(listed(&reading(&dir), false), from_ref(&other));
    assert_eq!(listed(&reading(&dir), true), from_ref(&id));
    let before = service.newest_position().expect("a position");
    assert_eq!(recalled(&service), from_ref(&other));
    assert_eq!(
        service.newest_position().expect("a position"),
        before + 2,
        "the event and the recall"
    );
    // It turns once and never back.
    write(&file, "one");
    assert_hidden(&service, &id, true);
    let history = service.history(&id).expect("it has one");
    let last = history.last().expect("versions");
    assert_eq!(last.kind, "memory.expired");
    assert_eq!(last.changed, ["expired"]);
    let condition = format!("file-exists {}", file.display());
    let revived = service.revive_with(&Caller::default(), from_ref(&id), Some(&condition));
    assert_eq!(revived.expect("it is back")[0].action, Action::Revived);
    assert_hidden(&service, &id, false);
    std::fs::remove_file(&file).expect("removed");
    assert_hidden(&service, &id, true);
}

#[test]
fn a_file_is_looked_at_after_the_clock_was_set_back() {
    let (folder, clock, service, start) = opened();
    let file = folder.path().join("lock");
    write(&file, "one");
    let id = store(&service, TEXT, &format!("file-exists {}", file.display()));
    let origin = newest(&service, None).origin;
    go_to(&clock, start - 3_650 * DAY_MS);
    store(&service, "The payments service has a demo each month", "");
    assert_ne!(newest(&service, None).origin, origin);
    assert_hidden(&service, &id, false);
    std::fs::remove_file(&file).expect("removed");
    assert_hidden(&service, &id, true);
}

#[test]
fn the_files_of_a_copy_are_not_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lock");
    write(&file, "one");
    let dir = folder.path().join("store");
    let origin = service(&dir);
    let id = store(&origin, TEXT, &format!("file-exists {}", file.display()));
    drop(origin);
    let other = folder.path().join("copy");
    copy(&dir, &other);
    std::fs::remove_file(&file).expect("removed");
    let copy = service(&other);
    let before = copy.newest_position().expect("a position");
    assert_eq!(listed(&copy, false), from_ref(&id));
    assert_eq!(copy.newest_position().expect("a position"), before);
    assert_eq!(recalled(&copy), from_ref(&id), "also once it has an origin");
    assert_hidden(&copy, &id, false);
}

#[test]
fn a_named_moment_looks_at_no_file() {
    let (folder, _clock, service, _) = opened();
    let file = folder.path().join("lock");
    write(&file, "one");
    let id = store(&service, TEXT, &format!("file-exists {}", file.display()));
    let at = format!("@{}", service.newest_position().expect("a position"));
    assert_eq!(recalled_at(&service, Some(&at)), from_ref(&id));
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(recalled_at(&service, Some(&at)), from_ref(&id));
    assert_eq!(recalled(&service), Vec::<String>::new());
    assert_eq!(recalled_at(&service, Some(&at)), from_ref(&id));
    // The answer that found the file gone knows the event that says so.
    let recall = newest(&service, Some("memory.recalled"));
    let basis = format!("@{}", recall.position - 1);
    assert_eq!(recalled_at(&service, Some(&basis)), Vec::<String>::new());
    assert_eq!(recall.facts["basis_position"], recall.position - 1);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("it lists") {
        let (path, to) = entry
            .map(|entry| (entry.path(), to.join(entry.file_name())))
            .expect("an entry");
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(std::fs::copy(&path, &to).expect("copied")),
        }
    }
}
