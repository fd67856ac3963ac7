//! The parts of a long request that carry letters or numbers: "A) Paint the drawer …", "B) Ring the bell …".

use crate::text;

/// The maximum length of what is told of a part, in characters, and of all of them.
const MAX_PART_CHARS: usize = 120;
const MAX_ALL_CHARS: usize = 280;
/// The number of lines below the first line of a part from which it is no item of a list.
const MIN_LINES: usize = 3;

/// Returns a request with the first lines of its later parts behind it, as far as it does not tell them. `summarize` returns the request in
/// at most so many characters, of which there are `max` together.
pub(super) fn with_parts(prompt: &str, max: usize, summarize: impl Fn(usize) -> String) -> String {
    let parts = later_parts(prompt);
    let length: usize = parts.iter().map(|part| part.chars().count() + 3).sum();
    if parts.is_empty() || length > MAX_ALL_CHARS.min(max / 2) {
        return summarize(max);
    }
    let said = summarize(max - length);
    let untold = parts.iter().filter(|part| !said.contains(part.as_str()));
    untold.fold(said.clone(), |said, part| format!("{said} … {part}"))
}

/// Returns the first lines of the parts of a prompt behind its first one, with their letters or numbers. Empty if the prompt has no such
/// parts, or only a list.
fn later_parts(prompt: &str) -> Vec<String> {
    let of = |first: u8| {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for line in prompt.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let next = char::from(first.saturating_add(u8::try_from(parts.len()).unwrap_or(u8::MAX)));
            let bare = line.trim_start_matches(['#', '*', ' ']);
            let rest = bare.strip_prefix(next).and_then(|rest| rest.strip_prefix([')', '.', ':']));
            if rest.is_some_and(|rest| rest.starts_with([' ', '*'])) {
                parts.push((text::clip(&bare.replace("**", ""), MAX_PART_CHARS).into_owned(), 0));
            } else if let Some((_, below)) = parts.last_mut() {
                *below += 1;
            }
        }
        let are_parts = parts.len() > 1 && parts.iter().all(|(_, below)| *below >= MIN_LINES);
        parts.into_iter().skip(1).filter(|_| are_parts).map(|(line, _)| line).collect::<Vec<_>>()
    };
    [b'A', b'1'].into_iter().map(of).find(|parts| !parts.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(prompt: &str) -> String {
        with_parts(prompt, 200, |max| text::clip(&text::one_line(prompt), max.min(30)).into_owned())
    }

    #[test]
    fn each_part_of_a_request_keeps_its_first_line() {
        let lines = "\nIt is old.\nIt is loud.\nIt is red.\n";
        let said = format!("A) Paint the drawer{lines}\nB) Ring the bell{lines}\n**C) Fold the slip**{lines}");
        assert!(told(&said).ends_with(" … B) Ring the bell … C) Fold the slip"), "{}", told(&said));
        assert!(told(&said).starts_with("A) Paint the drawer"));
        let numbered = said.replace("A)", "1.").replace("B)", "2.").replace("C)", "3.");
        assert!(told(&numbered).ends_with(" … 2. Ring the bell … 3. Fold the slip"));
    }

    #[test]
    fn the_items_of_a_list_are_no_parts() {
        for said in
            ["Do this:\n1. Paint it\n2. Ring it\n3. Fold it\n4. Close it", "A) Paint it\nOnce.\nTwice.\nRed.", "Paint it"]
        {
            assert!(later_parts(said).is_empty(), "{said}");
        }
    }
}
