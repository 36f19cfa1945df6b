//! Results and errors of questions to the views.

use icm_log::LogError;
use icm_projections::ViewError;

use icm_api::error::ServiceError;

/// The result of a question to the views.
pub(crate) type QueryResult<T> = std::result::Result<T, QueryError>;

/// The reason why a question to the views, or a command that decides by them, has no answer.
pub(crate) enum QueryError {
    View(ViewError),
    Service(ServiceError),
}

impl From<ViewError> for QueryError {
    fn from(error: ViewError) -> QueryError {
        QueryError::View(error)
    }
}

impl From<ServiceError> for QueryError {
    fn from(error: ServiceError) -> QueryError {
        QueryError::Service(error)
    }
}

impl From<LogError> for QueryError {
    fn from(error: LogError) -> QueryError {
        QueryError::Service(error.into())
    }
}

/// Runs a question to the views. A panic makes the view unusable.
pub(crate) fn catching_panics<T>(run: impl FnOnce() -> QueryResult<T>) -> QueryResult<T> {
    let run = std::panic::AssertUnwindSafe(run);
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        let why = "reading it failed".to_owned();
        Err(QueryError::View(ViewError::Unusable { view: "table", why }))
    })
}
