"""Reads the Dependency Descriptor. Each syntax function in the specification has a function with the same
name.

The code can be compared side by side with section A.8.2 of the AV1 RTP specification
(https://aomediacodec.github.io/av1-rtp-spec/). Packets of any codec may have a descriptor. This module has no
state, makes no forwarding decisions, and does not parse headers or payloads. Every input yields a descriptor
or one of the errors listed in the .pxd. `descriptor_writer` is the inverse.
"""

from libc.string cimport memcpy

from svc._rtp.bits cimport BitReader, f, ns, open_reader


cdef int mandatory_fields(const uint8_t* data, size_t sz, DependencyDescriptor* descriptor) noexcept nogil:
    """Read only the mandatory fields, which can be read without a structure. Return 0 or TRUNCATED."""
    cdef BitReader reader
    open_reader(&reader, data, sz)
    mandatory_descriptor_fields(&reader, descriptor)
    return TRUNCATED if reader.failed else 0


cdef int dependency_descriptor(const uint8_t* data, size_t sz, const FrameDependencyStructure* known,
                               FrameDependencyStructure* attached, DependencyDescriptor* descriptor) noexcept nogil:
    """Read `sz` bytes. Return 0 or an error. After an error, only the mandatory fields of `descriptor` are
    valid.

    `known` is the structure that contains the template, or NULL. It is not used if the packet has its own
    structure, which is read into `attached`. The contents of `attached` are undefined unless the function
    returns 0 with template_dependency_structure_present_flag set, so `attached` must not be the structure in
    use. The descriptor points to the structure that was used, and is valid only as long as that structure is.
    """
    cdef BitReader reader
    cdef int result = 0
    open_reader(&reader, data, sz)
    mandatory_descriptor_fields(&reader, descriptor)
    if reader.failed:
        return TRUNCATED
    descriptor.structure = known
    if sz > 3:
        result = extended_descriptor_fields(&reader, attached, descriptor)
    else:
        no_extended_descriptor_fields(descriptor)
    if result < 0:
        return result
    if descriptor.structure == NULL:
        return NO_STRUCTURE
    result = frame_dependency_definition(&reader, descriptor)
    if result < 0:
        return result
    # The rest is zero_padding, which is "ignored by receivers", even if it is not zero.
    return TRUNCATED if reader.failed else 0


cdef inline void mandatory_descriptor_fields(BitReader* reader, DependencyDescriptor* descriptor) noexcept nogil:
    descriptor.start_of_frame = f(reader, 1) != 0
    descriptor.end_of_frame = f(reader, 1) != 0
    descriptor.frame_dependency_template_id = <uint8_t>f(reader, 6)
    descriptor.frame_number = <uint16_t>f(reader, 16)


cdef int extended_descriptor_fields(BitReader* reader, FrameDependencyStructure* attached,
                                    DependencyDescriptor* descriptor) noexcept nogil:
    cdef int result
    descriptor.template_dependency_structure_present_flag = f(reader, 1) != 0
    descriptor.active_decode_targets_present_flag = f(reader, 1) != 0
    descriptor.custom_dtis_flag = f(reader, 1) != 0
    descriptor.custom_fdiffs_flag = f(reader, 1) != 0
    descriptor.custom_chains_flag = f(reader, 1) != 0
    descriptor.active_decode_targets_bitmask = 0
    if descriptor.template_dependency_structure_present_flag:
        result = template_dependency_structure(reader, attached)
        if result < 0:
            return result
        descriptor.structure = attached
        descriptor.active_decode_targets_bitmask = all_decode_targets(attached)
    if descriptor.active_decode_targets_present_flag:
        if descriptor.structure == NULL:
            return NO_STRUCTURE
        descriptor.active_decode_targets_bitmask = f(reader, descriptor.structure.dt_cnt)
    return 0


cdef inline void no_extended_descriptor_fields(DependencyDescriptor* descriptor) noexcept nogil:
    descriptor.template_dependency_structure_present_flag = False
    descriptor.active_decode_targets_present_flag = False
    descriptor.custom_dtis_flag = False
    descriptor.custom_fdiffs_flag = False
    descriptor.custom_chains_flag = False
    descriptor.active_decode_targets_bitmask = 0


cdef int template_dependency_structure(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef int result
    structure.template_id_offset = <uint8_t>f(reader, 6)
    structure.dt_cnt = <uint8_t>(f(reader, 5) + 1)
    result = template_layers(reader, structure)
    if result < 0:
        return result
    template_dtis(reader, structure)
    result = template_fdiffs(reader, structure)
    if result < 0:
        return result
    template_chains(reader, structure)
    decode_target_layers(structure)
    structure.resolutions_present_flag = f(reader, 1) != 0
    if structure.resolutions_present_flag:
        render_resolutions(reader, structure)
    return TRUNCATED if reader.failed else 0


cdef int template_layers(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef FrameDependencyTemplate* template
    cdef uint8_t spatial_id = 0, temporal_id = 0
    cdef uint32_t next_layer_idc = 0
    structure.template_cnt = 0
    structure.max_temporal_id = 0
    while next_layer_idc != 3:
        if structure.template_cnt == MAX_TEMPLATES:
            return TOO_MANY_TEMPLATES
        template = &structure.templates[structure.template_cnt]
        template.spatial_id = spatial_id
        template.temporal_id = temporal_id
        structure.template_cnt += 1
        next_layer_idc = f(reader, 2)
        if reader.failed:
            return TRUNCATED
        if next_layer_idc == 1:
            temporal_id += 1
            if temporal_id == MAX_TEMPORAL_LAYERS:
                return TOO_MANY_TEMPORAL_LAYERS
            structure.max_temporal_id = max(structure.max_temporal_id, temporal_id)
        elif next_layer_idc == 2:
            temporal_id = 0
            spatial_id += 1
            if spatial_id == MAX_SPATIAL_LAYERS:
                return TOO_MANY_SPATIAL_LAYERS
    structure.max_spatial_id = spatial_id
    return 0


cdef void template_dtis(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef int i, dt
    for i in range(structure.template_cnt):
        for dt in range(structure.dt_cnt):
            structure.templates[i].dti[dt] = <uint8_t>f(reader, 2)


cdef int template_fdiffs(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef FrameDependencyTemplate* template
    cdef int i
    for i in range(structure.template_cnt):
        template = &structure.templates[i]
        template.fdiff_cnt = 0
        while f(reader, 1):
            if template.fdiff_cnt == MAX_FDIFFS:
                return TOO_MANY_FDIFFS
            template.fdiff[template.fdiff_cnt] = <uint8_t>(f(reader, 4) + 1)
            template.fdiff_cnt += 1
    return 0


cdef void template_chains(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef int i, dt, chain
    structure.chain_cnt = <uint8_t>ns(reader, structure.dt_cnt + 1u)
    if structure.chain_cnt == 0:
        return
    for dt in range(structure.dt_cnt):
        structure.decode_target_protected_by[dt] = <uint8_t>ns(reader, structure.chain_cnt)
    for i in range(structure.template_cnt):
        for chain in range(structure.chain_cnt):
            structure.templates[i].chain_fdiff[chain] = <uint8_t>f(reader, 4)


cdef void decode_target_layers(FrameDependencyStructure* structure) noexcept nogil:
    """Derive the highest layers of each decode target. Reads no bits."""
    cdef const FrameDependencyTemplate* template
    cdef uint8_t spatial_id, temporal_id
    cdef int i, dt
    for dt in range(structure.dt_cnt):
        spatial_id = 0
        temporal_id = 0
        for i in range(structure.template_cnt):
            template = &structure.templates[i]
            if template.dti[dt] != NOT_PRESENT:
                spatial_id = max(spatial_id, template.spatial_id)
                temporal_id = max(temporal_id, template.temporal_id)
        structure.decode_target_spatial_id[dt] = spatial_id
        structure.decode_target_temporal_id[dt] = temporal_id


cdef void render_resolutions(BitReader* reader, FrameDependencyStructure* structure) noexcept nogil:
    cdef int spatial_id
    for spatial_id in range(structure.max_spatial_id + 1):
        structure.max_render_width_minus_1[spatial_id] = <uint16_t>f(reader, 16)
        structure.max_render_height_minus_1[spatial_id] = <uint16_t>f(reader, 16)


cdef int frame_dependency_definition(BitReader* reader, DependencyDescriptor* descriptor) noexcept nogil:
    cdef const FrameDependencyStructure* structure = descriptor.structure
    cdef const FrameDependencyTemplate* template
    cdef int i
    if not contains(structure, descriptor.frame_dependency_template_id):
        return UNKNOWN_TEMPLATE
    descriptor.template_index = template_index(structure, descriptor.frame_dependency_template_id)
    template = &structure.templates[descriptor.template_index]
    descriptor.spatial_id = template.spatial_id
    descriptor.temporal_id = template.temporal_id
    if descriptor.custom_dtis_flag:
        frame_dtis(reader, descriptor)
    else:
        memcpy(descriptor.frame_dti, template.dti, structure.dt_cnt)
    if descriptor.custom_fdiffs_flag:
        if frame_fdiffs(reader, descriptor) < 0:
            return TOO_MANY_FDIFFS
    else:
        descriptor.frame_fdiff_cnt = template.fdiff_cnt
        for i in range(template.fdiff_cnt):
            descriptor.frame_fdiff[i] = template.fdiff[i]
    if descriptor.custom_chains_flag:
        frame_chains(reader, descriptor)
    else:
        memcpy(descriptor.frame_chain_fdiff, template.chain_fdiff, structure.chain_cnt)
    descriptor.frame_max_width = 0
    descriptor.frame_max_height = 0
    if structure.resolutions_present_flag:
        descriptor.frame_max_width = structure.max_render_width_minus_1[template.spatial_id] + 1u
        descriptor.frame_max_height = structure.max_render_height_minus_1[template.spatial_id] + 1u
    return 0


cdef void frame_dtis(BitReader* reader, DependencyDescriptor* descriptor) noexcept nogil:
    cdef int dt
    for dt in range(descriptor.structure.dt_cnt):
        descriptor.frame_dti[dt] = <uint8_t>f(reader, 2)


cdef int frame_fdiffs(BitReader* reader, DependencyDescriptor* descriptor) noexcept nogil:
    cdef uint32_t next_fdiff_size = f(reader, 2)
    descriptor.frame_fdiff_cnt = 0
    while next_fdiff_size:
        if descriptor.frame_fdiff_cnt == MAX_FDIFFS:
            return TOO_MANY_FDIFFS
        descriptor.frame_fdiff[descriptor.frame_fdiff_cnt] = <uint16_t>(f(reader, 4 * next_fdiff_size) + 1)
        descriptor.frame_fdiff_cnt += 1
        next_fdiff_size = f(reader, 2)
    return 0


cdef void frame_chains(BitReader* reader, DependencyDescriptor* descriptor) noexcept nogil:
    cdef int chain
    for chain in range(descriptor.structure.chain_cnt):
        descriptor.frame_chain_fdiff[chain] = <uint8_t>f(reader, 8)


cdef uint32_t decode_targets_up_to(const FrameDependencyStructure* structure, uint8_t spatial_id,
                                   uint8_t temporal_id) noexcept nogil:
    """Return the bitmask of decode targets that have no frames above these layers, or 0 if there are none."""
    cdef uint32_t bitmask = 0
    cdef int dt
    for dt in range(structure.dt_cnt):
        if (structure.decode_target_temporal_id[dt] <= temporal_id
                and structure.decode_target_spatial_id[dt] <= spatial_id):
            bitmask |= <uint32_t>1 << dt
    return bitmask


ERRORS = {
    TRUNCATED: "truncated",
    NO_STRUCTURE: "no structure",
    UNKNOWN_TEMPLATE: "unknown template",
    TOO_MANY_TEMPLATES: "too many templates",
    TOO_MANY_SPATIAL_LAYERS: "too many spatial layers",
    TOO_MANY_TEMPORAL_LAYERS: "too many temporal layers",
    TOO_MANY_FDIFFS: "too many frame differences",
    NO_SPACE: "no space",
}


cdef class Structure:
    """A FrameDependencyStructure for Python, in tests and tools. Instances are created only by reading a
    descriptor.
    """

    def contains(self, int template_id) -> bool:
        return contains(&self.structure, <uint8_t>(template_id & 63))

    def decode_targets_up_to(self, int temporal_id, int spatial_id=MAX_SPATIAL_LAYERS) -> int:
        return decode_targets_up_to(&self.structure, <uint8_t>spatial_id, <uint8_t>temporal_id)

    def fields(self) -> dict:
        cdef FrameDependencyStructure* structure = &self.structure
        targets = range(structure.dt_cnt)
        return {
            "template_id_offset": structure.template_id_offset,
            "dt_cnt": structure.dt_cnt,
            "chain_cnt": structure.chain_cnt,
            "decode_target_protected_by":
                [structure.decode_target_protected_by[dt] for dt in targets] if structure.chain_cnt else [],
            "decode_target_layers":
                [(structure.decode_target_spatial_id[dt], structure.decode_target_temporal_id[dt]) for dt in targets],
            "resolutions": [
                (structure.max_render_width_minus_1[sid] + 1, structure.max_render_height_minus_1[sid] + 1)
                for sid in range(structure.max_spatial_id + 1)
            ] if structure.resolutions_present_flag else [],
            "templates": [template_fields(structure, i) for i in range(structure.template_cnt)],
        }


cdef dict template_fields(const FrameDependencyStructure* structure, int i):
    cdef const FrameDependencyTemplate* template = &structure.templates[i]
    return {
        "spatial_id": template.spatial_id,
        "temporal_id": template.temporal_id,
        "dtis": "".join(["-DSR"[template.dti[dt]] for dt in range(structure.dt_cnt)]),
        "fdiffs": [template.fdiff[n] for n in range(template.fdiff_cnt)],
        "chain_fdiffs": [template.chain_fdiff[chain] for chain in range(structure.chain_cnt)],
    }


def read_template_id(bytes data) -> int | None:
    """Return the template id, which identifies the structure, or None if there is no descriptor."""
    cdef DependencyDescriptor descriptor
    if mandatory_fields(data, <size_t>len(data), &descriptor) < 0:
        return None
    return descriptor.frame_dependency_template_id


def read_descriptor(bytes data, Structure known=None) -> dict | str:
    """Return the descriptor as a dictionary, or the error as a string. For tests and tools."""
    cdef DependencyDescriptor descriptor
    cdef Structure attached = Structure()
    cdef int result = dependency_descriptor(data, <size_t>len(data), NULL if known is None else &known.structure,
                                            &attached.structure, &descriptor)
    if result < 0:
        return ERRORS[result]
    flags = {
        "structure": descriptor.template_dependency_structure_present_flag,
        "active": descriptor.active_decode_targets_present_flag,
        "custom_dtis": descriptor.custom_dtis_flag,
        "custom_fdiffs": descriptor.custom_fdiffs_flag,
        "custom_chains": descriptor.custom_chains_flag,
    }
    return {
        "start_of_frame": bool(descriptor.start_of_frame),
        "end_of_frame": bool(descriptor.end_of_frame),
        "template_id": descriptor.frame_dependency_template_id,
        "frame_number": descriptor.frame_number,
        "flags": [name for name, present in flags.items() if present],
        "structure": attached if descriptor.template_dependency_structure_present_flag else None,
        "active_decode_targets":
            descriptor.active_decode_targets_bitmask if updates_active_decode_targets(&descriptor) else None,
        "spatial_id": descriptor.spatial_id,
        "temporal_id": descriptor.temporal_id,
        "dtis": "".join(["-DSR"[descriptor.frame_dti[dt]] for dt in range(descriptor.structure.dt_cnt)]),
        "fdiffs": [descriptor.frame_fdiff[n] for n in range(descriptor.frame_fdiff_cnt)],
        "chain_fdiffs": [descriptor.frame_chain_fdiff[chain] for chain in range(descriptor.structure.chain_cnt)],
        "resolution":
            (descriptor.frame_max_width, descriptor.frame_max_height) if descriptor.frame_max_width else None,
    }
