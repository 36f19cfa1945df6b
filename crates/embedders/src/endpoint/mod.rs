//! An embedder that asks a server with OpenAI's `/v1/embeddings`: Ollama, LM Studio, vLLM, OpenAI and others.

#[cfg(test)]
mod tests;
mod wire;

use icm_vectors::MAX_DIM;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use icm_vectors::embed::{EmbedError, Embedder};
use icm_wait::bounds;
use ureq::Agent;

use crate::onnx::plain_name;
use crate::unit::{is_blank, unit};
use wire::Trouble;

/// Texts in a request. Raised, there are fewer requests, and more servers refuse them.
const BATCH_TEXTS: usize = 64;
/// Bytes of text in a request, unless a single text is longer. Raised, there are fewer requests, and more servers
/// refuse them.
const BATCH_BYTES: usize = 256 * 1024;
/// A refused text is halved while each half has at least this many bytes. Raised, more texts get a zero vector.
const HALVED_BYTES_MIN: usize = 64;
/// A text that every server accepts.
const PLAIN_TEXT: &str = "a text";
/// Retries after a refused connection, 429 or 5xx. Raised, a request to a server that is down takes longer.
const TRIES_AGAIN: usize = 3;
/// First pause before a request is made again, 250 ms; the next pauses double. Raised, a server that restarts is given
/// more time; lowered, one that is overloaded is asked more.
const PAUSE_MIN: Duration = Duration::from_millis(250);
/// Longest wait for the vector of a question in all, 3 s, whatever the timeout. Raised, a recall beside a slow server
/// takes longer to fall back to words; lowered, more recalls do.
const QUERY_MAX: Duration = Duration::from_secs(3);

/// The settings of an embedder on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// URL of the server, with or without `/v1`.
    pub url: String,
    /// Name of the model on the server.
    pub model: String,
    /// Environment variable that holds the key; without it no key is sent.
    pub key_env: Option<String>,
    /// Numbers in a vector; if unknown, [`EndpointEmbedder::probe`] asks the server.
    pub dim: Option<usize>,
    /// Longest time of one request.
    pub timeout: Duration,
}

/// An embedder that gets its vectors from a server.
///
/// A text that the server refuses is halved until the server accepts it; if it never does, its vector is zeros. Blank
/// texts are not sent. After a temporary failure (no connection, 429, 5xx) the request is repeated for a few seconds;
/// for a question the limit is three seconds in all.
pub struct EndpointEmbedder {
    wire: wire::Wire,
    id: String,
    dim: usize,
    timeout: Duration,
    pause_min: Duration,
}

impl EndpointEmbedder {
    /// Makes the embedder without asking the server.
    ///
    /// # Errors
    /// An invalid URL, an unset variable of the key, or an unknown dimension.
    pub fn new(endpoint: &Endpoint) -> Result<EndpointEmbedder, EmbedError> {
        let wire = wire::Wire::new(endpoint)?;
        let Some(dim) = endpoint.dim.filter(|dim| *dim > 0) else {
            return Err(wire.unavailable(
                "nobody said how many numbers its vectors have".into(),
                "`icm model use endpoint` asks the server and writes `embedding.dim`",
            ));
        };
        Ok(EndpointEmbedder {
            id: id(&wire.url, &endpoint.model, dim),
            wire,
            dim,
            timeout: endpoint.timeout,
            pause_min: PAUSE_MIN,
        })
    }

    /// Embeds one short text to check the server, and returns the dimension of its vectors.
    ///
    /// # Errors
    /// The server does not answer, or not as it should.
    pub fn probe(endpoint: &Endpoint) -> Result<usize, EmbedError> {
        let wire = wire::Wire::new(endpoint)?;
        let agent = wire::agent(endpoint.timeout, &wire.url);
        let found = wire
            .ask(&agent, &[PLAIN_TEXT])
            .map_err(|t| wire.explained(t))?;
        let dim = found[0].len();
        match endpoint.dim {
            _ if dim == 0 => Err(wire.explained(Trouble::Wrong("an empty vector".into()))),
            _ if dim > MAX_DIM => Err(wire.explained(Trouble::Wrong(format!(
                "vectors of {dim} numbers, more than {MAX_DIM}"
            )))),
            Some(said) if said != dim => Err(wire.other_dim(dim, said)),
            _ => Ok(dim),
        }
    }

    /// Returns the vectors of texts that are not blank, in order.
    fn batch(&self, texts: &[&str], asks: &Asks<'_>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let answer = asks.ask(&self.wire, texts);
        match answer {
            Ok(vectors) => vectors.into_iter().map(|v| self.checked(v)).collect(),
            // The server does not say which text it refuses.
            Err(Trouble::Refused { .. }) if texts.len() > 1 => {
                let mut vectors = Vec::with_capacity(texts.len());
                for text in texts {
                    vectors.append(&mut self.batch(&[text], asks)?);
                }
                Ok(vectors)
            }
            Err(Trouble::Refused { .. }) if texts[0].len() >= 2 * HALVED_BYTES_MIN => {
                let text = texts[0];
                self.batch(&[&text[..text.floor_char_boundary(text.len() / 2)]], asks)
            }
            // The text is too short to be refused for its length. If the server accepts another text, this text gets
            // zeros; otherwise embedding the rest would never end.
            Err(Trouble::Refused {
                status: 400 | 413 | 422,
                ..
            }) if asks.ask(&self.wire, &[PLAIN_TEXT]).is_ok() => Ok(vec![vec![0.0; self.dim]]),
            Err(trouble) => Err(self.wire.explained(trouble)),
        }
    }

    fn checked(&self, vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
        if vector.len() != self.dim {
            return Err(self.wire.other_dim(vector.len(), self.dim));
        }
        let wrong = |why: &str| self.wire.explained(Trouble::Wrong(why.to_owned()));
        let vector = unit(vector).ok_or_else(|| wrong("a number that is not finite"))?;
        // The texts sent are not blank, so their vectors are not zeros.
        match vector.iter().all(|x| *x == 0.0) {
            true => Err(wrong("a vector of zeros")),
            false => Ok(vector),
        }
    }
}

/// The client, and the rules for repeating a request.
struct Asks<'a> {
    agent: &'a Agent,
    backoff: ExponentialBuilder,
    /// No request is made after this moment.
    until: Option<Instant>,
}

impl Asks<'_> {
    fn ask(&self, wire: &wire::Wire, texts: &[&str]) -> Result<Vec<Vec<f32>>, Trouble> {
        let mut pauses = self.backoff.build();
        loop {
            let answer = match self.left() {
                Some(Duration::ZERO) => Err(Trouble::Slow),
                Some(left) => wire.ask_within(self.agent, texts, left),
                None => wire.ask(self.agent, texts),
            };
            let trouble = match answer {
                Err(trouble) if trouble.may_pass() => trouble,
                ended => return ended,
            };
            let Some(pause) = pauses.next() else {
                return Err(trouble);
            };
            // The server may name the pause.
            let pause =
                (trouble.retry_after()).map_or(pause, |asked| asked.clamp(pause, bounds::PROCESS));
            if self.left().is_some_and(|left| left <= pause) {
                return Err(trouble);
            }
            icm_wait::pause(pause);
        }
    }

    fn left(&self) -> Option<Duration> {
        self.until
            .map(|until| until.saturating_duration_since(Instant::now()))
    }
}

impl Embedder for EndpointEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn is_near(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = vec![vec![0.0; self.dim]; texts.len()];
        let places: Vec<usize> = (0..texts.len())
            .filter(|at| !is_blank(texts[*at]))
            .collect();
        let agent = wire::agent(self.timeout, &self.wire.url);
        let asks = Asks {
            agent: &agent,
            backoff: ExponentialBuilder::default()
                .with_min_delay(self.pause_min)
                .with_max_delay(bounds::PROCESS)
                .with_max_times(TRIES_AGAIN),
            until: None,
        };
        let mut rest = places.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest.iter().take(BATCH_TEXTS).take_while(|at| {
                bytes += texts[**at].len();
                bytes <= BATCH_BYTES
            });
            let (now, later) = rest.split_at(fit.count().max(1));
            let batch: Vec<&str> = now.iter().map(|at| texts[*at]).collect();
            for (at, vector) in now.iter().zip(self.batch(&batch, &asks)?) {
                vectors[*at] = vector;
            }
            rest = later;
        }
        Ok(vectors)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        if is_blank(query) {
            return Ok(vec![0.0; self.dim]);
        }
        let most = self.timeout.min(QUERY_MAX);
        let agent = wire::agent(most, &self.wire.url);
        let asks = Asks {
            agent: &agent,
            backoff: ExponentialBuilder::default()
                .with_min_delay(self.pause_min)
                .with_max_delay(self.pause_min)
                .with_max_times(1),
            until: Some(Instant::now() + most),
        };
        let mut vectors = self.batch(&[query], &asks)?;
        Ok(vectors.swap_remove(0))
    }
}

/// Returns the id of the embedder, which is also a file name. The URL is part of it, because two servers may give
/// different models the same name.
fn id(url: &str, model: &str, dim: usize) -> String {
    let hash = blake3::derive_key(
        "icm embedder of an endpoint, 1",
        format!("{url}\n{model}\n{dim}").as_bytes(),
    );
    let hash = blake3::Hash::from_bytes(hash).to_hex();
    format!("endpoint-{}-{}", plain_name(model), &hash[..16])
}
