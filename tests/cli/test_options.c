/* test_options.c -- option tables: every kind of value, every way to write it, every way to get
 * it wrong. */
#include "test.h"

#include "command.h"
#include "terminal.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct values {
    bool is_quiet, is_tied;
    int n_layers, any_int, cell;
    float dropout, any_float;
    const char *out;
    heed_option_list src;
};

static const heed_option options[] = {
    {"src", .kind = HEED_OPTION_LIST, HEED_OPTION_FIELD(struct values, src), .value = "FILE...",
     .help = "source text"},
    {"out", 'o', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct values, out), .value = "FILE",
     .help = "where the model goes"},
    {"quiet", 'q', .kind = HEED_OPTION_FLAG, HEED_OPTION_FIELD(struct values, is_quiet),
     .help = "say nothing"},
    {"layers", 'l', .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct values, n_layers),
     .initial = "2", .least = 1, .most = 64, .value = "N", .help = "layers of encoder and decoder",
     .group = "Model"},
    {"any-int", .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct values, any_int),
     .help = "any whole number"},
    {"cell", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct values, cell), .initial = "gru",
     .choices = "rnn|gru|lstm", .help = "kind of cell"},
    {"tied", .kind = HEED_OPTION_YES_NO, HEED_OPTION_FIELD(struct values, is_tied),
     .initial = "yes", .help = "share the embeddings"},
    {"dropout", .kind = HEED_OPTION_FLOAT, HEED_OPTION_FIELD(struct values, dropout),
     .initial = "0.1", .least = 0, .most = 0.9, .value = "X",
     .help = "share of the values that are dropped, which takes some more words to say than there "
             "is room on a line"},
    {"any-float", .kind = HEED_OPTION_FLOAT, HEED_OPTION_FIELD(struct values, any_float),
     .help = "any number"},
    {0},
};

static const struct command toy = {
    .name = "toy",
    .summary = "a command for tests",
    .usage = "[OPTIONS] [FILE...]",
    .examples = {{"heed toy -l 6 a.txt",
                  "build it high, which takes some more words to say than there "
                  "is room on a line"}},
    .most_arguments = 2,
    .options = options,
    .values_size = sizeof(struct values),
};

/* Run something with a standard stream caught in `text`. */
static char text[4096];
static int kept_fd;
static FILE *caught;

static void catch_stream(FILE *stream)
{
    fflush(stream);
    kept_fd = dup(fileno(stream));
    caught = tmpfile();
    dup2(fileno(caught), fileno(stream));
}

static void release_stream(FILE *stream)
{
    fflush(stream);
    dup2(kept_fd, fileno(stream));
    close(kept_fd);
    rewind(caught);
    text[fread(text, 1, sizeof text - 1, caught)] = '\0';
    fclose(caught);
}

/* The same command with options of a library object, which are kept as text in their order. */
static const heed_option *toy_option(int i)
{
    static const heed_option rows[] = {
        {"beam", 'b', .kind = HEED_OPTION_INT, .least = 1, .most = 9, .value = "N", .help = "beam",
         .group = "Search"},
        {"sample", .kind = HEED_OPTION_FLAG, .help = "sample"},
        {"stop", .kind = HEED_OPTION_LIST, .value = "WORD...", .help = "stop here",
         .group = "Model"},
    };
    return i >= 0 && i < 3 ? &rows[i] : NULL;
}

#define read_words(...) read_these((char *[]){__VA_ARGS__, NULL})

static struct invocation *read_these(char **words)
{
    int n = 0;
    while (words[n])
        n++;
    bool wants_help = false;
    catch_stream(stderr);
    struct invocation *invocation = invocation_new(&toy, n, words, &wants_help);
    release_stream(stderr);
    assert_false(wants_help);
    return invocation;
}

static void without_options_the_defaults_hold(void **state)
{
    (void)state;
    bool wants_help = true;
    struct invocation *invocation = invocation_new(&toy, 0, NULL, &wants_help);
    const struct values *v = invocation->values;
    assert_false(wants_help);
    assert_true(v->n_layers == 2 && v->cell == 1 && v->is_tied && !v->is_quiet && v->src.n == 0 &&
                !v->out);
    assert_false(was_given(invocation, "layers"));
    assert_int_equal(invocation->arguments.n, 0);
    invocation_free(invocation);
    invocation_free(NULL);
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    struct invocation *invocation =
        read_words("--layers", "6", "a.txt", "--cell=lstm", "--tied", "no", "--dropout", "0.25",
                   "--any-float=-1e-3", "--any-int", "-7", "--out=x=y", "-", "--quiet");
    assert_non_null(invocation);
    const struct values *v = invocation->values;
    assert_int_equal(v->n_layers, 6);
    assert_int_equal(v->cell, 2);
    assert_false(v->is_tied);
    assert_true(v->dropout == 0.25F && v->any_float == -1e-3F);
    assert_int_equal(v->any_int, -7);
    assert_string_equal(v->out, "x=y");
    assert_true(v->is_quiet);
    assert_true(was_given(invocation, "layers") && !was_given(invocation, "src"));
    assert_int_equal(invocation->arguments.n, 2);
    assert_string_equal(invocation->arguments.items[0], "a.txt");
    assert_string_equal(invocation->arguments.items[1], "-");
    invocation_free(invocation);
}

static void letters_can_be_joined_and_carry_their_value(void **state)
{
    (void)state;
    struct invocation *invocation = read_words("-ql6", "-o", "model", "--", "-q");
    const struct values *v = invocation->values;
    assert_true(v->is_quiet && v->n_layers == 6);
    assert_string_equal(v->out, "model");
    assert_string_equal(invocation->arguments.items[0], "-q");
    invocation_free(invocation);
    invocation = read_words("-l", "3", "-l4"); /* the last one counts */
    assert_int_equal(((struct values *)invocation->values)->n_layers, 4);
    invocation_free(invocation);
}

static void a_list_goes_on_to_the_next_option(void **state)
{
    (void)state;
    struct invocation *invocation =
        read_words("--src", "a", "-", "b", "--quiet", "--src", "c", "--src=d");
    const heed_option_list src = ((struct values *)invocation->values)->src;
    assert_int_equal(src.n, 5);
    assert_string_equal(src.at[1], "-");
    assert_string_equal(src.at[4], "d");
    assert_int_equal(invocation->arguments.n, 0);
    invocation_free(invocation);
}

static void options_of_the_library_are_kept_as_text(void **state)
{
    (void)state;
    struct command with = toy;
    with.library_option = toy_option;
    bool wants_help;
    char *words[] = {"-qb3", "--stop", "a", "b", "--layers=4", "--sample", "--beam", "x"};
    struct invocation *invocation = invocation_new(&with, 8, words, &wants_help);
    assert_non_null(invocation);
    static const char *const names[] = {"beam", "stop", "stop", "sample", "beam"},
                             *const texts[] = {"3", "a", "b", "yes", "x"};
    assert_int_equal(invocation->n_settings, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(invocation->settings[i].option->name, names[i]);
        assert_string_equal(invocation->settings[i].text, texts[i]);
    }
    assert_int_equal(((struct values *)invocation->values)->n_layers, 4);
    invocation_free(invocation);
    catch_stream(stdout);
    print_command_help(&with);
    release_stream(stdout);
    const char *model = strstr(text, "\nModel\n"), *stop = strstr(text, "--stop WORD..."),
               *search = strstr(text, "\nSearch\n"); /* one heading for both tables */
    assert_true(model && stop && search && model < stop && stop < search);
    catch_stream(stderr);
    assert_null(invocation_new(&with, 1, (char *[]){"--beem"}, &wants_help));
    release_stream(stderr);
    assert_string_equal(text, "heed: there is no option 'beem'; did you mean beam?\n");
}

static void wrong_words_get_the_right_answer(void **state)
{
    (void)state;
    static const struct {
        char *words[4];
        const char *answer;
    } wrong[] = {
        {{"--layer", "2"}, "there is no option 'layer'; did you mean layers?"},
        {{"--lyaers=2"}, "there is no option 'lyaers'; did you mean layers?"},
        {{"--banana"}, "there is no option 'banana'; 'heed toy --help' lists them all"},
        {{"--halp"}, "did you mean help?"},
        {{"--=5"}, "there is no option '';"},
        {{"-quiet"}, "there is no option '-quiet'; did you mean --quiet?"},
        {{"-x"}, "there is no option '-x'; 'heed toy --help' lists them all"},
        {{"-qx"}, "there is no option '-qx'"},
        {{"--layers"}, "layers needs a value: --layers N"},
        {{"-l"}, "layers needs a value: --layers N"},
        {{"--cell"}, "cell needs a value: --cell rnn|gru|lstm"},
        {{"--layers", "many"}, "layers must be a whole number from 1 to 64, not 'many'"},
        {{"--layers", ""}, "layers must be a whole number from 1 to 64, not ''"},
        {{"--layers", "2.5"}, "not '2.5'"},
        {{"--layers=0"}, "layers must be a whole number from 1 to 64, not '0'"},
        {{"-l65"}, "layers must be a whole number from 1 to 64, not '65'"},
        {{"--layers", "99999999999999999999"}, "not '99999999999999999999'"},
        {{"--any-int", "2147483648"},
         "any-int must be a whole number from -2147483648 to 2147483647"},
        {{"--dropout", "1"}, "dropout must be a number from 0 to 0.9, not '1'"},
        {{"--dropout", "0,5"}, "dropout must be a number from 0 to 0.9, not '0,5'"},
        {{"--any-float", "nan"}, "any-float must be a number, not 'nan'"},
        {{"--any-float", "1e99"}, "any-float must be a number, not '1e99'"},
        {{"--cell", "lsmt"}, "cell must be rnn, gru or lstm, not 'lsmt'; did you mean lstm?"},
        {{"--cell", "banana"}, "cell must be rnn, gru or lstm, not 'banana'"},
        {{"--tied", "maybe"}, "tied must be yes or no, not 'maybe'"},
        {{"--quiet=1"}, "quiet takes no value, but was given '1'"},
        {{"a", "b", "c"}, "toy does not know what to do with 'c'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *words[] = {wrong[i].words[0], wrong[i].words[1], wrong[i].words[2], wrong[i].words[3],
                         NULL};
        assert_null(read_these(words));
        assert_that(strstr(text, wrong[i].answer), "%s: answered \"%s\", wanted \"%s\"", words[0],
                    text, wrong[i].answer);
        assert_that(strncmp(text, "heed: ", 6) == 0 && text[strlen(text) - 1] == '\n', "%s", text);
    }
}

static void help_is_asked_for_anywhere(void **state)
{
    (void)state;
    static char *const words[][3] = {
        {"--help"}, {"-h"}, {"a", "-h"}, {"--quiet", "--help"}, {"--help", "--nonsense"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool wants_help = false;
        char *these[] = {words[i][0], words[i][1], words[i][2]};
        int n = 0;
        while (n < 3 && these[n])
            n++;
        assert_null(invocation_new(&toy, n, these, &wants_help));
        assert_true(wants_help);
    }
    bool wants_help = false;
    struct invocation *invocation =
        invocation_new(&toy, 2, (char *[]){"--out", "--help"}, &wants_help);
    assert_non_null(invocation); /* here it is a value */
    invocation_free(invocation);
}

static void the_help_knows_every_option_and_its_default(void **state)
{
    (void)state;
    catch_stream(stdout);
    print_command_help(&toy);
    release_stream(stdout);
    static const char *const lines[] = {
        "Usage: heed toy [OPTIONS] [FILE...]\n\na command for tests\n\nOptions\n",
        "      --src FILE...         source text\n",
        "  -o, --out FILE            where the model goes\n",
        "  -q, --quiet               say nothing\n",
        "\nModel\n  -l, --layers N            layers of encoder and decoder (default: 2)\n",
        "      --cell rnn|gru|lstm   kind of cell (default: gru)\n",
        "      --tied yes|no         share the embeddings (default: yes)\n",
        "      --dropout X           share of the values that are dropped, which takes\n"
        "                            some more words to say than there is room on a line\n"
        "                            (default: 0.1)\n",
        "  -h, --help                show this help\n\nExamples\n  heed toy -l 6 a.txt\n"
        "      build it high, which takes some more words to say than there is room on a\n"
        "      line\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_that(strstr(text, lines[i]), "the help lacks\n%s\nIt is\n%s", lines[i], text);
}

static void strings_of_json_are_escaped(void **state)
{
    (void)state;
    catch_stream(stdout);
    print_json_string(stdout, "a \"b\" \\ \n\x01 é");
    release_stream(stdout);
    assert_string_equal(text, "\"a \\\"b\\\" \\\\ \\u000a\\u0001 é\"");
}

static void attention_is_as_wide_as_the_terminal_and_in_colours_where_it_has_them(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    setenv("TERM", "xterm-256color", 1);
    setenv("COLUMNS", "132", 1);
    assert_int_equal(text_options(file).width, 132);
    assert_false(text_options(file).has_colors);
    static const char *const no_widths[] = {"", "0", "-4", "wide", "99999999999999999999"};
    for (int i = 0; i < 5; i++) {
        setenv("COLUMNS", no_widths[i], 1);
        assert_int_equal(text_options(file).width, 80);
    }
    fclose(file);
    unsetenv("COLUMNS");
    struct winsize size = {.ws_col = 97};
    int terminal, other;
    if (openpty(&terminal, &other, NULL, NULL, &size) != 0)
        skip(); /* no terminals to be had */
    FILE *out = fdopen(other, "w");
    assert_int_equal(text_options(out).width, 97);
    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    assert_true(text_options(out).has_colors);
    setenv("TERM", "vt100", 1);
    assert_false(text_options(out).has_colors);
    setenv("COLORTERM", "truecolor", 1);
    assert_true(text_options(out).has_colors);
    setenv("NO_COLOR", "1", 1);
    assert_false(text_options(out).has_colors);
    fclose(out);
    close(terminal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_the_defaults_hold),
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(letters_can_be_joined_and_carry_their_value),
        cmocka_unit_test(a_list_goes_on_to_the_next_option),
        cmocka_unit_test(options_of_the_library_are_kept_as_text),
        cmocka_unit_test(wrong_words_get_the_right_answer),
        cmocka_unit_test(help_is_asked_for_anywhere),
        cmocka_unit_test(the_help_knows_every_option_and_its_default),
        cmocka_unit_test(strings_of_json_are_escaped),
        cmocka_unit_test(attention_is_as_wide_as_the_terminal_and_in_colours_where_it_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
