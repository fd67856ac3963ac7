//! Throughline's hooks in an agent's settings: finds them, and adds and removes them without touching anything else in
//! the text.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agents::{Call, Hook, Layout, Profile};
use super::handler::{Handler, JsonPath, below, called, command, handler};
use super::json::{Document, PathStep, Piece, Syntax};
use super::malformed::Malformed;
use super::plugin_file;
use crate::protocol::name::Agent;

/// A hook of Throughline's that was found in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The event.
    pub event: String,
    /// The matcher that restricts the hook; `None` if nothing does.
    pub matcher: Option<String>,
    /// The program that is called.
    pub program: PathBuf,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The timeout in seconds; `None` for the agent's default.
    pub timeout: Option<u64>,
    /// Its positions in the lists of the event: of its group, and of the hook in the group.
    pub position: Vec<usize>,
}

/// Returns the text with Throughline's hooks, which call `program`. Existing hooks of Throughline's are updated in
/// place and keep a longer timeout. `None` as the profile means the current one, or the standard profile if there is
/// none.
pub(super) fn install(
    text: &str,
    agent: Agent,
    layout: &Layout,
    program: &Path,
    profile: Option<Profile>,
) -> Result<String, Malformed> {
    let present = registered(text, layout, program)?;
    let present = || Profile::of(agent, present.iter().map(|it| it.event.as_str())).unwrap_or(Profile::Standard);
    let profile = profile.unwrap_or_else(present);
    if let Call::Plugin(agent) = layout.call {
        return plugin_file::install(agent, text, &command(agent, program), profile);
    }
    edit(text, agent, layout, program, Some(profile))
}

/// Returns the text without Throughline's hooks, and without groups and lists that contained nothing else.
pub(super) fn uninstall(text: &str, agent: Agent, layout: &Layout, program: &Path) -> Result<String, Malformed> {
    if let Call::Plugin(agent) = layout.call {
        return Ok(plugin_file::uninstall(agent, text));
    }
    edit(text, agent, layout, program, None)
}

/// Returns Throughline's hooks in the order of the text.
pub(super) fn registered(text: &str, layout: &Layout, program: &Path) -> Result<Vec<Registration>, Malformed> {
    if let Call::Plugin(agent) = layout.call {
        return plugin_file::registered(agent, text, called);
    }
    let document = Document::parse(text, layout.syntax)?;
    let mut found = Vec::new();
    for event in events(&document, layout)? {
        found.extend(of_event(&document, layout, &event, program)?.into_iter().map(|(way, ours, matcher)| Registration {
            position: way.iter().filter_map(|step| if let PathStep::At(at) = step { Some(*at) } else { None }).collect(),
            event: event.clone(),
            matcher,
            program: ours.program,
            arguments: ours.arguments,
            timeout: ours.timeout.map(|timeout| timeout / layout.second),
        }));
    }
    Ok(found)
}

/// Returns whether this switch is set to true.
pub fn is_set(text: &str, switch: &str) -> bool {
    Document::parse(text, Syntax::Strict).is_ok_and(|it| it.get(&[PathStep::Name(switch)]) == Some(Value::Bool(true)))
}

/// Returns whether the text contains nothing but what every file of this kind has.
pub(super) fn is_empty(text: &str, layout: &Layout) -> bool {
    if let Call::Plugin(_) = layout.call {
        return text.is_empty();
    }
    let left = Document::parse(text, layout.syntax).ok().and_then(|document| document.get(&[]));
    let members = left.as_ref().and_then(Value::as_object);
    members.is_some_and(|it| it.iter().all(|(name, value)| name == "version" && value.as_u64() == layout.version))
}

fn event_path<'a>(layout: &Layout, event: &'a str) -> JsonPath<'a> {
    layout.events.map(PathStep::Name).into_iter().chain([PathStep::Name(event)]).collect()
}

/// Returns the events that the text has.
fn events(document: &Document, layout: &Layout) -> Result<Vec<String>, Malformed> {
    let way: JsonPath<'_> = layout.events.map(PathStep::Name).into_iter().collect();
    let value = document.get(&way).unwrap_or_default();
    if !value.is_object() && layout.events.is_some_and(|events| document.names(&[]).iter().any(|name| name == events)) {
        return Err(Malformed::Shape { place: layout.events.unwrap_or_default().into(), wanted: "an object" });
    }
    let mut names = document.names(&way);
    if layout.events.is_none() {
        // Next to the events there may be other members.
        names.retain(|name| value[name].is_array());
    }
    Ok(names)
}

/// Returns Throughline's hooks for an event: the path of each, its content and its matcher.
fn of_event<'a>(
    document: &Document,
    layout: &Layout,
    event: &'a str,
    program: &Path,
) -> Result<Vec<(JsonPath<'a>, Handler, Option<String>)>, Malformed> {
    let way = event_path(layout, event);
    let name = way.iter().map(|step| if let PathStep::Name(name) = step { name } else { "" }).collect::<Vec<_>>().join(".");
    let Some(value) = document.get(&way) else { return Ok(Vec::new()) };
    let Some(items) = value.as_array() else { return Err(Malformed::Shape { place: name, wanted: "an array" }) };
    let matcher = |value: &Value| {
        let matcher = value["matcher"].as_str().filter(|matcher| !matcher.is_empty() && *matcher != "*");
        matcher.map(str::to_owned)
    };
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let here = below(&way, &[PathStep::At(at)]);
        if !item.is_object() {
            return Err(Malformed::Shape { place: format!("{name}[]"), wanted: "an object" });
        }
        if !layout.grouped {
            found.extend(Handler::parse(item, layout, program).map(|handler| (here, handler, matcher(item))));
            continue;
        }
        if !matches!(item["hooks"], Value::Array(_) | Value::Null) {
            return Err(Malformed::Shape { place: format!("{name}[].hooks"), wanted: "an array" });
        }
        for (place, handler) in item["hooks"].as_array().into_iter().flatten().enumerate() {
            let way = below(&here, &[PathStep::Name("hooks"), PathStep::At(place)]);
            found.extend(Handler::parse(handler, layout, program).map(|handler| (way, handler, matcher(item))));
        }
    }
    Ok(found)
}

fn edit(text: &str, agent: Agent, layout: &Layout, program: &Path, wanted: Option<Profile>) -> Result<String, Malformed> {
    let mut document = Document::parse(text, layout.syntax)?;
    let wanted: Vec<&Hook> = wanted.into_iter().flat_map(|profile| profile.hooks(agent)).collect();
    let mut events = events(&document, layout)?;
    events
        .extend(wanted.iter().map(|hook| hook.event.to_owned()).filter(|event| !events.contains(event)).collect::<Vec<_>>());
    let mut changed = false;
    if !wanted.is_empty()
        && let Some(version) = layout.version
        && document.get(&[PathStep::Name("version")]).is_none()
    {
        document.set(&[PathStep::Name("version")], &Piece::plain(version));
        changed = true;
    }
    for event in events {
        let hook = wanted.iter().copied().find(|hook| hook.event == event);
        let ours = of_event(&document, layout, &event, program)?;
        // One hook per event is enough; the first is kept.
        let (kept, superfluous) = ours.split_at(usize::from(hook.is_some()).min(ours.len()));
        changed |= !superfluous.is_empty();
        for (way, _, _) in superfluous.iter().rev() {
            remove(&mut document, way);
        }
        match (hook, kept.first()) {
            (Some(hook), Some((way, handler, _))) => {
                changed |= handler.update(&mut document, way, hook, agent, layout, program);
            }
            (Some(hook), None) => {
                let handler = handler(hook, agent, layout, program);
                let item = if layout.grouped { Piece::object([("hooks", Piece::List(vec![handler]))]) } else { handler };
                document.push(&event_path(layout, &event), &item);
                changed = true;
            }
            (None, _) => {}
        }
    }
    Ok(if changed { document.into_text() } else { text.to_owned() })
}

/// Removes a handler, and every container that is empty as a result.
pub(super) fn remove(document: &mut Document, way: &[PathStep<'_>]) {
    document.remove(way);
    let mut above = way;
    while let Some((step, rest)) = above.split_last() {
        above = rest;
        // A group without handlers is removed with its matcher.
        let is_empty = match (step, document.get(above)) {
            (_, Some(Value::Array(items))) => items.is_empty(),
            (PathStep::Name("hooks"), Some(Value::Object(group))) if above.len() > 1 => !group.contains_key("hooks"),
            (_, Some(Value::Object(members))) => members.is_empty(),
            _ => false,
        };
        if above.is_empty() || !is_empty {
            return;
        }
        document.remove(above);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::settings::agents;

    const PROGRAM: &str = "/opt/bin/throughline";
    const HOOKS: usize = 11;

    fn claudes() -> Layout {
        agents::layout(Agent::ClaudeCode, Path::new("settings.json"), "")
    }

    fn install(text: &str, program: &Path, profile: Option<Profile>) -> Result<String, Malformed> {
        super::install(text, Agent::ClaudeCode, &claudes(), program, profile)
    }

    fn uninstall(text: &str, program: &Path) -> Result<String, Malformed> {
        super::uninstall(text, Agent::ClaudeCode, &claudes(), program)
    }

    fn registered(text: &str, program: &Path) -> Result<Vec<Registration>, Malformed> {
        super::registered(text, &claudes(), program)
    }

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
        assert_eq!(settings["hooks"].as_object().unwrap().len(), HOOKS);
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
        assert_eq!(events(&full).len(), HOOKS);
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
            "\t\"model\":   \"opus\", \"big\": 12345678901234567890.50,\n",
            "\"Stop\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n",
            "\"PreToolUse\": [ ]",
            "\t\"model\": \"haiku\"\n}",
        ] {
            assert!(with.contains(part), "{part} is not in {with}");
        }
        assert!(with.ends_with('}') && with.contains("\n\t\t\"SessionEnd\": [\n\t\t\t{\n"));
        let without = take(&with);
        assert_eq!(without, text);
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
        assert_eq!(
            registered(&text, Path::new("/opt/tl")).unwrap().len(),
            Profile::Standard.hooks(Agent::ClaudeCode).count()
        );
    }

    #[test]
    fn registrations_are_found() {
        let found = registered(&add("{}"), Path::new("/another/program")).unwrap();
        assert_eq!(found.len(), HOOKS);
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

    const OTHERS: [Agent; 5] = [Agent::Codex, Agent::Gemini, Agent::Cursor, Agent::Copilot, Agent::Droid];

    #[test]
    fn each_agent_has_its_own_form() {
        let first = |agent, program: &str| {
            let layout = agents::layout(agent, Path::new("x/settings.json"), "");
            let text = super::install("", agent, &layout, Path::new(program), Some(Profile::Minimal)).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            let (event, hooks) = value["hooks"].as_object().unwrap().iter().next_back().unwrap();
            assert_eq!(value.get("version").is_some(), matches!(agent, Agent::Cursor | Agent::Copilot));
            (event.clone(), hooks.clone())
        };
        let start = |hooks| ("SessionStart".to_owned(), hooks);
        assert_eq!(
            first(Agent::Codex, PROGRAM),
            start(
                json!([{"hooks": [{"type": "command", "command": "/opt/bin/throughline hook --agent codex", "timeout": 10}]}])
            )
        );
        assert_eq!(
            first(Agent::Gemini, "/it's here/throughline"),
            start(json!([{"hooks": [{
                "name": "throughline", "type": "command",
                "command": r"'/it'\''s here/throughline' hook --agent gemini", "timeout": 10_000,
            }]}]))
        );
        assert_eq!(
            first(Agent::Cursor, PROGRAM),
            ("sessionStart".to_owned(), json!([{"command": "/opt/bin/throughline hook --agent cursor", "timeout": 10}]))
        );
        assert_eq!(
            first(Agent::Copilot, "/a b/throughline"),
            (
                "sessionStart".to_owned(),
                json!([{"type": "command", "bash": "'/a b/throughline' hook --agent copilot sessionStart", "timeoutSec": 10}])
            )
        );
        assert_eq!(
            first(Agent::Droid, PROGRAM),
            start(
                json!([{"hooks": [{"type": "command", "command": "/opt/bin/throughline hook --agent droid", "timeout": 10}]}])
            )
        );
    }

    #[test]
    fn droids_own_file_may_have_events_at_its_top() {
        let text = "{\n  // mine\n  \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n}\n";
        let layout = agents::layout(Agent::Droid, Path::new("hooks.json"), text);
        let with = super::install(text, Agent::Droid, &layout, Path::new(PROGRAM), None).unwrap();
        let value = Document::parse(&with, Syntax::Comments).unwrap().get(&[]).unwrap();
        assert_eq!(value["Stop"].as_array().unwrap().len(), 2);
        assert!(value["SessionStart"].is_array() && value.get("hooks").is_none(), "{with}");
        assert_eq!(agents::layout(Agent::Droid, Path::new("hooks.json"), &with), layout);
        assert_eq!(super::uninstall(&with, Agent::Droid, &layout, Path::new(PROGRAM)).unwrap(), text);
        let wrapped = agents::layout(Agent::Droid, Path::new("hooks.json"), "{\"hooks\": {}}");
        assert_eq!(wrapped.events, Some("hooks"));
    }

    #[test]
    fn other_ways_to_say_a_hook_are_ours_too() {
        let old = json!({"version": 1, "hooks": {
            "agentStop": [
                {"type": "command", "command": "/old/throughline hook --agent copilot", "timeout": 60, "cwd": "."},
                {"exec": "/old/throughline", "args": ["hook"]},
                {"bash": "say done"},
            ],
            "notification": [{"bash": "throughline hook --agent copilot notification"}],
        }});
        let layout = agents::layout(Agent::Copilot, Path::new("throughline.json"), "");
        let new = super::install(&old.to_string(), Agent::Copilot, &layout, Path::new(PROGRAM), None).unwrap();
        let value: Value = serde_json::from_str(&new).unwrap();
        assert_eq!(
            value["hooks"]["agentStop"],
            json!([
                {"type": "command", "bash": "/opt/bin/throughline hook --agent copilot agentStop", "timeoutSec": 5, "cwd": "."},
                {"bash": "say done"},
            ])
        );
        assert!(value["hooks"].get("notification").is_none());
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

    /// Generates settings with other programs' hooks, but none of Throughline's.
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
        /// Byte for byte, in the layout that Claude Code itself writes.
        #[test]
        fn what_was_installed_and_uninstalled_was_never_there(settings in settings()) {
            let text = serde_json::to_string_pretty(&settings).unwrap() + "\n";
            prop_assert_eq!(take(&add(&text)), text);
        }

        /// With comments where the agent accepts them, and in various layouts.
        #[test]
        fn with_other_agents_too(settings in settings(), agent in prop::sample::select(OTHERS.to_vec()), pretty: bool) {
            let mut settings = settings;
            for groups in settings.get_mut("hooks").and_then(Value::as_object_mut).into_iter().flat_map(|hooks| hooks.values_mut()) {
                if !agents::layout(agent, Path::new(""), "").grouped {
                    *groups = json!([{"command": "say", "bash": "say", "groups": groups}]);
                }
            }
            let mut text = settings.to_string();
            if pretty {
                text = serde_json::to_string_pretty(&settings).unwrap() + "\n";
            }
            let layout = agents::layout(agent, Path::new("settings.json"), &text);
            if layout.version.is_some() {
                text = text.replacen('{', if settings == json!({}) { "{\"version\":1" } else { "{\"version\":1," }, 1);
            }
            if layout.syntax == Syntax::Comments {
                text = format!("// mine {{\n{}", text.replacen('{', "{ /* too */", 1));
            }
            let add = |text: &str| super::install(text, agent, &layout, Path::new("/a b/throughline"), None).unwrap();
            let with = add(&text);
            prop_assert_eq!(add(&with), with.clone());
            let found = super::registered(&with, &layout, Path::new("/x")).unwrap();
            prop_assert_eq!(found.len(), Profile::Standard.hooks(agent).count());
            for it in found {
                let hook = agents::hooks(agent).iter().find(|hook| hook.event == it.event).unwrap();
                prop_assert_eq!((it.program.as_path(), it.timeout), (Path::new("/a b/throughline"), Some(hook.timeout)));
                prop_assert_eq!(it.arguments, hook.arguments(agent));
            }
            prop_assert_eq!(super::uninstall(&with, agent, &layout, Path::new("/x")).unwrap(), text);
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
            prop_assert_eq!(found.len(), HOOKS);
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
