//! The one place that writes to the streams.

use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::text::clean_json;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

/// Results go to stdout, everything else to stderr.
///
/// A reader that went away (`| head`) ends the writing, not the command: an apply goes on and
/// still answers with its true exit code.
pub(crate) struct Out {
    stdout: Option<Box<dyn Write + Send>>,
    stderr: Option<Box<dyn Write + Send>>,
    failed: Option<io::Error>,
}

impl Out {
    /// The process's own streams; colour where a terminal listens and nobody objects.
    pub(crate) fn process(no_color: bool) -> Self {
        // `AutoStream::auto` looks at NO_COLOR, CLICOLOR_FORCE, TERM and the terminal itself.
        let choice = if no_color { ColorChoice::Never } else { ColorChoice::Auto };
        Out {
            stdout: Some(Box::new(BufWriter::new(AutoStream::new(io::stdout(), choice)))),
            stderr: Some(Box::new(AutoStream::new(io::stderr(), choice))),
            failed: None,
        }
    }

    /// Text for people, without the final newline.
    pub(crate) fn text(&mut self, text: impl std::fmt::Display) {
        let done = match &mut self.stdout {
            Some(stdout) => writeln!(stdout, "{text}"),
            None => Ok(()),
        };
        self.note(done);
    }

    /// Exactly these bytes.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let done = match &mut self.stdout {
            Some(stdout) => stdout.write_all(bytes),
            None => Ok(()),
        };
        self.note(done);
    }

    /// A document for programs.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Answer<()> {
        let text = serde_json::to_string_pretty(document)
            .map_err(|cause| Failure::new(format!("cannot write JSON: {cause}")))?;
        self.text(clean_json(&text));
        Ok(())
    }

    /// A document on one line, for programs that read line by line.
    pub(crate) fn json_line(&mut self, document: &impl Serialize) -> Answer<()> {
        let text = serde_json::to_string(document)
            .map_err(|cause| Failure::new(format!("cannot write JSON: {cause}")))?;
        self.text(clean_json(&text));
        Ok(())
    }

    /// A line beside the result: progress, warnings, next steps.
    pub(crate) fn aside(&mut self, text: impl std::fmt::Display) {
        // What was said before must be read before.
        self.flush();
        if let Some(stderr) = &mut self.stderr
            && writeln!(stderr, "{text}").is_err()
        {
            self.stderr = None;
        }
    }

    /// Asks a question on stderr; the cursor stays behind it.
    pub(crate) fn ask(&mut self, text: impl std::fmt::Display) {
        self.flush();
        if let Some(stderr) = &mut self.stderr {
            let _ = write!(stderr, "{text} ").and_then(|()| stderr.flush());
        }
    }

    /// Hands over what is buffered.
    pub(crate) fn flush(&mut self) {
        let done = match &mut self.stdout {
            Some(stdout) => stdout.flush(),
            None => Ok(()),
        };
        self.note(done);
    }

    /// The last word: a result that could not be written is a failure.
    pub(crate) fn close(mut self, exit: Exit) -> Exit {
        self.flush();
        match self.failed.take() {
            Some(cause) => {
                self.aside(Failure::new(format!("cannot write the result: {cause}")));
                exit.max(Exit::Failed)
            }
            None => exit,
        }
    }

    fn note(&mut self, done: io::Result<()>) {
        if let Err(cause) = done {
            self.stdout = None;
            if cause.kind() != ErrorKind::BrokenPipe {
                self.failed = Some(cause);
            }
        }
    }
}

/// How wide the terminal on stdout is: what COLUMNS says, otherwise what the terminal says. `None` without
/// a terminal: whoever pipes wants all of it.
pub(crate) fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let seen = || terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
    said.or_else(seen).filter(|columns| *columns > 0)
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
