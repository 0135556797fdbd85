//! Counts in slices of time: a ring that forgets by elapsed time, never by the number of calls.
//!
//! Only slices that hold something are kept, so that a quiet target costs nothing and a busy one at most
//! span / slice entries. A result is booked in the slice of the moment it is reported.

use std::collections::VecDeque;

use super::policy::SliceGrid;
use crate::domain::time::Timestamp;

/// `N` counts per slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring<const N: usize> {
    slices: VecDeque<Slice<N>>,
    /// The sum over all kept slices, by adding on entry and subtracting on eviction.
    totals: [u32; N],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice<const N: usize> {
    /// The slice's number, wrapping; compared by distance only.
    index: u32,
    counts: [u32; N],
}

/// What a ring held at one moment, so that a later count can leave out what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark<const N: usize> {
    index: u32,
    counts: [u32; N],
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self { slices: VecDeque::new(), totals: [0; N] }
    }
}

fn index_at(now: Timestamp, grid: SliceGrid) -> u32 {
    let index = now.0 / grid.slice_ms.max(1);
    (index & u64::from(u32::MAX)) as u32
}

/// Whole slices inside a window: what is counted is never older than the window.
fn slices_in(window_ms: u64, grid: SliceGrid) -> u32 {
    u32::try_from(window_ms / grid.slice_ms.max(1)).unwrap_or(u32::MAX).max(1)
}

fn add_into<const N: usize>(sum: &mut [u32; N], counts: &[u32; N]) {
    for (total, count) in sum.iter_mut().zip(counts) {
        *total = total.saturating_add(*count);
    }
}

fn take_from<const N: usize>(sum: &mut [u32; N], counts: &[u32; N]) {
    for (total, count) in sum.iter_mut().zip(counts) {
        *total = total.saturating_sub(*count);
    }
}

impl<const N: usize> Ring<N> {
    /// Books `counts` now, and drops what has left the span.
    pub fn add(&mut self, now: Timestamp, grid: SliceGrid, counts: [u32; N]) {
        self.evict(now, grid);
        let index = index_at(now, grid);
        match self.slices.back_mut() {
            Some(last) if last.index == index => add_into(&mut last.counts, &counts),
            _ => self.slices.push_back(Slice { index, counts }),
        }
        add_into(&mut self.totals, &counts);
    }

    /// Drops what has left the span.
    pub fn evict(&mut self, now: Timestamp, grid: SliceGrid) {
        let index = index_at(now, grid);
        let kept = slices_in(grid.span_ms, grid);
        while let Some(first) = self.slices.front()
            && index.wrapping_sub(first.index) >= kept
        {
            take_from(&mut self.totals, &first.counts);
            self.slices.pop_front();
        }
        if self.slices.is_empty() && self.slices.capacity() > 0 {
            self.slices = VecDeque::new();
        }
    }

    /// The counts of the last `window_ms`, at most the span, without what came before `mark`.
    #[must_use]
    pub fn count(&self, now: Timestamp, grid: SliceGrid, window_ms: u64, mark: Option<&Mark<N>>) -> [u32; N] {
        let index = index_at(now, grid);
        let wanted = slices_in(window_ms, grid);
        let since_mark = mark.map_or(u32::MAX, |mark| index.wrapping_sub(mark.index));
        let mut sum = [0; N];
        for slice in self.slices.iter().rev() {
            let age = index.wrapping_sub(slice.index);
            if age >= wanted || age > since_mark {
                break;
            }
            add_into(&mut sum, &slice.counts);
            if let Some(mark) = mark
                && age == since_mark
            {
                take_from(&mut sum, &mark.counts);
            }
        }
        sum
    }

    /// What the ring holds now, to be left out later.
    #[must_use]
    pub fn mark(&self, now: Timestamp, grid: SliceGrid) -> Mark<N> {
        let index = index_at(now, grid);
        let counts = self.slices.back().filter(|last| last.index == index).map_or([0; N], |last| last.counts);
        Mark { index, counts }
    }

    /// A mark at `since` that leaves out everything but `left` of what came after it: for a ring that was moved to
    /// another grid, whose slices no longer begin where the old ones did.
    #[must_use]
    pub fn mark_leaving(&self, since: Timestamp, now: Timestamp, grid: SliceGrid, left: [u32; N]) -> Mark<N> {
        let mut mark = Mark { index: index_at(since, grid), counts: [0; N] };
        let mut counts = self.count(now, grid, grid.span_ms, Some(&mark));
        take_from(&mut counts, &left);
        mark.counts = counts;
        mark
    }

    /// The sum over everything kept.
    #[must_use]
    pub const fn totals(&self) -> [u32; N] {
        self.totals
    }

    /// Moves every slice to another grid, as near as the new slices allow.
    pub fn regrid(&mut self, now: Timestamp, from: SliceGrid, to: SliceGrid) {
        let index = index_at(now, from);
        let old = std::mem::take(self);
        for slice in old.slices {
            let age_ms = u64::from(index.wrapping_sub(slice.index)).saturating_mul(from.slice_ms);
            let at = Timestamp(now.0.saturating_sub(age_ms));
            self.add(at, to, slice.counts);
        }
        self.evict(now, to);
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.slices.capacity() * size_of::<Slice<N>>()
    }
}

#[cfg(test)]
mod tests;
