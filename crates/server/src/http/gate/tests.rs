use std::convert::Infallible;
use std::net::SocketAddr;

use axum::routing::get;
use icm_api::{AlertSetRequest, AlertsRequest, Caller};
use icm_service::{Delivery, OpenOptions};
use icm_wait::Deadline;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::http::listen;

/// A body of one frame, which ends when it is told to.
struct Held {
    frame: Option<Bytes>,
    ends: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Infallible>>> {
        match self.frame.take() {
            Some(frame) => Poll::Ready(Some(Ok(Frame::data(frame)))),
            None => self.ends.as_mut().poll(cx).map(|()| None),
        }
    }
}

/// Returns the delivery of the alert; `None` if an answer with it is under way.
fn delivery(service: &Service) -> Option<Delivery> {
    let request = AlertsRequest {
        session: Some("s1".to_owned()),
        ..AlertsRequest::default()
    };
    match service.alerts(&Caller::default(), &request) {
        Err(ServiceError::Busy { .. }) => None,
        found => found.expect("an answer").1,
    }
}

/// Waits until `look` returns a value.
async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Deadline::after(bounds::ANSWER);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(!deadline.is_over(), "it never happens");
        tokio::task::yield_now().await;
    }
}

/// Asks for a path, and returns the connection once `part` of the answer was read.
async fn ask(address: SocketAddr, path: &str, part: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(part) {
        let len = stream.read_buf(&mut read).await.expect("read");
        assert!(len > 0, "{}", String::from_utf8_lossy(&read));
    }
    stream
}

#[tokio::test]
async fn alerts_are_delivered_with_the_answer_that_shows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::open(OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: std::time::Duration::ZERO,
        read_only: false,
    });
    let service = Arc::new(service.expect("a store"));
    let alert = AlertSetRequest {
        text: "Run the tests".to_owned(),
        session: Some("s1".to_owned()),
        ..AlertSetRequest::default()
    };
    let set = service.set_alert(&Caller::default(), alert);
    set.expect("it is set");

    let (end, ends) = watch::channel(false);
    let asked = Arc::clone(&service);
    let alerts = move |request: Request| {
        let place: Option<&AlertsOfAnswer> = request.extensions().get();
        place.expect("a place").add(delivery(&asked));
        let mut ends = ends.clone();
        let body = Held {
            frame: Some("due".into()),
            ends: Box::pin(async move {
                let _ = ends.wait_for(|ends| *ends).await;
            }),
        };
        async move { Body::new(body) }
    };
    let routes = Router::new()
        .route("/alerts", get(alerts))
        .route("/other", get(async || "other"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let options = HttpOptions {
        listen: address,
        token: None,
        allow_origins: Vec::new(),
        allow_hosts: Vec::new(),
    };
    let (follow_up, under_way) = (Arc::new(FollowUp::default()), TaskTracker::new());
    let app = Gate::new(&options).expect("a gate").around(
        routes,
        Arc::clone(&service),
        Arc::clone(&follow_up),
        under_way.clone(),
    );
    let stop = CancellationToken::new();
    let serving = tokio::spawn({
        let (stop, follow_up) = (stop.clone(), Arc::clone(&follow_up));
        async move { listen::until(stop, listener, app, &under_way, &follow_up).await }
    });

    // The client of the alert goes before it has the whole answer.
    let first = ask(address, "/alerts", "due").await;
    drop(ask(address, "/other", "other").await);
    assert!(delivery(&service).is_none(), "the answer is under way");
    assert_eq!(follow_up.take_shown().len(), 0);
    drop(first);
    drop(until(|| delivery(&service)).await);

    let second = ask(address, "/alerts", "due").await;
    drop(ask(address, "/other", "other").await);
    assert_eq!(follow_up.take_shown().len(), 0);
    end.send(true).expect("it is awaited");
    let shown = until(|| Some(follow_up.take_shown()).filter(|it| !it.is_empty())).await;
    assert_eq!(shown.len(), 1);
    for delivery in shown {
        service.record_delivery(delivery).expect("it is recorded");
    }
    drop(second);
    assert!(delivery(&service).is_none(), "it was shown");
    stop.cancel();
    serving.await.expect("no panic");
}

#[test]
fn pages_of_other_ports_and_hosts_get_nothing_even_with_the_cookie() {
    let options = HttpOptions {
        listen: ([127, 0, 0, 1], 7000).into(),
        token: None,
        allow_origins: Vec::new(),
        allow_hosts: Vec::new(),
    };
    let gate = Gate::new(&options).expect("a gate");
    let visits = Arc::new(Visits::new().expect("random numbers"));
    let for_a_browser = gate.clone().for_a_browser(visits);
    for (origin, to_a_program, to_a_browser) in [
        ("http://127.0.0.1:7000", true, true),
        ("http://127.0.0.1:7001", true, false),
        ("http://localhost:7000", true, false),
        ("https://127.0.0.1:7000", false, false),
        ("http://127.0.0.1:7000/", false, false),
        ("null", false, false),
        ("http://example.org", false, false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("127.0.0.1:7000"));
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        let admits = |gate: &Gate| gate.admit(&Uri::from_static("/"), &headers).is_ok();
        let found = (admits(&gate), admits(&for_a_browser));
        assert_eq!(found, (to_a_program, to_a_browser), "{origin}");
        headers.append(ORIGIN, HeaderValue::from_static("http://127.0.0.1:7000"));
        let twice = gate.admit(&Uri::from_static("/"), &headers);
        assert!(twice.is_err(), "{origin}");
    }
}
