//! Lists, page by page, and what they lack.

use super::answers::seen;
use super::vm::Vm;
use super::world::AzureCloud;
use crate::Faults;
use fleet_provider::evidence::Call;
use fleet_testkit::{Answer, Request};
use serde_json::{Value, json};

/// Everything from a place in a list on, and the link to what comes after.
fn page<T>(
    request: &Request,
    faults: &Faults,
    all: impl Iterator<Item = T>,
    read: impl Fn(T) -> Value,
) -> Answer {
    let host = request.header("host").unwrap_or("localhost");
    let version = request.query("api-version").unwrap_or_default();
    let status = request.query("statusOnly").map(|only| format!("&statusOnly={only}"));
    let link = |skip: usize| {
        format!(
            "http://{host}{}?api-version={version}{}&%24skiptoken={skip}",
            request.path,
            status.as_deref().unwrap_or_default()
        )
    };
    if faults.page_lost {
        return match request.query("$skiptoken") {
            None => Answer::json(200, json!({ "value": [], "nextLink": link(1) })),
            Some(_) => {
                seen(Call::Look, 500, "InternalServerError", "Encountered internal server error.")
            }
        };
    }
    let skip: usize = request.query("$skiptoken").and_then(|n| n.parse().ok()).unwrap_or(0);
    let size = faults.page.unwrap_or(50);
    let mut rest = all.skip(skip);
    let value: Vec<Value> = rest.by_ref().take(size).map(read).collect();
    let mut body = json!({ "value": value });
    if rest.next().is_some() {
        body["nextLink"] = json!(link(skip + size));
    }
    Answer::json(200, body)
}

impl AzureCloud {
    /// Machines of a group, a subscription or a location.
    pub(super) fn list(
        &self,
        request: &Request,
        parts: &[&str],
        faults: &Faults,
        now: i64,
    ) -> Answer {
        let grouped = parts.get(2) == Some(&"resourcegroups");
        let below = match grouped {
            true => format!("/{}/", parts.join("/")),
            false => format!("/{}/", parts[..2].join("/")),
        };
        let status_only = request.query("statusOnly") == Some("true");
        if request.query("$expand") == Some("instanceView") {
            let words = "Only together with a filter for a scale set.";
            return seen(Call::Look, 400, "BadRequest", words);
        }
        let location =
            parts.iter().position(|part| *part == "locations").and_then(|at| parts.get(at + 1));
        let habits = &self.habits;
        let shown = |vm: &&Vm| {
            vm.id.to_ascii_lowercase().starts_with(&below)
                && vm.visible <= now
                && !habits.lists_are_empty
                && !habits.lists_lack.contains(&vm.name)
                && location.is_none_or(|l| vm.place().0 == **l)
        };
        let gone = self.gone.iter().filter(|_| habits.lists_show_gone);
        let all = self.vms.values().chain(gone).filter(shown);
        page(request, faults, all, |vm| if status_only { vm.status() } else { vm.json() })
    }

    /// Disks or interfaces of a group.
    pub(super) fn list_children(
        &self,
        request: &Request,
        address: &str,
        faults: &Faults,
    ) -> Answer {
        let below = format!("{address}/");
        let hidden = self.habits.disks_unlisted && address.ends_with("/disks");
        let all = self.children.keys().filter(|child| !hidden && child.starts_with(&below));
        page(request, faults, all, |child| self.child(child))
    }
}
