//! Where text goes: results to standard output, remarks for a person and errors to standard error.
//!
//! A reader that leaves early (`tripnote tail | head`) is no fault: [`is_closed_pipe`] tells it from one.

use std::io::{self, IsTerminal as _, Write as _};

use super::text::one_line;

/// Writes a result and one line end.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()?;
    Ok(())
}

/// Writes bytes as they are.
pub(super) fn print_raw(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}

/// Tells a person what a program need not know; nobody reads it where standard error is no terminal.
pub(super) fn remark(text: &str) {
    if io::stderr().is_terminal() {
        complain(text);
    }
}

/// Shows a person how far it is, in a line that the next one takes the place of; an empty one takes it away.
pub(super) fn progress(text: &str) {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr().lock(), "\r\x1b[2K{text}"); // as in `complain`
    }
}

/// Writes one line to standard error. Where even that is closed, nobody is left to be told.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// An error with its causes in one line.
pub(super) fn explained(error: &anyhow::Error) -> String {
    one_line(&format!("{error:#}"))
}

/// Whether `error` says that whoever read the output has left.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
