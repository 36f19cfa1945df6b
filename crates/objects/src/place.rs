//! Opens the store that a URL names, with the settings of the environment.

use std::env;
use std::error::Error;
use std::sync::Once;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use icm_api::error::{Result, ServiceError};
use icm_wait::bounds;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig,
};
use percent_encoding::percent_decode_str;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use url::{Position, Url};

/// The schemes of URLs that are understood here.
pub const SCHEMES: [&str; 5] = ["s3", "gs", "az", "http", "https"];

/// Variable with the value of the `Authorization` header for a web server, such as `Bearer …`.
const HTTP_AUTHORIZATION: &str = "ICM_HTTP_AUTHORIZATION";

/// Longest request, 15 min: enough for a bundle. Raised, a stalled transfer holds a sync up for longer; lowered, slow
/// lines cannot send large bundles.
const REQUEST_MAX: Duration = Duration::from_secs(15 * 60);
/// Retries of a request after a transient failure. Raised, a sync waits longer for a store that is down.
const RETRIES: usize = 4;

/// The store that a URL names, and the prefix of its objects.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) store: Box<dyn ObjectStore>,
    pub(crate) prefix: Path,
}

fn invalid(message: String, hint: &str) -> ServiceError {
    ServiceError::Invalid {
        message,
        hint: Some(hint.to_owned()),
    }
}

/// Returns an error and its causes in one line.
pub(crate) fn one_line(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        if !said.contains(&why) {
            said = format!("{said}: {why}");
        }
        cause = error.source();
    }
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn parse(text: &str) -> Result<Place> {
    let no_target = |why: String| {
        let hint = "name it as `s3://BUCKET/PATH`, `gs://BUCKET/PATH`, `az://CONTAINER/PATH` or `https://HOST/PATH`";
        invalid(format!("{why} in `{}`", shown(text)), hint)
    };
    let url = Url::parse(text).map_err(|error| no_target(error.to_string()))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(no_target("there is a `?` or a `#`".to_owned()));
    }
    let (scheme, prefix) =
        ObjectStoreScheme::parse(&url).map_err(|error| no_target(one_line(&error)))?;
    let name = shown(text);
    let built = match scheme {
        ObjectStoreScheme::AmazonS3 => s3(&url),
        ObjectStoreScheme::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
            .with_url(url.as_str())
            .with_retry(retries())
            .with_client_options(options(is_plain(&["GOOGLE_BASE_URL"])))
            .build()
            .map(boxed),
        ObjectStoreScheme::MicrosoftAzure => MicrosoftAzureBuilder::from_env()
            .with_url(url.as_str())
            .with_retry(retries())
            .with_client_options(options(is_plain(&[
                "AZURE_STORAGE_ENDPOINT",
                "AZURE_ENDPOINT",
            ])))
            .build()
            .map(boxed),
        ObjectStoreScheme::Http => http(&url)?,
        _ => return Err(no_target("nothing that icm knows".to_owned())),
    };
    let store = built.map_err(|error| {
        invalid(
            format!("{name}: {}", one_line(&error)),
            "say what is missing in the environment: `icm sync --help`",
        )
    })?;
    Ok(Place {
        name,
        store,
        prefix,
    })
}

fn boxed(store: impl ObjectStore) -> Box<dyn ObjectStore> {
    Box::new(store)
}

/// Returns a URL without its password.
fn shown(text: &str) -> String {
    match Url::parse(text) {
        Ok(mut url) if url.password().is_some() => match url.set_password(None) {
            Ok(()) => url.to_string(),
            Err(()) => url.scheme().to_owned(),
        },
        _ => text.to_owned(),
    }
}

fn s3(url: &Url) -> object_store::Result<Box<dyn ObjectStore>> {
    let is_plain = is_plain(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]);
    let builder = AmazonS3Builder::from_env()
        .with_url(url.as_str())
        .with_retry(retries())
        .with_client_options(options(is_plain));
    builder.build().map(boxed)
}

fn http(url: &Url) -> Result<object_store::Result<Box<dyn ObjectStore>>> {
    let mut headers = HeaderMap::new();
    if let Some(mut value) = authorization(url)? {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let mut host = url.clone();
    let _ = host.set_password(None);
    let _ = host.set_username("");
    let builder = HttpBuilder::new()
        .with_url(&host[..Position::BeforePath])
        .with_retry(retries())
        .with_client_options(options(url.scheme() == "http").with_default_headers(headers));
    Ok(builder.build().map(boxed))
}

/// Returns the value of the `Authorization` header, from the environment or from `https://USER:PASSWORD@HOST/`.
fn authorization(url: &Url) -> Result<Option<HeaderValue>> {
    let said = match env::var(HTTP_AUTHORIZATION) {
        Ok(said) if !said.is_empty() => said,
        _ if url.username().is_empty() && url.password().is_none() => return Ok(None),
        _ => {
            let decoded = |part: &str| percent_decode_str(part).collect::<Vec<u8>>();
            let mut both = decoded(url.username());
            both.push(b':');
            both.extend(decoded(url.password().unwrap_or_default()));
            format!("Basic {}", STANDARD.encode(both))
        }
    };
    let value = HeaderValue::from_str(&said).map_err(|_| {
        invalid(
            format!("{HTTP_AUTHORIZATION} cannot be sent: it holds control characters"),
            "set it to what follows `Authorization:`, such as `Bearer TOKEN`",
        )
    })?;
    Ok(Some(value))
}

/// Returns `true` if one of these variables names a server without encryption.
fn is_plain(variables: &[&str]) -> bool {
    let values = variables.iter().filter_map(|it| env::var(it).ok());
    values.into_iter().any(|value| value.starts_with("http://"))
}

fn options(is_plain: bool) -> ClientOptions {
    static PROVIDER: Once = Once::new();
    // Fails if the process has a provider already, which serves as well.
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    ClientOptions::new()
        .with_config(ClientConfigKey::AllowHttp, is_plain.to_string())
        .with_timeout(REQUEST_MAX)
        .with_read_timeout(bounds::SILENCE)
        .with_connect_timeout(bounds::PEER)
        .with_user_agent(HeaderValue::from_static(concat!(
            "icm/",
            env!("CARGO_PKG_VERSION")
        )))
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRIES,
        retry_timeout: bounds::ANSWER,
    }
}
