//! What a machine runs at first boot, as cloud-init takes it: a MIME multipart text.
//!
//! Each part says what it is, so that scripts and cloud-config can stand together and nothing is
//! guessed on the machine. The boundary is derived from the text: the same user data is always the
//! same request.

use fleet_model::digest;

/// The user data as it is sent, before base64.
pub(crate) fn encode(text: &str) -> String {
    let Some(kind) = part_type(text) else { return text.to_owned() };
    let boundary = format!("fleet-{}", digest("boundary/1", [text.as_bytes()]));
    format!(
        "Content-Type: multipart/mixed; boundary=\"{boundary}\"\nMIME-Version: 1.0\n\n\
         --{boundary}\nContent-Type: {kind}; charset=\"utf-8\"\n\
         Content-Transfer-Encoding: 8bit\n\n{text}\n--{boundary}--\n"
    )
}

/// What kind of part a text is. `None`: it goes as it stands, because it is multipart already, or
/// because it is for Windows, or for something that is not cloud-init.
fn part_type(text: &str) -> Option<&'static str> {
    const KINDS: [(&str, &str); 7] = [
        ("#!", "text/x-shellscript"),
        ("#cloud-config-archive", "text/cloud-config-archive"),
        ("#cloud-config", "text/cloud-config"),
        ("#include", "text/x-include-url"),
        ("#cloud-boothook", "text/cloud-boothook"),
        ("#part-handler", "text/part-handler"),
        ("## template: jinja", "text/jinja2"),
    ];
    KINDS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_says_what_it_is() {
        let sent = encode("#!/bin/sh\necho hi\n");
        assert!(sent.contains("Content-Type: text/x-shellscript; charset=\"utf-8\""), "{sent}");
        assert!(sent.contains("\n\n#!/bin/sh\necho hi\n\n--fleet-"), "{sent}");
        assert_eq!(sent, encode("#!/bin/sh\necho hi\n"), "the same each time");
        assert!(encode("#cloud-config\npackages: [git]\n").contains("text/cloud-config;"));
    }

    #[test]
    fn what_is_no_part_goes_as_it_stands() {
        for text in [
            "",
            "Content-Type: multipart/mixed; boundary=\"x\"\n",
            "<powershell>Get-Date</powershell>",
            "[settings.kubernetes]\nx = 1\n",
        ] {
            assert_eq!(encode(text), text);
        }
    }
}
