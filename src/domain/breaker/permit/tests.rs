use super::*;
use proptest::prelude::*;

const KEY: HashKey = HashKey(*b"0123456789abcdef");

fn any_permit() -> impl Strategy<Value = Permit> {
    let circuit = (0..7_usize, any::<bool>(), any::<u32>(), any::<bool>()).prop_map(
        |(kind, is_personal, generation, is_probe)| Listed {
            circuit: CircuitRef { kind: CircuitKind::ALL[kind], is_personal },
            generation,
            is_probe,
        },
    );
    let names = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>());
    (
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
        names,
        any::<Option<u32>>(),
        any::<bool>(),
        prop::collection::vec(circuit, 0..14),
    )
        .prop_map(
            |(incarnation, seq, at, (breaker, target, caller, credential, arguments), size, is_probe, listed)| Permit {
                incarnation,
                seq,
                issued_at: Timestamp(at),
                breaker,
                target,
                caller,
                credential,
                arguments,
                session: target ^ caller,
                call: target ^ seq,
                arguments_bytes: size,
                is_probe,
                listed,
            },
        )
}

proptest! {
    #[test]
    fn a_permit_comes_back_as_it_went(permit in any_permit()) {
        let sealed = permit.seal(&KEY);
        prop_assert!(sealed.len() <= PERMIT_BYTES_MAX);
        prop_assert_eq!(Permit::open(&sealed, &KEY), Some(permit));
    }

    #[test]
    fn a_changed_permit_is_none(permit in any_permit(), at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let mut sealed = permit.seal(&KEY).to_vec();
        let at = at.index(sealed.len());
        sealed[at] ^= flip;
        prop_assert_eq!(Permit::open(&sealed, &KEY), None);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Permit::open(&bytes, &KEY), None);
    }
}

#[test]
fn a_cut_permit_or_one_of_another_key_is_none() {
    let permit = Permit {
        incarnation: 1,
        seq: 2,
        issued_at: Timestamp(3),
        breaker: 4,
        target: 5,
        caller: 6,
        credential: 0,
        arguments: 0,
        session: 0,
        call: 0,
        arguments_bytes: Some(9),
        is_probe: true,
        listed: vec![],
    };
    let sealed = permit.seal(&KEY);
    for kept in 0..sealed.len() {
        assert_eq!(Permit::open(&sealed[..kept], &KEY), None);
    }
    assert_eq!(Permit::open(&sealed, &HashKey([0; 16])), None);
}
