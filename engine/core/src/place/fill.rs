//! Covers a need: what is paid for first, then greedy, then what greedy leaves to be gained.

use crate::place::greedy::Source;
use crate::place::need::{Goal, Need, Taken};
use crate::place::problem::Problem;
use crate::place::usage::Usage;
use fleet_model::{Market, Rejection, Strategy, Units};

impl Problem<'_> {
    /// Covers `need` from the pools of one market; `later` is what other markets will cover.
    pub(crate) fn fill(
        &self,
        usage: &mut Usage,
        market: Market,
        need: Units,
        later: Units,
    ) -> Taken {
        let mut first = self.fill_committed(usage, market, Need { now: need, later });
        if first.counts.is_empty() {
            return self.fill_from(usage, market, need, later);
        }
        let mut taken = self.fill_from(usage, market, first.short, later);
        (first.short, first.certificate) = (taken.short, taken.certificate.take());
        first.join(taken);
        // Machines larger than what was left may make up for smaller ones that are paid for.
        self.give_back(usage, &mut first, Need { now: need, later });
        first
    }

    /// The same, whatever was bought ahead of time. What zones cannot carry evenly they carry as they
    /// can: less than wanted would be worse.
    pub(crate) fn fill_from(
        &self,
        usage: &mut Usage,
        market: Market,
        need: Units,
        later: Units,
    ) -> Taken {
        let mut taken = self.fill_evenly(usage, market, need, later);
        if self.fair.is_some() && !taken.short.is_zero() {
            let short = taken.short;
            let more = self.without_fair_shares().fill_evenly(usage, market, short, later);
            taken.short = more.short;
            taken.refused.clear();
            taken.join(more);
            // A large machine at the end may make up for smaller ones before it.
            self.give_back(usage, &mut taken, Need { now: need, later });
        }
        taken
    }

    fn fill_evenly(&self, usage: &mut Usage, market: Market, need: Units, later: Units) -> Taken {
        let strategy = self.desired.placement.strategy;
        let before = usage.clone();
        let wanted = Need { now: need, later };
        let mut taken = self.fill_by(usage, Source::Sold(market), wanted, strategy);
        let goal = Goal { market, need, later, strategy };
        taken.certificate = self.perfect(&before, usage, &mut taken, goal);
        let over_budget =
            taken.refused.keys().any(|r| matches!(r, Rejection::BudgetReached { .. }));
        if taken.short.is_zero() || !over_budget || strategy == Strategy::LowestPrice {
            return taken;
        }
        // The strategy's own choice does not fit the budget: more for the same money comes first.
        let mut cheaper_usage = before;
        let source = Source::Sold(market);
        let cheaper = self.fill_by(&mut cheaper_usage, source, wanted, Strategy::LowestPrice);
        if cheaper.short < taken.short {
            *usage = cheaper_usage;
            return cheaper;
        }
        taken
    }
}
