//! The steps of a command line that is simple enough to say for certain what ran.

/// What stands before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// The beginning, `;` or a line break.
    Nothing,
    And,
    Or,
    Pipe,
}

/// A command with its words, without their quotes.
#[derive(Debug)]
pub(super) struct Step {
    pub before: Before,
    pub words: Vec<String>,
    /// Whether what it prints goes elsewhere.
    pub is_redirected: bool,
}

/// Words of the shell after which nobody knows what runs.
const STEERS: [&str; 26] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "{",
    "}", "!", "exit", "return", "set", "exec", "eval", "source", ".", "trap", "alias",
];

/// Returns the steps of a command line. `None` if it has anything else than plain commands: conditions, loops, groups, here-documents,
/// substitutions, or commands in the background.
pub(super) fn steps(line: &str) -> Option<Vec<Step>> {
    let mut reader = Reader { all: Vec::new(), step: empty(Before::Nothing), word: None, is_target: false };
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some('\''), _) => reader.push(c),
            (_, '$') if chars.peek() == Some(&'(') => return None,
            (_, '\\') => match chars.next()? {
                '\n' => {}
                escaped => {
                    if quote.is_some() && !"$`\"\\".contains(escaped) {
                        reader.push(c);
                    }
                    reader.push(escaped);
                }
            },
            (None, '\'' | '"') => {
                quote = Some(c);
                reader.word.get_or_insert_default();
            }
            (None, '#') if reader.word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            (None, '&' | '|') if chars.next_if_eq(&c).is_some() => {
                reader.end_step(if c == '&' { Before::And } else { Before::Or });
            }
            (None, '|') => reader.end_step(Before::Pipe),
            (None, ';' | '\n') => reader.end_step(Before::Nothing),
            (None, '<') if chars.peek() == Some(&'<') => return None,
            (None, '>' | '<') => {
                chars.next_if_eq(&'>');
                // `2>&1` shows more, `>&2` only in another place.
                chars.next_if_eq(&'&');
                reader.redirect(c == '>');
            }
            (None, '&') if chars.peek() == Some(&'>') => {}
            (_, '`') | (None, '(' | ')' | '&') => return None,
            (None, c) if c.is_whitespace() => reader.end_word(),
            _ => reader.push(c),
        }
    }
    reader.end_step(Before::Nothing);
    let is_plain = |step: &Step| step.words.first().is_none_or(|word| !STEERS.contains(&word.as_str()));
    (quote.is_none() && reader.all.iter().all(is_plain)).then_some(reader.all)
}

fn empty(before: Before) -> Step {
    Step { before, words: Vec::new(), is_redirected: false }
}

struct Reader {
    all: Vec<Step>,
    step: Step,
    word: Option<String>,
    /// Whether the word is where a redirection leads.
    is_target: bool,
}

impl Reader {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if !std::mem::take(&mut self.is_target) {
            self.step.words.push(word);
        }
    }

    /// Begins a redirection. The number before it names what is redirected.
    fn redirect(&mut self, is_output: bool) {
        let number = self.word.take_if(|word| matches!(word.as_str(), "0" | "1" | "2"));
        self.end_word();
        self.step.is_redirected |= is_output && number.as_deref() != Some("2");
        self.is_target = true;
    }

    fn end_step(&mut self, next: Before) {
        self.end_word();
        self.is_target = false;
        if self.step.words.is_empty() {
            // A line may end with `&&` and go on below.
            if next != Before::Nothing {
                self.step.before = next;
            }
            return;
        }
        self.all.push(std::mem::replace(&mut self.step, empty(next)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_into_its_steps() {
        let all =
            steps("cd till && ring -d'{\"a b\": 1}' \\\n  \"x;y\" 2>&1 | head -1 # twice\nls > out || cat 2> /dev/null")
                .unwrap();
        let told: Vec<_> = all.iter().map(|step| (step.before, step.words.join("_"), step.is_redirected)).collect();
        let expected = [
            (Before::Nothing, "cd_till", false),
            (Before::And, "ring_-d{\"a b\": 1}_x;y", false),
            (Before::Pipe, "head_-1", false),
            (Before::Nothing, "ls", true),
            (Before::Or, "cat", false),
        ];
        assert_eq!(told, expected.map(|(before, words, is_redirected)| (before, words.to_owned(), is_redirected)));
    }

    #[test]
    fn what_steers_the_shell_is_not_read() {
        for line in [
            "if true; then ring; fi",
            "for i in 1 2; do ring; done",
            "ring \"$(date)\"",
            "ring `date`",
            "(ring)",
            "ring &",
            "ring <<X\nX",
            "set -e; ring",
            "ring 'x",
        ] {
            assert!(steps(line).is_none(), "{line}");
        }
    }
}
