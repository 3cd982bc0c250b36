/* image_file.c -- PNG by libpng, JPEG by libjpeg, from memory to red, green and blue. */
#include "base/error.h"
#include "base/memory.h"
#include "features/features.h"

#include <stdio.h> /* which jpeglib.h wants */

#include <jpeglib.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

static const unsigned char PNG_MARK[] = {0x89, 'P', 'N', 'G'}, JPEG_MARK[] = {0xff, 0xd8, 0xff};

static bool begins(const void *data, size_t size, const unsigned char *mark, size_t n)
{
    return size >= n && memcmp(data, mark, n) == 0;
}

bool hd_is_image_file(const void *data, size_t size)
{
    return begins(data, size, PNG_MARK, sizeof PNG_MARK) ||
           begins(data, size, JPEG_MARK, sizeof JPEG_MARK);
}

/* Room for a picture that is not larger than a picture may be. */
static bool make_room(struct hd_image *image, const char *name, size_t width, size_t height,
                      heed_error *err)
{
    if (width == 0 || height == 0 || width > HD_LARGEST_SIDE || height > HD_LARGEST_SIDE ||
        width * height > HD_MOST_PIXELS)
        return hd_fail(err, HEED_BAD_FILE,
                       "%s: a picture of %zu by %zu pixels is not read; at most %d by %d, and %d "
                       "million in all",
                       name, width, height, HD_LARGEST_SIDE, HD_LARGEST_SIDE,
                       HD_MOST_PIXELS / 1000000);
    image->rgb = hd_alloc(3 * width, height, err);
    image->width = (int)width;
    image->height = (int)height;
    return image->rgb != NULL;
}

static bool read_png(struct hd_image *image, const char *name, const void *data, size_t size,
                     heed_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    const png_color white = {255, 255, 255};
    bool ok = png_image_begin_read_from_memory(&png, data, size) != 0;
    if (ok) {
        png.format = PNG_FORMAT_RGB;
        if (!make_room(image, name, png.width, png.height, err)) {
            png_image_free(&png);
            return false;
        }
        ok = png_image_finish_read(&png, &white, image->rgb, 0, NULL) != 0;
    }
    if (!ok)
        hd_fail(err, HEED_BAD_FILE, "%s: this PNG picture cannot be read (%s)", name, png.message);
    png_image_free(&png);
    return ok;
}

/* libjpeg ends a program that reads a broken file, unless it is told to jump. */
struct jpeg_reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf out;
    char why[JMSG_LENGTH_MAX];
};

static void give_up(j_common_ptr jpeg)
{
    struct jpeg_reader *r = jpeg->client_data;
    jpeg->err->format_message(jpeg, r->why);
    longjmp(r->out, 1);
}

/* Warnings are data that is missing or makes no sense: what is made up for it is no picture. */
static void take_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        give_up(jpeg);
}

static bool read_lines(struct jpeg_reader *r, struct hd_image *image, const char *name,
                       const void *data, size_t size, heed_error *err)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    if (setjmp(r->out)) {
        return hd_fail(err, HEED_BAD_FILE, "%s: this JPEG picture cannot be read (%s)", name,
                       r->why);
    }
    jpeg_create_decompress(jpeg);
    jpeg->client_data = r;
    jpeg_mem_src(jpeg, data, size);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW; /* whole numbers: the same pixels everywhere */
    if (!make_room(image, name, jpeg->image_width, jpeg->image_height, err))
        return false;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = image->rgb + 3 * (size_t)jpeg->output_scanline * (size_t)image->width;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

static bool read_jpeg(struct hd_image *image, const char *name, const void *data, size_t size,
                      heed_error *err)
{
    struct jpeg_reader *r = hd_new(struct jpeg_reader, err);
    if (!r)
        return false;
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->jpeg.client_data = r;
    r->errors.error_exit = give_up;
    r->errors.emit_message = take_message;
    const bool ok = read_lines(r, image, name, data, size, err);
    jpeg_destroy_decompress(&r->jpeg);
    hd_free(r);
    return ok;
}

bool hd_image_read(struct hd_image *image, const char *name, const void *data, size_t size,
                   heed_error *err)
{
    *image = (struct hd_image){0};
    const bool is_png = begins(data, size, PNG_MARK, sizeof PNG_MARK);
    if ((is_png ? read_png : read_jpeg)(image, name, data, size, err))
        return true;
    hd_free(image->rgb);
    *image = (struct hd_image){0};
    return false;
}
