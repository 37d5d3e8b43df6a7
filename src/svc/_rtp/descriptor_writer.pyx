"""Writes a Dependency Descriptor that `descriptor` has read, unchanged or with other active decode targets.

Each syntax function in section A.8.2 of the AV1 RTP specification has a function with the same name after
`write_`. Fields are written in their shortest encoding, so the output is identical to the input, bit for bit,
if the sender encoded the fields in the same way. This module cannot create new descriptors, because
structures can only be read.
"""

from svc._rtp.bits cimport BitWriter, bytes_written, open_writer, write_f, write_flag, write_ns
from svc._rtp.descriptor cimport (
    MAX_DESCRIPTOR, NO_SPACE, FrameDependencyTemplate, Structure, dependency_descriptor,
)
from svc._rtp.descriptor import ERRORS


cdef int write_dependency_descriptor(const DependencyDescriptor* descriptor, uint8_t* out,
                                     size_t capacity) noexcept nogil:
    """Write the descriptor unchanged."""
    cdef BitWriter writer
    open_writer(&writer, out, capacity)
    write_flag(&writer, descriptor.start_of_frame)
    write_flag(&writer, descriptor.end_of_frame)
    write_f(&writer, 6, descriptor.frame_dependency_template_id)
    write_f(&writer, 16, descriptor.frame_number)
    if (
        descriptor.template_dependency_structure_present_flag or descriptor.active_decode_targets_present_flag
        or descriptor.custom_dtis_flag or descriptor.custom_fdiffs_flag or descriptor.custom_chains_flag
    ):
        write_extended_descriptor_fields(&writer, descriptor)
        write_frame_dependency_definition(&writer, descriptor)
    return NO_SPACE if writer.failed else <int>bytes_written(&writer)


cdef int write_with_active_decode_targets(const DependencyDescriptor* descriptor, uint32_t bitmask, uint8_t* out,
                                          size_t capacity) noexcept nogil:
    """Write the descriptor for a receiver that gets the decode targets in `bitmask`.

    Return the number of bytes, or NO_SPACE. The descriptor grows by up to 5 bytes, so it may no longer fit
    into a one-byte header extension.
    """
    cdef DependencyDescriptor changed = descriptor[0]
    changed.active_decode_targets_present_flag = True
    changed.active_decode_targets_bitmask = bitmask
    return write_dependency_descriptor(&changed, out, capacity)


cdef void write_extended_descriptor_fields(BitWriter* writer, const DependencyDescriptor* descriptor) noexcept nogil:
    write_flag(writer, descriptor.template_dependency_structure_present_flag)
    write_flag(writer, descriptor.active_decode_targets_present_flag)
    write_flag(writer, descriptor.custom_dtis_flag)
    write_flag(writer, descriptor.custom_fdiffs_flag)
    write_flag(writer, descriptor.custom_chains_flag)
    if descriptor.template_dependency_structure_present_flag:
        write_template_dependency_structure(writer, descriptor.structure)
    if descriptor.active_decode_targets_present_flag:
        write_f(writer, descriptor.structure.dt_cnt, descriptor.active_decode_targets_bitmask)


cdef void write_template_dependency_structure(BitWriter* writer,
                                              const FrameDependencyStructure* structure) noexcept nogil:
    write_f(writer, 6, structure.template_id_offset)
    write_f(writer, 5, structure.dt_cnt - 1u)
    write_template_layers(writer, structure)
    write_template_dtis(writer, structure)
    write_template_fdiffs(writer, structure)
    write_template_chains(writer, structure)
    write_flag(writer, structure.resolutions_present_flag)
    if structure.resolutions_present_flag:
        write_render_resolutions(writer, structure)


cdef void write_template_layers(BitWriter* writer, const FrameDependencyStructure* structure) noexcept nogil:
    cdef const FrameDependencyTemplate* template
    cdef const FrameDependencyTemplate* before
    cdef int i
    for i in range(1, structure.template_cnt):
        template = &structure.templates[i]
        before = &structure.templates[i - 1]
        if template.spatial_id != before.spatial_id:
            write_f(writer, 2, 2)
        else:
            write_f(writer, 2, 1 if template.temporal_id != before.temporal_id else 0)
    write_f(writer, 2, 3)


cdef void write_template_dtis(BitWriter* writer, const FrameDependencyStructure* structure) noexcept nogil:
    cdef int i, dt
    for i in range(structure.template_cnt):
        for dt in range(structure.dt_cnt):
            write_f(writer, 2, structure.templates[i].dti[dt])


cdef void write_template_fdiffs(BitWriter* writer, const FrameDependencyStructure* structure) noexcept nogil:
    cdef const FrameDependencyTemplate* template
    cdef int i, n
    for i in range(structure.template_cnt):
        template = &structure.templates[i]
        for n in range(template.fdiff_cnt):
            write_flag(writer, True)
            write_f(writer, 4, template.fdiff[n] - 1u)
        write_flag(writer, False)


cdef void write_template_chains(BitWriter* writer, const FrameDependencyStructure* structure) noexcept nogil:
    cdef int i, dt, chain
    write_ns(writer, structure.dt_cnt + 1u, structure.chain_cnt)
    if structure.chain_cnt == 0:
        return
    for dt in range(structure.dt_cnt):
        write_ns(writer, structure.chain_cnt, structure.decode_target_protected_by[dt])
    for i in range(structure.template_cnt):
        for chain in range(structure.chain_cnt):
            write_f(writer, 4, structure.templates[i].chain_fdiff[chain])


cdef void write_render_resolutions(BitWriter* writer, const FrameDependencyStructure* structure) noexcept nogil:
    cdef int spatial_id
    for spatial_id in range(structure.max_spatial_id + 1):
        write_f(writer, 16, structure.max_render_width_minus_1[spatial_id])
        write_f(writer, 16, structure.max_render_height_minus_1[spatial_id])


cdef void write_frame_dependency_definition(BitWriter* writer, const DependencyDescriptor* descriptor) noexcept nogil:
    cdef int i
    cdef unsigned int fdiff_minus_one, next_fdiff_size
    if descriptor.custom_dtis_flag:
        for i in range(descriptor.structure.dt_cnt):
            write_f(writer, 2, descriptor.frame_dti[i])
    if descriptor.custom_fdiffs_flag:
        for i in range(descriptor.frame_fdiff_cnt):
            fdiff_minus_one = descriptor.frame_fdiff[i] - 1u
            next_fdiff_size = 1 if fdiff_minus_one < 16 else 2 if fdiff_minus_one < 256 else 3
            write_f(writer, 2, next_fdiff_size)
            write_f(writer, 4 * next_fdiff_size, fdiff_minus_one)
        write_f(writer, 2, 0)
    if descriptor.custom_chains_flag:
        for i in range(descriptor.structure.chain_cnt):
            write_f(writer, 8, descriptor.frame_chain_fdiff[i])


def rewrite_descriptor(bytes data, Structure known=None, *, active_decode_targets=None,
                       int capacity=MAX_DESCRIPTOR) -> bytes | str:
    """Return the descriptor with the given bitmask, if any, or the error as a string. For tests and tools."""
    cdef DependencyDescriptor descriptor
    cdef Structure attached = Structure()
    cdef uint8_t out[4 * MAX_DESCRIPTOR]
    cdef size_t room = <size_t>min(max(capacity, 0), <int>sizeof(out))
    cdef int result = dependency_descriptor(data, <size_t>len(data), NULL if known is None else &known.structure,
                                            &attached.structure, &descriptor)
    if result == 0 and active_decode_targets is None:
        result = write_dependency_descriptor(&descriptor, out, room)
    elif result == 0:
        result = write_with_active_decode_targets(&descriptor, <uint32_t>active_decode_targets, out, room)
    return ERRORS[result] if result < 0 else <bytes>out[:result]
