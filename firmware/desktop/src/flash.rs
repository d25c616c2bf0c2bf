//! A file that behaves like NOR flash: what is written can only clear bits, bits are set again a sector at a time. So the
//! journal here is the journal of a board.
//!
//! Every write is on the disk before it counts (`fdatasync`), so what the box acknowledged survives the computer's own
//! power cut, not only the program's end. That takes a thread of its own: a disk can take its time, and the box must not.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

/// All of it. Only what is written takes room on the disk.
const SIZE: u32 = 16 * 1024 * 1024;
/// Where the film begins, behind the journal: room for sixty thousand moves. The journal of a league of 512 takes 5 MB.
const FILM: u32 = SIZE - 4 * 1024 * 1024;
const SECTOR: u32 = 4096;

/// A part of a flash in a file. The bytes stand in it inverted: what was never written reads as zeros, and erased flash as
/// ones.
pub struct FileFlash {
    file: Arc<File>,
    part: Range<u32>,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub struct Unusable {
    path: PathBuf,
    /// For the page.
    pub why: &'static str,
    detail: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.path.display(), self.why, self.detail)
    }
}

impl FileFlash {
    /// Opens the file, or makes it: the journal's part, and the film's. No other box can use it meanwhile.
    pub fn open(path: &Path) -> Result<[Self; 2], Unusable> {
        let unusable = |why, detail: String| Unusable { path: path.into(), why, detail };
        let cannot = |why| move |error: io::Error| unusable(why, format!(" ({error})"));
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut how, OWNER_ONLY);
        let file = how.open(path).map_err(cannot("the file cannot be opened for writing"))?;
        if !lock(&file) {
            return Err(unusable("another box is using the file", String::new()));
        }
        let length = file.metadata().map_err(cannot("the file cannot be read"))?.len();
        if length == 0 {
            file.set_len(SIZE.into()).map_err(cannot("the file cannot be written"))?;
        } else if length != u64::from(SIZE) {
            let detail = format!(" ({length} bytes instead of {SIZE}); it is left as it is");
            return Err(unusable("the file is not a whole journal", detail));
        }
        if keep_private(&file).is_err() {
            // Some disks know no users. The league is worth more than the code.
            eprintln!("warning: other users can read {}, and it has the admin code in it", path.display());
        }
        let file = Arc::new(file);
        Ok([0..FILM, FILM..SIZE].map(|part| Self { file: file.clone(), part }))
    }
}

/// The file has the admin code in it, and what all tokens follow from.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// Takes other users' right to read a file, which one that was made by an earlier version or copied may have.
#[cfg(unix)]
fn keep_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut rights = file.metadata()?.permissions();
    // What is no file, such as a disk, is somebody's decision.
    if file.metadata()?.is_file() && rights.mode() & 0o077 != 0 {
        rights.set_mode(OWNER_ONLY);
        file.set_permissions(rights)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_private(_: &File) -> io::Result<()> {
    Ok(())
}

/// Whether nobody else has the file. The system lets go of it when the program ends, however it ends.
#[cfg(unix)]
fn lock(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(not(unix))]
fn lock(_: &File) -> bool {
    true
}

/// What the system says.
#[derive(Debug)]
pub struct FileError(#[allow(dead_code, reason = "for whoever debugs")] io::Error);

impl NorFlashError for FileError {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for FileFlash {
    type Error = FileError;
}

fn read(mut file: &File, offset: u32, bytes: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset.into()))?;
    file.read_exact(bytes)?;
    bytes.iter_mut().for_each(|byte| *byte = !*byte);
    Ok(())
}

fn write(mut file: &File, offset: u32, bytes: &[u8]) -> io::Result<()> {
    let inverted: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
    file.seek(SeekFrom::Start(offset.into()))?;
    file.write_all(&inverted)?;
    file.sync_data()
}

impl ReadNorFlash for FileFlash {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FileError> {
        read(&self.file, self.part.start + offset, bytes).map_err(FileError)
    }

    fn capacity(&self) -> usize {
        self.part.len()
    }
}

impl NorFlash for FileFlash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR as usize;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), FileError> {
        let (file, at) = (self.file.clone(), self.part.start + from);
        let erased = blocking::unblock(move || write(&file, at, &vec![0xff; (to - from) as usize]));
        erased.await.map_err(FileError)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FileError> {
        let mut bytes = bytes.to_vec();
        let (file, offset) = (self.file.clone(), self.part.start + offset);
        let written = blocking::unblock(move || {
            let mut before = vec![0; bytes.len()];
            read(&file, offset, &mut before)?;
            bytes.iter_mut().zip(before).for_each(|(byte, before)| *byte &= before);
            write(&file, offset, &bytes)
        });
        written.await.map_err(FileError)
    }
}

impl MultiwriteNorFlash for FileFlash {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file of this test alone.
    fn path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("leaguebox-{}-{name}.flash", std::process::id()));
        _ = fs::remove_file(&path);
        path
    }

    /// The film's part of a file.
    fn opened(path: &Path) -> FileFlash {
        let [_, film] = FileFlash::open(path).unwrap_or_else(|why| panic!("{why}"));
        film
    }

    #[test]
    fn writing_clears_bits_and_only_erasing_sets_them() {
        let path = path("nor");
        futures_lite::future::block_on(async {
            let mut flash = opened(&path);
            let mut bytes = [0; 4];
            flash.read(8192, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0xff; 4], "a new file is erased");
            flash.write(8192, &[0xf0, 0x0f]).await.unwrap();
            flash.write(8192, &[0x3c, 0xff]).await.unwrap();
            drop(flash);
            let mut flash = opened(&path);
            flash.read(8192, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0x30, 0x0f, 0xff, 0xff]);
            flash.erase(8192, 12288).await.unwrap();
            flash.read(8192, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0xff; 4]);
        });
        fs::remove_file(path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nobody_but_its_owner_can_read_the_file_be_it_new_or_old() {
        use std::os::unix::fs::PermissionsExt;
        let path = path("private");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(opened(&path));
        assert_eq!(mode(), 0o600, "a new one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        drop(opened(&path));
        assert_eq!(mode(), 0o600, "one from before");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_short_in_use_or_no_file_is_refused_with_the_reason_and_left_alone() {
        let short = path("short");
        fs::write(&short, b"homework").unwrap();
        let why = FileFlash::open(&short).err().unwrap().to_string();
        assert!(why.ends_with("not a whole journal (8 bytes instead of 16777216); it is left as it is"), "{why}");
        assert_eq!(fs::read(&short).unwrap(), b"homework");
        fs::remove_file(short).unwrap();

        let why = FileFlash::open(&std::env::temp_dir()).err().unwrap();
        assert_eq!(why.why, "the file cannot be opened for writing");

        #[cfg(unix)]
        {
            let used = path("used");
            let _first = opened(&used);
            assert_eq!(FileFlash::open(&used).err().unwrap().why, "another box is using the file");
            fs::remove_file(used).unwrap();
        }
    }
}
