//! OpenMetrics made readable for programs that know the older text format alone: node_exporter's textfile collector,
//! `promtool check metrics`, and scrapers that do not ask for more.

use super::families::{FAMILIES, Kind};

/// Turns an OpenMetrics text into the Prometheus text format 0.0.4: no units, no exemplars, no mark at the end,
/// and counters are described by the name that their samples have.
pub fn plain(open: &str) -> String {
    let mut plain = String::with_capacity(open.len());
    for line in open.lines() {
        if line.starts_with("# EOF") || line.starts_with("# UNIT ") {
            continue;
        }
        match described(line) {
            Some((before, name, after)) if is_counter(name) => {
                plain.push_str(&format!("{before}{name}_total{after}"));
            }
            Some(_) => plain.push_str(line),
            None => plain.push_str(without_exemplar(line)),
        }
        plain.push('\n');
    }
    plain
}

/// `# HELP name words` and `# TYPE name word` in three parts.
fn described(line: &str) -> Option<(&str, &str, &str)> {
    let rest = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "))?;
    let name = rest.split(' ').next().unwrap_or(rest);
    let start = line.len() - rest.len();
    Some((&line[..start], name, &rest[name.len()..]))
}

fn is_counter(name: &str) -> bool {
    FAMILIES.iter().any(|row| {
        row.kind == Kind::Counter && row.name.strip_suffix("_total").is_some_and(|it| it == name)
    })
}

/// A sample ends with its value. What comes after ` # ` outside of a label is an exemplar.
fn without_exemplar(sample: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in sample.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return sample[..at].trim_end(),
            _ => {}
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_format_has_no_exemplars_and_names_counters_in_full() {
        let open = "# HELP fleet_launch Machines.\n# TYPE fleet_launch counter\n\
            fleet_launch_total{fleet=\"a # \\\" b\"} 2.0\n\
            # HELP fleet_cost_usd_per_hour Dollars.\n# TYPE fleet_cost_usd_per_hour gauge\n\
            # UNIT fleet_x x\nfleet_x_bucket{le=\"1\"} 3 # {trace_id=\"ab\"} 0.2 1.5\n# EOF\n";
        let text = "# HELP fleet_launch_total Machines.\n# TYPE fleet_launch_total counter\n\
            fleet_launch_total{fleet=\"a # \\\" b\"} 2.0\n\
            # HELP fleet_cost_usd_per_hour Dollars.\n# TYPE fleet_cost_usd_per_hour gauge\n\
            fleet_x_bucket{le=\"1\"} 3\n";
        assert_eq!(plain(open), text);
    }
}
