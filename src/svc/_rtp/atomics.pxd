"""Declares atomic operations (acquire, release, exchange) that pass data between two threads without a
lock.
"""

from libc.stddef cimport size_t

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline size_t svc_load_acquire(size_t *p) { size_t v = *(volatile size_t *)p; _ReadWriteBarrier(); return v; }
    #define svc_store_release(p, v) (_ReadWriteBarrier(), *(volatile size_t *)(p) = (v))
    #define svc_exchange(p, v) _InterlockedExchangePointer((void *volatile *)(p), (v))
    #define svc_load_ordered(p) ((size_t)_InterlockedCompareExchangePointer((void *volatile *)(p), NULL, NULL))
    #define svc_exchange_size(p, v) ((size_t)_InterlockedExchangePointer((void *volatile *)(p), (void *)(size_t)(v)))
    #define svc_compare_exchange(p, old, v) \
        (_InterlockedCompareExchangePointer((void *volatile *)(p), (v), (old)) == (old))
    #else
    #define svc_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
    #define svc_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
    #define svc_exchange(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
    #define svc_load_ordered(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
    #define svc_exchange_size(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
    static inline int svc_compare_exchange(void **p, void *old, void *v) {
        return __atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
    #endif
    """
    size_t load_acquire "svc_load_acquire"(size_t* p) noexcept nogil
    void store_release "svc_store_release"(size_t* p, size_t value) noexcept nogil
    void* exchange "svc_exchange"(void** p, void* value) noexcept nogil
    # Sequentially consistent, so that a thread that announces that it is waiting and then checks again cannot
    # miss an update.
    size_t load_ordered "svc_load_ordered"(size_t* p) noexcept nogil
    size_t exchange_size "svc_exchange_size"(size_t* p, size_t value) noexcept nogil
    bint compare_exchange "svc_compare_exchange"(void** p, void* old, void* value) noexcept nogil
