//! The lines of a transcript, for the examples that read one.

use throughline_default_policy::extract::Lines;

/// Lines that are given all at once.
pub(crate) struct Slice<'a>(pub(crate) Option<&'a [&'a str]>);

impl Lines for Slice<'_> {
    fn next_lines(&mut self, _max_bytes: u32, visit: &mut dyn FnMut(&str, u64)) -> bool {
        let Some(lines) = self.0.take() else { return false };
        for line in lines {
            visit(line, 0);
        }
        true
    }
}
