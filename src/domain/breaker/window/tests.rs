use super::*;
use proptest::prelude::*;

const GRID: SliceGrid = SliceGrid { slice_ms: 1_000, span_ms: 10_000 };

#[test]
fn an_idle_gap_ages_everything_out_at_once() {
    let mut ring = Ring::<1>::default();
    ring.add(Timestamp(0), GRID, [4]);
    ring.add(Timestamp(301_000), GRID, [1]);
    assert_eq!((ring.count(Timestamp(301_000), GRID, 10_000, None), ring.totals()), ([1], [1]));
}

#[test]
fn an_idle_ring_gives_its_memory_back() {
    let mut ring = Ring::<1>::default();
    ring.add(Timestamp(0), GRID, [1]);
    ring.evict(Timestamp(60_000), GRID);
    assert_eq!(ring.heap_bytes(), 0);
}

proptest! {
    /// The ring is the naive list of events, cut to whole slices.
    #[test]
    fn a_ring_is_the_list_of_its_events(
        steps in proptest::collection::vec((0_u64..4_000, 0_u32..3, 0_u32..3), 1..120),
        windows in proptest::collection::vec(1_u64..=10, 3),
        marked in 0_usize..120,
    ) {
        let (mut ring, mut list, mut now) = (Ring::<2>::default(), vec![], Timestamp(u64::from(u32::MAX) * 1_000 - 20_000));
        let mut mark = None;
        for (step, (tick, a, b)) in steps.into_iter().enumerate() {
            now = now.plus_ms(tick);
            ring.add(now, GRID, [a, b]);
            list.push((now, a, b));
            if step == marked {
                mark = Some((ring.mark(now, GRID), list.len()));
            }
            for slices in &windows {
                let alive = |at: &Timestamp| now.0 / 1_000 - at.0 / 1_000 < *slices;
                let sum = |events: &[(Timestamp, u32, u32)]| events.iter().filter(|(at, ..)| alive(at))
                    .fold([0, 0], |[x, y], (_, a, b)| [x + a, y + b]);
                prop_assert_eq!(ring.count(now, GRID, slices * 1_000, None), sum(&list));
                if let Some((mark, seen)) = &mark {
                    prop_assert_eq!(ring.count(now, GRID, slices * 1_000, Some(mark)), sum(&list[*seen..]));
                }
            }
            prop_assert_eq!(ring.totals(), ring.count(now, GRID, GRID.span_ms, None));
        }
    }
}
