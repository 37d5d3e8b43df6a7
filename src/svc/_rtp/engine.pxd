"""Engine: the core as one object, without I/O."""

from libc.stdint cimport int64_t, uint32_t

from svc._rtp.address cimport Path
from svc._rtp.commands cimport Command
from svc._rtp.core cimport Core
from svc._rtp.event_ring cimport Ring


cdef class Engine:
    cdef Core core
    # Command*: a stack. Python pushes commands, and the core's thread takes all of them at once.
    cdef void* posted
    cdef uint32_t last_id
    cdef dict keys          # transport id -> SrtpKeys, kept until the core has closed the transport

    # Methods called on the core's thread.
    cdef void discard_commands(self) noexcept nogil
    cdef void apply_commands(self) noexcept nogil
    cdef void end_turn(self) noexcept nogil
    cdef void flush_all(self) noexcept nogil
    cdef void tick(self, int64_t now) noexcept nogil

    # Methods called on Python's thread.
    cdef Command* new_command(self, int kind, uint32_t object_id) except NULL
    cdef void post(self, Command* command) noexcept
    cdef void wake(self) noexcept   # called for the first command posted since the last iteration
    cdef _set_flag(self, int kind, uint32_t object_id, bint flag)
    cdef _send(self, int kind, uint32_t object_id, bytes data, Path* path)
    cdef _drain_ring(self, Ring* ring, list events)
