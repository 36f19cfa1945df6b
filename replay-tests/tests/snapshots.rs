//! Several threads of a process ask while other processes write, redact and commit views. Each answer holds all
//! memories acknowledged before the question, and no text redacted before it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use icm_api::{Caller, ListRequest, RecallRequest, StoreRequest};
use icm_service::Service;
use replay_tests::store::open_here;

/// Changes that each process makes before the test ends.
const CHANGES: usize = 40;
const ASKING: u64 = 3;

/// Acknowledged memories by id: their word, and `true` if it is redacted.
type Told = Mutex<BTreeMap<String, (String, bool)>>;

fn spawn(dir: &Path, name: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_teller"))
        .args([dir.as_os_str(), name.as_ref()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Notes the acknowledgements of a process, until there are enough.
fn hear(child: &mut Child, told: &Told) {
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    for line in out.lines().take(CHANGES) {
        let line = line.expect("it is read");
        let parts: Vec<&str> = line.split(' ').collect();
        let [done, id, word] = parts[..] else {
            panic!("{line}")
        };
        let state = (word.to_owned(), done == "redacted");
        told.lock().expect("whole").insert(id.to_owned(), state);
    }
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
}

fn check(service: &Service, told: &Told, pick: usize) {
    let before = told.lock().expect("whole").clone();
    let Some((_, (asked, is_gone))) = before.iter().nth(pick % before.len().max(1)) else {
        return;
    };
    let list = ListRequest {
        limit: Some(10_000),
        ..ListRequest::default()
    };
    let memories = service.list(&list).expect("it lists");
    let request = RecallRequest {
        query: asked.clone(),
        // Each of these texts seems to replace the earlier ones.
        no_links: true,
        ..RecallRequest::default()
    };
    let recalled = service.recall(&Caller::default(), &request);
    let recalled = recalled.expect("it recalls");
    let found: BTreeMap<&str, &str> = memories
        .iter()
        .map(|memory| (&*memory.id, memory.content.as_deref().unwrap_or_default()))
        .collect();
    let texts = format!("{memories:?} {recalled:?}");
    let after = told.lock().expect("whole").clone();
    for (id, (word, is_redacted)) in &before {
        if *is_redacted {
            assert!(
                !texts
                    .replace(&format!("query: \"{word}\""), "")
                    .contains(&format!("is {word}")),
                "{word} was redacted"
            );
        } else if after[id].1 == *is_redacted && !word_may_go(word) {
            let content = found.get(&**id).copied().unwrap_or_default();
            assert!(content.ends_with(&**word), "{word} is missing: {content:?}");
        }
    }
    if !is_gone && !word_may_go(asked) {
        let best = recalled.results.first().expect("something is found");
        let content = best.memory.content.as_deref().unwrap_or_default();
        assert!(content.ends_with(&**asked), "{asked}: {content:?}");
    }
}

/// Returns `true` for a memory that is redacted as soon as it is stored.
fn word_may_go(word: &str) -> bool {
    let number = word.split('x').nth(1).and_then(|it| it.parse::<u64>().ok());
    number.expect("a number") % 4 == 3
}

#[test]
fn an_answer_holds_all_that_was_acknowledged_before_it_was_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("store");
    let service = Arc::new(open_here(&dir).expect("it opens"));
    let first = StoreRequest::new("first", "There is a store");
    service.store(&Caller::default(), first).expect("it stores");
    let (told, is_over) = (Told::default(), AtomicBool::new(false));
    let mut children: Vec<Child> = ["one", "two", "three"].map(|name| spawn(&dir, name)).into();
    let asked = thread::scope(|scope| {
        let hearing: Vec<_> = children
            .iter_mut()
            .map(|child| scope.spawn(|| hear(child, &told)))
            .collect();
        let asking: Vec<_> = (0..ASKING)
            .map(|nth| {
                let (service, told, is_over) = (&service, &told, &is_over);
                scope.spawn(move || {
                    let mut asked = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        check(service, told, asked * 7 + nth as usize);
                        asked += 1;
                    }
                    asked
                })
            })
            .collect();
        let settling = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                service.settle();
                thread::yield_now();
            }
        });
        for heard in hearing {
            heard.join().expect("it is heard");
        }
        is_over.store(true, Ordering::Relaxed);
        settling.join().expect("it settles");
        let asked = asking.into_iter().map(|it| it.join().expect("it agrees"));
        asked.sum::<usize>()
    });
    check(&service, &told, 0);
    let told = told.lock().expect("whole");
    assert!(told.len() > 60 && asked > 20, "{} {asked}", told.len());
    let gone = told.values().filter(|(_, is_redacted)| *is_redacted);
    assert!(gone.count() > 15);
}
