//! One operation on the world: it sees the world as it is, and leaves events.

use crate::chance::{below, mix2, text};
use crate::classify::answer;
use crate::event::{Event, Refusal};
use crate::fault::{Area, Fault};
use crate::limit::{Call, Level, limits};
use crate::pools::Pools;
use crate::settings::Preset;
use crate::time::{Ms, from_stamp, stamp};
use crate::vm::Vm;
use crate::world::World;
use fleet_model::{Cloud, Machine, MachineId, Market, Scope};
use fleet_provider::evidence;

/// An operation under way. Every event is applied at once, so that later parts see it.
pub(crate) struct Tx<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) pools: &'a Pools,
    pub(crate) events: Vec<Event>,
}

/// What becomes of a call that was let in.
enum Fate {
    Answered,
    /// Carried out, and the answer is lost.
    Lost(Refusal),
    /// Neither carried out nor answered.
    Swallowed(Refusal),
}

impl<'a> Tx<'a> {
    pub(crate) fn new(world: &'a mut World, pools: &'a Pools) -> Self {
        Tx { world, pools, events: Vec::new() }
    }

    pub(crate) fn now(&self) -> Ms {
        self.world.now
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.world.apply(&event);
        self.events.push(event);
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.world.settings.preset == Preset::Calm
    }

    /// Faults that have not run out.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &Fault> {
        let now = stamp(self.now());
        self.world.faults.iter().filter(move |fault| fault.holds_at(now))
    }

    /// A number below `n` by chance, another one at each call that chance has a say in.
    pub(crate) fn draw(&self, n: u64) -> u64 {
        below(mix2(self.world.settings.seed, self.world.calls ^ 0x00d1_ce00), n)
    }

    /// Reads, if the cloud lets the call in.
    pub(crate) fn read<T>(
        &mut self,
        scope: &Scope,
        act: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, Refusal> {
        self.read_charged(scope, true, act)
    }

    /// The same, where another call may have been charged for it.
    fn read_charged<T>(
        &mut self,
        scope: &Scope,
        charge: bool,
        act: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, Refusal> {
        match self.arrive(scope, Call::List, 0, charge)? {
            Fate::Answered => Ok(act(self)),
            Fate::Lost(refusal) | Fate::Swallowed(refusal) => Err(refusal),
        }
    }

    /// Changes something, if the cloud lets the call in; the answer may be lost all the same.
    pub(crate) fn change<T>(
        &mut self,
        scope: &Scope,
        call: Call,
        machines: u32,
        act: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match self.arrive(scope, call, machines, true)? {
            Fate::Answered => act(self),
            Fate::Lost(refusal) => {
                // Whatever it said, nobody hears it.
                let _ = act(self);
                Err(refusal)
            }
            Fate::Swallowed(refusal) => Err(refusal),
        }
    }

    fn arrive(
        &mut self,
        scope: &Scope,
        call: Call,
        machines: u32,
        charge: bool,
    ) -> Result<Fate, Refusal> {
        let changes = call != Call::List;
        if let Some(lossy) = self.outage(scope) {
            if !lossy {
                return Err(Refusal::new(0, "ConnectionRefused", "could not connect"));
            }
            let refusal = Refusal::new(503, unavailable(scope.cloud), "service unavailable");
            if !changes {
                return Err(refusal);
            }
            self.emit(Event::Called { limit: None, cost: 0 });
            return Ok(if self.draw(2) == 0 {
                Fate::Lost(refusal)
            } else {
                Fate::Swallowed(refusal)
            });
        }
        if self
            .faults()
            .any(|fault| matches!(fault, Fault::Forbidden { area } if area.covers(scope)))
        {
            let call = evidence::Call::Any;
            let words = "you are not allowed to do this";
            return Err(answer(scope.cloud, call, forbidden(scope.cloud), words));
        }
        // Of two faults of a kind, the last word holds.
        let throttled = self.faults().filter_map(|fault| match fault {
            Fault::Throttled { cloud, until } if *cloud == scope.cloud => Some(*until),
            _ => None,
        });
        if let Some(until) = throttled.last() {
            let wait = from_stamp(until).saturating_sub(self.now());
            return Err(throttle(scope.cloud, wait));
        }
        if charge && !self.is_calm() {
            self.charge(scope, call, machines)?;
        }
        let percent = self.faults().filter_map(|fault| match fault {
            Fault::LostAnswers { cloud, percent } if *cloud == scope.cloud => Some(*percent),
            _ => None,
        });
        if let Some(percent) = percent.last().filter(|_| changes) {
            self.emit(Event::Called { limit: None, cost: 0 });
            if self.draw(100) < u64::from(percent) {
                return Ok(Fate::Lost(Refusal::new(0, "RequestTimeout", "no answer in time")));
            }
        }
        Ok(Fate::Answered)
    }

    /// Whether an area is out, and if so whether calls may get in all the same.
    pub(crate) fn outage(&self, scope: &Scope) -> Option<bool> {
        self.faults().find_map(|fault| match fault {
            Fault::Outage { area, lossy, .. } if area.covers(scope) => Some(*lossy),
            _ => None,
        })
    }

    fn charge(&mut self, scope: &Scope, call: Call, machines: u32) -> Result<(), Refusal> {
        let now = self.now();
        let limits = limits(scope.cloud, &scope.region, call, machines);
        for (key, rate, cost) in &limits {
            let level = self.world.levels.get(key).copied();
            let level = level.unwrap_or_else(|| Level::full(*rate, now));
            level.check(*rate, now, *cost).map_err(|wait| throttle(scope.cloud, wait))?;
        }
        for (key, _, cost) in limits {
            self.emit(Event::Called { limit: Some(key), cost });
        }
        Ok(())
    }

    /// A list, and what is missing from it. `charge`: it is a call of its own.
    pub(crate) fn list(
        &mut self,
        scope: &Scope,
        charge: bool,
    ) -> Result<(Vec<Machine>, Option<String>), Refusal> {
        self.read_charged(scope, charge, |tx| {
            let (world, now) = (&*tx.world, tx.now());
            let serials = world.index.in_scope(scope);
            let mut machines: Vec<Machine> = serials
                .iter()
                .filter_map(|serial| world.vms.get(serial))
                // The lists are filtered by our tags: a machine without them is not on them.
                .filter(|vm| vm.is_listed(scope.cloud, now) && vm.tagged && !tx.hides(scope, vm))
                .filter_map(|vm| world.describe(vm))
                .collect();
            let partial = tx.faults().any(|fault| match fault {
                Fault::PartialLists { area } => area.covers(scope),
                _ => false,
            });
            if !partial {
                return (machines, None);
            }
            machines.truncate(machines.len() / 2);
            (machines, Some(lost_page(scope)))
        })
    }

    /// Moves the clock, and interrupts what the market no longer carries on the way.
    pub(crate) fn advance(&mut self, to: Ms) {
        if to <= self.now() {
            return;
        }
        if !self.is_calm() {
            let mut at = self.pools.next_change(self.now());
            while at <= to && self.interrupt_excess(at) {
                at = self.pools.next_change(at);
            }
        }
        self.emit(Event::Time { to });
    }

    /// When markets move: gives notice to what is above capacity, youngest first. Says
    /// whether anything is left that a later moment could interrupt.
    fn interrupt_excess(&mut self, at: Ms) -> bool {
        let mut notices = Vec::new();
        let mut stay = 0;
        for (id, machines) in self.world.pools.iter().zip(&self.world.index.pools) {
            if id.market != Market::Spot || machines.staying.is_empty() {
                continue;
            }
            let staying = machines.staying.len();
            stay += staying;
            let Some(pool) = self.pools.find(id) else { continue };
            let capacity = self.pools.capacity(id, &pool, &self.world.settings, at) as usize;
            let due = at + notice_of(id.place.cloud);
            let excess = machines.staying.iter().rev().take(staying.saturating_sub(capacity));
            notices.extend(
                excess
                    .filter_map(|serial| self.world.vms.get(serial))
                    .map(|vm| (vm.id.clone(), due)),
            );
        }
        stay -= notices.len();
        notices.into_iter().for_each(|(id, due)| self.interrupt(id, due));
        stay > 0
    }

    /// Gives notice to a machine.
    pub(crate) fn interrupt(&mut self, id: MachineId, due: Ms) {
        self.emit(Event::Interrupted { id: id.clone(), due });
        self.leave_children(&[id], due);
    }

    /// Whether the credentials are for another account.
    pub(crate) fn other_account(&self, cloud: Cloud) -> bool {
        self.faults().any(|fault| matches!(fault, Fault::OtherAccount { cloud: c } if *c == cloud))
    }

    /// Whether a list that calls itself complete lacks a machine that is there.
    pub(crate) fn hides(&self, scope: &Scope, vm: &Vm) -> bool {
        if self.other_account(scope.cloud) {
            return true;
        }
        let percent = self.faults().filter_map(|fault| match fault {
            Fault::ShortLists { area, percent } if area.covers(scope) => Some(*percent),
            _ => None,
        });
        let percent = u64::from(percent.last().unwrap_or(0));
        // What was just made is late in lists for reasons of its own.
        let old = vm.visible + 10 * 60_000 <= self.now();
        old && below(mix2(0x0115_7000, text(vm.id.as_str())), 100) < percent
    }

    /// Whether a cloud is out in all its regions.
    pub(crate) fn whole_cloud_out(&self, cloud: Cloud) -> bool {
        self.faults().any(|fault| match fault {
            Fault::Outage { area: Area { cloud: out, region: None }, .. } => *out == cloud,
            _ => false,
        })
    }
}

/// How long before it takes a machine back a cloud tells. One that sells no spot tells nothing.
pub(crate) fn notice_of(cloud: Cloud) -> Ms {
    cloud.facts().notice.unwrap_or_default().as_millis() as Ms
}

fn unavailable(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Aws | Cloud::Azure => "ServiceUnavailable",
        Cloud::Gcp => "backendError",
        Cloud::Lambda => "global/internal-error",
    }
}

fn forbidden(cloud: Cloud) -> &'static str {
    match cloud {
        Cloud::Aws => "UnauthorizedOperation",
        Cloud::Gcp => "IAM_PERMISSION_DENIED",
        Cloud::Azure => "AuthorizationFailed",
        Cloud::Lambda => "global/invalid-api-key",
    }
}

fn throttle(cloud: Cloud, wait: Ms) -> Refusal {
    let message = "request rate too high";
    match cloud {
        // Neither says for how long.
        // The table has no one status for it: 503 is the one that EC2 uses.
        Cloud::Aws => Refusal::new(503, "RequestLimitExceeded", message),
        Cloud::Gcp => Refusal::new(403, "rateLimitExceeded", message),
        Cloud::Azure => {
            let after = Some(wait.div_ceil(1000) * 1000);
            Refusal { after, ..Refusal::new(429, "TooManyRequests", message) }
        }
        Cloud::Lambda => {
            Refusal { after: Some(wait), ..Refusal::new(429, "global/too-many-requests", message) }
        }
    }
}

fn lost_page(scope: &Scope) -> String {
    match scope.cloud {
        Cloud::Gcp => format!("unreachables: regions/{}", scope.region),
        Cloud::Aws | Cloud::Azure | Cloud::Lambda => {
            format!("the second page of machines in {} did not arrive", scope.region)
        }
    }
}
