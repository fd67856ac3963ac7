//! File names of notes: the day and the title, in any script.

use unicode_normalization::UnicodeNormalization as _;

use throughline_model::digest::{hex, sha256_parts};

/// The longest slug, bytes. With day and extension it fits into the 255 bytes of a file name, and into most Windows
/// paths.
const MAX_SLUG_BYTES: usize = 96;

/// Returns a file name such as `2026-02-23_pool-is-exhausted`: the day, and the title's letters and digits. A title
/// without any, or one that is too long, gets a digest to keep names distinct.
pub fn file_stem(day: &str, title: &str) -> String {
    format!("{day}_{}", slug(title))
}

/// Turns a title into a part of a file name, in NFC, so that it is spelled the same on every system.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    let mut is_cut = false;
    for c in title.nfkc().flat_map(char::to_lowercase).nfc() {
        let c = if c.is_alphanumeric() || is_mark(c) { c } else { '-' };
        if c == '-' && (slug.is_empty() || slug.ends_with('-')) {
            continue;
        }
        if slug.len() + c.len_utf8() > MAX_SLUG_BYTES {
            is_cut = true;
            break;
        }
        slug.push(c);
    }
    slug.truncate(slug.trim_end_matches('-').len());
    let digest = || hex(&sha256_parts(&[title])[..4]);
    match slug.as_str() {
        "" => digest(),
        _ if is_cut => format!("{slug}-{}", digest()),
        _ => slug,
    }
}

/// Returns whether the character is a combining mark: vowels and tones written as marks are part of a word.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Returns the first of `stem`, `stem-2`, `stem-3`, … that is not taken.
pub fn unique_stem(stem: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    let mut free = stem.to_owned();
    let mut number = 1_u32;
    while is_taken(&free) {
        number += 1;
        free = format!("{stem}-{number}");
    }
    free
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_of_every_script_have_a_name() {
        assert_eq!(slug("Use SQLite, not Postgres!"), "use-sqlite-not-postgres");
        assert_eq!(slug("인증 토큰 만료"), "인증-토큰-만료");
        assert_ne!(slug("인증 토큰 만료"), slug("결제 오류"));
        assert_eq!(slug("日本語の題"), "日本語の題");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("ＡＢＣ"), "abc");
        assert_ne!(slug("!!!"), slug("???"));
        // Composed and decomposed characters give the same name.
        assert_eq!(slug("e\u{301}te\u{301}"), slug("été"));
        let (one, other) = (format!("{} one", "긴제목".repeat(40)), format!("{} other", "긴제목".repeat(40)));
        assert_ne!(slug(&one), slug(&other));
        assert!(slug(&one).len() <= MAX_SLUG_BYTES + 9);
    }

    proptest! {
        #[test]
        fn a_name_is_one_harmless_part_of_a_path(title in any::<String>()) {
            let slug = slug(&title);
            prop_assert!(!slug.is_empty() && slug.len() <= MAX_SLUG_BYTES + 9);
            prop_assert!(!slug.contains(['/', '\\', '.', '\0', ' ', ':']));
            prop_assert!(!slug.starts_with('-'));
        }
    }
}
