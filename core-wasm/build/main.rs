//! Compiles the default rules (`rules/default.toml`) into constant tables, so that a fresh instance has nothing to
//! parse or build. `src/redact/rules.rs` includes the generated code. A rule that cannot be compiled fails the build.

mod shape;

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SOURCE: &str = "rules/default.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "for people, and for gitleaks")]
    title: String,
    allowlists: Vec<Allowlist>,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowlist {
    #[expect(dead_code, reason = "for people")]
    description: String,
    stopwords: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    /// Distinguishes rules of the same name whose keywords are matched differently.
    part: Option<String>,
    description: String,
    #[serde(default)]
    keywords: Vec<String>,
    regex: Option<String>,
    #[serde(default)]
    entropy: f32,
    native: Option<Native>,
    #[serde(default)]
    optional: bool,
}

/// The matcher in `src/redact/` for a rule that a regular expression cannot express well.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Native {
    /// An assignment. The string is the kind of value that the name indicates.
    Assignment(String),
    /// Command lines, one entry for each group of programs.
    Commands(Vec<Command>),
    /// A matcher function.
    Matcher(String),
    /// A matcher that is called for each run of digits, because no keyword activates it.
    Digits(String),
    /// A matcher that is called once for each text; if the rule is optional, only if a setting names it.
    Scan(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    programs: Vec<String>,
    options: Vec<String>,
    style: String,
}

/// The tables as source code.
#[derive(Default)]
struct Tables {
    rules: String,
    digits: String,
    scans: String,
    optional: String,
    ids: Vec<(String, Option<String>)>,
}

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build");
    let file: File = toml::from_str(&fs::read_to_string(SOURCE)?)?;
    let mut tables = Tables::default();
    for rule in &file.rules {
        add(&mut tables, rule).map_err(|error| format!("{SOURCE}: rule {}: {error}", rule.id))?;
    }
    let stopwords: Vec<&String> = file.allowlists.iter().flat_map(|list| &list.stopwords).collect();
    let source = format!(
        "/// All rules with keywords. If several rules have the same keyword at the same position, each of them is tried.\n\
         pub(super) const RULES: &[RuleEntry] = &[\n{}];\n\
         /// The rules that are tried at each run of digits.\n\
         pub(super) const DIGITS: &[(&str, DigitRule)] = &[\n{}];\n\
         /// The rules that are tried once for each text.\n\
         pub(super) const SCANS: &[ScanRule] = &[\n{}];\n\
         /// The rules that run only where a setting names them.\n\
         pub(super) const OPTIONAL: &[ScanRule] = &[\n{}];\n",
        tables.rules, tables.digits, tables.scans, tables.optional
    );
    let stopwords = format!(
        "/// Words that occur in placeholders and never in real tokens.\n\
         pub(super) const STOPWORDS: &[&str] = &{stopwords:?};\n"
    );
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(folder.join("rules.rs"), source)?;
    fs::write(folder.join("stopwords.rs"), stopwords)?;
    Ok(())
}

fn add(tables: &mut Tables, rule: &Rule) -> Result<()> {
    let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let name = (rule.id.clone(), rule.part.clone());
    if tables.ids.contains(&name) || rule.description.is_empty() || !rule.id.bytes().all(valid) {
        return Err("the name, with its part, is taken or not made of `a-z0-9-`, or the description is missing".into());
    }
    tables.ids.push(name);
    match (&rule.regex, &rule.native) {
        (Some(regex), None) => {
            let shape = shape::compile(regex)?;
            for prefix in &shape.prefixes {
                let folded = prefix.to_ascii_lowercase();
                if !rule.keywords.iter().any(|keyword| folded.contains(keyword.as_str())) {
                    return Err(format!("no keyword for matches that begin with {prefix}").into());
                }
            }
            let entropy = rule.entropy;
            entry(
                tables,
                rule,
                &shape.prefixes,
                &format!("Matcher::Token(Token {{ entropy: {entropy:?}, {} }})", shape.source),
            )
        }
        (None, Some(Native::Assignment(kind))) => {
            entry(tables, rule, &rule.keywords, &format!("Matcher::Assignment(Kind::{})", camel(kind)))
        }
        (None, Some(Native::Commands(commands))) => {
            for command in commands {
                let style = camel(&command.style);
                let matcher = format!("Matcher::Command(&{:?}, Style::{style})", command.options);
                entry(tables, rule, &command.programs, &matcher)?;
            }
            Ok(())
        }
        (None, Some(Native::Matcher(name))) => entry(tables, rule, &rule.keywords, &format!("Matcher::Custom({name})")),
        (None, Some(Native::Digits(name))) if rule.keywords.is_empty() && !rule.optional => {
            writeln!(tables.digits, "    ({:?}, {name}),", rule.id)?;
            Ok(())
        }
        (None, Some(Native::Scan(name))) if rule.keywords.is_empty() => {
            let table = if rule.optional { &mut tables.optional } else { &mut tables.scans };
            writeln!(table, "    ScanRule {{ id: {:?}, run: {name} }},", rule.id)?;
            Ok(())
        }
        _ => Err("one of `regex` and `native` says how it looks; digits and scans have no keywords".into()),
    }
}

fn entry(tables: &mut Tables, rule: &Rule, keywords: &[String], matcher: &str) -> Result<()> {
    if rule.optional || keywords.is_empty() || keywords.iter().any(|keyword| keyword.len() < 3) {
        return Err("keywords of three bytes and more wake a rule, and only scans are optional".into());
    }
    writeln!(
        tables.rules,
        "    RuleEntry {{ rule: Rule {{ id: {:?}, keywords: &{keywords:?} }}, matcher: {matcher} }},",
        rule.id
    )?;
    Ok(())
}

/// Converts a name such as `user-and-password` to a Rust variant name.
fn camel(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}
