//! What a policy that knows the future would pay.
