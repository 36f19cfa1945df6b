//! Where memory comes from. A command lives for milliseconds, and takes what the system has: what it used of another heap would
//! cost it more than it gains (mimalloc's own beginnings alone take 0.08 ms, so `.cargo/config.toml` builds it without). A server hands what it reads and decides from thread to thread, which the C library's heaps
//! lock for; from [`serve`] on it has mimalloc's. What each of them gave goes back to it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use libmimalloc_sys::{mi_collect, mi_is_in_heap_region};
use mimalloc::MiMalloc;

/// Whether new memory is mimalloc's.
static SERVES: AtomicBool = AtomicBool::new(false);

/// The heap of the program, for its `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heap;

/// From here on memory is mimalloc's, where the program has [`Heap`]; for a process that serves others.
pub(crate) fn serve() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(begin);
    SERVES.store(true, Ordering::Relaxed);
    keep_small();
}

/// What mimalloc does before `main` else.
#[cfg(not(windows))]
fn begin() {
    #[allow(unsafe_code)]
    unsafe extern "C" {
        fn _mi_auto_process_init();
    }
    // SAFETY: takes nothing. Where the program was built with other flags it was called before `main`, too: that makes a lock
    // anew that nobody holds yet, since no memory is mimalloc's before this.
    #[allow(unsafe_code)]
    unsafe {
        _mi_auto_process_init();
    }
}

#[cfg(windows)]
fn begin() {}

/// Gives back to the system what is free of this thread's, of the C library's, and of threads that have ended: writing the views
/// takes several megabytes for a moment.
pub(crate) fn give_back() {
    if SERVES.load(Ordering::Relaxed) {
        // SAFETY: it may be called at any time.
        #[allow(unsafe_code)]
        unsafe {
            mi_collect(true);
        }
    }
    trim();
}

/// Whether memory that was asked for before was mimalloc's. Whoever has such a pointer has it from a thread that saw that
/// the process serves, and sees that, too.
#[inline]
fn is_from_mimalloc(pointer: *const u8) -> bool {
    // SAFETY: looks the address up in mimalloc's own map, whatever it is.
    #[allow(unsafe_code)]
    let is_in = || unsafe { mi_is_in_heap_region(pointer.cast()) };
    SERVES.load(Ordering::Relaxed) && is_in()
}

// SAFETY: what is given, given back or made larger is so by one of two allocators, and a pointer always by the one that it is
// from.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are the allocator's.
        unsafe {
            match SERVES.load(Ordering::Relaxed) {
                true => MiMalloc.alloc(layout),
                false => System.alloc(layout),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match SERVES.load(Ordering::Relaxed) {
                true => MiMalloc.alloc_zeroed(layout),
                false => System.alloc_zeroed(layout),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above, and the pointer is from that allocator.
        unsafe {
            match is_from_mimalloc(pointer) {
                true => MiMalloc.dealloc(pointer, layout),
                false => System.dealloc(pointer, layout),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        // SAFETY: as above, and the pointer is from that allocator.
        unsafe {
            match is_from_mimalloc(pointer) {
                true => MiMalloc.realloc(pointer, layout, new_len),
                false => System.realloc(pointer, layout, new_len),
            }
        }
    }
}

/// Few heaps of the C library: each thread that writes the views would leave another one behind, with what it used once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn keep_small() {
    const ARENAS_MAX: i32 = 2;
    // SAFETY: sets a number of the allocator.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX) };
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: looks at free memory alone, under the allocator's own locks.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_small() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each size that an allocator treats in its own way.
    const LENS: [usize; 5] = [1, 100, 10_000, 1_000_000, 100_000_000];

    #[allow(unsafe_code)]
    fn taken(from: &impl GlobalAlloc, len: usize) -> (*mut u8, Layout) {
        let layout = Layout::from_size_align(len, 8).expect("a layout");
        // SAFETY: the layout is not empty.
        let pointer = unsafe { from.alloc(layout) };
        assert!(!pointer.is_null());
        // SAFETY: all of it is ours.
        unsafe { pointer.write_bytes(7, len) };
        (pointer, layout)
    }

    /// Makes it twice as long, and gives it back.
    #[allow(unsafe_code)]
    fn doubled((pointer, layout): (*mut u8, Layout), from_mimalloc: bool) {
        assert_eq!(is_from_mimalloc(pointer), from_mimalloc, "{layout:?}");
        let len = layout.size() * 2;
        // SAFETY: it is from `Heap`, with this layout, and so long afterwards.
        unsafe {
            let pointer = Heap.realloc(pointer, layout, len);
            assert_eq!((*pointer, *pointer.add(layout.size() - 1)), (7, 7));
            let layout = Layout::from_size_align_unchecked(len, 8);
            Heap.dealloc(pointer, layout);
        }
    }

    #[test]
    fn what_each_heap_gave_goes_back_to_it() {
        let before = LENS.map(|len| taken(&System, len));
        serve();
        let after = LENS.map(|len| taken(&Heap, len));
        before.into_iter().for_each(|it| doubled(it, false));
        after.into_iter().for_each(|it| doubled(it, true));
        give_back();
    }
}
