/* bench_sentences.c -- answers lines "language TAB text" with the bytes at which sentences end; "-" is no language. With
 * --time, seconds for all of the lines instead. */
#include "clock.h"

#include "text/sentence.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bool is_timed = argc > 1 && strcmp(argv[1], "--time") == 0;
    static char line[1 << 20];
    double seconds = 0;
    size_t n_sentences = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *text = strchr(line, '\t');
        if (!text)
            return fprintf(stderr, "bench_sentences: a line without TAB\n"), 1;
        *text++ = '\0';
        text[strcspn(text, "\n")] = '\0';
        struct hd_sentences s;
        struct hd_span span;
        const double begin = bench_now();
        hd_sentences_begin(&s, text, strlen(text), strcmp(line, "-") == 0 ? NULL : line);
        while (hd_sentences_next(&s, &span)) {
            n_sentences++;
            if (!is_timed)
                printf("%zu ", span.end);
        }
        seconds += bench_now() - begin;
        if (!is_timed)
            puts("");
    }
    if (is_timed)
        printf("%.6f %zu\n", seconds, n_sentences);
    return 0;
}
