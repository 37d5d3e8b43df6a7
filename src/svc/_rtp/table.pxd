"""Table: a hash table from 64-bit keys to pointers, for look-ups by address, name and id."""

from libc.stdint cimport uint64_t


cdef struct Table:
    uint64_t* keys          # 0 if empty
    void** values
    uint64_t mask           # capacity - 1, a power of two less one
    uint64_t count


cdef int init(Table* table) noexcept nogil
cdef void clear(Table* table) noexcept nogil
cdef int insert(Table* table, uint64_t key, void* value) noexcept nogil
cdef void remove(Table* table, uint64_t key) noexcept nogil


cdef inline void* lookup(const Table* table, uint64_t key) noexcept nogil:
    """Return the value for `key`, or NULL if there is none."""
    cdef uint64_t at = key & table.mask
    while table.keys[at]:
        if table.keys[at] == key:
            return table.values[at]
        at = (at + 1) & table.mask
    return NULL
