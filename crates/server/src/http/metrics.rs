//! The metrics of `/metrics`, in the text format of OpenMetrics.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::refusal::Refusal;
use icm_service::Service;

/// Upper bounds of the buckets of durations, in seconds.
const CLASSES: [f64; 11] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0,
];

/// The paths counted separately. All other paths count as one, because names chosen by strangers would fill the memory.
const PATHS: [&str; 8] = [
    "/health",
    "/log",
    "/mcp",
    "/mcp/readonly",
    "/metrics",
    "/openapi.json",
    "/recall",
    "/store",
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    path: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PathLabel {
    path: &'static str,
}

/// The metrics, shared by all clones.
#[derive(Clone)]
pub(super) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<PathLabel, Histogram>,
    events: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        let requests = Family::<RequestLabels, Counter>::default();
        let durations =
            Family::<PathLabel, Histogram>::new_with_constructor(|| Histogram::new(CLASSES));
        let events = Gauge::default();
        let mut registry = Registry::with_prefix("icm");
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "From the head of a request to the head of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register("log_events", "Events in the log", events.clone());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        Metrics {
            registry: Arc::new(registry),
            requests,
            durations,
            events,
        }
    }

    /// Counts an answer.
    pub(super) fn answered(&self, method: &Method, path: &str, status: StatusCode, took: Duration) {
        let path = PATHS
            .into_iter()
            .find(|known| *known == path)
            .unwrap_or("other");
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            _ => "other",
        };
        let status = status.as_u16();
        let labels = RequestLabels {
            path,
            method,
            status,
        };
        self.requests.get_or_create(&labels).inc();
        let durations = self.durations.get_or_create(&PathLabel { path });
        durations.observe(took.as_secs_f64());
    }

    /// Returns the answer to a request for the metrics.
    pub(super) async fn show(&self, service: Arc<Service>) -> Response {
        let newest = tokio::task::spawn_blocking(move || service.newest_position()).await;
        // `/health` reports a log that cannot be read; here the number of events keeps its last value.
        if let Ok(Ok(newest)) = newest {
            self.events.set(i64::try_from(newest).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        match text::encode(&mut text, &self.registry) {
            Ok(()) => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                ([(CONTENT_TYPE, kind)], text).into_response()
            }
            Err(error) => {
                let why = format!("the metrics cannot be written: {error}");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Refusal::new(status, why, "this is a bug in icm").into_response()
            }
        }
    }
}
