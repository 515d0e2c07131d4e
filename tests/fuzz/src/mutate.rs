//! Damages.

use proptest::arbitrary::any;
use proptest::collection::vec;
use proptest::sample::Index;
use proptest::strategy::{BoxedStrategy, Just, Strategy};

/// No damaged input is longer: bounded input, bounded work.
pub const LARGEST: usize = 64 * 1024;

/// Words that readers stumble over.
const WORDS: [&[u8]; 24] = [
    b"null",
    b"~",
    b"NaN",
    b"-0",
    b"1e999",
    b"-1",
    b"18446744073709551616",
    b"340282366920938463463374607431768211456",
    b"0.0000000000000000000000001",
    b"9999999999999999999999999999999999999999",
    b"&a [*a, *a]",
    b"<<: *a",
    b"!!binary ",
    b"---\n",
    b"...\n",
    b"\t",
    b"\"",
    b"\\u0000",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\r\n",
    b"{}",
];

/// What opens a level, per syntax.
const OPENERS: [&[u8]; 5] = [b"[", b"{\"a\":", b"- ", b"? ", b"{a: "];

/// One damage. Positions are shares of the length, so that each fits every input.
#[derive(Debug, Clone)]
pub enum Mutation {
    /// A bit flips.
    Flip(Index, u8),
    /// Some bytes go.
    Cut(Index, u16),
    /// Everything behind a position goes.
    Truncate(Index),
    /// Some bytes come in.
    Insert(Index, Vec<u8>),
    /// A stumbling word comes in.
    Word(Index, Index),
    /// A line is doubled: keys, list items, records.
    DoubleLine(Index),
    /// A part is repeated many times.
    Repeat(Index, u8, u16),
    /// A part of another input comes in.
    Splice(Index, Index, u16, Index),
    /// A number becomes a stumbling word.
    Number(Index, Index),
    /// Levels open and are never closed.
    Nest(Index, Index, u16),
}

impl Mutation {
    /// Any damage.
    pub fn any() -> BoxedStrategy<Mutation> {
        let at = any::<Index>;
        proptest::prop_oneof![
            4 => (at(), 0u8..8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
            2 => (at(), 1u16..200).prop_map(|(at, len)| Mutation::Cut(at, len)),
            1 => at().prop_map(Mutation::Truncate),
            1 => (at(), vec(any::<u8>(), 1..8)).prop_map(|(at, more)| Mutation::Insert(at, more)),
            3 => (at(), at()).prop_map(|(at, word)| Mutation::Word(at, word)),
            2 => at().prop_map(Mutation::DoubleLine),
            1 => (at(), 1u8..40, 2u16..2000).prop_map(|(at, len, n)| Mutation::Repeat(at, len, n)),
            2 => (at(), at(), 1u16..400, at()).prop_map(|(w, f, n, t)| Mutation::Splice(w, f, n, t)),
            3 => (at(), at()).prop_map(|(at, word)| Mutation::Number(at, word)),
            1 => (at(), at(), prop_depth()).prop_map(|(at, how, n)| Mutation::Nest(at, how, n)),
        ]
        .boxed()
    }
}

fn prop_depth() -> BoxedStrategy<u16> {
    proptest::prop_oneof![1u16..80, Just(1_000u16), Just(20_000u16)].boxed()
}

fn position(index: &Index, bytes: &[u8]) -> usize {
    index.index(bytes.len() + 1)
}

fn part(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    &bytes[at..bytes.len().min(at + len)]
}

fn insert(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    bytes.splice(at..at, more.iter().copied());
}

/// Damages an input.
pub fn mutate(input: &[u8], others: &[Vec<u8>], damages: &[Mutation]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for damage in damages {
        one(&mut bytes, others, damage);
        bytes.truncate(LARGEST);
    }
    bytes
}

fn one(bytes: &mut Vec<u8>, others: &[Vec<u8>], damage: &Mutation) {
    match damage {
        Mutation::Flip(at, bit) => {
            let at = position(at, bytes);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        Mutation::Cut(at, len) => {
            let at = position(at, bytes);
            let end = bytes.len().min(at + *len as usize);
            bytes.drain(at..end);
        }
        Mutation::Truncate(at) => bytes.truncate(position(at, bytes)),
        Mutation::Insert(at, more) => insert(bytes, position(at, bytes), more),
        Mutation::Word(at, word) => insert(bytes, position(at, bytes), word.get::<&[u8]>(&WORDS)),
        Mutation::DoubleLine(at) => {
            let at = position(at, bytes);
            let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |n| n + 1);
            let rest = bytes[start..].iter().position(|byte| *byte == b'\n');
            let end = rest.map_or(bytes.len(), |n| start + n + 1);
            let line = bytes[start..end].to_vec();
            insert(bytes, end, &line);
        }
        Mutation::Repeat(at, len, times) => {
            let at = position(at, bytes);
            let more = part(bytes, at, *len as usize).repeat(*times as usize);
            insert(bytes, at, &more[..more.len().min(LARGEST)]);
        }
        Mutation::Splice(which, from, len, to) => {
            let other = which.get::<Vec<u8>>(others);
            let more = part(other, position(from, other), *len as usize);
            insert(bytes, position(to, bytes), more);
        }
        Mutation::Number(at, word) => {
            let at = position(at, bytes);
            let digit = |byte: &u8| byte.is_ascii_digit();
            let Some(start) = bytes[at..].iter().position(digit).map(|n| at + n) else { return };
            let len = bytes[start..].iter().take_while(|byte| digit(byte)).count();
            bytes.splice(start..start + len, word.get::<&[u8]>(&WORDS).iter().copied());
        }
        Mutation::Nest(at, how, depth) => {
            let more = how.get::<&[u8]>(&OPENERS).repeat(*depth as usize);
            insert(bytes, position(at, bytes), &more[..more.len().min(LARGEST)]);
        }
    }
}
