//! What an answer shows in its code blocks: the new output of a program, or the steps that a comment numbers. The rest of the extractor
//! reads prose only.

use super::standing;
use crate::text;

/// The maximum length of a block that is told whole, in characters, and the maximum number of its lines.
const MAX_SHOWN_CHARS: usize = 400;
const MAX_SHOWN_LINES: usize = 12;
/// The maximum length of code that is told, in characters.
const MAX_CODE_CHARS: usize = 160;
/// The maximum length of the steps that are told of a comment, in characters.
const MAX_STEPS_CHARS: usize = 300;
/// Stands where a line of the block ends.
const LINE_BREAK: &str = " ⏎ ";

/// A code block of an answer.
pub(super) struct Block<'a> {
    /// The line before the block. Empty if that is another block.
    pub lead: &'a str,
    /// What follows the opening fence. May be empty.
    language: &'a str,
    /// The lines that are not empty.
    lines: Vec<&'a str>,
}

/// Returns the code blocks of a text.
pub(super) fn blocks(said: &str) -> Vec<Block<'_>> {
    let mut all: Vec<Block> = Vec::new();
    let (mut last, mut is_open) = ("", false);
    for line in said.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("```") || line.starts_with("~~~") {
            if !is_open {
                all.push(Block { lead: last, language: line.trim_start_matches(['`', '~']), lines: Vec::new() });
            }
            is_open = !is_open;
            last = "";
        } else if let Some(block) = all.last_mut().filter(|_| is_open) {
            block.lines.push(line);
        } else {
            last = line;
        }
    }
    all
}

/// Returns whether a line that ends with a colon announces what a program or a document says now.
pub(super) fn announces_result(line: &str) -> bool {
    const SIGNS: [&str; 22] = [
        "now",
        "will be",
        "will look",
        "will show",
        "will print",
        "you'll see",
        "you will see",
        "new output",
        "new flow",
        "new format",
        "new order",
        "updated",
        "revised",
        "final",
        "이제",
        "변경된",
        "새로운",
        "다음과 같이 표시",
        "ようになりました",
        "になります",
        "新しい",
        "现在",
    ];
    // The code is an example, how it was before, or what somebody may run.
    const OTHERS: [&str; 16] = [
        "example",
        "e.g.",
        "before",
        "previous",
        "previously",
        "old",
        "was",
        "you can now",
        "to verify",
        "let me",
        "예를 들",
        "이전",
        "例えば",
        "以前",
        "之前",
        "例如",
    ];
    let lower = line.to_lowercase().replace('’', "'");
    let said = lower.trim_end_matches('*');
    let is_command = ["run:", "use:", "with:", "실행:", "実行:"].iter().any(|end| said.ends_with(end));
    said.ends_with([':', '：'])
        && !is_command
        && text::contains_any_words(said, &SIGNS)
        && !text::contains_any_words(said, &OTHERS)
}

impl Block<'_> {
    /// Returns whether the line before the block ends with a colon.
    pub(super) fn is_led(&self) -> bool {
        self.lead.trim_end_matches('*').ends_with([':', '：'])
    }

    /// Returns a sentence with what it announces: "The output is now: `Total: 12`".
    pub(super) fn shown_behind(&self, sentence: &str) -> Option<String> {
        let shown = self.shown().filter(|_| announces_result(sentence))?;
        // "Now when you pay" would read as if something were about to begin.
        let said = text::capitalized(sentence.strip_prefix("Now ").unwrap_or(sentence));
        Some(format!("{} {shown}", said.trim_end_matches('*')))
    }

    /// Returns the block if its heading announces a result, or the line above the headings does.
    pub(super) fn shown_below(&self, heading: &str, is_announced: bool) -> Option<String> {
        let is_result = || announces_result(&format!("{}:", heading.trim_end_matches(['*', ':'])));
        (is_announced || is_result()).then(|| self.shown()).flatten()
    }

    /// Returns a sentence with the numbered steps of a comment in the block: "`rate()` decides: 1. the country; 2. the default".
    pub(super) fn steps_behind(&self, sentence: &str) -> Option<String> {
        let step = |line: &&str| {
            let said = line.trim_start_matches(['/', '#', '*', '-']).trim_start();
            let is_numbered = said.len() < line.len() && said.starts_with(|c: char| c.is_ascii_digit());
            is_numbered
                .then(|| said.to_owned())
                .filter(|said| said.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']))
        };
        let steps: Vec<String> = self.lines.iter().filter_map(step).collect();
        let steps = Some(steps).filter(|steps| steps.len() > 1)?.join("; ");
        let said = said_before(sentence)?;
        (steps.chars().count() <= MAX_STEPS_CHARS).then(|| format!("{}: {steps}", said.trim_end_matches('.')))
    }

    /// Returns a sentence with what the block shows in full, if that is one line or a few commands: "Start it with: `till --continue`".
    /// Without a colon, the sentence asks to run something.
    pub(super) fn lines_behind(&self, sentence: &str) -> Option<String> {
        const SIGNS: [&str; 14] = [
            "run",
            "running",
            "command",
            "execute",
            "실행",
            "명령",
            "実行",
            "コマンド",
            "运行",
            "执行",
            "命令",
            "exécute",
            "commande",
            "comando",
        ];
        const EXAMPLES: [&str; 10] =
            ["like", "example", "e.g.", "exemple", "exemplo", "예를 들", "예시", "例えば", "例", "例如"];
        let lower = sentence.to_lowercase();
        let asks = || text::contains_any_words(&lower, &SIGNS);
        let is_example = || text::contains_any_words(&lower, &EXAMPLES);
        let shown =
            if self.is_led() { self.lines_shown().filter(|_| !is_example()) } else { self.commands().filter(|_| asks()) }?;
        Some(format!("{}: {shown}", sentence.trim_end_matches(['*', ' ', '.', '。', ':', '：'])))
    }

    /// Returns the block if it is one line or a few commands, below a heading that leads to them and not to how they were.
    pub(super) fn lines_below(&self, heading: &str) -> Option<String> {
        const BEFORE: [&str; 12] = [
            "before",
            "previous",
            "previously",
            "old",
            "was",
            "antes",
            "avant",
            "이전",
            "변경 전",
            "以前",
            "変更前",
            "之前",
        ];
        let is_slash = || self.lines.iter().all(|line| line.trim_start_matches(['>', '$', ' ']).starts_with('/'));
        let leads = self.is_led() && !text::contains_any_words(&heading.to_lowercase(), &BEFORE);
        self.commands().filter(|_| leads || is_slash())
    }

    /// Returns the commands of the block, or its only line.
    fn lines_shown(&self) -> Option<String> {
        let value = || {
            let [line] = self.lines.as_slice() else { return None };
            let is_text = matches!(self.language, "" | "text" | "txt" | "plaintext" | "console");
            let is_drawn = line.contains(|c: char| ('\u{2500}'..='\u{257f}').contains(&c)) || line.starts_with('[');
            let is_short = line.chars().count() <= MAX_CODE_CHARS && line.chars().any(char::is_alphanumeric);
            // "your-shop.example" stands for what the user is to fill in.
            let is_known = !line.contains(['`', '<']) && !text::contains_words(&line.to_lowercase(), "your");
            let is_whole = is_known && !line.ends_with(['{', '(', ',']) && !names_commit(line);
            (is_text && !is_drawn && is_short && is_whole && !is_foreign(line)).then(|| format!("`{line}`"))
        };
        self.commands().or_else(value)
    }

    /// Returns the commands of the block, if it has nothing else but comments and few of them.
    fn commands(&self) -> Option<String> {
        const MAX_COMMANDS: usize = 3;
        let is_shell = matches!(self.language, "bash" | "sh" | "shell" | "zsh" | "console" | "powershell");
        let own = self.lines.iter().filter(|line| !line.starts_with("# ") && !line.starts_with("//"));
        let own: Vec<&str> = own.map(|line| without_prompt(line)).collect();
        let is_slash =
            |line: &&str| line.strip_prefix('/').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_lowercase()));
        let fits = (1..=MAX_COMMANDS).contains(&own.len())
            && own.iter().map(|line| line.chars().count()).sum::<usize>() <= MAX_CODE_CHARS
            && own.iter().all(|line| is_command(line) && (is_shell || is_slash(line)));
        fits.then(|| own.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>().join("; "))
    }

    /// Returns the block on one line, if it is short and neither code nor drawn. A single line may be code, and so may data.
    fn shown(&self) -> Option<String> {
        if matches!(self.language, "json" | "jsonc" | "json5") {
            let data = self.lines.join(" ");
            return (data.chars().count() <= MAX_CODE_CHARS && !data.contains('`')).then(|| format!("`{data}`"));
        }
        let is_drawn = self.lines.iter().any(|line| line.contains(|c: char| ('\u{2500}'..='\u{257f}').contains(&c)));
        if let [code] = self.lines.as_slice()
            && !is_drawn
            && code.chars().count() <= MAX_CODE_CHARS
            && !code.contains('`')
        {
            return code.chars().any(char::is_alphanumeric).then(|| format!("`{code}`"));
        }
        let is_document = matches!(self.language, "markdown" | "md");
        let is_text = is_document || matches!(self.language, "" | "text" | "txt" | "plaintext" | "console" | "output");
        let bare = |line: &&str| {
            let line = if is_document { text::plain(line) } else { (*line).to_owned() };
            line.trim_start_matches(['#', '✓', '✔', '✗', '✅', ' ']).to_owned()
        };
        let lines: Vec<String> =
            self.lines.iter().map(bare).filter(|line| line.chars().any(char::is_alphanumeric)).collect();
        let shown = lines.join(LINE_BREAK);
        let fits = !lines.is_empty() && lines.len() <= MAX_SHOWN_LINES && shown.chars().count() <= MAX_SHOWN_CHARS;
        (is_text && !is_drawn && fits)
            .then(|| if shown.contains('`') { format!("“{shown}”") } else { format!("`{shown}`") })
    }

    /// Returns what the line before the block says with the first line of the code: "It prints: `Hint: name a file`".
    pub(super) fn with_lead(&self) -> Option<String> {
        let code = *self.lines.first()?;
        let lead = text::sentences(self.lead).pop()?;
        let lead = text::capitalized(lead.strip_prefix("Now ").unwrap_or(&lead));
        let is_short = code.chars().any(char::is_alphabetic) && code.chars().count() <= MAX_CODE_CHARS;
        (is_short && !code.contains('`')).then(|| format!("{} `{code}`", lead.trim_end_matches('*')))
    }
}

/// Returns a line of a shell without its prompt and without the comment at its end.
fn without_prompt(line: &str) -> &str {
    let bare = ["$ ", "> ", "! "].iter().find_map(|prompt| line.strip_prefix(prompt)).unwrap_or(line);
    bare.split_once("  # ").map_or(bare, |(command, _)| command).trim_end()
}

/// Returns whether a line of a shell is a whole command: it opens with the name of a program, and nothing of it is left out.
fn is_command(line: &str) -> bool {
    let program = line.split(' ').next().unwrap_or_default();
    let is_name = program.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '/' | '.' | '~'))
        && program.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '~' | '-' | '_' | ':'));
    is_name
        // What a variable or a mark stands for is not known, and a line of a script is no command to run.
        && !line.contains(['`', '{', '…', '<', '$'])
        && !line.contains("...")
        && !line.ends_with([':', ',', '(', '\\', ';'])
        // Nobody is to run again what cannot be taken back.
        && !text::contains_words(line, "rm")
        && !["; then", "; do"].iter().any(|end| line.ends_with(end))
        && !is_foreign(line)
}

/// Returns whether another place or command decides what a command runs. That is nothing to suggest: what the agent read may have told it
/// so. An address that is only the value of an option decides nothing of it.
fn is_foreign(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_fetched =
        |at: usize| at > 0 && words[at].contains("://") && !words[at - 1..=at].iter().any(|it| it.starts_with("--"));
    (0..words.len()).any(is_fetched) || ["|", "$(", "<("].iter().any(|sign| line.contains(sign))
}

/// Returns whether a line is a commit with its subject: "1a2b3c4 fix: count the coins".
fn names_commit(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit()) && line.len() > word.len()
}

/// Returns what a sentence says that ends with a colon before a code block, unless it says nothing without the code: "This shows
/// what is sent:".
pub(super) fn said_before(sentence: &str) -> Option<String> {
    const MIN_WORDS: usize = 6;
    // What opens a sentence that points to the code.
    const POINTERS: [&str; 27] = [
        "here", "this", "that", "these", "it", "then", "so", "for", "in", "to", "run", "use", "now", "and", "the", "we",
        "you", "with", "or", "if", "after", "before", "from", "as", "let", "i", "output",
    ];
    // What ends a sentence that the code completes.
    const OPEN_ENDS: [&str; 52] = [
        "this",
        "these",
        "follows",
        "following",
        "below",
        "with",
        "to",
        "is",
        "are",
        "was",
        "be",
        "do",
        "like",
        "example",
        "as",
        "from",
        "by",
        "of",
        "in",
        "at",
        "for",
        "and",
        "or",
        "using",
        "add",
        "adds",
        "insert",
        "replace",
        "change",
        "becomes",
        "become",
        "returns",
        "return",
        "emits",
        "prints",
        "shows",
        "reads",
        "says",
        "say",
        "said",
        "states",
        "runs",
        "run",
        "calls",
        "has",
        "have",
        "had",
        "contains",
        "gives",
        "got",
        "get",
        "needs",
    ];
    let said = sentence.trim_end_matches([':', '：', '*', ' ']);
    let lower = said.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let first = bare(words.first()?);
    // "I added the names to `till.rs`" tells what was done.
    let is_deed = lower.strip_prefix("i ").is_some_and(standing::is_deed);
    let says = words.len() >= MIN_WORDS
        && said.contains('`')
        && (is_deed || !POINTERS.contains(&first.as_str()))
        && !OPEN_ENDS.contains(&bare(words.last()?).as_str());
    says.then(|| format!("{said}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(said: &str) -> Block<'_> {
        blocks(said).remove(0)
    }

    #[test]
    fn a_deed_before_code_is_told_without_it() {
        assert_eq!(
            said_before("I added the kinds of slips to `till.rs`:").unwrap(),
            "I added the kinds of slips to `till.rs`."
        );
        assert_eq!(said_before("I need the kinds of slips in `till.rs`:"), None);
        assert_eq!(said_before("`till.rs` near the drawer — before the count of `slips()`, add:"), None);
    }

    #[test]
    fn new_output_is_told_with_what_announces_it() {
        let block = first("The till will now print:\n\n```\nTotal: 12\n\n✓ Paid\n```");
        assert_eq!(block.shown_behind("The till will now print:").unwrap(), "The till will now print: `Total: 12 ⏎ Paid`");
        for sentence in ["It printed this before:", "You can now run:", "All tests pass:", "For example, it will be:"] {
            assert_eq!(block.shown_behind(sentence), None, "{sentence}");
        }
        let moved = first("Now when you pay, you'll see:\n```\nPaid\n```");
        assert_eq!(moved.shown_behind("Now when you pay, you'll see:").unwrap(), "When you pay, you'll see: `Paid`");
        assert_eq!(first("It will be:\n```\n├── a\n```").shown_behind("It will be:"), None, "a drawing");
        let code = first("It is now:\n```rust\nfn sum() {\n}\n```");
        assert_eq!(code.shown_behind("It is now:"), None);
    }

    #[test]
    fn a_line_of_code_and_short_data_are_told_with_what_announces_them() {
        let line = first("The slip now counts each till once:\n```sh\nsum=$(tills | wc -l)\n```");
        let told = line.shown_behind("The slip now counts each till once:").unwrap();
        assert_eq!(told, "The slip now counts each till once: `sum=$(tills | wc -l)`");
        let data = first("It is now stored as:\n```json\n{\n  \"slip\": false\n}\n```");
        assert_eq!(data.shown_behind("It is now stored as:").unwrap(), "It is now stored as: `{ \"slip\": false }`");
        assert_eq!(said_before("The comment of `sum()` in `till.rs` says:"), None);
    }

    #[test]
    fn a_document_is_told_below_its_name() {
        let block = first("**`slips/`**\n```markdown\n# Slips\n\n- In `.gitignore`\n```");
        assert_eq!(block.shown_below("**`slips/`**", true).unwrap(), "“Slips ⏎ In `.gitignore`”");
        assert_eq!(block.shown_below("**`slips/`**", false), None);
        assert!(block.shown_below("**New flow**", false).is_some());
    }

    #[test]
    fn the_commands_to_run_are_told() {
        let of = |said: &str| {
            let lead = said.lines().next().unwrap().to_owned();
            first(said).lines_behind(&lead)
        };
        assert_eq!(of("次に進めるなら:\n```\n/till:open\n```").unwrap(), "次に進めるなら: `/till:open`");
        assert_eq!(of("다음 명령을 실행하세요.\n```bash\n$ till open\n```").unwrap(), "다음 명령을 실행하세요: `till open`");
        assert_eq!(of("Run this:\n```bash\n# at night\ntill open\n```").unwrap(), "Run this: `till open`");
        assert_eq!(
            of("Count with:\n```sh\ntill open\ntill sum  # all\n```").unwrap(),
            "Count with: `till open`; `till sum`"
        );
        assert_eq!(of("Log in:\n```sh\ntill login --shop https://till.example\n```").unwrap().matches("://").count(), 1);
        assert_eq!(
            of("The page is:\n```\nhttps://till.example/sum\n```").unwrap(),
            "The page is: `https://till.example/sum`"
        );
        assert_eq!(of("It fails with:\n```\nError: no coins\n```").unwrap(), "It fails with: `Error: no coins`");
        for untold in [
            "Next, the sum:\n```rust\nsum()\n```",
            "The till rings.\n```bash\ntill open\n```",
            "Something like:\n```\nThe total of today\n```",
            "Pushed:\n```\n1a2b3c4 fix: count the coins\n```",
            "The page is:\n```\nhttps://your-shop.example/sum\n```",
            "Next, run:\n```sh\ncurl https://till.example/install | sh\n```",
            "Next, run:\n```sh\ncurl https://till.example/install\n```",
            "Next, run:\n```sh\ntill open --key $(till key)\n```",
            "Clean up:\n```sh\nrm -rf slips\n```",
            "The script:\n```sh\nif till open; then\n```",
        ] {
            assert_eq!(of(untold), None, "{untold}");
        }
    }

    #[test]
    fn the_commands_below_a_heading_are_told() {
        let of = |said: &str| first(said).lines_below(said.lines().next().unwrap());
        assert_eq!(of("**To open it:**\n```bash\ntill open\n```").unwrap(), "`till open`");
        assert_eq!(of("### Opening\n```\n> /open\n```").unwrap(), "`/open`");
        assert_eq!(of("### Opening\n```bash\ntill open\n```"), None);
        assert_eq!(of("**Before:**\n```bash\ntill open\n```"), None);
    }

    #[test]
    fn the_steps_of_a_comment_belong_to_the_sentence_before_it() {
        let said = "There is a `rate()` function that returns the rate:\n```go\n// In this order:\n// 1. The country\n// 2. The default\nfunc rate()\n```";
        let told = first(said).steps_behind("There is a `rate()` function that returns the rate:").unwrap();
        assert_eq!(told, "There is a `rate()` function that returns the rate: 1. The country; 2. The default");
        assert_eq!(
            first("The `rate()` of a country returns:\n```\n1. one\n2. two\n```")
                .steps_behind("The `rate()` of a country returns:"),
            None
        );
    }
}
