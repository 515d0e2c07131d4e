//! Questions to the person at the terminal.

use crate::fail::{Answer, Failure};
use crate::out::{Out, can_ask};

/// Asks; the answer without its line break. Without a terminal there is nobody to ask.
fn ask(out: &mut Out, question: &str, otherwise: &str) -> Answer<String> {
    if !can_ask() {
        return Err(Failure::new("there is no terminal to ask for confirmation")
            .hint(format!("{otherwise} --yes does it without asking")));
    }
    out.ask(question);
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .map_err(|cause| Failure::new(format!("cannot read the answer: {cause}")))?;
    Ok(answer.trim().to_owned())
}

/// Asks for a yes. Everything else is a no.
pub(crate) fn yes(out: &mut Out, question: &str, otherwise: &str) -> Answer<bool> {
    let answer = ask(out, &format!("{question} [y/N]"), otherwise)?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a name to be typed: harder to do by accident than a yes.
pub(crate) fn name(out: &mut Out, question: &str, name: &str, otherwise: &str) -> Answer<bool> {
    Ok(ask(out, question, otherwise)? == name)
}
