"""Collects the output of a manually driven engine, for tests and simulations."""

from libc.stdint cimport uint32_t

from svc._rtp.address cimport to_text
from svc._rtp.egress_batch cimport take_off


cdef class Outlet:
    """A ManualEngine's output: the datagrams sent, and the number of datagrams that are still accepted."""

    def __cinit__(self):
        self.datagrams = []

    def take(self) -> list:
        datagrams = self.datagrams
        self.datagrams = []
        return datagrams

    def limit(self, room):
        self.room = room


cdef void collect(void* context, Egress* egress) noexcept with gil:
    """Store the datagrams for take_datagrams."""
    cdef Outlet outlet = <Outlet>context
    cdef uint32_t i, count = egress.count
    if outlet.room is not None:
        count = min(count, <uint32_t>outlet.room)
        outlet.room -= count
    for i in range(count):
        outlet.datagrams.append((
            (<const char*>egress.batch[i].data)[:egress.batch[i].length],
            to_text(&egress.batch[i].path.remote),
            to_text(&egress.batch[i].path.local)[0],
        ))
    take_off(egress, count)
