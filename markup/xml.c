/* xml.c -- the tags of XML. libxml2 says whether a text is well-formed; in one that is, tags are what they look like.
 *
 * A text may be a whole document or what stands inside one: then it is read as the inside of an element. Nothing is fetched,
 * and entities are not followed. */
#include "markup/tag.h"

#include "base/error.h"
#include "base/memory.h"

#include <libxml/parser.h>
#include <limits.h>
#include <string.h>

/* The parser's first complaint, without its line end. */
struct complaint {
    char text[256];
    bool is_made;
};

static void keep_first(void *context, xmlErrorPtr error)
{
    struct complaint *c = ((xmlParserCtxtPtr)context)->_private;
    if (c->is_made || !error || !error->message || error->level < XML_ERR_ERROR)
        return;
    snprintf(c->text, sizeof c->text, "line %d: %.*s", error->line,
             (int)strcspn(error->message, "\n"), error->message);
    c->is_made = true;
}

static bool is_well_formed(const char *text, size_t n, struct complaint *complaint)
{
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser) {
        snprintf(complaint->text, sizeof complaint->text, "there is no memory for it");
        return false;
    }
    parser->_private = complaint;
    parser->sax->serror = (xmlStructuredErrorFunc)keep_first;
    xmlDocPtr document =
        xmlCtxtReadMemory(parser, text, (int)n, NULL, "UTF-8",
                          XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    const bool is_well = parser->wellFormed;
    xmlFreeDoc(document);
    xmlFreeParserCtxt(parser);
    return is_well;
}

/* The same within an element, so that there may be text and several elements. */
static bool is_well_formed_inside(const char *text, size_t n, struct complaint *complaint,
                                  heed_error *err)
{
    char *whole = hd_alloc(n + 8, 1, err);
    if (!whole)
        return false;
    static const char open[] = {'<', 'x', '>'}, close[] = {'<', '/', 'x', '>'};
    memcpy(whole, open, sizeof open);
    memcpy(whole + sizeof open, text, n);
    memcpy(whole + sizeof open + n, close, sizeof close);
    const bool is_well = is_well_formed(whole, n + 7, complaint);
    hd_free(whole);
    return is_well;
}

static bool is_document(const char *text, size_t n)
{
    return (n >= 5 && memcmp(text, "<?xml", 5) == 0) || strstr(text, "<!DOCTYPE") != NULL;
}

bool hd_xml_tags(struct hd_tags *tags, const char *text, size_t n, heed_error *err)
{
    struct complaint why = {.text = "it cannot be read"};
    if (n > INT_MAX / 2)
        return hd_fail(err, HEED_BAD_TEXT, "an XML text of %zu bytes is too long", n);
    if (!(is_document(text, n) ? is_well_formed(text, n, &why)
                               : is_well_formed_inside(text, n, &why, err)))
        return hd_fail(err, HEED_BAD_TEXT, "the XML is not well-formed; %s", why.text);
    struct hd_tag tag;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '<' && hd_tag_read(&tag, HD_MARKUP_XML, text, n, i)) {
            if (!hd_tags_add(tags, &tag, err))
                return false;
            i = tag.end - 1;
        }
    return true;
}

/* ---- entities ------------------------------------------------------------------------------------------- */

static int write_char(char *out, unsigned long cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    const int n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)((n == 2 ? 0xC0U : n == 3 ? 0xE0U : 0xF0U) | cp);
    return n;
}

/* Of entities that a document declares nothing is known: they are pieces that stand for nothing here. */
size_t hd_xml_entity(char *out, const char *text, size_t n, size_t i)
{
    static const char known[][2][8] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    const char *end = memchr(text + i, ';', n - i);
    const size_t size = end ? (size_t)(end - text) - i + 1 : 0;
    out[0] = '\0';
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (size == strlen(known[k][0]) && memcmp(text + i, known[k][0], size) == 0)
            strcpy(out, known[k][1]);
    if (size > 3 && text[i + 1] == '#') {
        const bool is_hex = text[i + 2] == 'x';
        unsigned long cp = 0;
        for (size_t k = i + 2 + is_hex; k < i + size - 1 && cp <= 0x10FFFF; k++) {
            const char c = text[k];
            cp =
                cp * (is_hex ? 16 : 10) + (unsigned long)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        }
        out[cp <= 0x10FFFF && cp > 0 ? write_char(out, cp) : 0] = '\0';
    }
    return size;
}
