//! Which line of a file a row begins at.
//!
//! A reader of CSV says where it began to look for a row. Blank lines are before that row, and so is the second
//! half of a line break of Windows; people count lines as their editor does.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Read;
use std::rc::Rc;

/// Lines that are not blank: the byte at which each begins, and its number from 1. Only of what was read and
/// not yet asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Rc<RefCell<VecDeque<(u64, u64)>>>);

impl Lines {
    /// The line of the row that a reader began to look for at a byte. Later rows only from here on.
    pub(crate) fn of(&self, byte: u64) -> Option<u64> {
        let mut lines = self.0.borrow_mut();
        while lines.front().is_some_and(|(begins, _)| *begins < byte) {
            lines.pop_front();
        }
        lines.front().map(|(_, line)| *line)
    }
}

/// A file whose lines are counted as it is read.
pub(crate) struct Counted<R> {
    file: R,
    lines: Lines,
    byte: u64,
    line: u64,
    /// Nothing of the line has been read yet.
    fresh: bool,
}

impl<R: Read> Counted<R> {
    pub(crate) fn new(file: R) -> (Self, Lines) {
        let lines = Lines::default();
        (Counted { file, lines: lines.clone(), byte: 0, line: 1, fresh: true }, lines)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        for byte in &buffer[..read] {
            match byte {
                b'\n' => (self.line, self.fresh) = (self.line + 1, true),
                b'\r' => {}
                _ if self.fresh => {
                    self.lines.0.borrow_mut().push_back((self.byte, self.line));
                    self.fresh = false;
                }
                _ => {}
            }
            self.byte += 1;
        }
        Ok(read)
    }
}
