//! The server side of the owner: becomes the owner, takes over from one that died, and answers other processes.

use std::collections::HashMap;
use std::io;
use std::io::ErrorKind::{ConnectionAborted, ConnectionReset};
use std::net::Shutdown;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use jsonrpsee::core::server::{Methods, RpcModule};
use jsonrpsee::types::{ErrorObjectOwned, Params as RpcParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::PROTOCOL;
use super::conversation::{NEWS_MAX, converse};
use super::election::Claim;
use super::mutex::locked;
use super::queue::Queue;
use super::socket::{Listener, Stream, passes, taken};
use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, LogEntry, LogRequest, RecallRequest, Receipt};
use icm_service::peer::PeerParams;
use icm_service::{Service, Write};
use icm_wait::bounds;

/// Connections at the same time; others wait. Raised, an owner may run out of descriptors and threads.
const CONNECTIONS_MAX: usize = 256;
/// Subscriptions at the same time, of all connections; each has a thread. Raised, an owner has more threads.
const SUBSCRIPTIONS_MAX: usize = 64;

const NOT_DONE: i32 = -32001;
const OTHER_SETTINGS: i32 = -32002;

/// The state shared by the methods.
struct Host {
    service: Arc<Service>,
    queue: Queue,
    settings_digest: String,
    /// Permits for subscriptions.
    subscriptions: Arc<Semaphore>,
    /// Called after an answer that leaves work.
    answered: Answered,
}

type Answered = Arc<dyn Fn() + Send + Sync>;

/// Keeps this process ready: it becomes the owner whenever no other process is. The future must be dropped to end that.
/// `answered` is called after each answer that leaves work.
pub(crate) async fn keep(service: Arc<Service>, answered: impl Fn() + Send + Sync + 'static) {
    if let Some(kind) = service.network_disk() {
        tracing::warn!(
            "the store is on a network disk ({kind}): no process can answer there for others, each does its \
             work itself, and locks may not hold"
        );
        return;
    }
    let answered: Answered = Arc::new(answered);
    let mut claim = None;
    let mut warned = false;
    loop {
        let begun = match claimed(&service, claim.take()) {
            Ok(Some((listener, claim))) => {
                host(&service, &answered).map(|it| (listener, claim, it))
            }
            Ok(None) if service.is_there() => {
                claim = role(service.dir()).await;
                continue;
            }
            // Usually there is no store yet. This process may create it, and then others ask at once.
            Ok(None) => {
                let written = service.written().notified();
                let _ = tokio::time::timeout(bounds::MOMENT, written).await;
                continue;
            }
            Err(error) => Err(error),
        };
        match begun {
            Ok((listener, _claim, methods)) => listen(listener, &methods).await,
            Err(error) if !passes(&error) => {
                return tracing::warn!("no other process is answered here: {error}");
            }
            Err(error) => {
                if !std::mem::replace(&mut warned, true) {
                    tracing::warn!("no other process is answered here for now: {error}");
                }
                icm_wait::pause_async(bounds::MOMENT).await;
            }
        }
    }
}

/// Returns the methods that others can call.
fn host(service: &Arc<Service>, answered: &Answered) -> io::Result<Methods> {
    let host = Host::new(service, Arc::clone(answered))?;
    module(host).map(Methods::from).map_err(io::Error::other)
}

/// Waits for the role of the owner; returns `None` after a while if no thread can wait for it.
async fn role(store: &Path) -> Option<Claim> {
    let store = store.to_owned();
    let (free, freed) = oneshot::channel();
    // The thread waits as long as the other owner lives, so it is never joined.
    let waiting = thread::Builder::new().spawn(move || {
        if let Ok(claim) = Claim::wait(&store) {
            let _ = free.send(claim);
        }
    });
    let claim = match waiting {
        Ok(_) => freed.await.ok(),
        Err(_) => None,
    };
    if claim.is_none() {
        icm_wait::pause_async(bounds::MOMENT).await;
    }
    claim
}

/// Answers one process on this stream, for a fuzzer.
#[cfg(all(unix, fuzzing))]
pub async fn fuzzed(service: Arc<Service>, stream: tokio::net::UnixStream) {
    let Ok(stream) = stream.into_std() else {
        return;
    };
    if stream.set_nonblocking(false).is_ok()
        && let Ok(host) = Host::new(&service, Arc::new(|| {}))
        && let Ok(module) = module(host)
    {
        let (stream, runtime) = (Arc::new(stream), Handle::current());
        let conversation =
            thread::spawn(move || converse(&stream, &Methods::from(module), &runtime));
        let _ = tokio::task::spawn_blocking(|| conversation.join()).await;
    }
}

/// Takes the role, unless `claim` has it already, and listens. `None` if another process has the role, or if there is
/// no store.
fn claimed(service: &Service, claim: Option<Claim>) -> io::Result<Option<(Listener, Claim)>> {
    let store = service.dir();
    // Taking the role must not create a store.
    if !service.is_there() {
        return Ok(None);
    }
    let claim = match claim {
        Some(claim) => Some(claim),
        None => Claim::take(store)?,
    };
    let Some(mut claim) = claim else {
        return Ok(None);
    };
    Ok(Some((claim.listen(store)?, claim)))
}

/// The open connections, by their numbers.
type Streams = Arc<Mutex<HashMap<u64, Arc<Stream>>>>;

/// The entry of an open connection, removed when its thread ends or panics.
struct Open {
    streams: Streams,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Open {
    fn drop(&mut self) {
        locked(&self.streams).remove(&self.number);
    }
}

/// Closes all connections for reading when dropped. Requests already read are answered while the process lives. A
/// client without an answer does its command itself; the log recognises a command that was done.
struct ClosesConnections(Streams);

impl Drop for ClosesConnections {
    fn drop(&mut self) {
        for stream in locked(&self.0).values() {
            let _ = stream.shutdown(Shutdown::Read);
        }
    }
}

async fn listen(listener: Listener, methods: &Methods) {
    // A process that no longer listens also stops answering.
    let streams = Streams::default();
    let _closes = ClosesConnections(Arc::clone(&streams));
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    for number in 0.. {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let accepted = match listener
            .accept()
            .await
            .and_then(|(stream, _)| taken(stream))
        {
            Ok(None) => {
                tracing::warn!("another user's process was not answered");
                continue;
            }
            Ok(Some(stream)) => Ok(stream),
            // The client has hung up before it was accepted.
            Err(error) if matches!(error.kind(), ConnectionReset | ConnectionAborted) => continue,
            Err(error) => Err(error),
        };
        // Each connection has a thread, so that a request is answered without a switch of threads.
        let answering = accepted.and_then(|stream| {
            stream.set_nonblocking(false)?;
            // The longest time that a client may not read its answer.
            stream.set_write_timeout(Some(bounds::PROCESS))?;
            let stream = Arc::new(stream);
            locked(&streams).insert(number, Arc::clone(&stream));
            let open = Open {
                streams: Arc::clone(&streams),
                number,
                _permit: permit,
            };
            let (methods, runtime) = (methods.clone(), Handle::current());
            let thread = thread::Builder::new().name("icm-answers".into());
            thread.spawn(move || {
                let _open = open;
                converse(&stream, &methods, &runtime);
            })
        });
        if let Err(error) = answering {
            // Usually there are no descriptors left, which passes.
            tracing::debug!(%error, "a process could not be answered");
            icm_wait::pause_async(bounds::LOOK_EVERY).await;
        }
    }
}

/// Returns all methods that can be called.
fn module(
    host: Host,
) -> std::result::Result<RpcModule<Host>, jsonrpsee::core::RegisterMethodError> {
    let mut module = RpcModule::new(host);
    module.register_method("ping", |_, _, _| "pong")?;
    module.register_method("hello", |_, host, _| {
        json!({
            "protocol": PROTOCOL,
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "terms": host.settings_digest,
        })
    })?;
    module.register_method("grown", |_, host, _| {
        (host.answered)();
        true
    })?;
    // Each connection has a thread of its own, so a method may block.
    module.register_method("store", |params, host, _| host.write(&params, Write::Store))?;
    module.register_method("update", |params, host, _| {
        host.write(&params, Write::Update)
    })?;
    module.register_method("recall", |params, host, _| {
        host.read(&params, |service, caller, request: RecallRequest| {
            service.recall_for_peer(caller, &request)
        })
    })?;
    module.register_subscription(
        "log.follow",
        "log.event",
        "log.unfollow",
        |params, pending, host, _| async move {
            let (after, request) = match followed(&params) {
                Ok(asked) => asked,
                Err(error) => return pending.reject(error).await,
            };
            let service = Arc::clone(&host.service);
            let wanted = request.clone();
            let checked = tokio::task::spawn_blocking(move || service.check_log(&wanted)).await;
            if let Ok(Err(error)) = checked {
                return pending.reject(not_done(error.to_string())).await;
            }
            let Ok(_permit) = Arc::clone(&host.subscriptions).try_acquire_owned() else {
                let why = format!("{SUBSCRIPTIONS_MAX} subscriptions are the most at once");
                return pending.reject(not_done(why)).await;
            };
            let Ok(sink) = pending.accept().await else {
                return;
            };
            let (news, mut waiting) = mpsc::channel::<LogEntry>(NEWS_MAX);
            let service = Arc::clone(&host.service);
            let following = tokio::task::spawn_blocking(move || {
                let heard = || !news.is_closed();
                let pass = &mut |entry| news.blocking_send(entry).is_ok();
                if let Err(error) = service.follow_log(&request, after, &heard, pass) {
                    tracing::debug!(%error, "the log is no longer followed");
                }
            });
            loop {
                let entry = tokio::select! {
                    entry = waiting.recv() => entry,
                    () = sink.closed() => None,
                };
                let Some(entry) = entry else {
                    break;
                };
                let Ok(message) = serde_json::value::to_raw_value(&entry) else {
                    break;
                };
                if sink.send(message).await.is_err() {
                    break;
                }
            }
            drop(waiting);
            let _ = following.await;
        },
    )?;
    Ok(module)
}

/// Parses the params of a subscription, `{"after": POSITION, "kind": "memory"}`; all fields are optional.
fn followed(
    params: &RpcParams<'_>,
) -> std::result::Result<(Option<u64>, LogRequest), ErrorObjectOwned> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct FollowParams {
        after: Option<u64>,
        kind: Option<String>,
        topic: Option<String>,
        actor: Option<String>,
        session: Option<String>,
    }
    if params.as_str().is_none_or(|text| text.trim() == "[]") {
        return Ok((None, LogRequest::default()));
    }
    let asked: FollowParams = params.parse()?;
    let request = LogRequest {
        kind: asked.kind,
        topic: asked.topic,
        actor: asked.actor,
        session: asked.session,
        ..LogRequest::default()
    };
    Ok((asked.after, request))
}

impl Host {
    fn new(service: &Arc<Service>, answered: Answered) -> io::Result<Host> {
        let queue = Queue::new(Arc::clone(service))?;
        service.queue_own_writes(queue.own_queue());
        Ok(Host {
            service: Arc::clone(service),
            queue,
            settings_digest: service.settings_digest(),
            subscriptions: Arc::new(Semaphore::new(SUBSCRIPTIONS_MAX)),
            answered,
        })
    }

    /// Answers a query. The client need not know the error: without an answer it does the work itself, and meets the
    /// error there.
    fn read<Q: DeserializeOwned, A: Serialize + Clone>(
        &self,
        params: &RpcParams<'_>,
        run: impl FnOnce(&Service, &Caller, Q) -> Result<A>,
    ) -> std::result::Result<A, ErrorObjectOwned> {
        let asked = self.asked(params)?;
        let done = run(&self.service, &asked.caller, asked.request);
        if self.service.damage().is_some() {
            let error = ServiceError::Damaged {
                what: "ask the log itself".to_owned(),
            };
            return Err(not_done(error.to_string()));
        }
        let answer = done.map_err(|error| not_done(error.to_string()))?;
        (self.answered)();
        Ok(answer)
    }

    /// Does a write; errors are as in [`Host::read`].
    fn write<Q: DeserializeOwned>(
        &self,
        params: &RpcParams<'_>,
        wrap: fn(Q) -> Write,
    ) -> std::result::Result<Receipt, ErrorObjectOwned> {
        let asked = self.asked(params)?;
        let attempt = asked.attempt();
        let write = wrap(asked.request);
        let receipt = self.queue.write(asked.caller, write, attempt);
        let receipt = receipt.map_err(|error| not_done(error.to_string()))?;
        (self.answered)();
        Ok(receipt)
    }

    /// Parses the params, and refuses a client with other settings or another version.
    fn asked<Q: DeserializeOwned>(
        &self,
        params: &RpcParams<'_>,
    ) -> std::result::Result<PeerParams<Q>, ErrorObjectOwned> {
        let asked: PeerParams<Q> = params.parse()?;
        if asked.settings_digest == self.settings_digest {
            return Ok(asked);
        }
        let why = "the owner of the store has other settings, or is another version";
        Err(ErrorObjectOwned::owned(OTHER_SETTINGS, why, None::<()>))
    }
}

fn not_done(why: String) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(NOT_DONE, why, None::<()>)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicU64, Ordering};

    use icm_api::{LinkRequest, StoreRequest, UpdateRequest};
    use icm_log::disk::RealDisk;
    use icm_log::env::Env;
    use icm_service::{Ground, OpenOptions};

    use super::*;
    use crate::owner::{AskOwner, peer};

    /// An environment without chance: its numbers follow one another.
    #[derive(Default)]
    struct Counting(AtomicU64);

    impl Env for Counting {
        fn now_ms(&self) -> u64 {
            1_700_000_000_000
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.fetch_add(1, Ordering::Relaxed) as u8;
            }
        }

        fn machine_id(&self) -> Option<String> {
            None
        }
    }

    fn service(store: &Path, env: &Arc<Counting>) -> Service {
        let options = OpenOptions {
            dir: store.to_owned(),
            lock_wait: bounds::PROCESS,
            read_only: false,
        };
        let ground = Ground {
            disk: Arc::new(RealDisk),
            env: Arc::clone(env) as Arc<dyn Env>,
            ..Ground::system()
        };
        Service::open_on(options, ground).expect("it opens")
    }

    fn store(service: &Service, content: &str) -> Receipt {
        let request = StoreRequest::new("t", content);
        let stored = service.store(&Caller::default(), request);
        stored.expect("it stores")
    }

    /// Adds the bytes of all files of the log, by their paths.
    fn bytes(folder: &Path, found: &mut Vec<(std::path::PathBuf, Vec<u8>)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => bytes(&path, found),
                false => found.push((path.clone(), fs::read(&path).expect("a file"))),
            }
        }
    }

    /// Runs the same commands in a new store with and without an owner. Returns the log, and the number of requests
    /// that the owner answered.
    async fn done(has_owner: bool, is_own: bool) -> (Vec<(std::path::PathBuf, Vec<u8>)>, u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        let env = Arc::new(Counting::default());
        store(&service(&path, &env), "there is a store");
        let owner = Arc::new(service(&path, &env));
        let answers = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&answers);
        let host = Host::new(
            &owner,
            Arc::new(move || _ = counted.fetch_add(1, Ordering::Relaxed)),
        );
        let methods = Methods::from(module(host.expect("a thread")).expect("names of their own"));
        let mut claim = Claim::take(&path).expect("it can be").expect("it is free");
        let listener = claim.listen(&path).expect("it listens");
        // The notice names another process, because a process does not ask itself.
        let notice = path.join("sock/owner");
        let said = fs::read_to_string(&notice).expect("it is there");
        let own = format!("\"pid\":{}", std::process::id());
        fs::write(&notice, said.replace(&own, "\"pid\":1")).expect("it is written");
        let listening = tokio::spawn(async move { listen(listener, &methods).await });
        let asks = match has_owner {
            true => AskOwner::All,
            false => AskOwner::Nothing,
        };
        let asking = service(&path, &env).asking(peer(&path, asks));
        env.0.store(99, Ordering::Relaxed);
        let working = tokio::task::spawn_blocking(move || {
            let asking = if is_own { &*owner } else { &asking };
            let first = store(asking, "one way or the other");
            let update = UpdateRequest {
                id: first.id,
                content: Some("changed one way or the other".to_owned()),
                ..UpdateRequest::default()
            };
            let updated = asking.update(&Caller::default(), update);
            updated.expect("it changes");
            store(asking, "a third text about something else");
            // A text counts again if its memory is superseded.
            let old = store(asking, "the port is 8080");
            let new = store(asking, "the port is 9090");
            let link = LinkRequest {
                from: new.id,
                to: old.id.clone(),
                relation: "supersedes".to_owned(),
                ..LinkRequest::default()
            };
            let linked = asking.link(&Caller::default(), &link);
            linked.expect("it links");
            let back = store(asking, "the port is 8080");
            assert_ne!(back.id, old.id);
        });
        working.await.expect("it works");
        listening.abort();
        let mut found = Vec::new();
        bytes(&path.join("log"), &mut found);
        for (path, _) in &mut found {
            *path = path
                .strip_prefix(folder.path())
                .expect("below it")
                .to_owned();
        }
        found.sort();
        (found, answers.load(Ordering::Relaxed))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_log_has_the_same_bytes_whether_there_is_an_owner() {
        let (alone, none) = done(false, false).await;
        let (asked, answers) = done(true, false).await;
        let (own, _) = done(false, true).await;
        assert_eq!((none, answers), (0, 6));
        assert!(
            alone.iter().any(|(_, bytes)| bytes.len() > 500),
            "{alone:?}"
        );
        assert!(alone == asked, "the owner wrote other bytes");
        assert!(alone == own, "the owner's own process wrote other bytes");
    }
}
