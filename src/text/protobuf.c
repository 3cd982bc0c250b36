/* protobuf.c -- reading the fields of a protocol buffer. */
#include "text/protobuf.h"

static bool read_varint(struct hd_protobuf *m, uint64_t *out, int longest)
{
    *out = 0;
    for (int i = 0; i < longest && m->at < m->end; i++) {
        const unsigned char byte = *m->at++;
        *out |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return false;
}

bool hd_protobuf_read(struct hd_protobuf *m, struct hd_protobuf_field *field)
{
    uint64_t tag, n;
    if (!read_varint(m, &tag, 5) || tag > UINT32_MAX)
        return false;
    *field = (struct hd_protobuf_field){.number = tag >> 3};
    switch (tag & 7) {
    case 0:
        return read_varint(m, &field->value, 10);
    case 1:
        n = 8;
        break;
    case 2:
        if (!read_varint(m, &n, 10))
            return false;
        break;
    case 5:
        n = 4;
        break;
    default:
        return false;
    }
    if (n > (uint64_t)(m->end - m->at))
        return false;
    if ((tag & 7) == 2)
        field->bytes = (struct hd_protobuf){m->at, m->at + n};
    else
        for (unsigned i = 0; i < n; i++)
            field->value |= (uint64_t)m->at[i] << (8 * i);
    m->at += n;
    return true;
}
