//! What commands share: flags, specs, the catalog, the engine.

use crate::args::Global;
use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::filters;
use fleet_model::{Catalog, Cloud, Desired};
use fleet_provider::{Clock, Provider, with_causes};
use fleet_run::{Engine, Fresh, Store, SystemClock};
use fleet_sim::{Preset, Sim};
use fleet_spec::{Broken, Diagnostics, LoadOptions, Loaded, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The spec that is meant when none is named.
pub(crate) const DEFAULT_SPEC: &str = "fleet.yaml";

/// The flags, and how to get at things through them.
pub(crate) struct Context {
    /// The flags.
    pub global: Global,
}

/// Where imported catalogs are kept.
pub(crate) fn catalog_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = set("FLEET_CATALOG")
        .map(PathBuf::from)
        .or_else(|| set("XDG_DATA_HOME").map(|home| PathBuf::from(home).join("fleet")))
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/share/fleet")))?;
    Some(folder.join("catalog.bin"))
}

/// Problems of specs, as a failure.
pub(crate) fn invalid(problems: &Diagnostics) -> Failure {
    Failure::invalid(problems)
}

impl Context {
    /// The catalog that the flags name, else the imported one, else the embedded one.
    pub(crate) fn catalog(&self) -> Answer<Arc<Catalog>> {
        let loaded = match self.global.catalog.as_deref() {
            Some("embedded") => Ok(fleet_catalog::embedded()),
            Some(file) => fleet_catalog::load(Path::new(file)),
            None => fleet_catalog::source(catalog_file().as_deref()),
        };
        loaded.map(Arc::new).map_err(|cause| {
            Failure::new(with_causes(&cause)).hint(
                "`fleet catalog import DIR` makes a new one; `--catalog embedded` does without",
            )
        })
    }

    /// Tells files from names: a word that is no file and does not look like one is the name of a fleet.
    pub(crate) fn named(&self, words: &[PathBuf]) -> (Context, Vec<PathBuf>) {
        let is_file = |word: &PathBuf| {
            word.exists() || word.extension().is_some() || word.components().count() > 1
        };
        let (files, names): (Vec<PathBuf>, Vec<PathBuf>) = words.iter().cloned().partition(is_file);
        let mut global = self.global.clone();
        let names = names.into_iter().filter_map(|name| name.into_os_string().into_string().ok());
        global.fleet.extend(names);
        (Context { global }, files)
    }

    /// The paths that were named, or the default one.
    pub(crate) fn paths(&self, named: &[PathBuf]) -> Answer<Vec<PathBuf>> {
        if !named.is_empty() {
            return Ok(named.to_vec());
        }
        if Path::new(DEFAULT_SPEC).exists() {
            return Ok(vec![DEFAULT_SPEC.into()]);
        }
        Err(Failure::new(format!("no spec is named, and there is no {DEFAULT_SPEC} here"))
            .hint("name a file or folder, or write a first spec with `fleet init`"))
    }

    /// The fleets of some specs, in the order of their names. Broken ones are left out and named, as
    /// long as there are others.
    pub(crate) fn specs(&self, named: &[PathBuf]) -> Answer<Loaded> {
        let paths = self.paths(named)?;
        self.loaded(&paths, fleet_spec::load_sound(&paths, &self.options(&self.global.policy)))
    }

    /// The fleets of these paths and policies and no others. One that is broken breaks them all.
    pub(crate) fn load(&self, paths: &[PathBuf], policies: &[PathBuf]) -> Answer<Loaded> {
        self.loaded(paths, fleet_spec::load(paths, &self.options(policies)))
    }

    /// What to load besides the paths. The environment is handed over here and nowhere else.
    pub(crate) fn options(&self, policies: &[PathBuf]) -> LoadOptions {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let flags = self.global.var.iter().cloned().collect();
        LoadOptions {
            policies: policies.to_vec(),
            select: self.global.fleet.clone(),
            values: Values { flags, environment },
            spare_values: false,
        }
    }

    fn loaded(&self, paths: &[PathBuf], loaded: Result<Loaded, Diagnostics>) -> Answer<Loaded> {
        let mut loaded = loaded.map_err(|problems| invalid(&problems))?;
        if loaded.fleets.is_empty() {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(Failure::new("there is no fleet here, only policies or Defaults")
                .at(paths.join(", "))
                .exit(Exit::SpecInvalid));
        }
        loaded.fleets.sort_by(|a, b| a.desired.fleet.cmp(&b.desired.fleet));
        Ok(loaded)
    }

    /// The same for commands that launch: a spec that leaves nothing to choose from is broken as well.
    pub(crate) fn launchable(&self, mut loaded: Loaded, catalog: &Catalog) -> Answer<Loaded> {
        let mut fleets = Vec::new();
        for fleet in loaded.fleets {
            match filters::nothing_left(&fleet, catalog) {
                None => fleets.push(fleet),
                Some(problem) => loaded.broken.push(Broken {
                    fleet: Some(fleet.desired.fleet),
                    problems: Diagnostics(vec![problem]),
                }),
            }
        }
        if fleets.is_empty() {
            let all = loaded.broken.into_iter().flat_map(|broken| broken.problems.0);
            return Err(invalid(&Diagnostics(all.collect())));
        }
        Ok(Loaded { fleets, ..loaded })
    }

    /// Specs for those who act by themselves: every one is sound and launchable, or none counts.
    pub(crate) fn sound(&self, specs: &[PathBuf], catalog: &Catalog) -> Answer<Loaded> {
        let loaded = self.launchable(self.load(specs, &self.global.policy)?, catalog)?;
        match loaded.broken.first() {
            None => Ok(loaded),
            Some(broken) => Err(invalid(&broken.problems)),
        }
    }

    /// The folder of the simulated world: beside the journal, unless that is far away.
    pub(crate) fn sim_folder(&self) -> PathBuf {
        let set = std::env::var_os("FLEET_SIM_DIR").filter(|value| !value.is_empty());
        match set {
            Some(folder) => PathBuf::from(folder),
            None if self.global.state.contains("://") => Path::new(".fleet").join("sim"),
            None => Path::new(&self.global.state).join("sim"),
        }
    }

    /// The simulated world.
    pub(crate) fn sim(&self, catalog: Arc<Catalog>) -> Answer<Sim> {
        let folder = self.sim_folder();
        Sim::open(&folder, catalog).or_fail("cannot open the simulated clouds", folder.display())
    }

    /// The address of the state as it may be shown: without passwords.
    pub(crate) fn state(&self) -> String {
        fleet_run::shown(&self.global.state)
    }

    /// Where journals live.
    pub(crate) fn store(&self) -> Answer<Store> {
        Store::open(&self.global.state).map_err(|cause| {
            Failure::new(with_causes(&cause))
                .at("--state")
                .hint("name a folder, or an s3://, gs:// or az:// URL")
        })
    }

    /// The real clouds. Prices are remembered beside the journal, unless that is far away.
    pub(crate) fn real(&self, clock: &Arc<dyn Clock>) -> BTreeMap<Cloud, Arc<dyn Provider>> {
        let far = self.global.state.contains("://");
        let state = if far { ".fleet" } else { self.global.state.as_str() };
        crate::clouds::real(clock, &Path::new(state).join("prices"))
    }

    /// The clouds that can be asked.
    pub(crate) fn clouds(&self) -> Vec<Cloud> {
        if self.global.sim {
            return Cloud::ALL.to_vec();
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        self.real(&clock).into_keys().collect()
    }

    /// The engine with every cloud that these fleets need.
    pub(crate) fn engine<'a>(
        &self,
        catalog: Arc<Catalog>,
        fleets: impl IntoIterator<Item = &'a Desired>,
    ) -> Answer<Engine> {
        let store = self.store()?;
        if self.global.sim {
            let sim = self.sim(catalog.clone())?;
            let providers: BTreeMap<Cloud, Arc<dyn Provider>> =
                Cloud::ALL.into_iter().map(|cloud| (cloud, sim.provider(cloud))).collect();
            let calm = sim.settings().is_ok_and(|settings| settings.preset == Preset::Calm);
            let engine = Engine::new(store, providers, sim.clock(), catalog, Fresh::Derived);
            // Clouds without limits need no pacing.
            return Ok(if calm { engine.unpaced() } else { engine });
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let providers = self.real(&clock);
        let named: BTreeSet<Cloud> = fleets
            .into_iter()
            .flat_map(|fleet| fleet.placement.clouds.iter().map(|rule| rule.cloud))
            .collect();
        let missing: Vec<&str> = named
            .iter()
            .filter(|cloud| !providers.contains_key(cloud))
            .map(|cloud| cloud.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(Engine::new(store, providers, clock, catalog, Fresh::Random));
        }
        Err(Failure::new(format!("this build has no provider for {}", missing.join(", ")))
            .hint("run it on simulated clouds with --sim, or build `fleet` with their features"))
    }

    /// An engine that can read journals and nothing else.
    pub(crate) fn journals(&self) -> Answer<Engine> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let catalog = Arc::new(fleet_catalog::embedded());
        Ok(Engine::new(self.store()?, BTreeMap::new(), clock, catalog, Fresh::Random))
    }
}
