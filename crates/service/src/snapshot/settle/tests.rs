use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use icm_projections::{ViewError, Views};

use crate::service::Service;
use crate::service::tests::{reading, service, store};

/// More memories than stay in the tail.
const MANY: usize = 600;

fn store_many(service: &Service, word: &str) {
    for n in 0..MANY {
        store(
            service,
            &format!("{word}{n} has nothing in common with {n}{word}"),
        );
    }
}

/// Returns the texts of every living memory, by its row and the table.
fn memories(views: &Views) -> Vec<Option<String>> {
    let mut memories = Vec::new();
    let now = views.tally().position;
    let walked = views.each_living(&mut |row| {
        let version = views.version_at(row.entity, now)?;
        memories.push(version.and_then(|version| version.content.clone()));
        Ok::<_, ViewError>(())
    });
    walked.expect("it is read");
    memories
}

/// A commit reuses the pages that the one before it left behind.
#[test]
fn a_snapshot_that_is_read_keeps_its_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store_many(&service, "first");
    assert!(service.take_further(true));
    let read = || service.with_views(|views| Ok(memories(views).len()));
    assert_eq!(read().expect("it answers"), MANY);
    let kept = service.snapshots.newest().expect("there is one");
    let was = memories(&kept);
    assert_eq!(was.len(), MANY);

    store_many(&service, "second");
    assert!(service.take_further(true), "nobody reads older files");
    store_many(&service, "third");
    assert!(!service.take_further(true), "the first are still read");
    // Opened anew, the newest snapshot does not know of these pages.
    service.snapshots.put(None);
    assert_eq!(read().expect("it answers"), 3 * MANY);
    assert!(!service.take_further(true), "the first are still read");
    assert_eq!(memories(&kept), was);

    drop(kept);
    assert!(service.take_further(true));
    assert_eq!(read().expect("it answers"), 3 * MANY);
}

/// A question that another process overtakes is asked again, and nothing is built for it.
#[test]
fn views_that_another_process_wrote_meanwhile_are_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = [(); 2].map(|()| service(folder.path()));
    store_many(&one, "first");
    assert!(one.take_further(true));
    let generation = current(folder.path());
    let asked = Cell::new(0);
    let answer = one.with_views(|views| {
        asked.set(asked.get() + 1);
        if asked.get() == 1 {
            store_many(&other, "second");
            assert!(other.take_further(true));
            return Err(ViewError::Unusable {
                view: "table",
                why: "half of it was written".to_owned(),
            }
            .into());
        }
        Ok(memories(views).len())
    });
    assert_eq!(answer.expect("it answers"), 2 * MANY);
    assert_eq!(current(folder.path()), generation);
    assert!(one.take_notices().is_empty());
}

#[test]
fn a_store_that_is_only_read_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let writing = service(folder.path());
    store_many(&writing, "first");
    let reading = reading(folder.path());
    let read = || reading.with_views(|views| Ok(memories(views).len()));
    assert_eq!(read().expect("it answers"), MANY);
    store_many(&writing, "second");
    let before = names(folder.path());
    assert!(!reading.settle_between());
    reading.settle();
    assert_eq!(read().expect("it answers"), 2 * MANY);
    assert_eq!(names(folder.path()), before);
    assert!(writing.settle_between());
    assert_ne!(names(folder.path()), before);
}

/// Questions go on, and see every memory, while the tail is committed.
#[test]
fn recalls_meanwhile_see_every_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let is_done = AtomicBool::new(false);
    let (service, is_done) = (&service, &is_done);
    thread::scope(|scope| {
        let asking: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut seen = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        let now = service.with_views(|views| Ok(memories(views).len()));
                        let now = now.expect("it answers");
                        assert!(now >= seen, "{now} after {seen}");
                        seen = now;
                    }
                })
            })
            .collect();
        let mut written = 0;
        for part in 0..4 {
            for n in 0..MANY {
                store(service, &format!("part{part}n{n} of its own {n}x{part}"));
                if n % 100 == 99 {
                    written += u32::from(service.take_further(true));
                }
            }
        }
        is_done.store(true, Ordering::Relaxed);
        asking
            .into_iter()
            .for_each(|thread| thread.join().expect("it saw them"));
        assert!(written > 0);
    });
    assert_eq!(
        service
            .with_views(|views| Ok(memories(views).len()))
            .expect("it answers"),
        4 * MANY
    );
}

fn current(dir: &Path) -> String {
    std::fs::read_to_string(icm_projections::version_dir(&dir.join("views")).join("current"))
        .expect("it is there")
}

/// Returns the names of all files, with their lengths.
fn names(dir: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).expect("it is read") {
            let entry = entry.expect("it is read");
            match entry.file_type().expect("it has one").is_dir() {
                true => dirs.push(entry.path()),
                false => found.push((
                    entry.path().display().to_string(),
                    entry.metadata().expect("it is read").len(),
                )),
            }
        }
    }
    found.sort();
    found
}
