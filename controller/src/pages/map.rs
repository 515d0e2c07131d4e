//! The regions of a fleet on a map of the world: our own dots, and a list that says the same.
//!
//! Land is a dot every two and a half degrees, from Natural Earth's 1:110m land (public domain), as runs of
//! dots by row. Longitude and latitude are drawn as they are: a map to see where, not how far.

use crate::pages::parts::bar;
use crate::pages::regions::spot;
use fleet_words::output::common::Gap;
use fleet_words::output::status::Machine;
use fleet_words::output::words::{State, name};
use fleet_words::text::{clean_line, count};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Rows and runs of dots: `M x y h length`, in degrees from 180° west and 78° north.
const LAND: &str = include_str!("land.txt");
/// Regions so close share a dot, in degrees.
const CLOSE: f64 = 6.0;

/// A region with its machines.
#[derive(Debug, Default, Clone)]
struct Region {
    machines: u32,
    /// Of those, the ones that run.
    ready: u32,
    /// It did not answer.
    silent: bool,
}

/// A dot of the map.
struct Dot {
    x: f64,
    y: f64,
    machines: u32,
    silent: bool,
    regions: Vec<String>,
}

/// The map, and the list beside it.
pub(super) fn map(machines: &[Machine], gaps: &[Gap]) -> Markup {
    let mut regions: BTreeMap<(String, String), Region> = BTreeMap::new();
    for machine in machines {
        let Machine { provider, region, state, .. } = machine;
        let one = regions.entry((name(provider), region.clone())).or_default();
        one.machines += 1;
        one.ready += u32::from(*state == State::Running);
    }
    for gap in gaps {
        regions.entry((name(&gap.provider), gap.region.clone())).or_default().silent = true;
    }
    let mut regions: Vec<_> = regions.into_iter().collect();
    regions.sort_by_key(|(place, region)| (std::cmp::Reverse(region.machines), place.clone()));
    let dots = dots(&regions);
    let most = regions.first().map_or(1, |(_, region)| region.machines).max(1);
    let said: Vec<String> =
        dots.iter().map(|dot| format!("{}: {}", dot.regions.join(", "), many(dot))).collect();
    html! {
        div.where {
            svg.map viewBox="8 0 344 134" role="img" aria-labelledby="map-t map-d" {
                title #map-t { "Regions on a map of the world" }
                desc #map-d { (said.join("; ")) }
                path.land d=(LAND.trim()) {}
                @for dot in dots.iter().rev() {
                    @let radius = 4.0 + 3.6 * (f64::from(dot.machines) / f64::from(most)).sqrt();
                    g class=(if dot.silent { "dot warn" } else { "dot" }) {
                        title { (dot.regions.join(", ")) ": " (many(dot)) }
                        circle cx=(at(dot.x)) cy=(at(dot.y)) r=(at(radius)) {}
                        text x=(at(dot.x)) y=(at(dot.y + 1.9)) { (mark(dot)) }
                    }
                }
            }
            ul.regions {
                @for ((cloud, region), one) in &regions {
                    li {
                        span {
                            (cloud) " " (clean_line(region))
                            @if one.silent { " " span.badge.warn { span aria-hidden="true" { "▲" } " silent" } }
                        }
                        @let starting = f64::from(one.machines - one.ready);
                        (bar(&[("have", f64::from(one.ready)), ("starting", starting)], f64::from(most)))
                        span.n { (one.machines) }
                        @if spot(cloud, plain(region)).is_none() { small { "not on the map" } }
                    }
                }
            }
        }
    }
}

/// A silent region is marked by a shape as well.
fn mark(dot: &Dot) -> String {
    if dot.silent { "!".into() } else { dot.machines.to_string() }
}

fn many(dot: &Dot) -> String {
    let silent = if dot.silent { ", does not answer" } else { "" };
    format!("{}{silent}", count(dot.machines, "machine"))
}

fn at(place: f64) -> String {
    format!("{place:.1}")
}

/// A region's own name, without the account that it is of.
fn plain(region: &str) -> &str {
    region.split_once('@').map_or(region, |(name, _)| name)
}

fn dots(regions: &[((String, String), Region)]) -> Vec<Dot> {
    let mut dots: Vec<Dot> = Vec::new();
    for ((cloud, region), one) in regions {
        let Some((latitude, longitude)) = spot(cloud, plain(region)) else { continue };
        let (x, y) = (longitude + 180.0, 78.0 - latitude);
        let named = format!("{cloud} {}", clean_line(region));
        let near = |dot: &&mut Dot| (dot.x - x).hypot(dot.y - y) < CLOSE;
        match dots.iter_mut().find(near) {
            Some(dot) => {
                dot.machines += one.machines;
                dot.silent |= one.silent;
                dot.regions.push(named);
            }
            None => dots.push(Dot {
                x,
                y,
                machines: one.machines,
                silent: one.silent,
                regions: vec![named],
            }),
        }
    }
    dots
}
