use super::*;
use Outcome::{Failed, Ignored, Ok as Good, Slow};

/// One line a result: authentication, authorisation, malformed, error rate, quota rate, quota billing, latency.
#[test]
fn a_result_feeds_only_the_kinds_whose_question_it_answers() {
    use CircuitKind as K;
    use Classification as C;
    for (classification, took_ms, want) in [
        (C::Ok, 80, [Good, Good, Good, Good, Good, Good, Good]),
        (C::Ok, 2_000, [Good, Good, Good, Good, Good, Good, Slow]),
        (C::BadInput, 80, [Good, Good, Ignored, Good, Good, Good, Good]),
        (C::TimedOut, 80, [Ignored, Ignored, Ignored, Failed, Ignored, Ignored, Slow]),
        (C::Failed(K::ErrorRate), 80, [Ignored, Ignored, Ignored, Failed, Ignored, Ignored, Ignored]),
        (C::Failed(K::ErrorRate), 2_001, [Ignored, Ignored, Ignored, Failed, Ignored, Ignored, Slow]),
        (C::Failed(K::QuotaRate), 80, [Ignored, Ignored, Ignored, Good, Failed, Ignored, Good]),
        (C::Failed(K::QuotaBilling), 80, [Ignored, Ignored, Ignored, Good, Ignored, Failed, Good]),
        (C::Failed(K::Authentication), 80, [Failed, Ignored, Ignored, Good, Ignored, Ignored, Good]),
        (C::Failed(K::Authorisation), 80, [Ignored, Failed, Ignored, Good, Ignored, Ignored, Good]),
        (C::Failed(K::MalformedResponse), 80, [Ignored, Ignored, Failed, Good, Ignored, Ignored, Good]),
        (C::Failed(K::Latency), 80, [Good, Good, Good, Good, Good, Good, Slow]),
        (C::Ignored, 9_000, [Ignored; 7]),
    ] {
        let got = CallResult::new(classification).outcomes(Some(2_000), took_ms);
        assert_eq!(got, PerKind(want), "{classification:?} after {took_ms} ms");
    }
}
