//! Measures the default redactor: `cargo run --release -p tests --bin redaction` prints precision and recall over the
//! corpus in `tests/fixtures/redaction/`, by family; `-- --wrong` each case that went wrong as well. With folders of
//! transcripts as arguments it lists every redaction in them instead, with its rule and what stands around it, the secret
//! itself masked, for review.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use tests::redaction::{Report, cases, corpus, measure_on};
use throughline_default_policy::redact::scrub;

#[derive(Parser)]
#[command(about = "Measures redaction: over the corpus of templates, or over folders of transcripts")]
struct Arguments {
    /// Prints each case that went wrong
    #[arg(long)]
    wrong: bool,
    /// Shows so many bytes to either side of a redaction
    #[arg(long, default_value_t = 60)]
    around: usize,
    /// Measures over these cases instead, an object a line: family, text, secrets
    #[arg(long, value_name = "FILE", conflicts_with = "folders")]
    cases: Option<PathBuf>,
    /// Folders of transcripts, or files
    folders: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.folders.is_empty() {
        let all = arguments.cases.as_deref().map_or_else(corpus, cases)?;
        let report = measure_on(all, |text| scrub(text).into_owned());
        return print(&report, arguments.wrong);
    }
    let mut review = Review { around: arguments.around, ..Review::default() };
    for folder in &arguments.folders {
        review.walk(folder)?;
    }
    review.finish()
}

fn print(report: &Report, wrong: bool) -> Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{:<34} {:>6} {:>7} {:>8} {:>10}", "family", "cases", "missed", "spoiled", "right")?;
    for ((innocent, family), counts) in &report.families {
        let right = f64::from(counts.cases - counts.missed - counts.spoiled) / f64::from(counts.cases.max(1));
        let name = if *innocent { format!("(innocent) {family}") } else { family.clone() };
        writeln!(out, "{name:<34} {:>6} {:>7} {:>8} {right:>10.4}", counts.cases, counts.missed, counts.spoiled)?;
    }
    writeln!(out, "recall {:.4}, precision {:.4}", report.recall(), report.precision())?;
    if wrong {
        report.wrong.iter().try_for_each(|case| writeln!(out, "{case}"))?;
    }
    Ok(())
}

/// What was found in transcripts.
#[derive(Default)]
struct Review {
    around: usize,
    bytes: usize,
    seconds: f64,
    rules: BTreeMap<String, usize>,
}

impl Review {
    fn walk(&mut self, path: &Path) -> Result<()> {
        if path.is_dir() {
            let mut entries: Vec<PathBuf> = fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            return entries.iter().try_for_each(|entry| self.walk(entry));
        }
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        self.bytes += text.len();
        for (number, line) in text.lines().enumerate() {
            let begun = Instant::now();
            let scrubbed = scrub(line);
            self.seconds += begun.elapsed().as_secs_f64();
            if scrubbed != line {
                self.show(path, number + 1, line, &scrubbed)?;
            }
        }
        Ok(())
    }

    /// Prints each placeholder that the line did not have before.
    fn show(&mut self, path: &Path, number: usize, line: &str, scrubbed: &str) -> Result<()> {
        const OPEN: &str = "[redacted:";
        let had = line.matches(OPEN).count();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut out = stdout().lock();
        for (at, _) in scrubbed.match_indices(OPEN).skip(had) {
            let rest = &scrubbed[at + OPEN.len()..];
            let rule = rest.split(']').next().unwrap_or_default();
            let start = scrubbed.floor_char_boundary(at.saturating_sub(self.around));
            let end = scrubbed.ceil_char_boundary(at + OPEN.len() + rule.len() + 1 + self.around);
            *self.rules.entry(rule.to_owned()).or_default() += 1;
            writeln!(out, "{rule}\t{name}:{number}\t{:?}", &scrubbed[start..end])?;
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        #[expect(clippy::cast_precision_loss, reason = "a folder of transcripts is smaller than 2^52 bytes")]
        let (megabytes, all) = (self.bytes as f64 / 1e6, self.rules.values().sum::<usize>() as f64);
        let mut out = stdout().lock();
        for (rule, count) in &self.rules {
            writeln!(out, "{count:>6}  {rule}")?;
        }
        writeln!(
            out,
            "{all} redactions in {megabytes:.1} MB: {:.2} a MB; {:.0} MB/s",
            all / megabytes,
            megabytes / self.seconds
        )?;
        Ok(())
    }
}
