/* draw.h -- the door between libheed and the drawing module, heed_draw.so.
 *
 * libheed checks a picture (src/picture/picture_check.h), opens the module and gets bytes back; it alone
 * writes files. The module turns a picture of plain arrays (include/heed_draw.h) into a scene, a
 * list of rectangles, lines and texts (draw/scene.h), and the scene into SVG and TikZ by itself (draw/svg.c,
 * draw/tikz.c) or into PNG and PDF through cairo (draw/paint.c):
 *
 *     attention.c heads.c view.c chart.c bars.c  ->  scene  ->  svg.c | tikz.c | paint.c
 *
 * SVG is not left to cairo, which turns each letter into an outline: our texts stay texts, to be
 * searched, selected, read aloud and counted, and words and cells have tooltips. pango measures
 * them; the viewer's fonts may be a little wider, so nothing is laid out to the last pixel.
 *
 * The module has its own copies of the functions of src/base that it uses, since libheed shows
 * none of its own. */
#ifndef HD_DRAW_DRAW_H
#define HD_DRAW_DRAW_H

#include <heed_draw.h>

/* By which heed knows a picture of its own again: what a PNG has behind its header, and a PDF behind its end. (SVG and TikZ begin as no
 * others do.) */
#define HD_DRAW_PNG_MARK "\0\0\0\rtEXtSoftware\0heed\xd8\x74\x4b\x0f" /* with its length and CRC */
#define HD_DRAW_PDF_MARK "%heed\n"
enum { HD_DRAW_PNG_AT = 33 }; /* after the signature of 8 bytes and IHDR of 25 */

enum hd_draw_format { HD_DRAW_SVG, HD_DRAW_PNG, HD_DRAW_PDF, HD_DRAW_TIKZ };

struct hd_draw_module {
    const char *version; /* HEED_VERSION of the build; the structs of another may be others */

    /* The picture as bytes, followed by a zero, to be given to free(). It must have been
     * checked. NULL with the reason in `err`: HEED_BAD_FILE (there are no fonts),
     * HEED_NO_MEMORY. */
    char *(*render)(const heed_picture *picture, enum hd_draw_format format, size_t *size,
                    heed_error *err);
    void (*free)(void *bytes);
};

/* What the library looks for in the module. */
extern HEED_API const struct hd_draw_module hd_draw_module;

#endif
