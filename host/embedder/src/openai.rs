//! OpenAI's embedding protocol, which many other servers implement: `POST {base_url}/embeddings`.

use serde::{Deserialize, Serialize};
use throughline_embedder_wire::{Embedded, EncodingFormat, Fault, Request, Server};
use throughline_http::Authorization;
use throughline_http::reply::{invalid_answer, parse};

use crate::client::Client;
use crate::reply::Numbers;

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: EncodingFormat,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct ResponseBody {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: usize,
    embedding: Numbers,
}

/// Embeds the request's texts with an OpenAI-compatible server.
pub(crate) fn embed(server: &Server, encoding_format: EncodingFormat, request: &Request) -> Result<Embedded, Fault> {
    let client = Client::new(server, Authorization::Bearer, request.limits)?;
    let Server { model, dimensions, .. } = server;
    let asked =
        |input: &[String]| serde_json::to_vec(&RequestBody { model, input, encoding_format, dimensions: *dimensions });
    client.embed(model, "/embeddings", &request.texts, asked, read)
}

/// Parses the vectors and sorts them by `index`, since the list may be in another order.
fn read(body: &[u8]) -> Result<Vec<Vec<f32>>, Fault> {
    let mut items = parse::<ResponseBody>(body)?.data;
    items.sort_by_key(|item| item.index);
    if items.iter().enumerate().any(|(place, item)| item.index != place) {
        return Err(invalid_answer("the vectors in the server's answer have wrong indexes"));
    }
    Ok(items.into_iter().map(|item| item.embedding.0).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn in_the_order_of_the_index() {
        let body = br#"{"data":[{"index":1,"embedding":[2.0]},{"index":0,"embedding":[1.0]}]}"#;
        assert_eq!(read(body).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn what_is_numbered_wrongly_is_refused() {
        for indices in [[0, 0], [1, 2], [0, 9]] {
            let data: Vec<_> = indices.map(|index| serde_json::json!({"index": index, "embedding": [1.0]})).into();
            assert!(read(serde_json::json!({"data": data}).to_string().as_bytes()).is_err(), "{indices:?}");
        }
        for body in
            ["{}", "{\"data\":null}", "{\"data\":[{\"embedding\":[1.0]}]}", "{\"data\":[{\"index\":-1,\"embedding\":[1]}]}"]
        {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_json_is_read_or_refused(index in any::<i64>(), text in ".{0,20}", number in any::<f64>(), cut in 0_usize..90) {
            let body = serde_json::json!({"data": [{"index": index, "embedding": [number, text]}, {"embedding": text}]});
            let body = body.to_string();
            let _ = read(&body.as_bytes()[..cut.min(body.len())]);
        }
    }
}
