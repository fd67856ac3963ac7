//! Policies as users and teams drop them in: a folder with a manifest and a component.

use std::path::{Path, PathBuf};

use crate::home::Home;

/// A policy to be dropped in.
#[derive(Debug, Clone)]
pub struct DropIn {
    /// Its name.
    pub name: String,
    /// `stage = "mode"` lines.
    pub stages: String,
    /// `capability = …` lines.
    pub capabilities: String,
    /// Further lines at the manifest's top level.
    pub more: String,
    /// Lines of `[limits]`.
    pub limits: String,
    /// The component.
    pub wasm: Vec<u8>,
}

impl DropIn {
    /// A redactor that asks for the log.
    pub fn redactor(name: &str, wasm: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            stages: "redactor = \"add\"".into(),
            capabilities: "log = true".into(),
            more: String::new(),
            limits: "time-ms = 300\nmemory-mib = 16".into(),
            wasm,
        }
    }

    /// The manifest.
    pub fn manifest(&self) -> String {
        let digest = crate::component::digest(&self.wasm);
        format!(
            "name = \"{}\"\nversion = \"1.0.0\"\ndescription = \"A policy of a test\"\ncontract = \"0.1.0\"\nsha256 = \"{digest}\"\n{}\n\
             [stages]\n{}\n[capabilities]\n{}\n[limits]\n{}\n",
            self.name, self.more, self.stages, self.capabilities, self.limits
        )
    }

    /// Writes it into a folder of policies; returns its own folder.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn write_to(&self, policies: &Path) -> PathBuf {
        let folder = policies.join(&self.name);
        std::fs::create_dir_all(&folder).expect("create the policy's folder");
        std::fs::write(folder.join("policy.toml"), self.manifest()).expect("write the manifest");
        std::fs::write(folder.join("policy.wasm"), &self.wasm).expect("write the component");
        folder
    }

    /// Drops it into the user's policies, with all that it asks for granted, and compiled as after its first hook.
    ///
    /// # Panics
    /// Where the program refuses it.
    #[track_caller]
    pub fn install(&self, home: &Home) {
        let source = home.path().join("dropped");
        let folder = self.write_to(&source);
        let add =
            home.run(["policy".as_ref(), "add".as_ref(), "--grant".as_ref(), "--replace".as_ref(), folder.as_os_str()]);
        drop(add.success());
    }
}

impl Home {
    /// The user's policies.
    pub fn policies(&self) -> PathBuf {
        self.throughline().join("config/policies")
    }

    /// What `policy list` says of a policy.
    ///
    /// # Panics
    /// Where it does not speak of it.
    #[track_caller]
    pub fn policy(&self, folder: &Path, name: &str) -> serde_json::Value {
        let listed = self.policy_list(folder);
        let found = listed["policies"].as_array().and_then(|all| all.iter().find(|policy| policy["name"] == name));
        found.unwrap_or_else(|| panic!("no policy {name}: {listed:#}")).clone()
    }

    /// `policy list --json` in a folder.
    ///
    /// # Panics
    /// Where it fails.
    #[track_caller]
    pub fn policy_list(&self, folder: &Path) -> serde_json::Value {
        let mut command = self.command(["policy", "list", "--json"]);
        command.current_dir(folder);
        let run = crate::process::run(command, Vec::new(), crate::process::WATCHDOG).success();
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("not JSON: {error}: {run:#?}"))
    }
}
