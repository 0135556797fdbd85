//! t
/// t
#[must_use]
pub fn page(_r: &super::Replayed) -> String {
    String::new()
}
