//! Parses the names in `Host` and `Origin`.

use axum::http::uri::Authority;

/// Names of the loopback interface.
pub(super) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The origin of a web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    host: String,
    /// `None` stands for any port.
    port: Option<u16>,
}

impl Origin {
    /// Parses `scheme://host`, `scheme://host:port` or `scheme://host:*`.
    pub(super) fn parse(text: &str) -> Option<Origin> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let default = match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        let (host, port) = match rest.strip_suffix(":*") {
            Some(host) => (host_name(host)?, None),
            None => {
                let (host, port) = host_and_port(rest)?;
                (host, Some(port.or(default)?))
            }
        };
        is_scheme.then(|| Origin {
            scheme: scheme.to_owned(),
            host,
            port,
        })
    }

    /// Returns the origin of a page that was asked for with this `Host` over HTTP.
    pub(super) fn of_host(host: Option<&str>) -> Option<Origin> {
        Origin::parse(&format!("http://{}", host?))
    }

    pub(super) fn is_of_this_machine(&self) -> bool {
        self.scheme == "http" && LOOPBACK.contains(&self.host.as_str())
    }

    /// Returns `true` if `self` allows pages of `other`.
    pub(super) fn admits(&self, other: &Origin) -> bool {
        (&self.scheme, &self.host) == (&other.scheme, &other.host)
            && self.port.is_none_or(|port| Some(port) == other.port)
    }
}

/// Parses `name` or `name:port` into the name, in lower case, and the port.
pub(super) fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = text.parse().ok()?;
    let host = authority.host();
    let rest = text.strip_prefix(host).filter(|_| !host.is_empty())?;
    let port = match rest {
        "" => None,
        // Anything after the name must be a port.
        _ => Some(rest.strip_prefix(':')?.parse().ok()?),
    };
    Some((host.to_ascii_lowercase(), port))
}

/// Parses a name without a port.
pub(super) fn host_name(text: &str) -> Option<String> {
    match host_and_port(text.trim())? {
        (name, None) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_admits_its_own_port_and_with_a_star_any() {
        let origin = |text: &str| Origin::parse(text).expect("an origin");
        let any = origin("https://a.example:*");
        assert!(any.admits(&origin("https://a.example")));
        assert!(any.admits(&origin("https://A.example:8443")));
        assert!(!any.admits(&origin("http://a.example")));
        assert!(!any.admits(&origin("https://b.example")));
        let one = origin("https://a.example:443");
        assert!(one.admits(&origin("https://a.example")));
        assert!(!one.admits(&origin("https://a.example:444")));
        assert!(origin("http://[::1]:80").is_of_this_machine());
        assert!(!origin("https://localhost").is_of_this_machine());
    }

    #[test]
    fn texts_that_are_no_origin_are_none() {
        for text in [
            "",
            "null",
            "a.example",
            "://a",
            "https://",
            "https://a b",
            "https://a/path",
            "https://u@a",
            "https://a:",
            "https://a:x",
            "https://a:70000",
            "ftp://a",
            "1://a:1",
            "https://a:1:2",
        ] {
            assert_eq!(Origin::parse(text), None, "{text}");
        }
    }
}
