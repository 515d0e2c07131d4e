//! Text with the colours of a terminal as HTML: the plan on the page is the plan of the command, letter for
//! letter.

use maud::{Markup, PreEscaped, html};

/// What the commands write: a handful of colours, bold and dim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    bold: bool,
    dim: bool,
    colour: Option<&'static str>,
}

impl Look {
    fn code(&mut self, code: &str) {
        match code {
            "" | "0" => *self = Look::default(),
            "1" => self.bold = true,
            "2" => self.dim = true,
            "31" | "91" => self.colour = Some("bad"),
            "32" | "92" => self.colour = Some("good"),
            "33" | "93" => self.colour = Some("warn"),
            "36" | "96" => self.colour = Some("hint"),
            "39" => self.colour = None,
            // Others are not used, and are left out rather than shown.
            _ => {}
        }
    }

    fn class(self) -> Option<String> {
        let some = [self.bold.then_some("b"), self.dim.then_some("dim"), self.colour];
        let some: Vec<&str> = some.into_iter().flatten().collect();
        (!some.is_empty()).then(|| some.join(" "))
    }
}

/// Turns colours into classes. Everything else is text.
pub(super) fn html(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() * 2);
    let mut look = Look::default();
    for (nth, part) in text.split('\u{1b}').enumerate() {
        let mut shown = part;
        if nth > 0 {
            let colour = part
                .strip_prefix('[')
                .and_then(|rest| rest.split_once('m'))
                .filter(|(codes, _)| codes.bytes().all(|b| b.is_ascii_digit() || b == b';'));
            // An escape that is no colour comes from nobody we know: it is not shown.
            if let Some((codes, rest)) = colour {
                codes.split(';').for_each(|code| look.code(code));
                shown = rest;
            }
        }
        if shown.is_empty() {
            continue;
        }
        let piece = match look.class() {
            Some(class) => html! { span class=(class) { (shown) } },
            None => html! { (shown) },
        };
        out.push_str(&piece.into_string());
    }
    PreEscaped(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_classes_and_markup_is_text() {
        let text = "a \u{1b}[1mfleet <b>\u{1b}[0m \u{1b}[32m+\u{1b}[39m \u{1b}]0;x";
        let out = html(text).into_string();
        assert_eq!(
            out,
            "a <span class=\"b\">fleet &lt;b&gt;</span> <span class=\"good\">+</span> ]0;x"
        );
    }
}
