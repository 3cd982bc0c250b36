/* markup_module.c -- what libheed calls. */
#include "markup/markup.h"

#include "base/memory.h"
#include "markup/tag.h"

static bool read_markup(struct hd_marks *marks, enum hd_markup_kind kind, const char *text,
                        size_t n, heed_error *err)
{
    struct hd_tags tags = {0};
    const bool ok = (kind == HD_MARKUP_XML ? hd_xml_tags : hd_html_tags)(&tags, text, n, err) &&
                    hd_make_marks(marks, kind, &tags, text, n, err);
    hd_free(tags.at);
    return ok;
}

const struct hd_markup_module hd_markup_module = {HEED_VERSION, read_markup, hd_free, hd_tmx_read};
