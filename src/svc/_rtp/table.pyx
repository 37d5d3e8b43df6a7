"""A hash table from 64-bit keys to pointers: open addressing, linear probing.

Keys must be well mixed and never 0. If keys are hashes, the caller must compare the original value after the
look-up. The table owns its arrays, but not the objects that the pointers refer to.
"""

from libc.stdlib cimport calloc, free

cdef enum:
    INITIAL = 64


cdef int init(Table* table) noexcept nogil:
    """Initialise a table. Return -1 if memory allocation fails."""
    table.count = 0
    return allocate(table, INITIAL)


cdef int allocate(Table* table, uint64_t capacity) noexcept nogil:
    cdef uint64_t* keys = <uint64_t*>calloc(<size_t>capacity, sizeof(uint64_t))
    cdef void** values = <void**>calloc(<size_t>capacity, sizeof(void*))
    if keys == NULL or values == NULL:
        free(keys)
        free(values)
        return -1
    table.keys = keys
    table.values = values
    table.mask = capacity - 1
    return 0


cdef void clear(Table* table) noexcept nogil:
    free(table.keys)
    free(table.values)
    table.keys = NULL
    table.values = NULL


cdef void place(Table* table, uint64_t key, void* value) noexcept nogil:
    cdef uint64_t at = key & table.mask
    while table.keys[at] and table.keys[at] != key:
        at = (at + 1) & table.mask
    if not table.keys[at]:
        table.count += 1
    table.keys[at] = key
    table.values[at] = value


cdef int insert(Table* table, uint64_t key, void* value) noexcept nogil:
    """Store `value` under `key`, replacing an earlier value. Return -1 if memory allocation fails."""
    cdef Table old = table[0]
    cdef uint64_t i
    if 2 * (table.count + 1) > table.mask:
        if allocate(table, 2 * (table.mask + 1)) < 0:
            return -1
        table.count = 0
        for i in range(old.mask + 1):
            if old.keys[i]:
                place(table, old.keys[i], old.values[i])
        clear(&old)
    place(table, key, value)
    return 0


cdef void remove(Table* table, uint64_t key) noexcept nogil:
    """Remove `key`, and move back the entries that it had displaced."""
    cdef uint64_t hole = key & table.mask
    cdef uint64_t at
    while table.keys[hole] != key:
        if not table.keys[hole]:
            return
        hole = (hole + 1) & table.mask
    at = hole
    while True:
        at = (at + 1) & table.mask
        if not table.keys[at]:
            break
        # An entry whose home position is cyclically after the gap stays in place.
        if ((at - table.keys[at]) & table.mask) >= ((at - hole) & table.mask):
            table.keys[hole] = table.keys[at]
            table.values[hole] = table.values[at]
            hole = at
    table.keys[hole] = 0
    table.count -= 1


cdef class Map:
    """A Table from integers to integers for Python, in tests."""

    cdef Table table

    def __cinit__(self):
        if init(&self.table) < 0:
            raise MemoryError

    def __dealloc__(self):
        clear(&self.table)

    def insert(self, uint64_t key, size_t value):
        insert(&self.table, key, <void*>value)

    def remove(self, uint64_t key):
        remove(&self.table, key)

    def lookup(self, uint64_t key) -> int:
        return <size_t>lookup(&self.table, key)
