//! Making a part of the machine fail, and mending it again when the guard goes.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

/// Undoes a fault when it is dropped.
pub struct Fault {
    undo: Option<Box<dyn FnOnce()>>,
}

impl Fault {
    fn new(undo: impl FnOnce() + 'static) -> Self {
        Self { undo: Some(Box::new(undo)) }
    }

    /// Undoes it now.
    pub fn mend(self) {
        drop(self);
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        if let Some(undo) = self.undo.take() {
            undo();
        }
    }
}

/// Whether modes do not bind this user.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Lets nobody write to the file, not even root. None where the system has no means for it.
pub fn immutable(file: &Path) -> Option<Fault> {
    let file = file.to_owned();
    if is_root() {
        let change = |flag: &str, file: &Path| {
            Command::new("chattr").arg(flag).arg(file).output().is_ok_and(|output| output.status.success())
        };
        change("+i", &file).then(|| {
            Fault::new(move || {
                change("-i", &file);
            })
        })
    } else {
        set_mode(&file, 0o400);
        Some(Fault::new(move || set_mode(&file, 0o600)))
    }
}

fn set_mode(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    // The file may be gone when the fault is mended.
    let _ = std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode));
}

/// A disk of its own, of so many bytes, mounted on the folder. None where this user may not mount.
pub fn small_disk(folder: &Path, bytes: u64) -> Option<Fault> {
    std::fs::create_dir_all(folder).expect("create the folder");
    let options = format!("size={bytes},mode=0700");
    mount(Some("tmpfs"), folder, Some("tmpfs"), MsFlags::empty(), Some(options.as_str())).ok()?;
    let folder = folder.to_owned();
    Some(Fault::new(move || {
        let _ = umount2(&folder, MntFlags::MNT_DETACH);
    }))
}

/// Lets nobody write below the folder, not even root. None where this user may not mount.
pub fn read_only(folder: &Path) -> Option<Fault> {
    let none = None::<&str>;
    mount(Some(folder), folder, none, MsFlags::MS_BIND, none).ok()?;
    let mounted = folder.to_owned();
    let fault = Fault::new(move || {
        let _ = umount2(&mounted, MntFlags::MNT_DETACH);
    });
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(none, folder, none, flags, none).ok().map(|()| fault)
}

/// Fills the disk of the folder to its last byte. None where it could not be filled within 64 MiB: a wrong disk.
pub fn fill(folder: &Path) -> Option<Fault> {
    use std::io::Write as _;

    let path: PathBuf = folder.join("filler");
    let mut file = std::fs::File::create(&path).expect("create the filler");
    let mut block = vec![0_u8; 64 << 10];
    let mut written = 0;
    while !block.is_empty() {
        if written > 64 << 20 {
            let _ = std::fs::remove_file(&path);
            return None;
        }
        match file.write(&block) {
            Ok(bytes) if bytes > 0 => written += bytes,
            _ => block.truncate(block.len() / 2),
        }
    }
    Some(Fault::new(move || {
        let _ = std::fs::remove_file(path);
    }))
}

#[cfg(test)]
mod tests {
    use super::{fill, immutable, small_disk};

    #[test]
    fn faults_are_felt_and_mended() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "before").expect("write");
        if let Some(fault) = immutable(&file) {
            assert!(std::fs::write(&file, "after").is_err());
            fault.mend();
        }
        std::fs::write(&file, "after").expect("it is mended");

        if let Some(disk) = small_disk(&folder.path().join("disk"), 1 << 20) {
            let file = folder.path().join("disk/file");
            let filler = fill(&folder.path().join("disk")).expect("it is small");
            assert!(std::fs::write(&file, "after").is_err());
            filler.mend();
            std::fs::write(&file, "after").expect("it is mended");
            disk.mend();
            assert!(!file.exists());
        }
    }
}
