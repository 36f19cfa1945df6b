//! Why a question to the views had no answer.

use icm_api::error::ServiceError;
use icm_log::LogError;
use icm_projections::ViewError;

/// Runs what reads views. A panic while a view is read is a view that is not usable.
pub(crate) fn guarded<T>(
    run: impl FnOnce() -> std::result::Result<T, Ask>,
) -> std::result::Result<T, Ask> {
    let run = std::panic::AssertUnwindSafe(run);
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        let why = "reading it failed".to_owned();
        Err(Ask::View(ViewError::Unusable { view: "table", why }))
    })
}

/// Why a question to the views had no answer.
pub(crate) enum Ask {
    View(ViewError),
    Service(ServiceError),
}

impl From<ViewError> for Ask {
    fn from(error: ViewError) -> Ask {
        Ask::View(error)
    }
}

impl From<ServiceError> for Ask {
    fn from(error: ServiceError) -> Ask {
        Ask::Service(error)
    }
}

impl From<LogError> for Ask {
    fn from(error: LogError) -> Ask {
        Ask::Service(error.into())
    }
}
