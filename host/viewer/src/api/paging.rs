//! Pages of lists that commands print as a whole.

use serde_json::{Value, json};

use super::cursor;
use super::wanted::Wanted;
use crate::app::App;
use crate::error::ApiError;

/// Cuts a list that a command printed as a whole to a page: the entries from `begin` on, and the cursor of the next page. The command
/// printed one entry more than the page needs, if there are that many.
pub(super) fn page_of(list: Value, begin: u32, limit: u32) -> (Vec<Value>, Option<String>) {
    let mut list = match list {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    let end = begin.saturating_add(limit);
    let is_more = list.len() > end as usize;
    list.truncate(end as usize);
    list.drain(..list.len().min(begin as usize));
    (list, is_more.then(|| cursor::encode(&end)))
}

/// Returns a page of a command that prints a list with `--limit`; an empty one if nothing was stored yet. With `skips`, the command
/// has `--offset`, and a page costs the same wherever it begins.
pub(super) fn paged(app: &App, words: &[&str], wanted: &Wanted, skips: bool) -> Result<Value, ApiError> {
    // Until the first turn of the first session ends there are only journals, which the commands about events take.
    if app.store()?.is_none() && !app.paths.journal().is_dir() {
        return Ok(json!({"entries": [], "next": null}));
    }
    let begin: u32 = cursor::decode(wanted.cursor.as_deref())?.or(wanted.at).unwrap_or(0);
    let skipped = if skips { begin } else { 0 };
    let (offset, limit) =
        (format!("--offset={skipped}"), (begin - skipped).saturating_add(wanted.limit()).saturating_add(1));
    let limit = format!("--limit={limit}");
    let options = ["--json", limit.as_str(), offset.as_str()];
    let list = app.command(&[words, if skips { &options } else { &options[..2] }].concat())?;
    let (entries, next) = page_of(list, begin - skipped, wanted.limit());
    let next = next.map(|_| cursor::encode(&begin.saturating_add(wanted.limit())));
    Ok(json!({"entries": entries, "next": next}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_where_the_next_begins() {
        let all = json!([0, 1, 2, 3, 4]);
        let (first, next) = page_of(json!([0, 1, 2]), 0, 2);
        assert_eq!((first, next.is_some()), (vec![json!(0), json!(1)], true));
        let at: u32 = cursor::decode(next.as_deref()).unwrap().unwrap();
        assert_eq!(page_of(all.clone(), at, 2).0, [json!(2), json!(3)]);
        assert_eq!(page_of(all.clone(), 4, 2), (vec![json!(4)], None));
        assert_eq!(page_of(all, 9, 2), (vec![], None));
        assert_eq!(page_of(json!({}), 0, 2), (vec![], None));
    }
}
