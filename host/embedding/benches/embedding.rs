//! Benchmarks the built-in embedding model: `cargo bench -p throughline-embedding`.
//!
//! The first call is timed separately because most processes make only one: a hook embeds one text and exits. The first
//! call spends its time on page faults in the program image, not on arithmetic.

use std::hint::black_box;
use std::time::{Duration, Instant};

use throughline_embedding::local::{NAME, embed};

const QUERY: &str = "why did we replace the retry loop in getUserName with exponential backoff last week already";

/// Returns 1,000 bytes of English prose that contains code identifiers and a path.
fn document() -> String {
    let paragraph = "The upload fails when the server answers 503, because parse_http_header drops the Retry-After field. We \
                     decided to keep the connection pool at 50 and to back off exponentially in src/net/HTTPClient.rs instead; \
                     the flaky integration test was waiting for a lock that another worker held. ";
    let mut text = paragraph.repeat(4);
    text.truncate(1_000);
    text
}

fn main() {
    let first = timed(QUERY);
    let second = timed(QUERY);
    println!("{NAME}: first call of the process {first:?}, second {second:?}");
    println!("query of {} words: {:?}", QUERY.split(' ').count(), median(QUERY));
    let document = document();
    println!("text of {} bytes: first {:?}, median {:?}", document.len(), timed(&document), median(&document));
}

fn timed(text: &str) -> Duration {
    let start = Instant::now();
    black_box(embed(black_box(text)));
    start.elapsed()
}

fn median(text: &str) -> Duration {
    let mut times: Vec<Duration> = (0..10_001).map(|_| timed(text)).collect();
    times.sort_unstable();
    times[times.len() / 2]
}
