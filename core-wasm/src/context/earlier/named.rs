//! The folders and the names of code that a text names.

/// Returns the folders that a text names: paths of two parts or more without an extension, up to the first part that looks made up by
/// a program.
pub(super) fn folders(said: &str) -> impl Iterator<Item = &str> {
    let words = said.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';'));
    words.filter_map(|word| {
        let is_made_up = |part: &str| part.contains('…') || part.bytes().filter(u8::is_ascii_digit).count() > 2;
        let word = word.trim_end_matches(['.', ':']);
        let parts = word.split('/').take_while(|part| !part.is_empty() && !is_made_up(part));
        let length: usize = parts.map(|part| part.len() + 1).sum();
        let folder = word.get(..length.saturating_sub(1))?;
        let is_path = folder.contains('/') && folder.bytes().all(|byte| byte.is_ascii_graphic());
        let has_extension = folder.rsplit('/').next().is_some_and(|name| name.contains('.'));
        (is_path && !has_extension && !folder.contains("://")).then_some(folder)
    })
}

/// Returns the names in backticks that only code has: `tillTotal`, `till_total`, `total()` and `src/till.rs`.
pub(super) fn names_of_code(said: &str) -> impl Iterator<Item = &str> {
    let is_inner_capital = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let is_file = |name: &str| {
        let (stem, extension) = name.rsplit_once('.').unwrap_or_default();
        !stem.is_empty() && matches!(extension.len(), 1..=4) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_of_code = move |name: &&str| {
        let is_name = || name.contains(['_', '(']) || name.as_bytes().windows(2).any(is_inner_capital);
        !name.contains(char::is_whitespace) && (is_file(name) || (!name.contains(['/', '-', '$']) && is_name()))
    };
    said.split('`').skip(1).step_by(2).filter(is_of_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_end_where_a_program_made_up_a_name() {
        let said = "`rm -rf tmp/toys/run-20260212/src`, (tmp/toys/) and src/cart/till.rs at https://example.org/a/b or 3/4";
        assert_eq!(folders(said).collect::<Vec<_>>(), ["tmp/toys", "tmp/toys", "3/4"]);
        assert_eq!(folders("cart /till tmp/…").count(), 0);
    }
}
