//! Needles: regular expressions that must all match within one line.

use anyhow::{Context as _, Result};
use fancy_regex::Regex;

/// The needles of one fact.
#[derive(Debug)]
pub struct Needles(Vec<Regex>);

impl Needles {
    /// Compiles needles. Case is ignored.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let compile =
            |pattern: &String| Regex::new(&format!("(?i){pattern}")).with_context(|| format!("the needle `{pattern}`"));
        Ok(Self(patterns.iter().map(compile).collect::<Result<_>>()?))
    }

    /// Returns whether there are needles and all match within the line. A needle that takes too long does not match.
    pub fn match_in(&self, line: &str) -> bool {
        !self.0.is_empty() && self.0.iter().all(|needle| needle.is_match(line).unwrap_or(false))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many of the needles match somewhere in the lines.
    pub fn count_in(&self, lines: &[String]) -> usize {
        let is_in = |needle: &&Regex| lines.iter().any(|line| needle.is_match(line).unwrap_or(false));
        self.0.iter().filter(is_in).count()
    }

    /// Returns the number of needles.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_must_match_in_one_line() {
        let needles = Needles::new(&["cache|store".into(), "^(?!.*not).*stale".into()]).unwrap();
        assert!(needles.match_in("the Cache was stale") && !needles.match_in("the cache was not stale"));
        assert!(!Needles::new(&[]).unwrap().match_in("anything"));
        assert_eq!(needles.count_in(&["a store".into(), "b".into()]), 1);
        assert!(Needles::new(&["(".into()]).is_err());
    }
}
