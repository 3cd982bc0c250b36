/* chart.c -- a table of numbers as a picture: lines in panels, or groups of bars, drawn by heed_draw().
 *
 * usage: chart TABLE.tsv PICTURE.svg|png|pdf
 *
 * A table is lines of fields with tabs between them; the first field says what a line is:
 *
 *     title TEXT
 *     x LABEL
 *     panel LABEL [LEAST MOST] lines follow; its axis shows all there is, or this
 *     line NAME
 *     at X Y [LOW HIGH]        a point of it
 *
 *     bars LABEL               instead of panels; first all groups, then bars
 *     group NAME [COUNT]
 *     series NAME
 *     is Y [LOW HIGH]          its value in the next group
 *
 * What is wrong with a table is said with its line, on standard error. */
#include <heed_draw.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 8, MOST_LINES = 32, MOST_NUMBERS = 4096, MOST_GROUPS = 100, MOST_FIELDS = 5 };

struct numbers {
    double x[MOST_NUMBERS], y[MOST_NUMBERS], low[MOST_NUMBERS], high[MOST_NUMBERS];
    int n; /* of all lines, one behind the other */
    bool has_band;
};

struct table {
    const char *path;
    int row;
    char *title, *x_label, *bars_label;
    heed_picture_panel panels[MOST_PANELS];
    heed_picture_series lines[MOST_PANELS][MOST_LINES];
    int n_panels;
    const char *groups[MOST_GROUPS], *series[MOST_LINES];
    int counts[MOST_GROUPS], n_groups, n_series;
    bool has_counts;
    struct numbers numbers;
};

_Noreturn static void refuse(const struct table *t, const char *why, ...)
{
    va_list list;
    va_start(list, why);
    fprintf(stderr, "chart: %s:%d: ", t->path, t->row);
    vfprintf(stderr, why, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

static char *keep(const struct table *t, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        refuse(t, "no memory for a name");
    return copy;
}

static double number(const struct table *t, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        refuse(t, "'%s' is not a number", text);
    return value;
}

/* A value with its band, if it has one; all values have, or none. */
static int add_number(struct table *t, double x, char *const *fields, int n_fields)
{
    struct numbers *all = &t->numbers;
    if (all->n == MOST_NUMBERS)
        refuse(t, "there are more than %d numbers", MOST_NUMBERS);
    if (n_fields != 1 && n_fields != 3)
        refuse(t, "a value is followed by a low and a high value, or by nothing");
    if (all->n > 0 && all->has_band != (n_fields == 3))
        refuse(t, "either all values have a low and a high one, or none has");
    const int at = all->n++;
    all->has_band = n_fields == 3;
    all->x[at] = x;
    all->y[at] = number(t, fields[0]);
    all->low[at] = n_fields == 3 ? number(t, fields[1]) : 0;
    all->high[at] = n_fields == 3 ? number(t, fields[2]) : 0;
    return at;
}

static void add_panel(struct table *t, char *const *fields, int n_fields)
{
    if (t->n_panels == MOST_PANELS)
        refuse(t, "there are more than %d panels", MOST_PANELS);
    heed_picture_panel *panel = &t->panels[t->n_panels];
    panel->y_label = keep(t, fields[0]);
    if (n_fields > 2) {
        panel->y_least = number(t, fields[1]);
        panel->y_most = number(t, fields[2]);
    }
    panel->series = t->lines[t->n_panels++];
}

static void add_line(struct table *t, const char *name)
{
    heed_picture_panel *panel = t->n_panels > 0 ? &t->panels[t->n_panels - 1] : NULL;
    if (!panel || panel->n_series == MOST_LINES)
        refuse(t, "a line belongs to a panel, of up to %d", MOST_LINES);
    t->lines[t->n_panels - 1][panel->n_series++].name = keep(t, name);
}

static void add_point(struct table *t, char *const *fields, int n_fields)
{
    heed_picture_panel *panel = t->n_panels > 0 ? &t->panels[t->n_panels - 1] : NULL;
    if (!panel || panel->n_series == 0)
        refuse(t, "a point belongs to a line");
    heed_picture_series *line = &t->lines[t->n_panels - 1][panel->n_series - 1];
    const int at = add_number(t, number(t, fields[0]), fields + 1, n_fields - 1);
    const struct numbers *all = &t->numbers;
    if (line->n++ > 0)
        return; /* its numbers stand one behind the other */
    line->x = &all->x[at];
    line->y = &all->y[at];
    line->low = all->has_band ? &all->low[at] : NULL;
    line->high = all->has_band ? &all->high[at] : NULL;
}

static void add_group(struct table *t, char *const *fields, int n_fields)
{
    if (t->n_groups == MOST_GROUPS || t->n_series > 0)
        refuse(t, "groups come before series, up to %d", MOST_GROUPS);
    t->has_counts = t->has_counts || n_fields > 1;
    t->counts[t->n_groups] = n_fields > 1 ? (int)number(t, fields[1]) : 1;
    t->groups[t->n_groups++] = keep(t, fields[0]);
}

static void add_series(struct table *t, const char *name)
{
    if (t->n_series == MOST_LINES || t->numbers.n != t->n_series * t->n_groups)
        refuse(t, "a series, of up to %d, comes after one that has a value for every group",
               MOST_LINES);
    t->series[t->n_series++] = keep(t, name);
}

static void add_row(struct table *t, char *const *fields, int n)
{
    const char *kind = fields[0];
    const bool is_empty = kind[0] == '\0';
    if (!is_empty && n < 2)
        refuse(t, "'%s' says nothing", kind);
    if (is_empty)
        return;
    if (strcmp(kind, "title") == 0)
        t->title = keep(t, fields[1]);
    else if (strcmp(kind, "x") == 0)
        t->x_label = keep(t, fields[1]);
    else if (strcmp(kind, "panel") == 0)
        add_panel(t, fields + 1, n - 1);
    else if (strcmp(kind, "line") == 0)
        add_line(t, fields[1]);
    else if (strcmp(kind, "at") == 0)
        add_point(t, fields + 1, n - 1);
    else if (strcmp(kind, "bars") == 0)
        t->bars_label = keep(t, fields[1]);
    else if (strcmp(kind, "group") == 0)
        add_group(t, fields + 1, n - 1);
    else if (strcmp(kind, "series") == 0)
        add_series(t, fields[1]);
    else if (strcmp(kind, "is") == 0)
        add_number(t, 0, fields + 1, n - 1);
    else
        refuse(t, "there is no kind of line '%s'", kind);
}

static void read_table(struct table *t)
{
    heed_lines lines = {0};
    heed_error err = {0};
    if (!heed_lines_read(&lines, t->path, &err))
        refuse(t, "%s", err.message);
    for (size_t i = 0; i < lines.n; i++) {
        char *row = keep(t, lines.at[i]), *rest = row, *fields[MOST_FIELDS];
        int n = 0;
        t->row = (int)i + 1;
        while (rest && n < MOST_FIELDS)
            fields[n++] = strsep(&rest, "\t");
        if (rest)
            refuse(t, "there are more than %d fields", MOST_FIELDS);
        add_row(t, fields, n);
        free(row);
    }
    heed_lines_release(&lines);
    if (t->bars_label && t->numbers.n != t->n_series * t->n_groups)
        refuse(t, "the last series has no value for every group");
}

int main(int argc, char **argv)
{
    static struct table t; /* too large for the stack; what it keeps, it keeps to the end */
    if (argc != 3) {
        fputs("usage: chart TABLE.tsv PICTURE.svg|png|pdf\n", stderr);
        return 2;
    }
    t.path = argv[1];
    read_table(&t);
    const struct numbers *all = &t.numbers;
    const heed_picture_chart chart = {
        .x_label = t.x_label, .panels = t.panels, .n_panels = t.n_panels};
    const heed_picture_bars bars = {.x_label = t.x_label,
                                    .y_label = t.bars_label,
                                    .groups = t.groups,
                                    .n_groups = t.n_groups,
                                    .counts = t.has_counts ? t.counts : NULL,
                                    .series = t.series,
                                    .n_series = t.n_series,
                                    .values = all->y,
                                    .low = all->has_band ? all->low : NULL,
                                    .high = all->has_band ? all->high : NULL};
    const heed_picture picture = {.title = t.title,
                                  .chart = t.bars_label ? NULL : &chart,
                                  .bars = t.bars_label ? &bars : NULL};
    heed_error err = {0};
    if (!heed_draw(&picture, argv[2], &err)) {
        fprintf(stderr, "chart: %s\n", err.message);
        return 1;
    }
    return 0;
}
