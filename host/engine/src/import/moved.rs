//! Finds the projects of an export on this machine: another machine has them at other paths.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::line::ProjectLine;
use crate::memory::RequestError;
use crate::team::project_key::ProjectKey;
use throughline_model::project::Project;

/// The most folders below the current one that are looked at.
const MAX_FOLDERS: usize = 500;

/// Where a project of an export is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportedProject {
    /// The folder that the export names.
    pub project: String,
    /// The root folder that its memories and sessions went to.
    pub here: String,
    /// How that folder was found.
    pub found: FoundBy,
}

/// How the folder of a project was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The folder that the export names is on this machine.
    Path,
    /// A repository with the same first commits and the same remote is on this machine.
    Repository,
    /// It is not on this machine, and `--project` names the folder that takes its place.
    Named,
    /// It is not on this machine. What it had is stored under its former path.
    Nowhere,
}

/// Finds projects.
pub(super) struct ProjectFinder<'a> {
    /// The folder that the person is in or names.
    folder: &'a Path,
    /// Whether the person named the folder, so that it takes the place of a project that is not here.
    is_named: bool,
    /// The projects that are known here.
    known: Vec<Project>,
    /// The repositories that an exported one may be, read when they are needed first.
    candidates: Option<Vec<(Project, ProjectKey)>>,
    /// The project that the folder took the place of.
    replaced: Option<String>,
}

impl<'a> ProjectFinder<'a> {
    /// Creates a finder, which looks at `folder`, at the repositories right below it and at the projects that are `known`.
    pub(super) fn new(folder: &'a Path, is_named: bool, known: Vec<Project>) -> Self {
        Self { folder, is_named, known, candidates: None, replaced: None }
    }

    /// Returns the project that stands for an exported one, and how it was found. It is an error if the folder that the
    /// person names would have to take the place of two.
    pub(super) fn find(&mut self, line: &ProjectLine) -> Result<(Project, FoundBy)> {
        let path = std::path::absolute(&line.project).unwrap_or_else(|_| PathBuf::from(&line.project));
        let same_path = Project::discover(&path);
        let is_here = path.canonicalize().is_ok_and(|path| path == same_path.root);
        let Some(key) = &line.key else {
            return if is_here { Ok((same_path, FoundBy::Path)) } else { self.stand_in(line, same_path) };
        };
        if is_here && ProjectKey::of(&same_path).is_some_and(|own| own.is_same(key)) {
            return Ok((same_path, FoundBy::Path));
        }
        if let Some((project, _)) = self.candidates().iter().find(|(_, own)| own.is_same(key)) {
            return Ok((project.clone(), FoundBy::Repository));
        }
        if is_here { Ok((same_path, FoundBy::Path)) } else { self.stand_in(line, same_path) }
    }

    fn stand_in(&mut self, line: &ProjectLine, same_path: Project) -> Result<(Project, FoundBy)> {
        if !self.is_named {
            return Ok((same_path, FoundBy::Nowhere));
        }
        match &self.replaced {
            Some(other) if *other != line.project => Err(RequestError::new(
                format!(
                    "neither {other} nor {} is on this machine, and --project can stand for one of them only",
                    line.project
                ),
                "export one project at a time, or import without --project in the folder that has the repositories",
            )
            .into()),
            _ => {
                self.replaced = Some(line.project.clone());
                Ok((Project::discover(self.folder), FoundBy::Named))
            }
        }
    }

    /// Returns the repositories of this machine that an exported one may be, the nearest first.
    fn candidates(&mut self) -> &[(Project, ProjectKey)] {
        let (folder, known) = (self.folder, &self.known);
        self.candidates.get_or_insert_with(|| {
            let below = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FOLDERS).map(|entry| entry.path());
            let mut below: Vec<PathBuf> = below.filter(|path| path.join(".git").exists()).collect();
            below.sort_unstable();
            let mut found: Vec<(Project, ProjectKey)> = Vec::new();
            let nearest = std::iter::once(Project::discover(folder));
            let all = nearest.chain(known.iter().cloned()).chain(below.iter().map(|path| Project::discover(path)));
            for project in all.filter(|project| project.root.is_dir()) {
                if found.iter().all(|(other, _)| other.id != project.id)
                    && let Some(key) = ProjectKey::of(&project)
                {
                    found.push((project, key));
                }
            }
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(project: &str, key: Option<ProjectKey>) -> ProjectLine {
        ProjectLine { project: project.to_owned(), key }
    }

    fn git(folder: &Path, arguments: &[&str]) {
        fs::create_dir_all(folder).unwrap();
        let mut git = crate::git::git(folder);
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        assert!(git.args(identity).args(arguments).stdout(std::process::Stdio::null()).status().unwrap().success());
    }

    #[test]
    fn a_repository_is_recognized_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let code = dir.path().canonicalize().unwrap();
        for name in ["shop", "site"] {
            git(&code.join(name), &["init", "-q"]);
            git(&code.join(name), &["commit", "-q", "--allow-empty", "-m", name]);
        }
        let key = ProjectKey::of(&Project::discover(&code.join("shop"))).unwrap();
        let shop = line("/no/such/shop", Some(key.clone()));
        let find = |folder: &Path, line: &ProjectLine| ProjectFinder::new(folder, false, Vec::new()).find(line).unwrap();
        for folder in [code.clone(), code.join("shop")] {
            let (found, how) = find(&folder, &shop);
            assert_eq!((found.root, how), (code.join("shop"), FoundBy::Repository));
        }
        let (found, how) = find(&code.join("site"), &shop);
        assert_eq!((found.root, how), (PathBuf::from("/no/such/shop"), FoundBy::Nowhere));
        // A project that this machine knows already.
        let known = vec![Project::discover(&code.join("shop"))];
        let (found, how) = ProjectFinder::new(&code.join("site"), false, known).find(&shop).unwrap();
        assert_eq!((found.root, how), (code.join("shop"), FoundBy::Repository));
        // Another repository is at the former path.
        let (found, how) = find(&code, &line(code.join("site").to_str().unwrap(), Some(key)));
        assert_eq!((found.root, how), (code.join("shop"), FoundBy::Repository));
    }

    #[test]
    fn the_named_folder_stands_for_one_project_that_is_not_here() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().canonicalize().unwrap();
        let mut finder = ProjectFinder::new(&here, true, Vec::new());
        for _ in 0..2 {
            let (found, how) = finder.find(&line("/no/such/shop", None)).unwrap();
            assert_eq!((&found.root, how), (&here, FoundBy::Named));
        }
        let (found, how) = finder.find(&line(here.to_str().unwrap(), None)).unwrap();
        assert_eq!((&found.root, how), (&here, FoundBy::Path));
        let refused = finder.find(&line("/no/such/site", None)).unwrap_err().to_string();
        assert!(refused.contains("/no/such/shop") && refused.contains("/no/such/site"), "{refused}");
    }
}
