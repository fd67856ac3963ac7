//! The conformance suite, which checks a policy against the contract, stage by stage. Inputs are fixed or come from a
//! seeded generator, so two runs over one policy give the same report. The suite ends whatever the policy does.

mod builder;
mod consolidator;
mod extractor;
mod fixtures;
mod observer;
mod query;
mod redactor;
mod report;
mod subject;
mod suite;
mod summarizer;
mod verdict;

use std::time::Instant;

pub use report::{ConformanceCheck, ConformanceReport, Status};
pub use subject::{Granted, Instance, Subject};
pub use suite::Options;
use suite::Suite;
pub use throughline_sandbox::stage::Stage;
use verdict::CheckRecorder;

/// The root of the project that the suite's sessions are about.
pub const ROOT: &str = fixtures::ROOT;

/// Runs the checks of these stages. If the policy does not have a stage, the stage's checks fail.
pub fn run(subject: &dyn Subject, stages: &[Stage], options: &Options) -> ConformanceReport {
    let suite = Suite { subject, options, until: Instant::now() + options.whole };
    let mut report = ConformanceReport::default();
    for stage in Stage::ALL.into_iter().filter(|stage| stages.contains(stage)) {
        let mut recorder = CheckRecorder { stage, checks: &mut report.checks, drafts: &mut report.drafts };
        match stage {
            Stage::Extractor => extractor::run(&suite, &mut recorder),
            Stage::Summarizer => summarizer::run(&suite, &mut recorder),
            Stage::Redactor => redactor::run(&suite, &mut recorder),
            Stage::ContextBuilder => builder::run(&suite, &mut recorder),
            Stage::Observer => observer::run(&suite, &mut recorder),
            Stage::Query => query::run(&suite, &mut recorder),
            Stage::Consolidator => consolidator::run(&suite, &mut recorder),
        }
    }
    report
}
