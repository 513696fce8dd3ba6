//! What a passkey may not say (Web Authentication Level 3 sections 7.1 and 7.2).

use countersign_identity::passkey::{
    Ceremony, Credential, PasskeyAlgorithm, PasskeyRefused, Posted, assert, register,
};
use countersign_testkit::authenticator::{Authenticator, encode};
use countersign_testkit::person::PAGE_ORIGIN;
use serde_json::{Value, json};

const CHALLENGE: [u8; 32] = [9; 32];
const CEREMONY: Ceremony<'static> =
    Ceremony { rp_id: "localhost", origin: PAGE_ORIGIN, challenge: &CHALLENGE };

fn new() -> Authenticator {
    Authenticator::new(PasskeyAlgorithm::Es256)
}

fn registered(said: &Value) -> Result<Credential, PasskeyRefused> {
    register(&CEREMONY, &Posted::parse(&said.to_string())?)
}

fn asserted(said: &Value, of: &Credential) -> Result<u32, PasskeyRefused> {
    assert(&CEREMONY, &Posted::parse(&said.to_string())?, of)
}

fn kept(of: &Authenticator) -> Credential {
    registered(&of.create(&CHALLENGE)).unwrap_or_else(|error| panic!("{error}"))
}

/// `said` with one member changed.
fn with(mut said: Value, member: &str, value: Value) -> Value {
    said[member] = value;
    said
}

#[test]
fn each_algorithm_registers_and_vouches() {
    for algorithm in PasskeyAlgorithm::ALL {
        let mut one = Authenticator::new(algorithm);
        let credential = kept(&one);
        assert_eq!((credential.algorithm, credential.count), (algorithm, 0));
        assert_eq!(asserted(&one.get(&CHALLENGE), &credential), Ok(0));
        one.count = 5;
        assert_eq!(asserted(&one.get(&CHALLENGE), &credential), Ok(5));
    }
}

#[test]
fn a_registration_is_refused_for_its_first_fault() {
    use PasskeyRefused as No;
    let said = |change: &dyn Fn(&mut Authenticator)| {
        let mut one = new();
        change(&mut one);
        one.create(&CHALLENGE)
    };
    let own = || said(&|_| {});
    let cases = [
        (with(own(), "client_data", encode("[]").into()), No::Malformed("client_data")),
        (with(own(), "client_data", "+".into()), No::Malformed("client_data")),
        (with(own(), "authenticator_data", encode([0; 36]).into()), No::Malformed("authenticator_data")),
        (with(own(), "id", "".into()), No::Malformed("id is empty or too long")),
        (with(own(), "id", encode([1; 1024]).into()), No::Malformed("id is empty or too long")),
        (with(own(), "id", encode([1; 16]).into()), No::WrongCredential),
        (with(own(), "algorithm", json!(-65535)), No::UnusableKey),
        (with(own(), "algorithm", json!(-8)), No::UnusableKey),
        (with(own(), "public_key", encode([4; 65]).into()), No::UnusableKey),
        (new().get(&CHALLENGE), No::WrongType),
        (new().create(&[8; 32]), No::WrongChallenge),
        (said(&|one| one.origin = "https://evil.example".into()), No::WrongOrigin),
        (said(&|one| one.origin = format!("{PAGE_ORIGIN}/")), No::WrongOrigin),
        (said(&|one| one.cross_origin = Some(true)), No::CrossOrigin),
        (said(&|one| one.rp_id = "evil.example".into()), No::WrongRelyingParty),
        (said(&|one| one.flags = 0x04), No::NotPresent),
        (said(&|one| one.flags = 0x01), No::NotVerified),
        (said(&|one| one.flags = 0x15), No::WrongFlags),
    ];
    for (said, want) in cases {
        assert_eq!(registered(&said).unwrap_err(), want, "{said}");
    }
    for text in ["", "[]", "null", "{"] {
        assert!(matches!(Posted::parse(text), Err(No::Malformed(_))), "{text}");
    }
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(20_000));
    assert!(matches!(Posted::parse(&long), Err(No::Malformed(_))));
}

#[test]
fn an_assertion_is_refused_for_its_first_fault() {
    use PasskeyRefused as No;
    let mut one = new();
    let credential = kept(&one);
    let own = one.get(&CHALLENGE);
    let other = new();
    let mut cases = vec![
        (other.get(&CHALLENGE), No::WrongCredential),
        (with(other.get(&CHALLENGE), "id", own["id"].clone()), No::BadSignature),
        (with(own.clone(), "signature", encode([1; 70]).into()), No::BadSignature),
        (with(own.clone(), "signature", "".into()), No::BadSignature),
        (with(one.create(&CHALLENGE), "signature", own["signature"].clone()), No::WrongType),
        (one.get(&[8; 32]), No::WrongChallenge),
    ];
    let mut changed = |change: &dyn Fn(&mut Authenticator), want| {
        let before = (one.origin.clone(), one.rp_id.clone(), one.flags, one.cross_origin);
        change(&mut one);
        cases.push((one.get(&CHALLENGE), want));
        (one.origin, one.rp_id, one.flags, one.cross_origin) = before;
    };
    changed(&|one| one.origin = "http://localhost:8788".into(), No::WrongOrigin);
    changed(&|one| one.cross_origin = Some(true), No::CrossOrigin);
    changed(&|one| one.rp_id = "example.com".into(), No::WrongRelyingParty);
    changed(&|one| one.flags = 0x04, No::NotPresent);
    changed(&|one| one.flags = 0x01, No::NotVerified);
    changed(&|one| one.flags = 0x0d, No::WrongFlags);
    for (said, want) in cases {
        assert_eq!(asserted(&said, &credential).unwrap_err(), want, "{said}");
    }
    let seen = Credential { count: 4, ..credential };
    for count in [0, 3, 4] {
        one.count = count;
        assert_eq!(asserted(&one.get(&CHALLENGE), &seen), Err(No::Copied));
    }
    one.cross_origin = None;
    one.count = 5;
    assert_eq!(asserted(&one.get(&CHALLENGE), &seen), Ok(5));
}
