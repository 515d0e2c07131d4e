//! `fleet inventory`: machines for other programs.

use crate::args::{Format, InventoryArgs, InventoryFormat};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::{Answer, Failure};
use crate::out::Out;
use crate::output::document;
use crate::reach::look;
use crate::render::inventory::{self, Host};
use crate::text::count;

/// Runs `fleet inventory`.
pub(crate) async fn run(context: &Context, args: &InventoryArgs, out: &mut Out) -> Answer {
    let format = match (args.format, context.global.output) {
        (None, Format::Json) => InventoryFormat::Json,
        (None, Format::Text | Format::Markdown) => InventoryFormat::Ansible,
        (Some(format), Format::Json) if format != InventoryFormat::Json => {
            return Err(Failure::new("two formats are asked for: --format and -o json")
                .hint("leave one of them out")
                .exit(Exit::Usage));
        }
        (Some(format), _) => format,
    };
    let (context, specs) = &context.named(&args.spec.specs);
    let fleets = look(context, specs, &args.login, out).await?;
    let hosts: Vec<Host<'_>> = fleets
        .iter()
        .flat_map(|fleet| fleet.lines.iter().map(|line| Host { fleet: &fleet.fleet, line }))
        .collect();
    let private = args.login.private;
    let taken_at = fleets.iter().map(|fleet| fleet.taken_at).min();
    match format {
        InventoryFormat::Ansible => out.raw(inventory::ansible(&hosts, private).as_bytes()),
        InventoryFormat::SshConfig => out.raw(inventory::ssh_config(&hosts, private).as_bytes()),
        InventoryFormat::Hosts => out.raw(inventory::hosts(&hosts, private).as_bytes()),
        InventoryFormat::Csv => out.raw(inventory::csv(&hosts, private).as_bytes()),
        InventoryFormat::Json => {
            let body = inventory::document(&hosts, private, taken_at);
            out.json(&document(Exit::Done, body))?;
        }
    }
    let without = hosts.iter().filter(|host| host.reached_at(private).is_none());
    let slots: Vec<String> = without.map(Host::name).collect();
    if !slots.is_empty() && !matches!(format, InventoryFormat::Json | InventoryFormat::Csv) {
        let machines = count(slots.len() as u64, "machine");
        let few = slots.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        let more = if slots.len() > 5 { ", …" } else { "" };
        out.aside(format!("{machines} left out, without an address or not up: {few}{more}"));
    }
    Ok(Exit::Done)
}
