//! A rule as its matcher sees it: a name and keywords.

use std::ops::Range;

/// One rule. Its name appears in the placeholder. If gitleaks has a similar rule, the name is the same as there.
pub(super) struct Rule {
    pub id: &'static str,
    /// What every match contains, in any case, at least three bytes long. Matchers that depend on case check it
    /// themselves.
    pub keywords: &'static [&'static str],
}

impl Rule {
    /// Returns the keyword that was found, as spelled in the table.
    pub(super) fn keyword_at(&self, bytes: &[u8], at: &Range<usize>) -> &'static str {
        self.keywords
            .iter()
            .find(|keyword| bytes[at.clone()].eq_ignore_ascii_case(keyword.as_bytes()))
            .copied()
            .unwrap_or_default()
    }
}
