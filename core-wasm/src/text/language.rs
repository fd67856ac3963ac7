//! The language of a text.

use super::cut::head;

/// The languages that have their own markers and labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// English, and every language without a table of its own.
    #[default]
    English,
    /// Korean.
    Korean,
    /// Japanese.
    Japanese,
    /// Chinese.
    Chinese,
}

/// Detects the language of a text by its script. One fifth of the letters in another script outweighs Latin.
pub(crate) fn language(text: &str) -> Language {
    let (mut latin, mut hangul, mut kana, mut han) = (0_u32, 0_u32, 0_u32, 0_u32);
    for c in head(text, 4000).chars() {
        match c {
            'a'..='z' | 'A'..='Z' => latin += 1,
            '\u{ac00}'..='\u{d7a3}' | '\u{3131}'..='\u{318e}' => hangul += 1,
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{4e00}'..='\u{9fff}' => han += 1,
            _ => {}
        }
    }
    let all = latin + hangul + kana + han;
    if hangul * 5 > all {
        Language::Korean
    } else if kana > 0 && (kana + han) * 5 > all {
        Language::Japanese
    } else if han * 5 > all {
        Language::Chinese
    } else {
        Language::English
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_by_script() {
        assert_eq!(language("fix `runner.ts`"), Language::English);
        assert_eq!(language("writing-guide.md 문서를 한국어로 변경해줘"), Language::Korean);
        assert_eq!(language("todo.mdもけして"), Language::Japanese);
        assert_eq!(language("请修复这个错误"), Language::Chinese);
    }
}
