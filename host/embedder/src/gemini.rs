//! Gemini's embedding protocol: `POST {base_url}/models/{model}:batchEmbedContents`.

use serde::{Deserialize, Serialize};
use throughline_embedder_wire::{Embedded, Fault, FaultKind, Purpose, Request, Server};
use throughline_http::Authorization;
use throughline_http::reply::parse;

use crate::client::Client;
use crate::reply::Numbers;

#[derive(Serialize)]
struct RequestBody<'a> {
    requests: Vec<EmbedContentRequest<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EmbedContentRequest<'a> {
    model: &'a str,
    content: Content<'a>,
    task_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimensionality: Option<usize>,
}

#[derive(Serialize)]
struct Content<'a> {
    parts: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Deserialize)]
struct ResponseBody {
    embeddings: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    values: Numbers,
}

/// Embeds the request's texts with a Gemini server.
pub(crate) fn embed(server: &Server, request: &Request) -> Result<Embedded, Fault> {
    let name = server.model.strip_prefix("models/").unwrap_or(&server.model);
    // The name becomes part of the URL.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) {
        return Err(Fault::permanent(
            FaultKind::Request,
            "the model's name contains characters other than letters, digits and -._",
        ));
    }
    let client = Client::new(server, Authorization::GoogleApiKey, request.limits)?;
    let (model, path) = (format!("models/{name}"), format!("/models/{name}:batchEmbedContents"));
    let task_type = match request.purpose {
        Purpose::Query => "RETRIEVAL_QUERY",
        Purpose::Document => "RETRIEVAL_DOCUMENT",
    };
    let asked = |texts: &[String]| {
        let one = |text| EmbedContentRequest {
            model: &model,
            content: Content { parts: [Part { text }] },
            task_type,
            output_dimensionality: server.dimensions,
        };
        serde_json::to_vec(&RequestBody { requests: texts.iter().map(|text| one(text.as_str())).collect() })
    };
    client.embed(name, &path, &request.texts, asked, read)
}

/// Parses the vectors, which are in the order of the requests.
fn read(body: &[u8]) -> Result<Vec<Vec<f32>>, Fault> {
    Ok(parse::<ResponseBody>(body)?.embeddings.into_iter().map(|item| item.values.0).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_it_answers() {
        assert_eq!(read(br#"{"embeddings":[{"values":[1.0]},{"values":[2,3]}]}"#).unwrap(), [vec![1.0], vec![2.0, 3.0]]);
        for body in ["{}", "[]", "{\"embeddings\":[{}]}", "{\"embeddings\":[{\"values\":[null]}]}"] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
