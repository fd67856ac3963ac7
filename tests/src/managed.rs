//! A machine with managed configuration: the program sees an `/etc/throughline` of the test's own and runs as a user who may
//! not change it. Needs root for a mount namespace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::faults;
use crate::home::Home;
use crate::process::{self, Finished};

/// The user and group `nobody`.
const NOBODY: u32 = 65_534;

/// A home of the user `nobody`, and its configuration in `/etc/throughline`.
pub struct ManagedMachine {
    /// The user's.
    pub home: Home,
    program: PathBuf,
    etc: tempfile::TempDir,
}

impl ManagedMachine {
    /// None, with a word to people, where this user cannot make one.
    ///
    /// # Panics
    /// Where the file system does not do what is asked.
    pub fn new() -> Option<Self> {
        let has = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
        if !faults::is_root() || !has("unshare") || !has("setpriv") {
            crate::skip("managed configuration", "it needs root, unshare and setpriv");
            return None;
        }
        let home = Home::new();
        let program = home.path().join("throughline-under-test");
        process::copy_program(&process::throughline(), &program);
        process::copy_program(&process::compiler(), &home.path().join("throughline-compiler"));
        let machine = Self { home, program, etc: tempfile::tempdir().expect("a folder") };
        machine.hand_over();
        Some(machine)
    }

    /// A file of `/etc/throughline`, made with its folders.
    pub fn etc(&self, path: &str) -> PathBuf {
        let file = self.etc.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("create the folder");
        file
    }

    /// Writes a file of `/etc/throughline`.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn lay_down(&self, path: &str, text: &str) {
        std::fs::write(self.etc(path), text).expect("write");
    }

    /// Gives all of the home to the user who runs the program.
    ///
    /// # Panics
    /// Where that fails.
    pub fn hand_over(&self) {
        let mut command = Command::new("chown");
        command.arg("-R").arg(format!("{NOBODY}:{NOBODY}")).arg(self.home.path());
        assert!(command.status().expect("run chown").success());
    }

    /// Runs the program as the user, in a folder.
    pub fn run<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S], input: &[u8]) -> Finished {
        // The copy belongs to root in there, as the original would.
        let script = "mount -t tmpfs -o mode=0755 tmpfs /etc && mkdir /etc/throughline \
            && cp -a \"$1\"/. /etc/throughline/ && chmod 755 /etc/throughline && shift && cd \"$1\" && shift \
            && exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
        let mut command = self.home.isolated("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
            .arg(self.etc.path())
            .arg(folder)
            .arg(&self.program)
            .args(arguments);
        process::run(command, input.to_vec(), process::WATCHDOG)
    }
}
