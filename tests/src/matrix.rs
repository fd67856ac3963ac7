//! The matrix of secrets: forms from `fixtures/attacks/matrix.toml`, filled in with other characters for each place that they are put
//! into, and texts that only look like secrets.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;

use crate::redaction::{Fill, case};

/// A form that secrets have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// What it is called in the documentation.
    pub name: String,
    text: Option<String>,
    command: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    form: Vec<Form>,
    look_alike: Vec<String>,
}

/// A form, filled in for one place.
pub struct Planted {
    /// The number of the form.
    pub form: usize,
    /// The number of the place.
    pub place: usize,
    /// What must not be stored.
    pub secrets: Vec<String>,
}

/// All forms, and the secrets that were planted in each.
pub struct Matrix {
    /// The forms, in the order of the file.
    pub forms: Vec<Form>,
    /// Texts that must stay as they are.
    pub look_alikes: Vec<String>,
    /// The secrets that were planted.
    pub planted: Vec<Planted>,
    taken: HashSet<String>,
}

impl Matrix {
    /// Reads the file.
    pub fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/attacks/matrix.toml");
        let text = std::fs::read_to_string(&path).expect("the fixture");
        let File { form, look_alike } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { forms: form, look_alikes: look_alike, planted: Vec::new(), taken: HashSet::new() }
    }

    /// Returns whether the form is a command.
    pub fn is_command(&self, form: usize) -> bool {
        self.forms[form].command.is_some()
    }

    /// Returns whether the form has several lines.
    pub fn has_lines(&self, form: usize) -> bool {
        let Form { text, command, .. } = &self.forms[form];
        text.iter().chain(command).any(|template| template.contains('\n') || template.contains("{pem:"))
    }

    /// Fills in a form for a place. No secret is planted twice, and a form has the same secrets whatever forms there are besides.
    pub fn plant(&mut self, form: usize, place: usize) -> String {
        let Form { name, text, command } = &self.forms[form];
        let template = text.as_ref().or(command.as_ref()).expect("a text or a command");
        let seed = name.bytes().fold(place as u64 + 1, |seed, byte| seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
        let mut fill = Fill(seed);
        loop {
            let filled = case(name, &fill.template(template));
            if filled.secrets.iter().any(|secret| self.taken.contains(secret)) {
                continue;
            }
            self.taken.extend(filled.secrets.iter().cloned());
            self.planted.push(Planted { form, place, secrets: filled.secrets });
            return filled.text;
        }
    }
}

impl Planted {
    /// The parts by which each secret is recognized: the whole, its second half, and its lines and words if it has several.
    pub fn parts(&self) -> Vec<String> {
        /// A shorter part could be in a file by chance.
        const MIN_PART: usize = 12;
        /// What is shorter is not cut in half.
        const MIN_WHOLE: usize = 24;
        let mut parts = Vec::new();
        for secret in &self.secrets {
            let visible: String = secret.replace("\u{1b}[0m", "").replace('\u{200b}', "");
            let lines = secret.split(|c: char| c.is_whitespace() || c.is_control() || c == '\u{200b}' || c == '\\');
            parts.extend(lines.filter(|line| line.len() >= MIN_PART && !line.starts_with("-----")).map(str::to_owned));
            if visible.is_ascii() && visible.len() >= MIN_WHOLE {
                parts.push(visible[visible.len() / 2..].to_owned());
            }
            parts.extend([secret.clone(), visible]);
        }
        parts.sort_unstable();
        parts.dedup();
        // The last line of every private key is the same.
        parts.retain(|part| !part.starts_with("-----END") && !part.ends_with("KEY-----") || part.len() > 64);
        parts
    }
}
