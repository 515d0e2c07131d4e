//! Lists of which nearly all have one element: it lies in place, and costs no allocation.
//!
//! An event of the journal is mostly about one machine. In a journal of a million events, lists on the heap
//! that one thread makes and another frees took a fifth of the time.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A list that is mostly short.
#[derive(Clone)]
pub enum Few<T> {
    /// Just one.
    One([T; 1]),
    /// None or several.
    Many(Vec<T>),
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few::Many(Vec::new())
    }
}

impl<T> Few<T> {
    /// One more.
    pub fn push(&mut self, next: T) {
        *self = match std::mem::take(self) {
            Few::One([first]) => Few::Many(vec![first, next]),
            Few::Many(many) if many.is_empty() => Few::One([next]),
            Few::Many(mut many) => {
                many.push(next);
                Few::Many(many)
            }
        };
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Few::One(one) => one,
            Few::Many(many) => many,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(list: Vec<T>) -> Self {
        match <[T; 1]>::try_from(list) {
            Ok(one) => Few::One(one),
            Err(list) => Few::Many(list),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Listed(PhantomData))
    }
}

struct Listed<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Listed<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T>, A::Error> {
        let Some(first) = list.next_element()? else { return Ok(Few::Many(Vec::new())) };
        let Some(second) = list.next_element()? else { return Ok(Few::One([first])) };
        let mut many = vec![first, second];
        while let Some(next) = list.next_element()? {
            many.push(next);
        }
        Ok(Few::Many(many))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_any_length_is_what_a_vec_is() {
        for json in ["[]", "[1]", "[1,2]", "[1,2,3]"] {
            let vec: Vec<u32> = serde_json::from_str(json).expect("a list");
            let few: Few<u32> = serde_json::from_str(json).expect("a list");
            assert_eq!(*few, *vec);
            assert_eq!(matches!(few, Few::One(_)), vec.len() == 1);
            let mut pushed = Few::default();
            vec.iter().for_each(|one| pushed.push(*one));
            assert_eq!(pushed, few);
            assert_eq!(few, Few::from(vec));
        }
        assert!(serde_json::from_str::<Few<u32>>("[1,").is_err());
        assert!(serde_json::from_str::<Few<u32>>("1").is_err());
    }
}
