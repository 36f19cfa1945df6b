//! One request to the server, and its answer.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use icm_vectors::embed::EmbedError;
use serde::Deserialize;
use ureq::Agent;

use super::Endpoint;
use crate::onnx::one_line;

/// Longest answer read, in bytes: 64 vectors of 65,536 numbers as text. Raised, a server can take more memory.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The address, the model and the key of requests.
pub(super) struct Wire {
    /// The URL, with `/embeddings` at its end.
    pub(super) url: String,
    model: String,
    key_env: Option<String>,
    key: Option<Key>,
}

/// A key; `Debug` does not show it.
struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The reason why a request has no usable answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No connection, or the connection ended.
    Down(String),
    /// The request took too long.
    Slow,
    /// 401 or 403.
    NotAllowed,
    /// 404.
    NotThere(String),
    /// 429 or 5xx.
    Busy {
        status: u16,
        said: String,
        retry_after: Option<Duration>,
    },
    /// Any other status: the server does not accept the request.
    Refused { status: u16, said: String },
    /// An answer of another form.
    Wrong(String),
}

impl Trouble {
    /// Returns `true` if the trouble may be over a moment later. A server that was too slow is not asked again.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Trouble::Down(_) | Trouble::Busy { .. })
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Trouble::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Wire {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Wire, EmbedError> {
        let mut wire = Wire {
            url: String::new(),
            model: endpoint.model.clone(),
            key_env: endpoint.key_env.clone(),
            key: None,
        };
        wire.url = full_url(&endpoint.url).map_err(|why| {
            let hint = "`embedding.url` is for instance \"http://localhost:11434\"";
            wire.unavailable(why, hint)
        })?;
        if endpoint.model.is_empty() {
            let hint = "`embedding.endpoint_model` is what the server calls it";
            return Err(wire.unavailable("it has no name".into(), hint));
        }
        if let Some(name) = &endpoint.key_env {
            let key = std::env::var(name).unwrap_or_default();
            if key.trim().is_empty() || key.trim().chars().any(char::is_control) {
                let why = format!("the environment variable {name} holds no key");
                let hint =
                    format!("set {name}, or take `embedding.key_env` out of the config file");
                return Err(wire.unavailable(why, &hint));
            }
            wire.key = Some(Key(key.trim().to_owned()));
        }
        Ok(wire)
    }

    /// Returns one vector for each text, of any dimension, in the order of the texts.
    pub(super) fn ask(&self, agent: &Agent, texts: &[&str]) -> Result<Vec<Vec<f32>>, Trouble> {
        self.send(agent.post(&self.url), texts)
    }

    /// Asks as [`ask`](Self::ask) does, within the time `most`.
    pub(super) fn ask_within(
        &self,
        agent: &Agent,
        texts: &[&str],
        most: Duration,
    ) -> Result<Vec<Vec<f32>>, Trouble> {
        let request = agent.post(&self.url);
        self.send(request.config().timeout_global(Some(most)).build(), texts)
    }

    fn send(
        &self,
        mut request: ureq::RequestBuilder<ureq::typestate::WithBody>,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, Trouble> {
        if let Some(Key(key)) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = serde_json::json!({ "model": self.model, "input": texts });
        let mut response = request.send_json(body).map_err(|e| trouble(&e))?;
        let status = response.status().as_u16();
        let retry_after = (response.headers().get("retry-after"))
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        let body = body.read_to_vec();
        if status != 200 {
            let said = self.said(&body.unwrap_or_default());
            return Err(match status {
                401 | 403 => Trouble::NotAllowed,
                404 => Trouble::NotThere(said),
                408 | 429 | 500.. => Trouble::Busy {
                    status,
                    said,
                    retry_after,
                },
                _ => Trouble::Refused { status, said },
            });
        }
        let body = body.map_err(|e| trouble(&e))?;
        sorted(&body, texts.len()).map_err(Trouble::Wrong)
    }

    /// Returns the server's message about an error, short and without the key.
    fn said(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let error = &json["error"];
        let message = [&error["message"], error, &json["message"], &json["detail"]];
        let message = message
            .iter()
            .find_map(|value| value.as_str())
            .unwrap_or(&text);
        let message = match &self.key {
            Some(Key(key)) => message.replace(key.as_str(), "…"),
            None => message.to_owned(),
        };
        one_line(&message)
    }

    pub(super) fn unavailable(&self, why: String, hint: &str) -> EmbedError {
        EmbedError::Unavailable {
            model: self.model.clone(),
            why,
            hint: Some(hint.to_owned()),
        }
    }

    pub(super) fn other_dim(&self, found: usize, wanted: usize) -> EmbedError {
        self.unavailable(
            format!(
                "{} gives vectors of {found} numbers, not of {wanted}",
                self.url
            ),
            "take `embedding.dim` out of the config file and run `icm model use endpoint`",
        )
    }

    pub(super) fn explained(&self, trouble: Trouble) -> EmbedError {
        let url = &self.url;
        let with = |what: String, said: &str| match said {
            "" => what,
            _ => format!("{what}: {said}"),
        };
        let (why, hint) = match trouble {
            Trouble::Down(why) => (
                format!("{url} does not answer: {why}"),
                "start the server, or mend `embedding.url`".to_owned(),
            ),
            Trouble::Slow => (
                format!("{url} took too long"),
                "see what the server does, or raise `embedding.timeout_s`; a question waits for 3 seconds at most"
                    .to_owned(),
            ),
            Trouble::NotAllowed => (
                format!("{url} does not let us in"),
                match &self.key_env {
                    Some(name) => format!("see whether {name} holds a key that is valid there"),
                    None => "name the environment variable that holds a key in `embedding.key_env`"
                        .to_owned(),
                },
            ),
            Trouble::NotThere(said) => (
                with(
                    format!("{url} does not know it, or serves no embeddings"),
                    &said,
                ),
                "see `embedding.endpoint_model` and `embedding.url`; some servers have to be told \
                 to fetch a model first"
                    .to_owned(),
            ),
            Trouble::Busy { status, said, .. } => (
                with(format!("{url} is out of order ({status})"), &said),
                "try again later, or see what the server says".to_owned(),
            ),
            Trouble::Refused { status, said } => (
                with(format!("{url} refuses the request ({status})"), &said),
                "see whether `embedding.url` is that of an embeddings server, and \
                 `embedding.endpoint_model` an embedding model"
                    .to_owned(),
            ),
            Trouble::Wrong(what) => (
                format!("{url} answers with {what}"),
                "see whether `embedding.url` is that of an embeddings server".to_owned(),
            ),
        };
        self.unavailable(why, &hint)
    }
}

/// Returns a client whose requests take at most `timeout`.
pub(super) fn agent(timeout: Duration, url: &str) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        // A redirect could carry the key to another server.
        .max_redirects(0)
        .user_agent(concat!("icm/", env!("CARGO_PKG_VERSION")));
    if is_local(url) {
        config = config.proxy(None);
    }
    config.build().into()
}

fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
}

/// Returns the URL of embeddings below a base URL with or without `/v1`.
fn full_url(url: &str) -> Result<String, String> {
    let url = url.trim().trim_end_matches('/');
    let rest = (url.strip_prefix("http://")).or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else {
        return Err(format!("`{url}` is no http address"));
    };
    let host = rest.split('/').next().unwrap_or_default();
    // Every error would show the password.
    if host.contains('@') {
        return Err("its address holds a name or password".to_owned());
    }
    let port = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    let port = port.rsplit_once(':').map(|(_, port)| port);
    let brackets = host.starts_with('[') == host.contains(']');
    if !brackets || port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Err(format!(
            "`{}` has no host and port of the kind host:11434",
            one_line(url)
        ));
    }
    if url.contains(|c: char| c.is_whitespace() || c.is_control() || "?#".contains(c)) {
        return Err(format!("`{}` is no base address", one_line(url)));
    }
    Ok(if url.ends_with("/embeddings") {
        url.to_owned()
    } else if url.ends_with("/v1") {
        format!("{url}/embeddings")
    } else {
        format!("{url}/v1/embeddings")
    })
}

fn trouble(error: &ureq::Error) -> Trouble {
    match error {
        ureq::Error::Timeout(_) => Trouble::Slow,
        ureq::Error::Io(io) if io.kind() == io::ErrorKind::TimedOut => Trouble::Slow,
        ureq::Error::BodyExceedsLimit(_) => Trouble::Wrong("far more than was asked for".into()),
        ureq::Error::Io(io) => Trouble::Down(one_line(&innermost(io))),
        other => Trouble::Down(one_line(&other.to_string())),
    }
}

fn innermost(error: &io::Error) -> String {
    let mut error: &dyn Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Returns the vectors of an answer, sorted by their indexes.
fn sorted(body: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|e| {
        format!(
            "something else than embeddings ({})",
            one_line(&e.to_string())
        )
    })?;
    let found = answer.data.len();
    if found != wanted {
        return Err(format!("{found} vectors for {wanted} texts"));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; wanted];
    for (at, item) in answer.data.into_iter().enumerate() {
        let at = item.index.unwrap_or(at);
        match vectors.get_mut(at) {
            Some(place @ None) => *place = Some(item.embedding),
            _ => return Err(format!("index {at} twice, or beyond the texts")),
        }
    }
    vectors
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "vectors for some of the texts only".to_owned())
}
