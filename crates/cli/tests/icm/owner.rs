//! The owner: one server answers for other processes, and none of them depends on it.

use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use icm_api::error::ServiceError;
use icm_api::{Caller, StoreRequest};
use icm_server::AskOwner;
use icm_service::{OpenOptions, Service};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::world::{Args, Run, Says, World, run};

/// A server that is the owner.
pub(crate) struct Owner(Child);

impl Owner {
    pub(crate) fn of(world: &World) -> Owner {
        let owner = Owner::maybe(world);
        owner.await_role(world);
        owner
    }

    /// Returns the owner for clients in this process. An owner answers only processes with its own `TZ`.
    fn of_this_process(world: &World) -> Owner {
        let mut command = world.command("serve");
        match std::env::var_os("TZ") {
            Some(zone) => command.env("TZ", zone),
            None => command.env_remove("TZ"),
        };
        let owner = Owner::started(command);
        owner.await_role(world);
        owner
    }

    fn maybe(world: &World) -> Owner {
        Owner::started(world.command("serve"))
    }

    fn started(mut command: Command) -> Owner {
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Owner(command.stderr(Stdio::null()).spawn().expect("it starts"))
    }

    fn await_role(&self, world: &World) {
        let pid = u64::from(self.0.id());
        let begun = Instant::now();
        while notice(world)["pid"] != pid {
            assert!(begun.elapsed() < Duration::from_secs(30), "no owner");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, signal).expect("it is there");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The kill also ends a stopped process.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn notice(world: &World) -> Value {
    let bytes = std::fs::read(world.store().join("sock/owner")).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Runs a command that logs the owner's answers.
pub(crate) fn asking(world: &World, args: impl Args) -> Run {
    run(world.command(args).env("ICM_LOG", "icm_server=debug"), b"")
}

pub(crate) fn was_answered(run: &Run, method: &str) -> bool {
    let mut lines = run.err.lines();
    lines.any(|it| it.contains("the owner of the store answered") && it.contains(method))
}

#[test]
fn commands_are_answered_by_the_server_that_runs() {
    let world = World::with_memories();
    let before = asking(&world, "store -t a -c alone").ok();
    before.err.lacks("the owner");

    let owner = Owner::of(&world);
    let stored = asking(&world, "store -t a -c 'said to the owner' --json").ok();
    assert!(was_answered(&stored, "store"), "{}", stored.err);
    let id = stored.json()["id"].as_str().expect("an id").to_owned();
    let updated = asking(&world, format!("update {id} -c 'changed by the owner'")).ok();
    assert!(was_answered(&updated, "update"), "{}", updated.err);
    let found = asking(&world, "recall changed --json").ok();
    assert!(was_answered(&found, "recall"), "{}", found.err);
    assert_eq!(found.json()["results"][0]["id"], json!(id));
    // Each process itself does the work that the owner does not answer or refuses.
    world.ok(format!("forget {id}"));
    let refused = asking(&world, format!("update {id} -c again")).fails(1, "is forgotten");
    assert!(!was_answered(&refused, "update"), "{}", refused.err);
    // Other settings are not compatible with the owner's.
    let config = world.write("other.toml", "[ranking]\nscope = 1.0\n");
    let config = config.to_str().expect("a path");
    let other = asking(&world, format!("--config '{config}' store -t a -c else")).ok();
    assert!(!was_answered(&other, "store"), "{}", other.err);

    // The owner ends with its client, and leaves nothing behind.
    let Owner(child) = &mut { owner };
    drop(child.stdin.take());
    child.wait().expect("it ends");
    assert_eq!(notice(&world), Value::Null);
    assert!(!world.store().join("sock/icm.sock").exists());
    let after = asking(&world, "store -t a -c 'alone again'").ok();
    after.err.lacks("the owner");
    world.ok("verify");
}

/// Eight clients that store until they are told to stop. The result is the acknowledged memories, by content.
struct Load {
    stop: AtomicBool,
    store: PathBuf,
    /// Number of answers that a stopped process holds the lock.
    refused: AtomicUsize,
}

type Acknowledged = Vec<(String, String)>;

impl Load {
    fn run(&self, who: usize, is_own_key: bool) -> Acknowledged {
        let service = Service::open(OpenOptions {
            dir: self.store.clone(),
            lock_wait: Duration::from_secs(20),
            read_only: false,
        });
        let service = service
            .expect("it opens")
            .asking(icm_server::owner::peer(&self.store, AskOwner::Writes));
        let mut acknowledged = Vec::new();
        for round in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let content = format!("fact {round} of client {who}");
            let request = StoreRequest {
                topic: format!("client-{who}"),
                content: content.clone(),
                // A repeated request has the same id.
                request_id: is_own_key.then(|| content.clone()),
                ..StoreRequest::default()
            };
            // A stopped writer is not waited for, so the client repeats its request.
            let receipt = loop {
                match service.store(&Caller::default(), request.clone()) {
                    Err(ServiceError::Stopped { .. }) if is_own_key => {
                        self.refused.fetch_add(1, Ordering::Relaxed);
                    }
                    receipt => break receipt.expect("it stores"),
                }
            };
            acknowledged.push((content, receipt.id));
        }
        acknowledged
    }
}

/// Lets eight clients store while `disturb` runs. Returns the numbers of stored memories and of refused requests.
fn under_load(world: &World, is_own_key: bool, disturb: impl FnOnce()) -> (usize, usize) {
    let load = Load {
        stop: AtomicBool::new(false),
        store: world.store(),
        refused: AtomicUsize::new(0),
    };
    let acknowledged: Acknowledged = std::thread::scope(|scope| {
        let load = &load;
        let clients: Vec<_> = (0..8)
            .map(|who| scope.spawn(move || load.run(who, is_own_key)))
            .collect();
        disturb();
        load.stop.store(true, Ordering::Relaxed);
        let done = clients.into_iter().map(|client| client.join());
        done.flat_map(|done| done.expect("it stores")).collect()
    });
    let list = world.json("list --all");
    let mut there: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for memory in list.as_array().expect("a list") {
        let text = |name: &str| memory[name].as_str().expect("a text").to_owned();
        there.entry(text("content")).or_default().push(text("id"));
    }
    for (content, id) in &acknowledged {
        assert_eq!(there.get(content), Some(&vec![id.clone()]), "{content}");
    }
    assert_eq!(
        there.len(),
        list.as_array().map_or(0, Vec::len),
        "none twice"
    );
    world.ok("verify");
    (acknowledged.len(), load.refused.into_inner())
}

#[test]
fn nothing_is_lost_or_doubled_when_owners_are_killed() {
    let world = World::new();
    world.ok("store -t first -c 'there is a store'");
    let (stored, _) = under_load(&world, false, || {
        for _ in 0..20 {
            let owner = Owner::of_this_process(&world);
            std::thread::sleep(Duration::from_millis(30));
            owner.signal(Signal::KILL);
        }
    });
    assert!(stored > 20, "{stored}");
}

#[test]
fn nothing_is_lost_or_doubled_when_an_owner_is_stopped_for_a_while() {
    let world = World::new();
    world.ok("store -t first -c 'there is a store'");
    let owner = Owner::of_this_process(&world);
    let (stored, refused) = under_load(&world, true, || {
        for _ in 0..10 {
            std::thread::sleep(Duration::from_millis(30));
            owner.signal(Signal::STOP);
            std::thread::sleep(Duration::from_millis(250));
            // Readers do not need the lock.
            world.ok("list");
            owner.signal(Signal::CONT);
        }
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(stored > 20, "{stored}");
    // Under such a load the stopped process holds the lock most of the time.
    assert!(refused > 0);
}

/// A process that is killed at the end of the test, even if stopped.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Ending {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is there");
    }

    /// Stops the process, and returns after it has stopped.
    fn stop(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.0.id());
        while !std::fs::read_to_string(&stat)
            .expect("it is there")
            .contains(") T ")
        {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_writer_is_named_and_not_waited_for() {
    let world = World::with_memories();
    let mut import = world.command("import jsonl -");
    let import = import.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut import = Ending(import.spawn().expect("it starts"));
    let mut lines = import.0.stdin.take().expect("a pipe");
    for n in 0..20_000 {
        let line = format!("{{\"topic\":\"many\",\"content\":\"line {n}\"}}\n");
        lines.write_all(line.as_bytes()).expect("it reads");
    }
    drop(lines);
    let lock = std::fs::File::open(world.store().join("lock")).expect("it is there");
    let is_held = || matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    let met = (0..5_000).any(|_| {
        import.stop();
        let met = is_held();
        let _ = lock.unlock();
        if !met {
            import.signal(Signal::CONT);
            std::thread::sleep(Duration::from_millis(1));
        }
        met
    });
    assert!(met, "it writes at some time");
    let pid = import.0.id();
    let begun = Instant::now();
    let refused = world.icm("store -t a -c 'in between'");
    let refused = refused.fails(2, "the store can only be read");
    assert!(begun.elapsed() < Duration::from_secs(3), "it did not wait");
    for said in [format!("process {pid},"), format!("kill -CONT {pid}")] {
        refused.err.says(&said);
    }
    // Other writers report the stopped process, too.
    let refused = world.icm("forget --topic a --yes");
    refused.fails(2, "the store can only be read");
    world.ok("list");
    let doctor = world.icm("doctor");
    doctor.out.says("is stopped");
    import.signal(Signal::CONT);
    assert!(import.0.wait().expect("it ends").success());
    world.ok("store -t a -c 'in between'");
    world.ok("verify");
}

/// A copied or moved store contains the owner's file of the earlier place.
#[test]
fn the_owner_of_another_store_is_not_asked() {
    let world = World::with_memories();
    let owner = Owner::of(&world);
    let store = world.store();
    let copy = world.path("copy");
    let copied = Command::new("cp").arg("-a").arg(&store).arg(&copy).status();
    assert!(copied.expect("it runs").success());
    let to = |dir: &PathBuf, content: &str| {
        let dir = dir.to_str().expect("text");
        let stored = asking(&world, format!("--db '{dir}' store -t a -c '{content}'")).ok();
        was_answered(&stored, "store")
    };
    assert!(!to(&copy, "to the copy"));
    assert!(to(&store, "to the first one"));
    // A new store in the old place has an owner of its own.
    let moved = world.path("moved");
    std::fs::rename(&store, &moved).expect("it is moved");
    world.ok("store -t a -c 'a new one'");
    let second = Owner::of(&world);
    assert!(!to(&moved, "to the one that was moved"));
    assert!(to(&store, "to the new one"));
    let has = |dir: &PathBuf, content: &str| {
        let dir = dir.to_str().expect("text");
        let list = world.ok(format!("--db '{dir}' list --all"));
        list.out.contains(content)
    };
    assert!(has(&copy, "to the copy") && has(&moved, "to the one that was moved"));
    assert!(!has(&moved, "to the copy") && !has(&store, "to the one that was moved"));
    drop((owner, second));
}

#[test]
fn another_server_takes_the_role_over() {
    let world = World::with_memories();
    let first = Owner::of(&world);
    let second = Owner::maybe(&world);
    first.signal(Signal::KILL);
    second.await_role(&world);
    let stored = asking(&world, "store -t a -c 'to the second'").ok();
    assert!(was_answered(&stored, "store"), "{}", stored.err);
}

#[test]
fn the_doctor_says_who_answers() {
    let world = World::with_memories();
    let said = || {
        let checks = world.json("doctor")["checks"].clone();
        let all = checks.as_array().expect("a list").clone();
        let server = all.into_iter().find(|check| check["name"] == "server");
        let server = server.expect("it is looked at");
        let text = |name: &str| server[name].as_str().expect("a text").to_owned();
        (text("status"), text("message"))
    };
    assert!(said().1.contains("none runs"));
    let owner = Owner::of(&world);
    let process = format!("process {} ", owner.0.id());
    let (status, message) = said();
    assert!(
        status == "ok" && message.contains(&process) && message.contains("answers"),
        "{message}"
    );
    owner.signal(Signal::STOP);
    let (status, message) = said();
    assert!(
        status == "warning" && message.contains("is stopped"),
        "{message}"
    );
    let goes_on = format!("kill -CONT {}", owner.0.id());
    assert!(world.icm("doctor").out.contains(&goes_on));
    // The owner's file remains, and its process id may belong to another process by then.
    drop(owner);
    assert!(!notice(&world).is_null());
    assert!(said().1.contains("none runs"));
}

/// A foreign file in the owner's place is not written, and nobody waits for it.
#[test]
fn other_files_in_the_owners_place_are_left_alone() {
    let world = World::with_memories();
    let folder = world.store().join("sock");
    std::fs::create_dir(&folder).expect("a folder");
    let precious = world.write("precious", "precious");
    let place = folder.join("owner");
    std::os::unix::fs::symlink(&precious, &place).expect("a link");
    world.icm_with("serve", b"").ok();
    let text = std::fs::read_to_string(&precious).expect("text");
    assert_eq!(text, "precious");
    std::fs::remove_file(&precious).expect("it was there");
    world.icm_with("serve", b"").ok();
    assert!(!precious.exists());

    std::fs::remove_file(&place).expect("it was there");
    let pipe = std::process::Command::new("mkfifo").arg(&place).status();
    assert!(pipe.expect("it runs").success());
    for args in ["recall billing", "store -t a -c b", "serve"] {
        world.icm_with(args, b"").ok();
    }
    // The doctor reports the problem.
    let doctor = world.icm("doctor").ends(1);
    doctor.out.says("sock/owner");
}

#[test]
fn bytes_that_are_no_question_stop_no_owner() {
    let world = World::with_memories();
    let owner = Owner::of(&world);
    let socket = notice(&world)["socket"]
        .as_str()
        .expect("a path")
        .to_owned();
    let say = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        let mut other = stream.try_clone().expect("a second handle");
        std::thread::scope(|scope| {
            // The owner answers while it reads, and may close the connection before the end.
            scope.spawn(move || {
                let _ = other.write_all(bytes);
                let _ = other.shutdown(std::net::Shutdown::Write);
            });
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer
        })
    };
    assert!(say(b"{\n").contains("-32700"));
    assert!(say(b"\xff\xfe\n").contains("-32700"));
    assert!(say(b"[1,2]\n").contains("-32700"));
    assert!(say(b"\n\n \n").is_empty());
    let ask = |method: &str, params: &str| {
        say(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}\n"
        )
        .as_bytes())
    };
    assert!(ask("rm", "[]").contains("-32601"));
    assert!(ask("store", "[]").contains("-32602"));
    assert!(ask("store", r#"{"terms":"no","caller":{},"request":{}}"#).contains("-32602"));
    assert!(ask("log.follow", r#"{"afer":1}"#).contains("-32602"));
    assert!(ask("ping", "[]").contains("pong"));
    let hello: Value = serde_json::from_str(&ask("hello", "[]")).expect("JSON");
    assert_eq!(hello["result"]["protocol"], 1, "{hello}");
    let long = vec![b'a'; 9 << 20];
    assert!(say(&long).contains("longer than"));
    let mut state = 7_u64;
    let noise = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    });
    let noise: Vec<u8> = noise.take(1_000_000).collect();
    say(&noise);
    // A client that closes its connection early does no harm.
    drop(UnixStream::connect(&socket).expect("it listens"));
    assert!(ask("ping", "[]").contains("pong"));
    drop(owner);
}

#[test]
fn a_log_is_followed_as_it_grows() {
    let world = World::with_memories();
    let mut command: Command = world.command("log --follow -l 1 --json");
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut following = command.spawn().expect("it starts");
    let mut lines = BufReader::new(following.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("it reads");
        serde_json::from_str(&line).expect("JSON")
    };
    let newest = next()["position"].as_u64().expect("a position");
    world.ok("store -t news -c one");
    world.ok("store -t news -c two");
    let came: Vec<_> = (0..2).map(|_| next()).collect();
    let seen: Vec<_> = came.iter().map(|it| it["position"].as_u64()).collect();
    assert_eq!(seen, [Some(newest + 1), Some(newest + 2)]);
    assert_eq!(came[1]["payload"]["content"], "two");
    following.kill().expect("it runs");
    following.wait().expect("it ends");

    // The same over the owner's socket.
    let _owner = Owner::of(&world);
    let socket = notice(&world)["socket"]
        .as_str()
        .expect("a path")
        .to_owned();
    let mut stream = UnixStream::connect(socket).expect("it listens");
    let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "log.follow", "params": {"kind": "memory.stored"}});
    writeln!(stream, "{ask}").expect("it is asked");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("it reads");
        serde_json::from_str(&line).expect("JSON")
    };
    let accepted = next();
    assert_eq!(accepted["id"], 7, "{accepted}");
    world.ok("recall one");
    world.ok("store -t news -c three");
    let event = next();
    assert_eq!(event["method"], "log.event", "{event}");
    assert_eq!(event["params"]["subscription"], accepted["result"]);
    assert_eq!(event["params"]["result"]["payload"]["content"], "three");
}

/// A prompt should not wait for thousands of rows.
#[test]
fn a_change_of_thousands_is_taken_into_the_views_by_another_process() {
    let world = World::new();
    let mut lines = String::new();
    for n in 0..10_500 {
        let memory =
            json!({"topic": "big", "key": format!("k{n}"), "content": format!("fact {n}")});
        lines += &format!("{memory}\n");
    }
    let file = world.write("big.jsonl", lines);
    world
        .icm(["import", "jsonl", file.to_str().expect("text")])
        .ok();
    let views = icm_projections::version_dir(&world.store().join("views"));
    let generation = || std::fs::read_to_string(views.join("current")).unwrap_or_default();
    let before = generation();
    assert!(!before.is_empty());
    world.ok("forget -t big --yes");
    // Meanwhile other processes answer correctly, too.
    assert_eq!(world.json("stats")["memories"], 0);
    let begun = Instant::now();
    while generation() == before {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "the views stay as they were"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(world.json("stats")["memories"], 0);
    world.ok("verify");
}
