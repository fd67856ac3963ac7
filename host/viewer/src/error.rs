//! Why a request got no answer.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use throughline_store::StoreError;

/// An error, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// The request cannot be carried out as it is.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// What was asked for does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Something else went wrong.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
            .hint("run `throughline doctor` to look for the cause".to_owned())
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        Self { hint, ..Self::failed(error.to_string()) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.message, "hint": self.hint}))).into_response()
    }
}
