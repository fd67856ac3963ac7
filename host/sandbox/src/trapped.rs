//! A call of a policy that ended with a trap, or because the host ended it: who, why, and in which functions.

use std::fmt;

use wasmtime::{Trap, WasmBacktrace};

/// How many functions are named, innermost first, and how long a name may be, bytes.
const MAX_FUNCTIONS: usize = 5;
const MAX_NAME: usize = 80;

/// Beginnings of the names of functions that every panic passes through, or that the contract's bindings generate.
const MACHINERY: [&str; 8] = ["core::", "std::", "alloc::", "dlmalloc::", "rust_panic", "__rust", "__cabi", "abort"];

/// A trap in a policy's call.
#[derive(Debug)]
pub struct CallTrapped {
    /// The policy and the stage.
    pub(super) who: String,
    /// The functions that the call was in, innermost first; none if the component does not name its functions.
    pub(super) functions: Vec<String>,
    pub(super) trap: Trap,
}

impl CallTrapped {
    /// Returns what the policy's author can do.
    pub fn hint(&self) -> Option<String> {
        (self.trap == Trap::UnreachableCodeReached).then(|| {
            "if the policy logs its panics, the message is above or in the log; `throughline policy new` shows how, for each \
             language"
                .into()
        })
    }
}

/// An error of the host that ended a policy's call, such as a limit that was exceeded. It stands in the place of wasmtime's own
/// error, which shows the whole stack.
#[derive(Debug)]
pub struct CallStopped {
    /// The policy and the stage.
    pub(super) who: String,
    /// As in [`CallTrapped`].
    pub(super) functions: Vec<String>,
    /// With a backtrace as its outermost context.
    pub(super) error: wasmtime::Error,
}

impl CallStopped {
    /// What the policy's author can do.
    pub const HINT: &'static str = "repair the policy, or request what it needs under [limits] in its policy.toml";
}

impl fmt::Display for CallStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: it was stopped", self.who)?;
        write_functions(f, &self.functions)
    }
}

impl std::error::Error for CallStopped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.chain().nth(1)
    }
}

/// Returns whether the error has the stack of the guest in its message.
pub(super) fn has_stack(error: &wasmtime::Error) -> bool {
    error.downcast_ref::<WasmBacktrace>().is_some()
}

fn write_functions(f: &mut fmt::Formatter<'_>, functions: &[String]) -> fmt::Result {
    let Some((first, callers)) = functions.split_first() else { return Ok(()) };
    write!(f, " in {first}")?;
    callers.iter().try_for_each(|caller| write!(f, ", called by {caller}"))
}

impl fmt::Display for CallTrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.who)?;
        f.write_str(match self.trap {
            Trap::Interrupt => ": stopped at its deadline",
            Trap::StackOverflow => ": its stack overflowed",
            Trap::UnreachableCodeReached => ": it panicked",
            _ => "",
        })?;
        write_functions(f, &self.functions)
    }
}

impl std::error::Error for CallTrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.trap)
    }
}

/// Returns the policy's own functions of the trap's stack, innermost first.
pub(super) fn functions(error: &wasmtime::Error) -> Vec<String> {
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    own(frames.iter().filter_map(|frame| frame.func_name()))
}

fn own<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // Without the hashes that mangled names have.
    let names = names.map(|name| without_trait(&format!("{:#}", rustc_demangle::demangle(name))));
    let mut own: Vec<String> =
        names.filter(|name| !is_machinery(name)).map(|name| clipped(&name)).take(MAX_FUNCTIONS).collect();
    own.dedup();
    own
}

fn is_machinery(name: &str) -> bool {
    let name = name.trim_start_matches('<');
    // The exports of a component are called `throughline:policy/extractor@0.1.0#extract`.
    MACHINERY.iter().any(|start| name.starts_with(start)) || name.contains('#') || name.contains("_cabi")
}

/// Shortens `<policy::Policy as contract::Guest>::extract` to `policy::Policy::extract`.
fn without_trait(name: &str) -> String {
    let short = || {
        let (kind, rest) = name.strip_prefix('<')?.split_once(" as ")?;
        Some(format!("{kind}::{}", rest.rsplit_once(">::")?.1))
    };
    short().unwrap_or_else(|| name.to_owned())
}

/// The name is the policy's text: without control characters, and not too long.
fn clipped(name: &str) -> String {
    let shown: String = name.chars().filter(|letter| !letter.is_control()).collect();
    shown[..shown.floor_char_boundary(MAX_NAME)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_sees_own_functions_and_no_machinery() {
        let names = [
            "__rustc::rust_begin_unwind",
            "_RNvCsfLfy6EI15iL_7___rustc12___rust_abort",
            "_RNvNtCsebHcaeoSrxy_3std9panicking15panic_with_hook",
            "_ZN4core9panicking9panic_fmt17h0123456789abcdefE",
            "core::option::unwrap_failed",
            "_ZN6policy8remember6marked17hfedcba9876543210E",
            "<policy::guest::Policy as policy::guest::exports::Guest>::extract",
            "throughline:policy/extractor@0.1.0#extract",
            "policy::guest::\u{1b}[31mred",
        ];
        let own = own(names.into_iter());
        assert_eq!(own, ["policy::remember::marked", "policy::guest::Policy::extract", "policy::guest::[31mred"]);
        let error = CallTrapped { who: "policy x".into(), functions: own, trap: Trap::UnreachableCodeReached };
        let expected = "policy x: it panicked in policy::remember::marked, called by policy::guest::Policy::extract, called by \
                        policy::guest::[31mred";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn names_are_bounded() {
        let long = "나".repeat(100);
        let found = own(std::iter::repeat_n(long.as_str(), 1000));
        assert!(found.len() == 1 && found[0].len() <= MAX_NAME, "{found:?}");
    }
}
