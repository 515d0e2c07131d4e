//! Signed plans: ed25519, with keys in the PEM files that `openssl genpkey` makes.

use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use std::fs;
use std::path::{Path, PathBuf};

/// What a signature is over: these words, then the plan as it stands in its file without it. The
/// words keep a signature for a plan from being one for anything else.
const WORDS: &[u8] = b"fleet-plan/1\n";

/// Signs with a private key; the signature in hexadecimal.
pub(crate) fn sign(key: &Path, plan: &[u8]) -> Answer<String> {
    let pem = fs::read_to_string(key).or_fail("cannot read the private key", key.display())?;
    // The cause is not told: it may quote the key.
    let key = SigningKey::from_pkcs8_pem(&pem).map_err(|_| {
        Failure::new("this is not a private ed25519 key")
            .at(key.display())
            .hint("make one with `openssl genpkey -algorithm ed25519 -out KEY`")
    })?;
    Ok(hex(&key.sign(&[WORDS, plan].concat()).to_bytes()))
}

/// Refuses a plan that none of these keys has signed.
pub(crate) fn verify(keys: &[PathBuf], plan: &[u8], signature: Option<&str>) -> Answer<()> {
    let keys: Vec<VerifyingKey> = keys.iter().map(|key| public(key)).collect::<Answer<_>>()?;
    let Some(signature) = signature else {
        return Err(Failure::new("the plan is not signed")
            .hint("sign it where it is made: `fleet plan SPEC --out FILE --sign KEY`")
            .exit(Exit::PlanStale));
    };
    let good = bytes(signature).is_some_and(|signature| {
        let signature = Signature::from_bytes(&signature);
        let message = [WORDS, plan].concat();
        keys.iter().any(|key| key.verify_strict(&message, &signature).is_ok())
    });
    if good {
        return Ok(());
    }
    Err(Failure::new("the plan is not signed by a key that --require-signature names")
        .hint("make a new plan and sign it with the right key; do not apply this one")
        .exit(Exit::PlanStale))
}

fn public(key: &Path) -> Answer<VerifyingKey> {
    let pem = fs::read_to_string(key).or_fail("cannot read the public key", key.display())?;
    VerifyingKey::from_public_key_pem(&pem).map_err(|_| {
        Failure::new("this is not a public ed25519 key")
            .at(key.display())
            .hint("make one with `openssl pkey -in KEY -pubout -out KEY.pub`")
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digits = hex.as_bytes();
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
        .collect();
    let bytes: [u8; N] = bytes?.try_into().ok()?;
    // One way to write it, so that no byte of a plan can be changed.
    (self::hex(&bytes) == hex).then_some(bytes)
}
