//! A project whose sessions talk about files that are there, for measuring what it costs to look after them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::bulk;
use crate::home::Home;
use crate::transcript::session_id;

/// How many lines each file has: about 24 KB.
const LINES: u32 = 800;

/// How long before now the files were written: long before the sessions, which are of 2025.
const AGE: Duration = Duration::from_hours(24 * 3650);

/// A project with transcripts of its sessions.
pub struct CitedProject {
    /// The home.
    pub home: Home,
    /// The project's folder.
    pub project: PathBuf,
    /// The folder of the transcripts.
    pub transcripts: PathBuf,
    /// The files that the sessions talk about, relative to the project.
    pub files: BTreeSet<String>,
}

impl CitedProject {
    /// Writes the transcripts of so many sessions of 20 turns, none of which was read yet. Each turn is about a file of its own.
    /// The files are not there.
    pub fn new(sessions: u64) -> Self {
        let home = Home::new();
        let project = home.project("cited");
        let transcripts = home.transcript_path(&project, "x").parent().expect("a folder").to_owned();
        bulk::sessions(&transcripts, &project, 0, sessions, 20);
        let mut files = BTreeSet::new();
        for number in 0..sessions {
            let path = transcripts.join(format!("{}.jsonl", session_id(number)));
            let text = fs::read_to_string(path).expect("read the transcript");
            // In the answers they are in backticks.
            let quoted = text.split('`').filter(|it| it.starts_with("src/part_") && !it.contains([' ', '\\']));
            files.extend(quoted.map(str::to_owned));
        }
        assert!(!files.is_empty(), "the sessions talk about files");
        Self { home, project, transcripts, files }
    }

    /// Writes the files as they were before the sessions.
    #[must_use]
    pub fn with_files(self) -> Self {
        for file in &self.files {
            let path = self.project.join(file);
            write(&path, "value");
            let then = SystemTime::now() - AGE;
            File::options().write(true).open(&path).and_then(|it| it.set_modified(then)).expect("set the time");
        }
        self
    }

    /// Writes other files in their places, and deletes every third one.
    pub fn change_files(&self) {
        for (number, file) in self.files.iter().enumerate() {
            let path = self.project.join(file);
            if number % 3 == 2 {
                fs::remove_file(path).expect("delete the file");
            } else {
                write(&path, "other");
            }
        }
    }

    /// Reads the transcripts.
    pub fn ingest(&self) {
        drop(self.home.run([OsStr::new("ingest"), self.transcripts.as_os_str()]).success());
    }

    /// Lets no memory name a file, so that no hook looks for one.
    pub fn forget_files(&self) {
        let connection = Connection::open(self.home.database()).expect("open the database");
        connection.busy_timeout(Duration::from_secs(30)).expect("a busy timeout");
        connection.execute("UPDATE memories SET files = '[]'", []).expect("valid SQL");
    }
}

fn write(path: &Path, word: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
    let lines: Vec<String> = (0..LINES).map(|number| format!("    let {word}_{number} = {number};\n")).collect();
    fs::write(path, lines.concat()).expect("write the file");
}
