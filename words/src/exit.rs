//! Exit codes: the contract that scripts and CI rely on.

use std::process::ExitCode;

/// How a command ended, mildest first: of several fleets, the worst wins.
///
/// The order is not that of the numbers: a spec that cannot be read hides more than a lease that
/// is held, and a failure hides everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// `plan --detailed-exitcode` found changes, or `cost reconcile` differences.
    Changes,
    /// Something is held, unplaced or in doubt.
    Unsettled,
    /// Another apply holds the lease.
    LeaseHeld,
    /// The saved plan is stale, altered, or not signed as it must be.
    PlanStale,
    /// `plan --fail-if`: the change breaks a rule.
    RuleBroken,
    /// The spec is invalid.
    SpecInvalid,
    /// Something failed.
    Failed,
    /// The command line makes no sense. `EX_USAGE` of sysexits, because clap's own 2 means
    /// "changes found" here.
    Usage,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Changes => 2,
            Exit::Unsettled => 3,
            Exit::SpecInvalid => 4,
            Exit::PlanStale => 5,
            Exit::LeaseHeld => 6,
            Exit::RuleBroken => 7,
            Exit::Usage => 64,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// The table that `--help` and the man pages end with.
pub const HELP: &str = "\
First steps, without an account:
  fleet init && fleet plan --sim && fleet apply --sim && fleet status --sim

Exit codes:
  0   done, or nothing to do
  1   failed; `plan`: no cloud answered
  2   `plan --detailed-exitcode` found changes; `cost reconcile`: bill and journals differ
  3   something is held, unplaced or in doubt (`plan`: with --detailed-exitcode)
  4   a spec is invalid; the other fleets were done
  5   the saved plan is stale, altered, or not signed as required
  6   another apply holds the lease
  7   `plan --fail-if`: the change breaks a rule
  64  the command line makes no sense
  130 stopped at once, by a second Ctrl-C
With several fleets the worst wins: 1, then 4, 7, 5, 6, 3, 2, 0.";

/// What `apply`, `destroy` and `reconcile` do when they are asked to stop.
pub const SIGNALS: &str = "\
Ctrl-C (or SIGTERM):
  before the first change  ends at once; nothing was changed
  the first                starts nothing new, waits for requests in flight, and reports.
                           Exit code 3 if anything remains, otherwise 0
  the second               ends at once, with exit code 130
Both are safe: every request is in the journal before it is sent. The next run asks the clouds
what became of requests without an answer, and continues.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_wins() {
        let worst = |exits: &[Exit]| exits.iter().max().map(|exit| exit.code());
        assert_eq!(worst(&[Exit::Done, Exit::Changes]), Some(2));
        assert_eq!(worst(&[Exit::Unsettled, Exit::Failed, Exit::Done]), Some(1));
        assert_eq!(worst(&[Exit::PlanStale, Exit::LeaseHeld]), Some(5));
        assert_eq!(worst(&[Exit::SpecInvalid, Exit::PlanStale]), Some(4));
        assert_eq!(worst(&[Exit::RuleBroken, Exit::Changes]), Some(7));
        assert_eq!(worst(&[Exit::RuleBroken, Exit::SpecInvalid]), Some(4));
    }
}
