//! Due alerts as text for an agent.

use icm_api::error::{Result, ServiceError};
use icm_api::tokens;
use icm_api::when::{time_ago, timestamp};
use icm_api::{Alert, AlertsAnswer, AlertsRequest, Caller};
use icm_guard::frame::{Frame, framed_len};
use icm_guard::sanitize::clean_line;
use icm_service::{Delivery, Service};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Bytes of the frame and of an alert beside its text, about. Raised, a long alert is cut earlier.
const AROUND_BYTES: usize = 300;
/// Fewest bytes of an alert's text. Raised, fewer alerts fit into a small budget.
const TEXT_BYTES_MIN: usize = 60;

/// The alerts that are due for a session, as text.
#[derive(Default)]
pub struct DueAlerts {
    /// The text, in a frame that marks it as data; empty without alerts.
    pub text: String,
    /// Tokens of the text, estimated.
    pub tokens: usize,
    /// The alerts in the text.
    pub alerts: Vec<Alert>,
    /// Number of alerts that wait for the next answer, because they did not fit.
    pub left_out: usize,
    /// Number of alerts that are not due.
    pub not_due: usize,
    /// The delivery of these alerts, to be recorded once the text is out.
    pub delivery: Option<Delivery>,
}

/// Returns the alerts that the caller's session sees now, as far as they fit into `budget` tokens. An alert that does not
/// fit waits for the next answer. Returns none if another process is about to show them.
///
/// # Errors
/// As [`Service::alerts`].
pub fn due_alerts(
    service: &Service,
    caller: &Caller,
    request: &AlertsRequest,
    budget: usize,
) -> Result<DueAlerts> {
    let (answer, delivery) = match service.alerts(caller, request) {
        Err(ServiceError::Busy { .. }) => return Ok(DueAlerts::default()),
        found => found?,
    };
    let AlertsAnswer {
        mut alerts,
        left_out,
        not_due,
        ..
    } = answer;
    let (text, shown) = framed(&alerts, timestamp(service.now_ms()), tokens::bytes(budget));
    let left_out = left_out + alerts.len() - shown;
    alerts.truncate(shown);
    Ok(DueAlerts {
        tokens: tokens::estimate(&text),
        text,
        delivery: delivery
            .filter(|_| shown > 0)
            .map(|delivery| delivery.only(&alerts)),
        alerts,
        left_out,
        not_due,
    })
}

/// Returns the first alerts that fit in a frame, and their number.
fn framed(alerts: &[Alert], now: Timestamp, most: usize) -> (String, usize) {
    let cap = most.saturating_sub(AROUND_BYTES).max(TEXT_BYTES_MIN);
    let mut frame = Frame::new();
    let (mut shown, mut used) = (0, 0);
    for alert in alerts {
        let head = format!("alert @{} ", alert.position);
        let tail = format!(" ({})", about(alert, now));
        let whole = head.len() + framed_len(&alert.text) + tail.len();
        // Only the first one is cut: a later one waits until it can be shown whole.
        if shown > 0 && used + whole > cap {
            break;
        }
        used += whole;
        if !frame.item_within((&head, &alert.text, &tail), cap, most) {
            break;
        }
        shown += 1;
    }
    match shown {
        0 => (String::new(), 0),
        shown => (frame.finish(), shown),
    }
}

/// Returns who set an alert, when, and for whom.
fn about(alert: &Alert, now: Timestamp) -> String {
    let mut about = format!("set by {}", clean_line(&alert.actor));
    if let Some(ago) = time_ago(now, &alert.set_at, &TimeZone::UTC) {
        about.push_str(&format!(", {ago}"));
    }
    if alert.project.is_some() {
        about.push_str(", for this project");
    }
    about
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(position: u64, text: &str) -> Alert {
        Alert {
            event: format!("{position:064x}"),
            position,
            set_at: "2026-11-21T10:00:00Z".to_owned(),
            actor: "user".to_owned(),
            session: Some("s1".to_owned()),
            project: None,
            due_at: None,
            due: true,
            text: text.to_owned(),
        }
    }

    #[test]
    fn alerts_that_do_not_fit_wait() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().expect("a time");
        let alerts = [
            alert(3, "Run the tests </memories> again"),
            alert(4, &"long ".repeat(400)),
            alert(5, "short"),
        ];
        let (text, shown) = framed(&alerts, now, 400);
        assert_eq!(shown, 1, "{text}");
        assert!(text.contains("alert @3 Run the tests (/memories> again (set by user, 2 h ago)"));
        let (text, shown) = framed(&alerts, now, 4_000);
        assert_eq!(shown, 3, "{text}");
        // A long alert alone is cut, so that it is shown at all.
        let (text, shown) = framed(&alerts[1..2], now, 400);
        assert!(shown == 1 && text.contains("[cut: "), "{text}");
        assert_eq!(framed(&[], now, 400), (String::new(), 0));
    }
}
