//! The token that a request must carry.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use icm_api::error::{Result, ServiceError};

/// Shortest token, in bytes: anybody who can connect may guess. Raised, tokens are harder to guess and to type.
const LEN_MIN: usize = 16;
const LEN_MAX: usize = 512;
/// Length of a generated token, in random bytes.
const RANDOM_LEN: usize = 32;

/// A secret shared with the clients. Only its digest is kept, so tokens are compared in constant time.
#[derive(Clone)]
pub struct Token(blake3::Hash);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// Returns a token chosen by a person; blanks around it are removed.
    ///
    /// # Errors
    /// `Invalid` for a text below 16 or above 512 bytes, or with anything but visible ASCII.
    pub fn new(text: &str) -> Result<Token> {
        let text = text.trim();
        if !(LEN_MIN..=LEN_MAX).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic())
        {
            return Err(ServiceError::invalid_with(
                format!(
                    "the token must be {LEN_MIN} to {LEN_MAX} visible ASCII characters without blanks"
                ),
                "remove the file of --token-file, or leave ICM_TOKEN out: a good one is made there",
            ));
        }
        Ok(Token(blake3::hash(text.as_bytes())))
    }

    /// Reads the token in a file that nobody else may read. If the file is missing, writes a random token to it; then
    /// the second value is `true`.
    ///
    /// # Errors
    /// `Invalid` for a file that others can read or that is no regular file; `Io` if it cannot be read or written.
    pub fn of_file(path: &Path) -> Result<(Token, bool)> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a pipe must not block until its other end is opened.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        match options.open(path) {
            Ok(file) => Ok((Token::new(&text_of(file, path)?)?, false)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok((made(path)?, true)),
            Err(source) => Err(io("reading", path, source)),
        }
    }

    /// Returns `true` if `given` is this token.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        // Comparing two digests takes constant time.
        self.0 == blake3::hash(given)
    }
}

fn text_of(file: File, path: &Path) -> Result<String> {
    let found = file
        .metadata()
        .map_err(|source| io("reading", path, source))?;
    if !found.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(ServiceError::invalid_with(
            why,
            "give a file for the token, or one to be made",
        ));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
        return Err(ServiceError::invalid_with(
            format!("other users can read the token in {}", path.display()),
            format!(
                "chmod 600 {}, or remove it to have another one made",
                path.display()
            ),
        ));
    }
    let mut bytes = Vec::new();
    file.take(LEN_MAX as u64 * 2)
        .read_to_end(&mut bytes)
        .map_err(|source| io("reading", path, source))?;
    String::from_utf8(bytes).map_err(|_| {
        ServiceError::invalid_with(
            format!("the token in {} is no text", path.display()),
            "a token is a line of letters and digits; remove the file to have one made",
        )
    })
}

fn made(path: &Path) -> Result<Token> {
    let mut random = [0; RANDOM_LEN];
    getrandom::fill(&mut random)
        .map_err(|error| ServiceError::Internal(format!("no random numbers: {error}")))?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = || {
        let mut file = options.open(path)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    };
    write().map_err(|source| io("writing", path, source))?;
    Token::new(&text)
}

fn io(doing: &str, path: &Path, source: std::io::Error) -> ServiceError {
    ServiceError::Io {
        doing: format!("{doing} the token in {}", path.display()),
        source,
    }
}
