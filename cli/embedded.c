/* embedded.c -- the model inside the program: the file HEED_EMBEDDED (a name given by the Makefile) as read-only data.
 *
 * The assembler reads it, since no C compiler that we support reads megabytes as quickly. */
#include "embedded.h"

#ifdef HEED_EMBEDDED

#ifdef __APPLE__
#define SECTION      ".const_data"
#define SYMBOL(name) "_" #name
#else
#define SECTION      ".section .rodata,\"a\""
#define SYMBOL(name) #name
#endif

__asm__(SECTION "\n"
                ".balign 64\n"
                ".globl " SYMBOL(
                    heed_embedded_begin) "\n"
                                         ".globl " SYMBOL(heed_embedded_end) "\n" SYMBOL(
                                             heed_embedded_begin) ":\n"
                                                                  ".incbin \"" HEED_EMBEDDED
                                                                  "\"\n" SYMBOL(
                                                                      heed_embedded_end) ":\n"
                                                                                         ".byte 0\n"
                                                                                         ".text\n");

extern const char heed_embedded_begin[], heed_embedded_end[];

const void *embedded_model(size_t *size)
{
    *size = (size_t)(heed_embedded_end - heed_embedded_begin);
    return heed_embedded_begin;
}

#else

const void *embedded_model(size_t *size)
{
    *size = 0;
    return NULL;
}

#endif
