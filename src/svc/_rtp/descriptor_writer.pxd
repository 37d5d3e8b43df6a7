"""Writes a Dependency Descriptor for a receiver that gets fewer decode targets.

Both functions take a descriptor filled in by `dependency_descriptor`. They return the number of bytes
written, or NO_SPACE. With a capacity of MAX_DESCRIPTOR bytes, the result fits into a header extension.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from svc._rtp.descriptor cimport DependencyDescriptor, FrameDependencyStructure


cdef int write_dependency_descriptor(const DependencyDescriptor* descriptor, uint8_t* out,
                                     size_t capacity) noexcept nogil
cdef int write_with_active_decode_targets(const DependencyDescriptor* descriptor, uint32_t bitmask, uint8_t* out,
                                          size_t capacity) noexcept nogil
