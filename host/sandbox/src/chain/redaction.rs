//! Runs the redactors over texts.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use throughline_model::redacted::TextRedactor;
use throughline_privacy::secrets;

use super::work::Work;
use crate::stage::Stage;

/// The redactors of a unit of work, with a deadline.
pub struct Redactor<'w, 'p> {
    work: &'w mut Work<'p>,
    deadline: Instant,
}

impl TextRedactor for Redactor<'_, '_> {
    type Error = anyhow::Error;

    fn redact_texts(&mut self, texts: Vec<&mut String>) -> Result<()> {
        self.work.redact_in_place(texts, self.deadline)
    }
}

impl<'p> Work<'p> {
    /// Returns a redactor for values that are about to be stored.
    pub fn redactor(&mut self, deadline: Instant) -> Redactor<'_, 'p> {
        Redactor { work: self, deadline }
    }
}

impl Work<'_> {
    /// Redacts the texts in place: first the values that are secret on this machine, then the default, then every other
    /// redactor. After an error, none of the texts may be used.
    pub fn redact(&mut self, texts: &mut [String], deadline: Instant) -> Result<()> {
        self.redact_counting(texts, deadline).map(drop)
    }

    /// Like [`Work::redact`], for texts that are not in one slice.
    pub fn redact_in_place(&mut self, mut slots: Vec<&mut String>, deadline: Instant) -> Result<()> {
        let mut texts: Vec<String> = slots.iter_mut().map(|slot| std::mem::take(*slot)).collect();
        self.redact(&mut texts, deadline)?;
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }

    /// Whether there are redactors besides the default one.
    pub fn has_added_redactors(&self) -> bool {
        !self.policies.registry.order(Stage::Redactor).is_empty()
    }

    /// Runs the redactors besides the default one. For texts that a policy is about to cut: a redactor of a team must see them
    /// whole, because it may know nothing of half a name.
    pub fn redact_by_added(&mut self, slots: Vec<&mut String>, deadline: Instant) -> Result<()> {
        let (slots, mut texts): (Vec<_>, Vec<String>) =
            slots.into_iter().map(|slot| (std::mem::take(slot), slot)).map(|(text, slot)| (slot, text)).unzip();
        for index in self.policies.registry.order(Stage::Redactor) {
            self.call_policy(index, Stage::Redactor, deadline, |running, until| running.redact(&mut texts, until))?;
        }
        for (slot, text) in slots.into_iter().zip(texts) {
            *slot = text;
        }
        Ok(())
    }

    /// Like [`Work::redact`], and returns how often each rule matched.
    pub fn redact_counting(&mut self, texts: &mut [String], deadline: Instant) -> Result<BTreeMap<String, u64>> {
        let mut found = BTreeMap::new();
        let mut count = |rule: String, times: u32| {
            if times > 0 {
                *found.entry(rule).or_insert(0) += u64::from(times);
            }
        };
        let secrets = Rc::clone(&self.policies.secrets);
        // This runs before all redactors, because none of them knows the values: one that removed part of a value would
        // hide the rest.
        count(secrets::RULE.into(), secrets.mask(texts));
        let mut changed = false;
        if self.policies.default_redacts {
            let findings = self.call_default(deadline, |running, until| running.redact(texts, until))?;
            changed |= !findings.is_empty();
            for finding in findings {
                count(finding.rule, finding.count);
            }
        }
        for index in self.policies.registry.order(Stage::Redactor) {
            let findings =
                self.call_policy(index, Stage::Redactor, deadline, |running, until| running.redact(texts, until))?;
            changed = true;
            for finding in findings.into_iter().flatten() {
                count(finding.rule, finding.count);
            }
        }
        if changed {
            // Removed text may have been in the middle of a value, and a custom redactor can write anything.
            count(secrets::RULE.into(), secrets.mask(texts));
        }
        Ok(found)
    }
}
