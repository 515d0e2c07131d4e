//! What a person sees while an apply runs, and how they stop it.

use crate::style::WARN;
use crate::text::{clean_line, count, span, thousands};
use anstream::AutoStream;
use fleet_model::{Desired, SlotName};
use fleet_run::{Progress, StepResult, Stop, Waiting};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Without a terminal a line is written this often at most.
const EVERY: Duration = Duration::from_secs(2);
/// Refusals told one by one; the rest are counted, round by round.
const REFUSALS: u32 = 3;

/// Where the fleets of one command show how they get on, below each other.
#[derive(Clone)]
pub(crate) struct Board {
    bars: Option<MultiProgress>,
    /// Lines name their fleet where there are several.
    several: bool,
    quiet: bool,
    choice: anstream::ColorChoice,
}

impl Board {
    /// `quiet` tells nothing at all.
    pub(crate) fn new(fleets: usize, quiet: bool, no_color: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let bars = terminal.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
        let choice =
            if no_color { anstream::ColorChoice::Never } else { anstream::ColorChoice::Auto };
        Board { bars, several: fleets > 1, quiet, choice }
    }
}

impl Board {
    /// Shows on a terminal that something is under way, until the answer is dropped.
    pub(crate) fn busy(&self, with: &str) -> Busy {
        Busy(self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_message(clean_line(with));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        }))
    }

    /// The same for a look at clouds on behalf of some fleets.
    pub(crate) fn asking(&self, fleets: &[&Desired]) -> Busy {
        let rules = fleets.iter().flat_map(|fleet| &fleet.placement.clouds);
        let clouds: BTreeSet<&str> = rules.map(|rule| rule.cloud.as_str()).collect();
        let clouds = clouds.into_iter().collect::<Vec<_>>().join(", ");
        self.busy(&format!("asking {clouds} about {}", count(fleets.len() as u64, "fleet")))
    }
}

/// Something is under way.
pub(crate) struct Busy(Option<ProgressBar>);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Tells how an apply gets on: a bar on a terminal, a line now and then elsewhere.
pub(crate) struct Watch {
    fleet: String,
    bar: Option<ProgressBar>,
    board: Board,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    told: Instant,
    /// Refusals in all, and in this round.
    refusals: u32,
    in_round: u32,
    round: u32,
    done: u64,
    total: u64,
    /// Whom we wait for.
    waiting: Option<String>,
    /// Machines that stay until their successors are up, as told.
    starting: Vec<SlotName>,
    /// Machines with the new template, as told.
    rolling: Option<u32>,
}

impl Watch {
    /// A place on the board for one fleet.
    pub(crate) fn new(fleet: &str, board: &Board) -> Self {
        let bar = board.bars.is_some().then(|| {
            // Hidden until there is something to count: a question may come first.
            let bar = ProgressBar::hidden();
            bar.set_style(bar_style());
            bar.set_prefix(clean_line(fleet));
            bar
        });
        let now = Instant::now();
        let state = State {
            started: now,
            told: now,
            refusals: 0,
            in_round: 0,
            round: 0,
            done: 0,
            total: 0,
            waiting: None,
            starting: Vec::new(),
            rolling: None,
        };
        let fleet = clean_line(fleet);
        Watch { fleet, bar, board: board.clone(), state: Mutex::new(state) }
    }

    /// Takes news. Called from many tasks at once.
    pub(crate) fn on(&self, news: Progress) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(news, Progress::Waiting(_)) {
            self.waited(&mut state);
        }
        match news {
            Progress::Waiting(waiting) => self.wait(&mut state, &waiting),
            Progress::Recovering { requests } => {
                let requests = count(requests as u64, "request");
                self.say(&format!("settling {requests} that an earlier run left in doubt"));
            }
            Progress::RoundStarted { round, create, destroy } => {
                (state.in_round, state.round) = (0, round);
                state.total = state.done + u64::from(create) + u64::from(destroy);
                if let Some(bar) = &self.bar {
                    self.show(bar);
                    bar.set_length(state.total);
                    bar.enable_steady_tick(Duration::from_millis(200));
                }
                // A round may only write down what was seen.
                if round > 1 && create + destroy > 0 {
                    let what = format!("{create} to launch, {destroy} to destroy");
                    self.say(&format!("round {round}: {what}"));
                }
            }
            Progress::StepEnded { step: _, pool, created, destroyed, result } => {
                state.done += u64::from(created) + u64::from(destroyed);
                let pool = clean_line(&pool.to_string());
                self.refusal(&mut state, &pool, &result);
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(state.done);
                        bar.set_message(pool);
                    }
                    None if state.told.elapsed() >= EVERY => {
                        state.told = Instant::now();
                        let (done, total) = (thousands(state.done), thousands(state.total));
                        let time = span(state.started.elapsed());
                        self.say(&format!("{done} of {total} machines after {time}"));
                    }
                    None => {}
                }
            }
            Progress::RoundEnded if state.in_round > 0 => {
                let (round, requests) = (state.round, count(state.in_round, "request"));
                self.say(&format!("round {round}: {requests} refused or in doubt"));
            }
            Progress::RoundEnded => {}
            Progress::Rolling { updated, left } => {
                if state.rolling != Some(updated) {
                    let far = crate::sentences::far(updated.into(), left.into());
                    self.say(&format!("rollout: {far}; waiting until they are ready"));
                    state.rolling = Some(updated);
                }
            }
            Progress::Starting { slots } => {
                // Looks come every few seconds; news is only that there is something to wait for.
                if state.starting != slots {
                    let names: Vec<String> = slots.iter().map(ToString::to_string).collect();
                    self.say(&format!("waiting until successors are up: {}", names.join(", ")));
                    state.starting = slots;
                }
            }
        }
    }

    /// A countdown: a line that changes on a terminal, a line now and then elsewhere.
    fn wait(&self, state: &mut State, waiting: &Waiting) {
        let Waiting { holder, left, dead_in } = waiting;
        let holder = clean_line(holder);
        let first = state.waiting.as_ref() != Some(&holder);
        if first {
            self.say(&format!("waiting: another run is changing the fleet: {holder}"));
            state.waiting = Some(holder);
        }
        let dead = match dead_in {
            Some(dead_in) if dead_in < left => {
                format!("; taken over in {} if it stays silent", span(up(*dead_in)))
            }
            Some(_) | None => String::new(),
        };
        let line = format!("waiting for the lease, {} remaining{dead}", span(up(*left)));
        match &self.bar {
            Some(bar) => {
                bar.set_style(line_style());
                self.show(bar);
                bar.set_message(line);
            }
            None if first || state.told.elapsed() >= EVERY => {
                state.told = Instant::now();
                self.say(&line);
            }
            None => {}
        }
    }

    /// The wait is over: the bar counts machines again, once there is something to count.
    fn waited(&self, state: &mut State) {
        if state.waiting.take().is_some()
            && let Some(bar) = &self.bar
        {
            bar.set_message("");
            self.hide(bar);
            bar.set_style(bar_style());
        }
    }

    fn refusal(&self, state: &mut State, pool: &str, result: &StepResult) {
        let text = match result {
            StepResult::Done => return,
            StepResult::Refused(why) => {
                format!("{WARN}refused{WARN:#}  {pool}: {}", clean_line(why))
            }
            StepResult::Unknown(why) => {
                format!("{WARN}in doubt{WARN:#} {pool}: {}", clean_line(why))
            }
        };
        state.refusals += 1;
        state.in_round += 1;
        if state.refusals <= REFUSALS {
            self.say(&text);
        }
    }

    fn show(&self, bar: &ProgressBar) {
        if let Some(bars) = &self.board.bars {
            bars.add(bar.clone());
        }
    }

    fn hide(&self, bar: &ProgressBar) {
        if let Some(bars) = &self.board.bars {
            bars.remove(bar);
        }
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    fn say(&self, text: &str) {
        if self.board.quiet {
            return;
        }
        let write = || {
            let mut stderr = AutoStream::new(std::io::stderr(), self.board.choice);
            let fleet =
                if self.board.several { format!("{}: ", self.fleet) } else { String::new() };
            // Nobody listens: nothing is lost but the line.
            let _ = writeln!(stderr, "{fleet}{text}");
        };
        match &self.board.bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Whole seconds, rounded up: a countdown that says 0 is over.
fn up(left: Duration) -> Duration {
    Duration::from_secs(left.as_secs() + u64::from(left.subsec_nanos() > 0))
}

fn line_style() -> ProgressStyle {
    ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn bar_style() -> ProgressStyle {
    let template = "{prefix} {bar:32} {pos}/{len} machines, {elapsed} {wide_msg}";
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

/// The first signal asks for a stop, the second ends the process. Both are safe: what was sent is
/// in the journal before it was sent. `told`: what says so, at the first.
pub(crate) fn stop_on_signal(told: fn(&str)) -> Stop {
    let stop = Stop::default();
    let asked = stop.clone();
    tokio::spawn(async move {
        if signal().await.is_err() {
            return;
        }
        asked.ask();
        told("stopping: waiting for requests under way; interrupt again to stop at once");
        if signal().await.is_ok() {
            std::process::exit(130);
        }
    });
    stop
}

/// For a person at a terminal.
pub(crate) fn on_a_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "\n{text}");
}

/// For those who say it in their own way.
pub(crate) fn to_nobody(_: &str) {}

async fn signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            done = tokio::signal::ctrl_c() => done,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
