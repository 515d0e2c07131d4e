//! `fleet schema`.

use crate::args::SchemaArgs;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use crate::output::schema::ALL;

/// Prints the JSON Schema of specs, or of what a command prints with `-o json`.
pub(crate) fn run(args: &SchemaArgs, out: &mut Out) -> Answer {
    let of = args.document.as_deref();
    let schema = ALL.iter().find(|(kind, _)| Some(*kind) == of).map(|(_, schema)| schema());
    out.json(&schema.unwrap_or_else(fleet_spec::schema))?;
    Ok(Exit::Done)
}
