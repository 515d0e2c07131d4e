//! What every cloud must do for us: a few calls, three outcomes, and errors that say what to do.
//!
//! A provider builds a request purely, sends it in one place, and reads the answer purely. It
//! decides nothing: which pool, how many and when is in the plan.

mod accounts;
mod answers;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod evidence;
mod handover;
mod judgement;
mod provider;
#[cfg(feature = "conformance")]
pub mod recordings;
mod seams;
mod survey;

pub use accounts::Accounts;
pub use answers::Answers;
pub use clock::Clock;
pub use error::{Class, Error, NO_CREDENTIALS, NOT_SET_UP, Reach};
pub use handover::{
    DisownRequest, Handover, LAMBDA_KEEPS_TAGS, NO_HANDOVER, OwnRequest, Owned, RenameRequest,
    TagFilter, no_handover,
};
pub use judgement::{Asked, LOOK_AGAIN, in_one_line, not_the_machine, with_causes};
pub use provider::{
    ClearRequest, CreateRequest, Created, DestroyRequest, Destroyed, Listing, Missing, Offered,
    OfferingsRequest, Provider, ReadingsRequest, RelabelRequest, TidyRequest, TraceRequest, Traced,
};
pub use survey::{Examination, ExamineRequest, Finding, Listed, PriceListRequest, Verdict};
