//! `fleet schema`.

use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;

/// Prints the JSON Schema of specs.
pub(crate) fn run(out: &mut Out) -> Answer {
    out.json(&fleet_spec::schema())?;
    Ok(Exit::Done)
}
