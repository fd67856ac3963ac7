//! Prints the results as they come.

/// Prints the results, and counts the limits that are missed.
pub(crate) struct Table {
    pub(crate) failed: usize,
}

impl Table {
    pub(crate) fn row(&mut self, what: &str, value: &str, limit: &str, kept: Option<bool>) {
        let verdict = match kept {
            Some(true) => "ok",
            Some(false) => {
                self.failed += 1;
                "MISSED"
            }
            None => "",
        };
        println!("{what:<46} {value:>30} {limit:>26} {verdict}");
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", {
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
        let bytes = bytes as f64;
        bytes / 1_048_576.0
    })
}
