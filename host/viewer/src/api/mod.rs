//! What the pages ask for, as JSON.

mod actions;
mod browse;
mod cursor;
mod health;
mod highlight;
mod notes;
mod paging;
mod policies;
mod search;
mod sessions;
mod spending;
mod today;
mod wanted;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use axum::response::sse::{KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use crate::app::App;
use crate::error::ApiError;
use crate::guard;
use wanted::Wanted;

/// Runs work that reads files or waits for a process, on a thread of its own.
async fn blocking(app: Arc<App>, work: impl FnOnce(&App) -> Result<Value, ApiError> + Send + 'static) -> Answer {
    match tokio::task::spawn_blocking(move || work(&app)).await {
        Ok(result) => result.map(Json),
        Err(_) => Err(ApiError::failed("the request was not answered")),
    }
}

type Answer = Result<Json<Value>, ApiError>;
type Shared = State<Arc<App>>;

/// The routes below `/api`. Without `write` there is none that changes anything.
pub(crate) fn router(write: bool) -> Router<Arc<App>> {
    macro_rules! list {
        ($work:path) => {
            get(async |State(app): Shared, Query(wanted): Query<Wanted>| blocking(app, move |app| $work(app, &wanted)).await)
        };
    }
    macro_rules! one {
        ($work:path) => {
            get(async |State(app): Shared, Path(id): Path<String>, Query(wanted): Query<Wanted>| {
                blocking(app, move |app| $work(app, &id, &wanted)).await
            })
        };
    }
    let router = Router::new()
        .route("/session", post(guard::exchange))
        .route("/state", get(async |State(app): Shared| Json(browse::state(&app))))
        .route("/search", list!(search::search))
        .route("/memories", list!(browse::memories))
        .route("/types", list!(browse::types))
        .route("/memory/{id}", one!(browse::memory))
        .route("/sessions", list!(sessions::list))
        .route("/session/{id}", one!(sessions::show))
        .route("/session/{id}/moments", one!(sessions::moments))
        .route("/today", list!(today::today))
        .route("/live", get(live))
        .route("/projects", list!(browse::projects))
        .route("/failures", list!(browse::failures))
        .route("/notes", list!(notes::notes))
        .route("/policies", list!(policies::list))
        .route("/compare", list!(policies::compare))
        .route("/spending", list!(spending::spending))
        .route("/redaction", list!(health::redaction))
        .route("/health", list!(health::health))
        .route("/doctor", list!(health::doctor))
        .fallback(async || ApiError::missing("there is no such address"));
    if !write {
        return router;
    }
    router.route(
        "/do",
        post(async |State(app): Shared, Json(action): Json<actions::Action>| {
            blocking(app, move |app| actions::run(app, &action)).await
        }),
    )
}

/// The stream of what happens, as server-sent events.
async fn live(State(app): Shared) -> impl IntoResponse {
    let feed = app.live.subscribe(&app.activity);
    Sse::new(feed).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
