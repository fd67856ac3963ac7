//! Our hooks in Claude Code's settings: which they are, how they are recognized, and how they get in and out of a text
//! without touching anything else in it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{Members, Style, raw, value};

/// A hook as it is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// Claude Code's name of the event.
    pub event: &'static str,
    /// Arguments of the program.
    pub arguments: &'static [&'static str],
    /// The smallest profile that it is in.
    pub profile: Profile,
    /// Seconds that the client gives it. What the program takes for itself is in the configuration, and less.
    pub timeout: u64,
}

/// How much is registered. Each has all of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// From session to session, and across a compaction: the start, the end, and before a compaction.
    Minimal,
    /// And what happens in between: prompts, tools, failures, sub-agents, ends of turns.
    Standard,
    /// And what only a batch tells of: uses of tools that there are not, and such as were refused.
    Full,
}

impl Profile {
    /// The one that these events are of; none where none of them is ours.
    pub fn of<'a>(events: impl Iterator<Item = &'a str>) -> Option<Self> {
        events.filter_map(|event| HOOKS.iter().find(|hook| hook.event == event)).map(|hook| hook.profile).max()
    }

    /// Its hooks.
    pub fn hooks(self) -> impl Iterator<Item = &'static Hook> {
        HOOKS.iter().filter(move |hook| hook.profile <= self)
    }
}

const fn hook(event: &'static str, arguments: &'static [&'static str], timeout: u64, profile: Profile) -> Hook {
    Hook { event, arguments, profile, timeout }
}

/// All hooks that can be registered. SessionEnd's timeout also lifts the 1.5 s that the client has for its end otherwise. What
/// runs inside the agent's loop has 3 s, which the design says, and takes some milliseconds.
pub const HOOKS: [Hook; 11] = [
    hook("SessionStart", &["hook", "memory-load"], 10, Profile::Minimal),
    hook("UserPromptSubmit", &["hook", "memory-search"], 5, Profile::Standard),
    hook("PostToolUse", &["hook", "memory-track"], 3, Profile::Standard),
    hook("PostToolUseFailure", &["hook", "memory-failure"], 3, Profile::Standard),
    hook("PostToolBatch", &["hook", "memory-track"], 3, Profile::Full),
    hook("SubagentStop", &["hook", "memory-subagent"], 5, Profile::Standard),
    hook("PreCompact", &["hook", "memory-flush"], 15, Profile::Minimal),
    hook("PostCompact", &["hook"], 15, Profile::Standard),
    hook("Stop", &["hook", "memory-complete"], 5, Profile::Standard),
    hook("StopFailure", &["hook", "memory-complete"], 5, Profile::Standard),
    hook("SessionEnd", &["hook", "memory-save"], 15, Profile::Minimal),
];

/// One of our hooks, found in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The event.
    pub event: String,
    /// What restricts it to some occasions; none: nothing does.
    pub matcher: Option<String>,
    /// The program that is called.
    pub program: PathBuf,
    /// With these arguments.
    pub arguments: Vec<String>,
    /// Seconds; none: the client's default.
    pub timeout: Option<u64>,
}

/// Why a text is not settings that could be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is not JSON.
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// Something in it has another form than the client expects.
    Shape {
        /// Such as `hooks.Stop`; empty: all of it.
        place: String,
        /// `an object` or `an array`.
        wanted: &'static str,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, why } => {
                write!(f, "line {line}, column {column}: {why}")
            }
            Self::Shape { place, wanted } if place.is_empty() => write!(f, "it is not {wanted}"),
            Self::Shape { place, wanted } => write!(f, "{place} is not {wanted}"),
        }
    }
}

/// The text with our hooks in it, calling `program`. What is ours already is brought up to date and stays where it is;
/// a longer timeout than ours stays too. Without a profile it is the one that is there, or the standard one.
pub fn install(text: &str, program: &Path, profile: Option<Profile>) -> Result<String, Malformed> {
    let present = registered(text, program)?;
    let present = || Profile::of(present.iter().map(|it| it.event.as_str())).unwrap_or(Profile::Standard);
    edit(text, program, Some(profile.unwrap_or_else(present)))
}

/// The text without our hooks, nor the groups and lists that only held them.
pub fn uninstall(text: &str, program: &Path) -> Result<String, Malformed> {
    edit(text, program, None)
}

/// Our hooks in the text, in its order.
pub fn registered(text: &str, program: &Path) -> Result<Vec<Registration>, Malformed> {
    let mut found = Vec::new();
    let Some(hooks) = parse(text)?.hooks()? else {
        return Ok(found);
    };
    for event in hooks.names() {
        for group in groups(&hooks, &event)? {
            let (members, handlers) = handlers(&group, &event)?;
            let matcher = members
                .get("matcher")
                .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
                .filter(|matcher| !matcher.is_empty() && matcher != "*");
            found.extend(handlers.iter().filter_map(|handler| Handler::parse(handler, program)).map(|handler| {
                Registration {
                    event: event.clone(),
                    matcher: matcher.clone(),
                    program: handler.program,
                    arguments: handler.arguments,
                    timeout: handler.timeout,
                }
            }));
        }
    }
    Ok(found)
}

/// Whether the settings hold this switch, set to true.
pub fn is_set(text: &str, switch: &str) -> bool {
    parse(text).is_ok_and(|settings| settings.members.get(switch).is_some_and(|raw| raw.get() == "true"))
}

/// Settings, parsed as far as needed.
pub(super) struct Settings {
    pub(super) members: Members,
}

impl Settings {
    fn hooks(&self) -> Result<Option<Members>, Malformed> {
        self.members.get("hooks").map(|raw| object(raw, "hooks")).transpose()
    }
}

pub(super) fn parse(text: &str) -> Result<Settings, Malformed> {
    let body = body(text);
    // A file without anything in it is what an editor or a full disk left: nothing is set.
    if body.trim().is_empty() {
        return Ok(Settings { members: Members::default() });
    }
    let syntax =
        |error: &serde_json::Error| Malformed::Syntax { line: error.line(), column: error.column(), why: explain(error) };
    let members = serde_json::from_str(body).map_err(|error| {
        if error.is_data() { Malformed::Shape { place: String::new(), wanted: "an object" } } else { syntax(&error) }
    })?;
    Ok(Settings { members })
}

/// What serde says, without the place, which stands apart.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or(&text);
    if error.is_syntax() && (why.starts_with("expected value") || why.starts_with("key must be")) {
        return format!("{why}; comments and trailing commas are not allowed");
    }
    why.to_owned()
}

/// The text behind a byte order mark.
pub(super) fn body(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

pub(super) fn object(raw: &RawValue, place: &str) -> Result<Members, Malformed> {
    serde_json::from_str(raw.get()).map_err(|_| Malformed::Shape { place: place.into(), wanted: "an object" })
}

fn array(raw: &RawValue, place: &str) -> Result<Vec<Box<RawValue>>, Malformed> {
    serde_json::from_str(raw.get()).map_err(|_| Malformed::Shape { place: place.into(), wanted: "an array" })
}

fn groups(hooks: &Members, event: &str) -> Result<Vec<Box<RawValue>>, Malformed> {
    match hooks.get(event) {
        Some(raw) => array(raw, &format!("hooks.{event}")),
        None => Ok(Vec::new()),
    }
}

/// A group's members, and the handlers among them.
fn handlers(group: &RawValue, event: &str) -> Result<(Members, Vec<Box<RawValue>>), Malformed> {
    let place = format!("hooks.{event}[]");
    let members = object(group, &place)?;
    let handlers = match members.get("hooks") {
        Some(raw) => array(raw, &format!("{place}.hooks"))?,
        None => Vec::new(),
    };
    Ok((members, handlers))
}

/// How deep the parts of the settings stand in the text.
const EVENTS: usize = 1;
const GROUPS: usize = 2;
const GROUP: usize = 3;
const HANDLERS: usize = 4;
const HANDLER: usize = 5;

fn edit(text: &str, program: &Path, wanted: Option<Profile>) -> Result<String, Malformed> {
    let body = body(text);
    let style = Style::of(body);
    let mut settings = parse(text)?;
    let mut hooks = settings.hooks()?.unwrap_or_default();
    let mut events = hooks.names();
    let wanted: Vec<&Hook> = wanted.into_iter().flat_map(Profile::hooks).collect();
    events.extend(wanted.iter().map(|hook| hook.event.to_owned()));
    let mut changed = false;
    let mut done: Vec<String> = Vec::new();
    for event in events {
        if done.contains(&event) {
            continue;
        }
        let hook = wanted.iter().copied().find(|hook| hook.event == event);
        let before = groups(&hooks, &event)?;
        if let Some(after) = edit_groups(&before, &event, hook, program, &style)? {
            changed = true;
            if after.is_empty() {
                hooks.remove(&event);
            } else {
                hooks.set(&event, raw(style.list(&after, GROUPS)));
            }
        }
        done.push(event);
    }
    if !changed {
        return Ok(text.to_owned());
    }
    if hooks.is_empty() {
        settings.members.remove("hooks");
    } else {
        settings.members.set("hooks", raw(hooks.write(&style, EVENTS)));
    }
    let (before, after) = around(text, body);
    Ok(format!("{before}{}{after}", settings.members.write(&style, 0)))
}

/// What stands before and behind the object.
pub(super) fn around<'a>(text: &'a str, body: &str) -> (&'a str, &'a str) {
    let start = text.len() - body.trim_start().len();
    let end = text.trim_end().len();
    if start >= end {
        return ("", "\n");
    }
    (&text[..start], &text[end..])
}

/// An event's groups with `hook` among them, or without any of ours; none where nothing is to be changed.
fn edit_groups(
    before: &[Box<RawValue>],
    event: &str,
    hook: Option<&Hook>,
    program: &Path,
    style: &Style,
) -> Result<Option<Vec<Box<RawValue>>>, Malformed> {
    let mut after: Vec<Box<RawValue>> = Vec::new();
    let mut changed = false;
    let mut registered = false;
    for group in before {
        let (mut members, handlers) = handlers(group, event)?;
        let mut kept: Vec<Box<RawValue>> = Vec::new();
        let mut touched = false;
        for handler in handlers {
            match (Handler::parse(&handler, program), hook) {
                (None, _) => kept.push(handler),
                // Ours, where it is wanted: the first of them is enough.
                (Some(ours), Some(hook)) if !registered => {
                    registered = true;
                    let current = ours.is_current(hook, program);
                    touched |= !current;
                    kept.push(if current { handler } else { raw(ours.update(hook, program).write(style, HANDLER)) });
                }
                (Some(_), _) => touched = true,
            }
        }
        changed |= touched;
        if !touched {
            after.push(group.clone());
        } else if !kept.is_empty() {
            members.set("hooks", raw(style.list(&kept, HANDLERS)));
            after.push(raw(members.write(style, GROUP)));
        }
    }
    if let Some(hook) = hook
        && !registered
    {
        changed = true;
        let handler = raw(Handler::default().update(hook, program).write(style, HANDLER));
        let mut group = Members::default();
        group.set("hooks", raw(style.list(&[handler], HANDLERS)));
        after.push(raw(group.write(style, GROUP)));
    }
    Ok(changed.then_some(after))
}

/// A handler of ours.
#[derive(Default)]
struct Handler {
    members: Members,
    program: PathBuf,
    arguments: Vec<String>,
    timeout: Option<u64>,
    /// A command line for a shell, not a program and its arguments.
    shell: bool,
}

impl Handler {
    /// The handler, if it is ours: it calls `program`, or anything by our name, and with `hook`.
    fn parse(handler: &RawValue, program: &Path) -> Option<Self> {
        let members: Members = serde_json::from_str(handler.get()).ok()?;
        let get = |name: &str| -> Option<Value> { serde_json::from_str(members.get(name)?.get()).ok() };
        let command = get("command")?.as_str()?.to_owned();
        let arguments = get("args").and_then(|args| serde_json::from_value::<Vec<String>>(args).ok());
        let shell = arguments.is_none();
        let (called, arguments) = if let Some(arguments) = arguments {
            (command, arguments)
        } else {
            let mut words = words(&command).into_iter();
            (words.next()?, words.collect())
        };
        let called = PathBuf::from(called);
        let ours = called == program || called.file_stem().is_some_and(|name| name == "throughline");
        let timeout = get("timeout").and_then(|timeout| timeout.as_u64());
        (ours && arguments.first().is_some_and(|word| word == "hook")).then_some(Self {
            members,
            program: called,
            arguments,
            timeout,
            shell,
        })
    }

    fn is_current(&self, hook: &Hook, program: &Path) -> bool {
        !self.shell
            && self.program == program
            && self.arguments == hook.arguments
            && self.timeout.is_some_and(|timeout| timeout >= hook.timeout)
    }

    /// The handler as it should be. What somebody else added to it stays.
    fn update(&self, hook: &Hook, program: &Path) -> Members {
        let mut members = self.members.clone();
        members.set("type", value("command"));
        members.set("command", value(program.to_string_lossy()));
        members.set("args", value(hook.arguments));
        members.set("timeout", value(self.timeout.unwrap_or(0).max(hook.timeout)));
        members.remove("shell");
        members
    }
}

/// The words of a shell's command line, as far as quotes and backslashes make them.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PROGRAM: &str = "/opt/bin/throughline";

    fn add(text: &str) -> String {
        install(text, Path::new(PROGRAM), Some(Profile::Full)).unwrap()
    }

    fn take(text: &str) -> String {
        uninstall(text, Path::new(PROGRAM)).unwrap()
    }

    #[test]
    fn an_empty_file_gets_all_hooks() {
        let text = add("");
        let settings: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            settings["hooks"]["SessionStart"],
            json!([{"hooks": [{"type": "command", "command": PROGRAM, "args": ["hook", "memory-load"], "timeout": 10}]}])
        );
        assert_eq!(settings["hooks"].as_object().unwrap().len(), HOOKS.len());
        assert!(text.starts_with("{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n"));
        assert!(text.ends_with("}\n"));
        assert_eq!(take(&text), "{}\n");
    }

    #[test]
    fn a_profile_stays_until_another_is_asked_for() {
        let events = |text: &str| -> Vec<String> {
            registered(text, Path::new(PROGRAM)).unwrap().into_iter().map(|it| it.event).collect()
        };
        let with = |text: &str, profile| install(text, Path::new(PROGRAM), profile).unwrap();
        let minimal = with("", Some(Profile::Minimal));
        assert_eq!(events(&minimal), ["SessionStart", "PreCompact", "SessionEnd"]);
        assert_eq!(with(&minimal, None), minimal);
        let standard = with(&minimal, Some(Profile::Standard));
        assert_eq!(standard.len(), with("", None).len());
        assert!(!events(&standard).contains(&"PostToolBatch".to_owned()));
        let full = with(&standard, Some(Profile::Full));
        assert_eq!(events(&full).len(), HOOKS.len());
        assert_eq!(with(&full, None), full);
        assert_eq!(events(&with(&full, Some(Profile::Minimal))), ["SessionStart", "PreCompact", "SessionEnd"]);
    }

    #[test]
    fn nothing_of_others_is_touched() {
        let text = r#"{
	"model":   "opus", "big": 12345678901234567890.50,
	"hooks": {
		"Stop": [ {"hooks": [{"type": "command", "command": "say done"}]} ],
		"PreToolUse": [ ]
	},
	"model": "haiku"
}"#;
        let with = add(text);
        for part in [
            "\"model\": \"opus\"",
            "\"big\": 12345678901234567890.50",
            "{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n",
            "\"PreToolUse\": [ ]",
            "\"model\": \"haiku\"",
        ] {
            assert!(with.contains(part), "{part} is not in {with}");
        }
        assert!(with.ends_with('}') && with.contains("\n\t\t\"SessionEnd\": [\n\t\t\t{\n"));
        let without = take(&with);
        assert_eq!(serde_json::from_str::<Value>(&without).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(take(&without), without);
    }

    #[test]
    fn what_is_ours_is_recognized_and_brought_up_to_date() {
        let old = json!({"hooks": {
            "SessionStart": [
                {"matcher": "startup", "hooks": [
                    {"type": "command", "command": "echo hello"},
                    {"type": "command", "command": "\"/old place/throughline\" hook memory-load", "shell": "bash", "statusMessage": "…"},
                    {"type": "command", "command": "/older/throughline", "args": ["hook"]},
                ]},
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "/old/throughline", "args": ["hook"], "timeout": 60}]}],
            "Notification": [{"hooks": [{"type": "command", "command": "throughline hook memory-track"}]}],
        }});
        let new: Value = serde_json::from_str(&add(&old.to_string())).unwrap();
        assert_eq!(
            new["hooks"]["SessionStart"],
            json!([{"matcher": "startup", "hooks": [
                {"type": "command", "command": "echo hello"},
                {"type": "command", "command": PROGRAM, "args": ["hook", "memory-load"], "timeout": 10, "statusMessage": "…"},
            ]}])
        );
        assert_eq!(new["hooks"]["Stop"][0]["hooks"][0]["timeout"], 60);
        assert_eq!(new["hooks"]["Stop"].as_array().unwrap().len(), 1);
        assert!(new["hooks"].get("Notification").is_none());
        assert_eq!(
            serde_json::from_str::<Value>(&take(&new.to_string())).unwrap(),
            json!({"hooks": {"SessionStart": [
                {"matcher": "startup", "hooks": [{"type": "command", "command": "echo hello"}]}
            ]}})
        );
    }

    #[test]
    fn what_only_looks_like_ours_is_not() {
        for command in ["throughline memory search x", "echo throughline hook", "/bin/throughline-other hook", "", "'"] {
            let text = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}).to_string();
            assert_eq!(take(&text), text, "{command}");
        }
    }

    #[test]
    fn a_program_by_another_name_is_recognized_by_its_path() {
        let text = install("", Path::new("/opt/tl"), None).unwrap();
        assert_eq!(install(&text, Path::new("/opt/tl"), None).unwrap(), text);
        assert_eq!(registered(&text, Path::new("/opt/tl")).unwrap().len(), Profile::Standard.hooks().count());
    }

    #[test]
    fn registrations_are_found() {
        let found = registered(&add("{}"), Path::new("/another/program")).unwrap();
        assert_eq!(found.len(), HOOKS.len());
        assert_eq!(found[0].program, Path::new(PROGRAM));
        assert_eq!((found[0].matcher.as_ref(), found[0].timeout), (None, Some(10)));
        let text = r#"{"hooks":{"Stop":[{"matcher":"x","hooks":[{"command":"throughline hook"}]}]}}"#;
        let found = registered(text, Path::new(PROGRAM)).unwrap();
        assert_eq!(found[0].matcher.as_deref(), Some("x"));
    }

    #[test]
    fn what_cannot_be_edited_is_named_with_its_place() {
        let error = |text: &str| install(text, Path::new(PROGRAM), None).unwrap_err().to_string();
        assert_eq!(
            error("{\n  // mine\n  \"a\": 1\n}"),
            "line 2, column 3: key must be a string; comments and trailing commas are not allowed"
        );
        assert!(error("{\"a\": [1,]}").starts_with("line 1, column 10: "));
        assert!(error("{\"a\": 1").starts_with("line 1, column 7: EOF"));
        assert_eq!(error("[]"), "it is not an object");
        assert_eq!(error("{\"hooks\": 7}"), "hooks is not an object");
        assert_eq!(error("{\"hooks\": {\"Stop\": {}}}"), "hooks.Stop is not an array");
        assert_eq!(error("{\"hooks\": {\"Stop\": [{\"hooks\": \"x\"}]}}"), "hooks.Stop[].hooks is not an array");
    }

    #[test]
    fn shell_words() {
        assert_eq!(words(r#"  "a b"\ c 'd"e' f\"g "\"" ''"#), ["a b c", "d\"e", "f\"g", "\"", ""]);
    }

    fn plain() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-zA-Z ]{0,8}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    /// Settings with anybody's hooks, but none of ours.
    fn settings() -> impl Strategy<Value = Value> {
        let event = prop_oneof![
            Just("Stop".to_owned()),
            Just("SessionStart".to_owned()),
            Just("PreToolUse".to_owned()),
            "[A-Z][a-z]{3,8}",
        ];
        let handler = ("[a-z ]{0,12}", plain())
            .prop_map(|(command, more)| json!({"type": "command", "command": command, "more": more}));
        let group =
            (prop::option::of("[a-z|]{0,8}"), prop::collection::vec(handler, 1..3)).prop_map(
                |(matcher, hooks)| match matcher {
                    Some(matcher) => json!({"matcher": matcher, "hooks": hooks}),
                    None => json!({"hooks": hooks}),
                },
            );
        let hooks = prop::collection::hash_map(event, prop::collection::vec(group, 1..3), 1..4);
        (prop::collection::hash_map("[a-z]{1,8}", plain(), 0..5), prop::option::of(hooks)).prop_map(|(others, hooks)| {
            let mut settings: serde_json::Map<String, Value> = others.into_iter().collect();
            settings.remove("hooks");
            if let Some(hooks) = hooks {
                settings.insert("hooks".into(), json!(hooks));
            }
            Value::Object(settings)
        })
    }

    proptest! {
        /// Byte for byte, in the layout that the client itself writes.
        #[test]
        fn what_was_installed_and_uninstalled_was_never_there(settings in settings()) {
            let text = serde_json::to_string_pretty(&settings).unwrap() + "\n";
            prop_assert_eq!(take(&add(&text)), text);
        }

        #[test]
        fn whatever_the_layout_the_content_is_the_same(settings in settings()) {
            let before = settings.to_string();
            let after = take(&add(&before));
            let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            prop_assert_eq!(parse(&after), parse(&before));
        }

        #[test]
        fn installing_twice_is_installing_once(settings in settings()) {
            let once = add(&settings.to_string());
            prop_assert_eq!(add(&once), once.clone());
            let found = registered(&once, Path::new(PROGRAM)).unwrap();
            prop_assert_eq!(found.len(), HOOKS.len());
        }

        #[test]
        fn no_text_makes_it_fail(text in "\\PC{0,80}", bits in prop::collection::vec(prop::sample::select(vec!["{", "}", "[", "]", "\"hooks\"", ":", ",", "\"Stop\"", "1", "\u{feff}"]), 0..20)) {
            for text in [text, bits.concat()] {
                let _ = install(&text, Path::new(PROGRAM), None);
                let _ = uninstall(&text, Path::new(PROGRAM));
                let _ = registered(&text, Path::new(PROGRAM));
            }
        }
    }
}
