//! Random specs, from a number.

/// A source of chance that is the same everywhere (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// One cloud of a spec.
#[derive(Debug, Clone)]
pub(crate) struct OnCloud {
    pub(crate) name: &'static str,
    pub(crate) regions: Vec<&'static str>,
    pub(crate) families: Vec<&'static str>,
    pub(crate) disk_gib: Option<u64>,
    pub(crate) disk_type: Option<&'static str>,
    pub(crate) own_network: bool,
}

/// A spec, as values that a calculation by hand can read.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) unit: &'static str,
    pub(crate) target: u64,
    pub(crate) base_percent: u64,
    pub(crate) strategy: &'static str,
    pub(crate) clouds: Vec<OnCloud>,
    pub(crate) budget: Option<u64>,
    pub(crate) min_zones: u64,
    pub(crate) max_per_pool: Option<u64>,
    pub(crate) data: Option<&'static str>,
    pub(crate) egress: Option<u64>,
    pub(crate) returned: Option<u64>,
    /// Region, type and number of machines that are paid for on AWS.
    pub(crate) committed: Option<(&'static str, &'static str, u64)>,
}

const AWS: [&str; 7] = [
    "us-east-1",
    "us-east-2",
    "us-west-2",
    "eu-west-1",
    "ap-northeast-1",
    "sa-east-1",
    "us-west-1",
];
const GCP: [&str; 5] =
    ["us-central1", "us-east1", "europe-west4", "asia-east1", "southamerica-east1"];
const AZURE: [&str; 4] = ["eastus", "westus2", "westeurope", "japaneast"];
const LAMBDA: [&str; 2] = ["us-east-1", "us-west-1"];
const DATA: [&str; 8] = [
    "aws/us-east-1",
    "aws/us-east-2",
    "aws/eu-west-1",
    "aws/sa-east-1",
    "gcp/us-central1",
    "gcp/europe-west4",
    "azure/eastus",
    "lambda/us-east-1",
];
const STRATEGIES: [&str; 5] = [
    "lowest-price",
    "price-capacity-optimized",
    "capacity-optimized",
    "diversified",
    "prioritized",
];

fn some(chance: &mut Chance, all: &[&'static str]) -> Vec<&'static str> {
    let mut picked: Vec<&'static str> =
        all.iter().copied().filter(|_| chance.percent(45)).collect();
    if picked.is_empty() {
        picked.push(*chance.pick(all));
    }
    picked
}

fn on_cloud(chance: &mut Chance, name: &'static str, gpus: bool) -> OnCloud {
    let (regions, families, kinds): (&[&str], &[&str], &[&str]) = match (name, gpus) {
        ("aws", false) => (&AWS, &["m6i", "m7i", "c6i"], &["gp3", "gp2", "io2"]),
        ("aws", true) => (&AWS, &["g6", "g5", "p4d"], &["gp3", "gp2"]),
        ("gcp", false) => (
            &GCP,
            &["n2-standard", "n4-standard", "e2-standard"],
            &["pd-ssd", "pd-standard", "pd-balanced"],
        ),
        ("gcp", true) => {
            (&GCP, &["g2-standard", "a2-highgpu", "a3-highgpu"], &["pd-ssd", "pd-balanced"])
        }
        ("azure", false) => (
            &AZURE,
            &["Standard_D4s_v5", "Standard_D8s_v5"],
            &["Premium_LRS", "StandardSSD_LRS", "UltraSSD_LRS"],
        ),
        ("azure", true) => {
            (&AZURE, &["Standard_NC24ads_A100_v4", "Standard_NV36ads_A10_v5"], &["Standard_LRS"])
        }
        _ => (&LAMBDA, &["gpu_1x", "gpu_8x"], &["whatever"]),
    };
    let sized = chance.percent(70);
    OnCloud {
        name,
        regions: some(chance, regions),
        families: some(chance, families),
        disk_gib: sized.then(|| *chance.pick(&[8, 30, 33, 100, 200, 512, 2000])),
        disk_type: chance.percent(40).then(|| *chance.pick(kinds)),
        own_network: name != "lambda" && chance.percent(30),
    }
}

impl Wish {
    pub(crate) fn new(chance: &mut Chance) -> Self {
        let unit = *chance.pick(&["vcpus", "instances", "gpus"]);
        let gpus = unit == "gpus";
        let mut names: Vec<&'static str> =
            ["aws", "gcp", "azure"].into_iter().filter(|_| chance.percent(60)).collect();
        if gpus && chance.percent(40) {
            names.push("lambda");
        }
        // Lambda has no zones to spread over.
        if names.is_empty() || names == ["lambda"] {
            names.push("aws");
        }
        let clouds: Vec<OnCloud> =
            names.into_iter().map(|name| on_cloud(chance, name, gpus)).collect();
        let committed = clouds.iter().any(|cloud| cloud.name == "aws") && chance.percent(25);
        let data = chance.percent(60).then(|| *chance.pick(&DATA));
        Wish {
            unit,
            target: 4 + chance.below(if gpus { 64 } else { 200 }),
            base_percent: *chance.pick(&[0, 10, 25, 50, 100]),
            strategy: chance.pick::<&str>(&STRATEGIES),
            clouds,
            budget: chance.percent(30).then(|| 1 + chance.below(200)),
            min_zones: chance.below(4),
            max_per_pool: chance.percent(40).then(|| 20 + chance.below(80)),
            data,
            egress: chance.percent(60).then(|| 1 + chance.below(5_000)),
            returned: (data.is_some() && chance.percent(40)).then(|| 1 + chance.below(500)),
            committed: committed.then(|| {
                (
                    *chance.pick(&AWS),
                    *chance.pick(&["m6i.xlarge", "m7i.2xlarge", "g6.xlarge"]),
                    1 + chance.below(8),
                )
            }),
        }
    }

    /// Another wish for the same fleet: more or less of it, and maybe other disks.
    pub(crate) fn changed(&self, chance: &mut Chance) -> Self {
        let mut wish = self.clone();
        wish.target = 4 + chance.below(wish.target * 2);
        // A machine that is being replaced hands its commitment on while both stand: that is no matter of
        // adding up.
        if chance.percent(50) && wish.committed.is_none() {
            for cloud in &mut wish.clouds {
                cloud.disk_gib = Some(*chance.pick(&[16, 64, 250]));
            }
        }
        if chance.percent(30) {
            wish.egress = Some(chance.below(3_000));
        }
        wish
    }

    pub(crate) fn on(&self, name: &str) -> Option<&OnCloud> {
        self.clouds.iter().find(|cloud| cloud.name == name)
    }

    pub(crate) fn yaml(&self) -> String {
        let mut out = format!(
            "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: random }}\nspec:\n  capacity:\n    \
             unit: {}\n    target: {}\n    base: {{ onDemand: {}% }}\n    burst: {{ spot: 100% }}\n",
            self.unit, self.target, self.base_percent
        );
        let families: Vec<&str> =
            self.clouds.iter().flat_map(|cloud| cloud.families.iter().copied()).collect();
        out.push_str(&format!("  instances: {{ families: [{}] }}\n", families.join(", ")));
        out.push_str(&format!("  placement:\n    strategy: {}\n    clouds:\n", self.strategy));
        for cloud in &self.clouds {
            let regions = cloud.regions.join(", ");
            out.push_str(&format!(
                "      - {{ provider: {}, regions: [{regions}] }}\n",
                cloud.name
            ));
        }
        let share =
            self.max_per_pool.map_or(String::new(), |share| format!(", maxSharePerPool: {share}%"));
        out.push_str(&format!("    spread: {{ minZones: {}{share} }}\n", self.min_zones));
        if let Some(data) = self.data {
            out.push_str(&format!("    dataRegion: {data}\n"));
        }
        if let Some(gib) = self.egress {
            out.push_str(&format!("    egressGiBPerDay: {gib}\n"));
        }
        if let Some(gib) = self.returned {
            out.push_str(&format!("    returnGiBPerDay: {gib}\n"));
        }
        if let Some((region, kind, count)) = self.committed {
            out.push_str(&format!(
                "    commitments:\n      - {{ provider: aws, region: {region}, type: {kind}, count: {count} }}\n"
            ));
        }
        if let Some(budget) = self.budget {
            out.push_str(&format!("  budget: {{ hourlyUsd: {budget} }}\n"));
        }
        out.push_str("  template:\n    disk:\n");
        for cloud in &self.clouds {
            let mut fields = vec!["encrypted: true".to_owned()];
            fields.extend(cloud.disk_gib.map(|gib| format!("sizeGiB: {gib}")));
            fields.extend(cloud.disk_type.map(|kind| format!("type: {kind}")));
            out.push_str(&format!("      {}: {{ {} }}\n", cloud.name, fields.join(", ")));
        }
        let own: Vec<&OnCloud> = self.clouds.iter().filter(|cloud| cloud.own_network).collect();
        if !own.is_empty() {
            out.push_str("    network:\n");
            for cloud in own {
                out.push_str(&format!("      {}: mine\n", cloud.name));
            }
        }
        out
    }
}
