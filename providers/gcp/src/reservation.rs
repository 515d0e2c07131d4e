//! Reservations: capacity that is paid for already.

use crate::error::{Asked, read, refused};
use crate::kind::Kind;
use crate::machines::last;
use crate::session::Clients;
use fleet_model::Place;
use fleet_provider::{Class, Error};
use google_cloud_compute_v1::model::Reservation;
use std::time::Duration;

/// A zone without a reservation that fits is asked again after this long.
const NONE_HERE: Duration = Duration::from_secs(15 * 60);

/// More than any project has.
const PAGES: usize = 100;

/// The reservation of a zone that holds machines of a type.
pub(crate) async fn find(
    clients: &Clients,
    place: &Place,
    kind: Kind<'_>,
) -> Result<String, Error> {
    let all = all(clients, place).await?;
    choose(&all, kind).ok_or_else(|| {
        let words = format!("{place} has no reservation for {}", kind.machine);
        refused(Class::Capacity { block: NONE_HERE }, "NoReservation", words)
    })
}

/// The reservations of a zone, page by page.
async fn all(clients: &Clients, place: &Place) -> Result<Vec<Reservation>, Error> {
    let mut all = Vec::new();
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let asked = clients.reservations.list().set_project(&clients.project);
        let asked = asked.set_zone(place.zone.as_str()).set_max_results(500_u32);
        let asked = asked.set_or_clear_page_token(token.clone());
        let page = asked.send().await.map_err(|error| read(Asked::Read, &error))?;
        all.extend(page.items);
        match page.next_page_token.filter(|next| !next.is_empty()) {
            None => return Ok(all),
            next if next == token => break,
            next => token = next,
        }
    }
    let words = "the list of reservations has no end";
    Err(refused(Class::Retry { after: None }, "EndlessList", words))
}

/// The first by name that holds such machines and must be named to be used. The same each time it
/// is asked: what is free in it changes, and a request sent twice must be the same request.
fn choose(all: &[Reservation], kind: Kind<'_>) -> Option<String> {
    let fits = |reservation: &&Reservation| {
        let properties = reservation
            .specific_reservation
            .as_ref()
            .and_then(|specific| specific.instance_properties.as_ref());
        let machine = properties.and_then(|properties| properties.machine_type.as_deref());
        reservation.specific_reservation_required == Some(true)
            && machine.map(last) == Some(kind.machine)
    };
    all.iter().filter(fits).filter_map(|reservation| reservation.name.clone()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use google_cloud_compute_v1::model::{
        AllocationSpecificSKUAllocationReservedInstanceProperties as Properties,
        AllocationSpecificSKUReservation as Specific,
    };

    #[test]
    fn the_first_that_fits_and_must_be_named() {
        let one = |name: &str, machine: &str, named: bool| {
            let properties = Properties::new().set_machine_type(machine);
            Reservation::new()
                .set_name(name)
                .set_specific_reservation_required(named)
                .set_specific_reservation(Specific::new().set_instance_properties(properties))
        };
        let all = [
            one("c", "a2-highgpu-1g", true),
            one("b", "https://x/zones/z/machineTypes/a2-highgpu-1g", true),
            one("a", "a2-highgpu-1g", false),
            one("0", "n2-standard-4", true),
        ];
        let kind = |text| Kind::read(text).expect("a type");
        assert_eq!(choose(&all, kind("a2-highgpu-1g")).as_deref(), Some("b"));
        assert_eq!(choose(&all, kind("g2-standard-4")), None);
    }
}
