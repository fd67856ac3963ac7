//! JSON that is edited in places and otherwise left as it was written: values that nobody touches keep their very bytes,
//! members keep their order, numbers their digits.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::{RawValue, to_raw_value};

/// The members of an object in their order, each value as it stands in the text.
#[derive(Debug, Clone, Default)]
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// The value that counts under `name`: where it stands twice, readers take the last.
    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_ref())
    }

    /// Replaces the value that counts, or appends it.
    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().rev().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in &self.0 {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// As text, where the object stands `depth` levels deep.
    pub(super) fn write(&self, style: &Style, depth: usize) -> String {
        let members = self.0.iter().map(|(name, value)| {
            let name = serde_json::Value::from(name.as_str());
            format!("{name}:{}{}", style.after_colon(), value.get())
        });
        style.enclose('{', members, '}', depth)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// How a text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    /// One level of indentation; none: all is on one line.
    indent: Option<String>,
}

impl Style {
    /// The layout of `text`, an object: what its first member is indented by. Two spaces where it has none.
    pub(super) fn of(text: &str) -> Self {
        let body = text.trim();
        if body.len() > 2 && !body.contains('\n') {
            return Self { indent: None };
        }
        let first = body.lines().nth(1).unwrap_or_default();
        let indent: String = first
            .chars()
            .take_while(|c| *c == ' ' || *c == '\t')
            .collect();
        Self {
            indent: Some(if indent.is_empty() {
                "  ".into()
            } else {
                indent
            }),
        }
    }

    fn after_colon(&self) -> &'static str {
        if self.indent.is_some() { " " } else { "" }
    }

    /// A list as text, where it stands `depth` levels deep.
    pub(super) fn list(&self, items: &[Box<RawValue>], depth: usize) -> String {
        self.enclose(
            '[',
            items.iter().map(|item| item.get().to_owned()),
            ']',
            depth,
        )
    }

    fn enclose(
        &self,
        open: char,
        items: impl Iterator<Item = String>,
        close: char,
        depth: usize,
    ) -> String {
        let items: Vec<String> = items.collect();
        let Some(indent) = self.indent.as_ref().filter(|_| !items.is_empty()) else {
            return format!("{open}{}{close}", items.join(","));
        };
        let outer = indent.repeat(depth);
        let inner = indent.repeat(depth + 1);
        format!(
            "{open}\n{inner}{}\n{outer}{close}",
            items.join(&format!(",\n{inner}"))
        )
    }
}

/// Text that was written here, as a value. It is JSON by construction; were it not, the value would be null.
pub(super) fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_default()
}

/// Anything plain as a value.
pub(super) fn value(plain: impl serde::Serialize) -> Box<RawValue> {
    to_raw_value(&plain).unwrap_or_default()
}
