//! `fleet init`: a starter spec that works as it stands.

use crate::args::{Format, InitArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::fleets::is_name;
use crate::out::Out;
use crate::output::document;
use crate::output::other::Init;
use crate::style::{ADD, BOLD};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The schema's file name, beside the spec: editors find it through the spec's first line.
const SCHEMA: &str = ".fleet-schema.json";

/// The starter spec. Every line is meant to be changed.
const STARTER: &str = include_str!("init/starter.yaml");

/// Writes the spec and its schema, and says what comes next.
pub(crate) fn run(context: &Context, args: &InitArgs, out: &mut Out) -> Answer {
    if !is_name(&args.name) {
        return Err(Failure::new(format!("`{}` cannot be a fleet's name", args.name))
            .at("--name")
            .hint("use lower-case letters, digits and dashes")
            .exit(Exit::Usage));
    }
    let text = STARTER.replace("SCHEMA_FILE", SCHEMA).replace("FLEET_NAME", &args.name);
    write_new(&args.file, text.as_bytes())?;
    let folder = args.file.parent().unwrap_or(Path::new(""));
    let schema = folder.join(SCHEMA);
    let text = serde_json::to_string_pretty(&fleet_spec::schema())
        .or_fail("cannot write the schema", schema.display())?;
    // The schema is ours, not the user's: a newer one replaces it.
    std::fs::write(&schema, text).or_fail("cannot write the schema", schema.display())?;

    let spec = args.file.display();
    if context.global.output == Format::Json {
        let wrote = Init { spec: spec.to_string(), schema: schema.display().to_string() };
        out.json(&document(Exit::Done, wrote))?;
        return Ok(Exit::Done);
    }
    out.text(format!("{ADD}wrote{ADD:#} {spec} and {}", schema.display()));
    let given =
        if args.file == Path::new("fleet.yaml") { String::new() } else { format!(" {spec}") };
    out.text(format!("\n{BOLD}Next{BOLD:#} (no account needed, --sim uses simulated clouds):"));
    out.text(format!("  fleet validate{given}      check the spec"));
    out.text(format!("  fleet plan --sim{given}    see what it would launch, and the cost"));
    out.text(format!("  fleet apply --sim{given}   launch it"));
    out.text(format!("  fleet status --sim{given}  see what is there"));
    Ok(Exit::Done)
}

fn write_new(file: &Path, text: &[u8]) -> Answer<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    match opened.and_then(|mut open| open.write_all(text)) {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::new("there is already a spec here, and it is left as it is")
                .at(file.display())
                .hint("name another file: `fleet init FILE`"))
        }
        Err(cause) => Err(cause).or_fail("cannot write the spec", file.display()),
    }
}
