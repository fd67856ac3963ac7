//! The files of the page. All of them are in this binary.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;

use crate::app::App;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files: path, media type, content.
const FILES: [(&str, &str, &str); 23] = [
    ("/", "text/html; charset=utf-8", include_str!("index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("style.css")),
    ("/icon.svg", "image/svg+xml", include_str!("icon.svg")),
    ("/app.js", SCRIPT, include_str!("app.js")),
    ("/dom.js", SCRIPT, include_str!("dom.js")),
    ("/net.js", SCRIPT, include_str!("net.js")),
    ("/format.js", SCRIPT, include_str!("format.js")),
    ("/list.js", SCRIPT, include_str!("list.js")),
    ("/keys.js", SCRIPT, include_str!("keys.js")),
    ("/changes.js", SCRIPT, include_str!("changes.js")),
    ("/chart.js", SCRIPT, include_str!("chart.js")),
    ("/pages/search.js", SCRIPT, include_str!("pages/search.js")),
    ("/pages/memory.js", SCRIPT, include_str!("pages/memory.js")),
    ("/pages/sessions.js", SCRIPT, include_str!("pages/sessions.js")),
    ("/pages/session.js", SCRIPT, include_str!("pages/session.js")),
    ("/pages/today.js", SCRIPT, include_str!("pages/today.js")),
    ("/pages/projects.js", SCRIPT, include_str!("pages/projects.js")),
    ("/pages/failures.js", SCRIPT, include_str!("pages/failures.js")),
    ("/pages/notes.js", SCRIPT, include_str!("pages/notes.js")),
    ("/pages/policies.js", SCRIPT, include_str!("pages/policies.js")),
    ("/pages/spending.js", SCRIPT, include_str!("pages/spending.js")),
    ("/pages/redaction.js", SCRIPT, include_str!("pages/redaction.js")),
    ("/pages/health.js", SCRIPT, include_str!("pages/health.js")),
];

/// The routes of the files.
pub(crate) fn router() -> Router<Arc<App>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(async move || ([(CONTENT_TYPE, kind)], text)))
    })
}

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn nothing_in_the_page_is_inline_or_from_elsewhere() {
        for (path, _, text) in FILES {
            let own = text.replace("http://www.w3.org/2000/svg", "");
            for (what, bad) in [("an address", "http://"), ("an address", "https://"), ("a worker", "importScripts")] {
                assert!(!own.contains(bad), "{path} has {what}");
            }
            for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"]
            {
                assert!(!text.contains(sink), "{path} uses {sink}");
            }
            if path == "/" {
                assert!(!text.contains("style=") && !text.contains("<style") && !text.contains(" on"), "inline");
                assert_eq!(text.matches("<script").count(), text.matches("<script type=\"module\" src=\"").count());
            }
        }
    }
}
