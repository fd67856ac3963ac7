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
        (steps.chars().count() <= MAX_STEPS_CHARS && !is_private(self.lead))
            .then(|| format!("{}: {steps}", said.trim_end_matches('.')))
    }

    /// Returns the block on one line, if it is short and neither code nor drawn. A single line may be code, and so may data.
    fn shown(&self) -> Option<String> {
        if is_private(self.lead) {
            return None;
        }
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
        (is_short && !code.contains('`') && !is_private(self.lead))
            .then(|| format!("{} `{code}`", lead.trim_end_matches('*')))
    }
}

/// Returns whether a text speaks of a password, a key, a token, a code or a login. What a block shows below it may be that.
pub(super) fn is_private(said: &str) -> bool {
    const WORDS: [&str; 12] = ["key", "keys", "pin", "pins", "code", "codes", "auth", "pw", "pwd", "otp", "clave", "clé"];
    const STEMS: [&str; 39] = [
        "passw",
        "passphrase",
        "passcode",
        "secret",
        "token",
        "apikey",
        "credential",
        "authent",
        "login",
        "log in",
        "sign in",
        "unlock",
        "kennwort",
        "schlüssel",
        "mot de passe",
        "contraseña",
        "senha",
        "비밀",
        "암호",
        "키",
        "토큰",
        "인증",
        "로그인",
        "코드",
        "パスワード",
        "パスコード",
        "暗証",
        "秘密",
        "鍵",
        "キー",
        "トークン",
        "認証",
        "ログイン",
        "コード",
        "密码",
        "口令",
        "密钥",
        "令牌",
        "登录",
    ];
    let lower = said.to_lowercase();
    text::contains_any(&lower, &STEMS) || lower.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
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
    fn what_may_be_a_secret_is_not_told() {
        for said in [
            "Sign in with this password:\n```\ncorrect horse battery\n```",
            "관리자 비밀번호는 이제 다음과 같습니다:\n```\ndrawer-night-88\n```",
            "新しいパスワードは次の通りです：\n```\ndrawer-night-88\n```",
            "Das Passwort ist now:\n```\nhunter2drawer\n```",
            "I set `ADMIN_PASSWORD`, which is now:\n```\nhunter2drawer\n```",
        ] {
            let (block, lead) = (first(said), said.lines().next().unwrap());
            assert_eq!(block.shown_behind(lead), None, "{said}");
            assert_eq!(block.shown_below(lead, true), None, "{said}");
        }
        assert_eq!(first("The PIN of the till is:\n```\ndrawer\n```").with_lead(), None);
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
