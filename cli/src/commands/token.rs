//! `fleet token`: who may ask a controller.

use crate::args::{Format, NewTokenArgs, TokenCommand, TokenRole};
use crate::context::Context;
use crate::exit::Exit;
use crate::fail::Answer;
use crate::out::Out;
use crate::output::document;
use crate::output::other::NewToken;
use fleet_controller::door::Role;
use fleet_controller::door::tokens::new_token;
use fleet_provider::Clock;
use fleet_run::SystemClock;

/// Runs `fleet token`.
pub(crate) fn run(context: &Context, command: &TokenCommand, out: &mut Out) -> Answer {
    match command {
        TokenCommand::New(args) => new(context, args, out),
    }
}

fn new(context: &Context, args: &NewTokenArgs, out: &mut Out) -> Answer {
    let role = match args.role {
        TokenRole::Viewer => Role::Viewer,
        TokenRole::Operator => Role::Operator,
        TokenRole::Agent => Role::Agent,
    };
    let today = SystemClock.now().to_string();
    let today = today.get(..10).unwrap_or(&today);
    let token = new_token(&args.tokens, &args.name, role, today)?;
    let file = args.tokens.display();
    if context.global.output == Format::Json {
        let (name, role) = (args.name.clone(), role.as_str().to_owned());
        out.json(&document(Exit::Done, NewToken { name, role, token, file: file.to_string() }))?;
        return Ok(Exit::Done);
    }
    out.text(token);
    out.aside(format!(
        "This is the only time that it is shown. {file} has its digest; delete the line of {} to revoke it.",
        args.name
    ));
    Ok(Exit::Done)
}
