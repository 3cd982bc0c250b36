/* html.c -- the tags of HTML, as gumbo finds them.
 *
 * gumbo builds the tree that a browser would build, and keeps of each element the bytes of its tags. A browser drops what
 * makes no sense where it stands (a <td> outside of a table, an end of nothing) and moves what is in the wrong place; a
 * translator must lose nothing, so what gumbo's tree lacks is looked for between the tags that it has. Invariant: tags ascend.
 *
 * gumbo does not expect memory to run out. Its memory is a list of blocks that are freed together; without more of it, the
 * parser is left by a jump. */
#include "markup/tag.h"

#include "base/error.h"
#include "base/memory.h"

#include <gumbo.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory -------------------------------------------------------------------------------------------- */

struct block {
    struct block *next;
    max_align_t memory[];
};

struct parser {
    struct block *blocks;
    size_t used, size; /* of the first block */
    jmp_buf without_memory;
};

enum { BLOCK = 1 << 16 };

static void *take(void *userdata, size_t n)
{
    struct parser *p = userdata;
    n = (n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!p->blocks || p->size - p->used < n) {
        const size_t size = n > BLOCK ? n : BLOCK;
        struct block *block = hd_alloc_raw(sizeof *block + size);
        if (!block)
            longjmp(p->without_memory, 1);
        block->next = p->blocks;
        p->blocks = block;
        p->size = size;
        p->used = 0;
    }
    void *memory = (char *)p->blocks->memory + p->used;
    p->used += n;
    return memory;
}

static void leave(void *userdata, void *memory)
{
    (void)userdata, (void)memory;
}

static void release(struct parser *p)
{
    for (struct block *block = p->blocks, *next; block; block = next) {
        next = block->next;
        hd_free(block);
    }
}

/* Parses, and calls use(context, root). False without memory. */
static bool parse(struct parser *p, const char *text, size_t n,
                  void (*use)(void *context, const GumboNode *root), void *context)
{
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = take;
    options.deallocator = leave;
    options.userdata = p;
    options.max_errors = 0;
    if (setjmp(p->without_memory) != 0)
        return false;
    use(context, gumbo_parse_with_options(&options, text, n)->document);
    return true;
}

static bool with_tree(const char *text, size_t n, void (*use)(void *context, const GumboNode *root),
                      void *context, heed_error *err)
{
    struct parser *p = hd_new(struct parser, err);
    if (!p)
        return false;
    const bool ok = parse(p, text, n, use, context);
    release(p);
    hd_free(p);
    return ok || hd_fail(err, HEED_NO_MEMORY, "there is no memory to read the HTML");
}

/* The node behind this one in a walk through all of them; NULL at the end. */
static const GumboNode *next_node(const GumboNode *node)
{
    const bool is_element = node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE;
    const GumboVector *children = node->type == GUMBO_NODE_DOCUMENT ? &node->v.document.children
                                  : is_element                      ? &node->v.element.children
                                                                    : NULL;
    if (children && children->length > 0)
        return children->data[0];
    for (; node->parent; node = node->parent) {
        const GumboVector *siblings = node->parent->type == GUMBO_NODE_DOCUMENT
                                          ? &node->parent->v.document.children
                                          : &node->parent->v.element.children;
        if (node->index_within_parent + 1 < siblings->length)
            return siblings->data[node->index_within_parent + 1];
    }
    return NULL;
}

/* ---- tags ---------------------------------------------------------------------------------------------- */

struct found {
    struct hd_tags tags;
    const char *text;
    size_t n;
    bool is_well;
    heed_error *err;
};

static void add_piece(struct found *f, GumboStringPiece piece)
{
    struct hd_tag tag;
    if (piece.length == 0 || piece.data < f->text || piece.data >= f->text + f->n)
        return;
    /* gumbo's end of the tag counts; its name and its kind are the bytes'. */
    if (hd_tag_read(&tag, HD_MARKUP_HTML, f->text, f->n, (size_t)(piece.data - f->text))) {
        tag.end = tag.begin + piece.length;
        f->is_well = f->is_well && hd_tags_add(&f->tags, &tag, f->err);
    }
}

static void add_tags_of_tree(void *context, const GumboNode *root)
{
    struct found *f = context;
    for (const GumboNode *node = root; node; node = next_node(node)) {
        if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE) {
            add_piece(f, node->v.element.original_tag);
            add_piece(f, node->v.element.original_end_tag);
        } else if (node->type == GUMBO_NODE_COMMENT)
            add_piece(f, node->v.text.original_text);
    }
}

static int earlier(const void *a, const void *b)
{
    const struct hd_tag *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Those that the tree lacks, in text[from..to). */
static bool add_others(struct hd_tags *all, const char *text, size_t from, size_t to,
                       heed_error *err)
{
    struct hd_tag tag;
    for (size_t i = from; i < to; i++)
        if (text[i] == '<' && hd_tag_read(&tag, HD_MARKUP_HTML, text, to, i)) {
            if (!hd_tags_add(all, &tag, err))
                return false;
            i = tag.end - 1;
        }
    return true;
}

/* In these no '<' begins a tag, but that of their end. */
static bool is_raw(const struct hd_tag *tag, const char *text)
{
    return tag->kind == HD_TAG_START &&
           hd_tag_is_one_of(tag, HD_MARKUP_HTML, text,
                            "script style textarea title xmp iframe noembed noframes plaintext");
}

bool hd_html_tags(struct hd_tags *all, const char *text, size_t n, heed_error *err)
{
    struct found f = {.text = text, .n = n, .is_well = true, .err = err};
    bool ok = with_tree(text, n, add_tags_of_tree, &f, err) && f.is_well;
    if (ok && f.tags.n > 1)
        qsort(f.tags.at, f.tags.n, sizeof *f.tags.at, earlier);
    size_t at = 0;
    const struct hd_tag *raw = NULL;
    for (size_t i = 0; ok && i < f.tags.n; i++) {
        const struct hd_tag *tag = &f.tags.at[i];
        if (tag->begin < at) /* a second time: browsers copy elements that are not nested */
            continue;
        if (raw && !(tag->kind == HD_TAG_END && hd_tag_same_name(raw, tag, HD_MARKUP_HTML, text)))
            continue;
        ok = (raw || add_others(all, text, at, tag->begin, err)) && hd_tags_add(all, tag, err);
        raw = !raw && is_raw(tag, text) ? tag : NULL;
        at = tag->end;
    }
    ok = ok && (raw || add_others(all, text, at, n, err));
    hd_free(f.tags.at);
    return ok;
}

/* ---- entities ------------------------------------------------------------------------------------------- */

enum { LONGEST = 40 }; /* bytes of an entity, and of what it stands for */

static void copy_text(void *context, const GumboNode *root)
{
    for (const GumboNode *node = root; node; node = next_node(node))
        if (node->type == GUMBO_NODE_TEXT && strlen(node->v.text.text) < LONGEST + 4) {
            strcpy(context, node->v.text.text);
            return;
        }
}

static bool is_of_entity(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '#';
}

/* gumbo is asked what it would make of it, between an x and a full stop: white space by itself would be no text. */
size_t hd_html_entity(char *out, const char *text, size_t n, size_t i, heed_error *err)
{
    size_t end = i + 1;
    while (end < n && end - i < LONGEST - 1 && is_of_entity(text[end]))
        end++;
    end += end < n && text[end] == ';';
    const size_t size = end - i;
    char asked[LONGEST + 4] = "x", told[LONGEST + 4] = "";
    memcpy(asked + 1, text + i, size);
    asked[size + 1] = '.';
    if (size < 3 || !with_tree(asked, size + 2, copy_text, told, err))
        return 0;
    const size_t n_told = strlen(told);
    if (n_told < 3 || strcmp(told, asked) == 0)
        return 0;
    memcpy(out, told + 1, n_told - 2);
    out[n_told - 2] = '\0';
    return size;
}
