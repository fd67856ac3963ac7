//! Who may ask: checks `Host`, `Origin` and the cookie of each request, exchanges the token, and sets the headers of each answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::app::App;
use crate::error::ApiError;
use crate::token;

/// Nothing runs, and nothing is fetched, that this server does not serve itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; font-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Where the token is exchanged: the only part of the interface that needs no cookie.
const EXCHANGE: &str = "/api/session";

/// The body of the exchange.
#[derive(Deserialize)]
pub(crate) struct Offer {
    token: String,
}

/// Lets a request pass, or refuses it.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = if let Some(error) = refusal(&app, &request) {
        error.into_response()
    } else {
        app.activity.touch();
        next.run(request).await
    };
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns why a request is refused.
fn refusal(app: &App, request: &Request) -> Option<ApiError> {
    let text = |name: &HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    if text(&HOST) != Some(app.host.as_str()) || request.headers().get_all(HOST).iter().count() != 1 {
        let hint = format!("open http://{}/", app.host);
        return Some(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "this is not the address of the viewer").hint(hint));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let origin = text(&ORIGIN);
    let is_own = origin.is_some_and(|origin| origin.strip_prefix("http://") == Some(app.host.as_str()));
    if !is_own && (origin.is_some() || !is_read) {
        return Some(ApiError::new(StatusCode::FORBIDDEN, "another site sent this request"));
    }
    if !request.uri().path().starts_with("/api/") {
        return None;
    }
    let site = text(&HeaderName::from_static("sec-fetch-site"));
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Some(ApiError::new(StatusCode::FORBIDDEN, "another site sent this request"));
    }
    if request.uri().path() == EXCHANGE || has_cookie(app, request.headers()) {
        return None;
    }
    Some(
        ApiError::new(StatusCode::UNAUTHORIZED, "this browser has not opened the viewer")
            .hint("open the address that `throughline view` prints; run it again for a new one"),
    )
}

fn has_cookie(app: &App, headers: &HeaderMap) -> bool {
    let (name, value) = &app.cookie;
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .any(|(its_name, its_value)| its_name == name && token::is_same(its_value, value))
}

/// Exchanges the token for the cookie, once.
pub(crate) async fn exchange(State(app): State<Arc<App>>, Json(offer): Json<Offer>) -> Response {
    let is_right = app.token.lock().is_ok_and(|mut token| {
        let is_right = token.as_ref().is_some_and(|token| token::is_same(token, &offer.token));
        if is_right {
            *token = None;
        }
        is_right
    });
    if !is_right {
        return ApiError::new(StatusCode::FORBIDDEN, "this address was used before, or is of another run")
            .hint("run `throughline view` again for a new one")
            .into_response();
    }
    let (name, value) = &app.cookie;
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
    (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response()
}
