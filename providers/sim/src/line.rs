//! One line of the log: a checksum and the events of one operation.

use crate::chance::bytes;
use crate::event::Event;

fn checksum(content: &[u8]) -> u64 {
    bytes(0xcbf2_9ce4_8422_2325, content)
}

/// The line that says what an operation did.
pub(crate) fn write_line(events: &[Event]) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = vec![b' '; 17];
    serde_json::to_writer(&mut line, events)?;
    let sum = format!("{:016x}", checksum(&line[17..]));
    line[..16].copy_from_slice(sum.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// What a line says; `None` if it is torn or spoilt.
pub(crate) fn read_line(line: &[u8]) -> Option<Vec<Event>> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, content) = line.split_at_checked(17)?;
    let sum = std::str::from_utf8(sum.strip_suffix(b" ")?).ok()?;
    if u64::from_str_radix(sum, 16).ok()? != checksum(content) {
        return None;
    }
    serde_json::from_slice(content).ok()
}
