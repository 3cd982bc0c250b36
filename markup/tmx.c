/* tmx.c -- translation memories in XML (TMX 1.4): units with a segment in each of several languages.
 *
 * The file is parsed as it comes, so its size does not matter. What a segment has in the place of tags of its own (bpt, ept, it, ph, ut) is left out;
 * what is highlighted stays. No other file is fetched, and a document that declares entities is refused: a few lines of them can stand for
 * gigabytes, and no memory needs any. */
#include "markup/markup.h"

#include "base/error.h"
#include "base/memory.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <string.h>

enum { MOST_LANGUAGES = 64, MOST_BYTES = 16 << 20 /* of a unit */ };

struct tmx {
    const struct hd_tmx_reading *reading;
    xmlParserCtxtPtr parser;
    heed_error *err;
    char header_language[32];
    struct hd_tmx_variant variants[MOST_LANGUAGES];
    size_t begins[MOST_LANGUAGES]; /* of their texts */
    char languages[MOST_LANGUAGES][32];
    size_t n_variants, n_units;
    char *text;
    size_t n, capacity;
    size_t line;
    int n_hidden; /* elements around us whose text is for machines */
    bool is_in_segment, is_tmx, has_failed;
};

static void stop(struct tmx *t)
{
    t->has_failed = true;
    xmlStopParser(t->parser);
}

static void fail(struct tmx *t, const char *what)
{
    if (!t->has_failed)
        hd_fail(t->err, HEED_BAD_TEXT, "%s:%d: %s", t->reading->name,
                xmlSAX2GetLineNumber(t->parser), what);
    stop(t);
}

static bool is_one_of(const xmlChar *name, const char *names)
{
    const size_t n = strlen((const char *)name);
    for (const char *at = strstr(names, (const char *)name); at;
         at = strstr(at + 1, (const char *)name))
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* The value of an attribute; "" where it is not there or too long. */
static void read_attribute(char out[32], const char *name, int n, const xmlChar **attributes)
{
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        const char *begin = (const char *)attributes[5 * i + 3],
                   *end = (const char *)attributes[5 * i + 4];
        if (strcmp((const char *)attributes[5 * i], name) == 0 && end - begin < 32) {
            memcpy(out, begin, (size_t)(end - begin));
            out[end - begin] = '\0';
        }
    }
}

static const char hidden[] = "bpt ept it ph ut";

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix,
                          const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                          int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    struct tmx *t = context;
    (void)prefix, (void)uri, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    if (!t->is_tmx && strcmp((const char *)name, "tmx") != 0) {
        fail(t, "this is XML, but no translation memory: it does not begin with <tmx>");
        return;
    }
    t->is_tmx = true;
    if (strcmp((const char *)name, "header") == 0)
        read_attribute(t->header_language, "srclang", n_attributes, attributes);
    else if (strcmp((const char *)name, "tu") == 0) {
        t->n_variants = t->n = 0;
        t->line = (size_t)xmlSAX2GetLineNumber(t->parser);
    } else if (strcmp((const char *)name, "tuv") == 0) {
        if (t->n_variants == MOST_LANGUAGES)
            fail(t, "a unit has more than 64 languages");
        else
            read_attribute(t->languages[t->n_variants], "lang", n_attributes, attributes);
    } else if (strcmp((const char *)name, "seg") == 0 && t->n_variants < MOST_LANGUAGES) {
        t->is_in_segment = true;
        t->begins[t->n_variants] = t->n;
    } else if (t->is_in_segment && is_one_of(name, hidden))
        t->n_hidden++;
}

static void add_text(void *context, const xmlChar *text, int n)
{
    struct tmx *t = context;
    if (!t->is_in_segment || t->n_hidden > 0 || t->has_failed)
        return;
    if (t->n + (size_t)n > MOST_BYTES) {
        fail(t, "a unit has more than 16 MB; it is no sentence");
        return;
    }
    char *grown = hd_grow(t->text, &t->capacity, t->n + (size_t)n + 1, 1, t->err);
    if (!grown) {
        stop(t);
        return;
    }
    t->text = grown;
    memcpy(t->text + t->n, text, (size_t)n);
    t->n += (size_t)n;
}

static void end_element(void *context, const xmlChar *name, const xmlChar *prefix,
                        const xmlChar *uri)
{
    struct tmx *t = context;
    (void)prefix, (void)uri;
    if (t->has_failed)
        return;
    if (t->is_in_segment && is_one_of(name, hidden))
        t->n_hidden -= t->n_hidden > 0;
    else if (strcmp((const char *)name, "seg") == 0 && t->is_in_segment) {
        t->variants[t->n_variants].n = t->n - t->begins[t->n_variants];
        t->n_variants++;
        t->is_in_segment = false;
        t->n_hidden = 0;
    } else if (strcmp((const char *)name, "tu") == 0) {
        for (size_t i = 0; i < t->n_variants; i++) {
            t->variants[i].language = t->languages[i];
            t->variants[i].text = t->text ? t->text + t->begins[i] : "";
        }
        t->n_units++;
        if (!t->reading->unit(t->reading->context, t->variants, t->n_variants, t->header_language,
                              t->line, t->err))
            stop(t);
    }
}

static void refuse_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                          const xmlChar *system_id, xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    fail(context, "the document declares entities, which may stand for anything; take the "
                  "declaration out");
}

static void keep_first_error(void *context, xmlErrorPtr error)
{
    struct tmx *t = context;
    if (t->has_failed || !error || !error->message || error->level < XML_ERR_ERROR)
        return;
    hd_fail(t->err, HEED_BAD_TEXT, "%s:%d: the XML is not well-formed: %.*s", t->reading->name,
            error->line, (int)strcspn(error->message, "\n"), error->message);
    t->has_failed = true;
}

static bool parse(struct tmx *t)
{
    enum { SIZE = 1 << 16 };
    char *bytes = hd_alloc(SIZE, 1, t->err);
    size_t n = 1;
    bool ok = bytes != NULL;
    while (ok && n > 0) {
        ok = t->reading->read(t->reading->context, bytes, SIZE, &n, t->err);
        if (ok)
            xmlParseChunk(t->parser, bytes, (int)n, n == 0);
        ok = ok && !t->has_failed;
    }
    hd_free(bytes);
    return ok;
}

bool hd_tmx_read(const struct hd_tmx_reading *reading, heed_error *err)
{
    struct tmx *t = hd_new(struct tmx, err);
    if (!t)
        return false;
    *t = (struct tmx){.reading = reading, .err = err};
    xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = start_element,
                         .endElementNs = end_element,
                         .characters = add_text,
                         .cdataBlock = add_text,
                         .entityDecl = refuse_entity,
                         .serror = (xmlStructuredErrorFunc)keep_first_error};
    t->parser = xmlCreatePushParserCtxt(&sax, t, NULL, 0, reading->name);
    bool ok = t->parser != NULL || hd_fail(err, HEED_NO_MEMORY, "there is no memory for XML");
    if (ok)
        xmlCtxtUseOptions(t->parser, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    ok = ok && parse(t);
    if (ok && t->n_units == 0)
        ok = hd_fail(err, HEED_BAD_TEXT, "%s: there is no unit (<tu>) in it", reading->name);
    if (t->parser) {
        xmlFreeDoc(t->parser->myDoc);
        xmlFreeParserCtxt(t->parser);
    }
    hd_free(t->text);
    hd_free(t);
    return ok;
}
