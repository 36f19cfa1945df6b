//! Lets one browser in: the key in the address is spent by its first use, and a strict cookie stands for it afterwards.

use std::net::SocketAddr;
use std::sync::Mutex;

use axum::http::header::{COOKIE, HOST, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;

use super::refusal::{escaped, page};
use icm_api::error::{Result, ServiceError};

/// Random bytes of a key and of a cookie.
const RANDOM_LEN: usize = 32;

/// The parameter of the address with the key.
const KEY: &str = "key";

/// The key in the address, and the cookie that its use sets.
pub(super) struct Visits {
    /// The key, until it is spent.
    key: Mutex<Option<String>>,
    cookie: String,
}

impl std::fmt::Debug for Visits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Visits(…)")
    }
}

/// The decision about a request.
pub(super) enum Visit {
    /// It goes on.
    Known,
    /// It is answered at once: a page with the cookie, or a refusal.
    Answered(Box<Response>),
}

impl Visits {
    /// Returns a new key and a new cookie.
    ///
    /// # Errors
    /// `Internal` if the system has no random numbers.
    pub(super) fn new() -> Result<Visits> {
        Ok(Visits {
            key: Mutex::new(Some(random()?)),
            cookie: random()?,
        })
    }

    /// Returns the address to open, once.
    pub(super) fn address(&self, listening: SocketAddr) -> String {
        let key = self.key.lock().unwrap_or_else(|held| held.into_inner());
        let key = key.as_deref().unwrap_or_default();
        format!("http://{listening}/?{KEY}={key}")
    }

    /// Decides about a request whose `Host` names this server, and that comes from no page of another server.
    pub(super) fn look(&self, parts: &Parts) -> Visit {
        let name = cookie_name(&parts.headers);
        let mut cookies = cookies(&parts.headers);
        let is_known = cookies.any(|(key, value)| key == name && is_same(value, &self.cookie));
        match parts.method == Method::GET && key_in(&parts.uri).is_some() {
            true if is_known || self.is_spent_by(&parts.uri) => {
                Visit::Answered(Box::new(self.opening(&name, &parts.uri)))
            }
            false if is_known => Visit::Known,
            _ => refused(
                StatusCode::UNAUTHORIZED,
                "The address that <code>icm explore</code> prints opens once, in one browser. Start it again for a new one.",
            ),
        }
    }

    /// Returns `true` if a request has the key. The key is not spent by that.
    pub(super) fn is_opening(&self, uri: &Uri) -> bool {
        let key = self.key.lock().unwrap_or_else(|held| held.into_inner());
        let wanted = key.as_deref();
        wanted.is_some_and(|wanted| key_in(uri).is_some_and(|given| is_same(given, wanted)))
    }

    /// Returns `true` if a request has the key. The key is spent by that.
    fn is_spent_by(&self, uri: &Uri) -> bool {
        let mut key = self.key.lock().unwrap_or_else(|held| held.into_inner());
        let given = key_in(uri).unwrap_or_default();
        key.take_if(|key| is_same(given, key)).is_some()
    }

    /// Returns a page that sets the cookie and goes on to the address without its key.
    ///
    /// A redirect would not do: a browser counts it as a step of the page before, which can be a file, and then it does
    /// not send a strict cookie.
    fn opening(&self, name: &str, uri: &Uri) -> Response {
        let to = escaped(&without_key(uri));
        let mut response = page(
            StatusCode::OK,
            "The explorer opens",
            &format!("<a href=\"{to}\">Go on</a>"),
            &format!("<meta http-equiv=\"refresh\" content=\"0;url={to}\">"),
        );
        let cookie = format!("{name}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie);
        let cookie = HeaderValue::from_str(&cookie).expect("digits and a port");
        response.headers_mut().insert(SET_COOKIE, cookie);
        response
    }
}

/// Returns the key that an address has.
fn key_in(uri: &Uri) -> Option<&str> {
    let parts = uri.query().unwrap_or_default().split('&');
    let mut pairs = parts.filter_map(|part| part.split_once('='));
    Some(pairs.find(|(name, _)| *name == KEY)?.1)
}

/// Returns an address of this server without its key. Its path begins with one slash: two would name another server.
fn without_key(uri: &Uri) -> String {
    let path = uri.path().trim_start_matches(['/', '\\']);
    let is_kept = |part: &&str| part.split('=').next() != Some(KEY);
    let kept = uri.query().unwrap_or_default().split('&').filter(is_kept);
    let query = kept.collect::<Vec<_>>().join("&");
    match query.is_empty() {
        true => format!("/{path}"),
        false => format!("/{path}?{query}"),
    }
}

fn random() -> Result<String> {
    let mut random = [0; RANDOM_LEN];
    getrandom::fill(&mut random)
        .map_err(|error| ServiceError::Internal(format!("no random numbers: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not tell how much is equal.
fn is_same(given: &str, wanted: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(wanted.as_bytes())
}

/// Returns the name of the cookie. Cookies do not know ports, so its name has the port of this server.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| Some(host.rsplit_once(':')?.1));
    format!("icm-explore-{}", port.unwrap_or("80"))
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(COOKIE).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('='))
}

fn refused(status: StatusCode, why: &str) -> Visit {
    Visit::Answered(Box::new(page(status, "Not admitted", why, "")))
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn ask(visits: &Visits, uri: &str, headers: &[(&str, &str)]) -> Option<Response> {
        let mut request = Request::get(uri).header(HOST, "127.0.0.1:7000");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        match visits.look(&parts) {
            Visit::Known => None,
            Visit::Answered(answer) => Some(*answer),
        }
    }

    async fn text(answer: Response) -> String {
        let bytes = axum::body::to_bytes(answer.into_body(), 1 << 16).await;
        String::from_utf8(bytes.expect("a body").to_vec()).expect("text")
    }

    #[tokio::test]
    async fn the_key_opens_once_and_the_cookie_stays() {
        let visits = Visits::new().expect("random numbers");
        let address = visits.address(([127, 0, 0, 1], 7000).into());
        let with_key = address
            .strip_prefix("http://127.0.0.1:7000")
            .expect("an address");
        for refused in ["/", "/?key=", "/?key=0", "/?other=1"] {
            let answer = ask(&visits, refused, &[]).expect("an answer");
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{refused}");
        }
        let uri = with_key.parse().expect("an address");
        assert!(visits.is_opening(&uri));
        let answer = ask(&visits, with_key, &[]).expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(!visits.is_opening(&uri), "the key is spent");
        let cookie = answer.headers()[SET_COOKIE].to_str().expect("ASCII");
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        let pair = cookie.split(';').next().expect("a pair").to_owned();
        assert!(text(answer).await.contains("content=\"0;url=/\">"));
        let again = ask(&visits, with_key, &[]).expect("an answer");
        assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
        for known in [pair.clone(), format!("other=1; {pair}")] {
            assert!(ask(&visits, "/log", &[("cookie", &known)]).is_none());
        }
        let again = ask(&visits, with_key, &[("cookie", &pair)]).expect("an answer");
        assert_eq!(again.status(), StatusCode::OK);
        let of_another_port = pair.replace("7000", "7001");
        for (cookie, status) in [(of_another_port, 401), (format!("{pair}0"), 401)] {
            let answer = ask(&visits, "/log", &[("cookie", &cookie)]).expect("an answer");
            assert_eq!(answer.status(), status);
        }
    }

    #[test]
    fn the_address_without_its_key_keeps_its_moment_and_names_no_other_server() {
        for (given, kept) in [
            ("/?key=1", "/"),
            ("/log?key=1&at=%40", "/log?at=%40"),
            ("/log?a=b&key=1&key=2&at=%403", "/log?a=b&at=%403"),
            ("//example.org/?key=1", "/example.org/"),
            ("///example.org?key=1", "/example.org"),
            ("/?key", "/"),
        ] {
            let uri = given.parse().expect("an address");
            assert_eq!(without_key(&uri), kept, "{given}");
        }
    }
}
