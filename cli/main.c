/* main.c -- the `heed` program: finds the command, hands it its options, and sees that what it
 * printed arrived.
 *
 * Exit status: 0 fine, 1 failed, 2 wrong usage. */
#include "command.h"
#include "terminal.h"

#include <heed.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* In the order in which they are used. */
static const struct command *const commands[] = {
    &command_train, &command_translate, &command_align,    &command_score, &command_eval,
    &command_info,  &command_convert,   &command_features, &command_serve,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

/* What the program itself knows, for its help and its tables. */
static const struct {
    const char *name, *help;
} own_options[] =
    {
        {"-h, --help", "show this help; 'heed help COMMAND' shows that of a command"},
        {"-V, --version", "show version, compiler and the kernels that this CPU can run"},
},
  environment[] = {
      {"HEED_KERNEL",
       "kernel to use instead of the fastest, one of those that --version lists; all of them "
       "give the same results"},
      {"HEED_DRAW_MODULE", "path of heed_draw.so, which draws pictures, if it is not beside heed"},
      {"HEED_FEATURES_MODULE",
       "path of heed_features.so, which reads sound and pictures, if it is not beside heed"},
      {"HEED_MPI_MODULE",
       "path of heed_mpi.so, for training on several machines, if it is not beside heed"},
      {"HEED_SERVE_MODULE", "path of heed_serve.so, which serves, if it is not beside heed"},
      {"NO_COLOR", "if set, print no colours"},
      {"COLUMNS", "width of the terminal, instead of what it says itself"},
};
enum {
    N_OWN_OPTIONS = sizeof own_options / sizeof *own_options,
    N_ENVIRONMENT = sizeof environment / sizeof *environment
};

static const struct command *find_command(const char *name);
static enum status run_command(const struct command *command, int n, char **words);
static enum status help_on(int n, char **words);
static enum status print_version(void);
static enum status complain_about(const char *word);
static void print_help(FILE *out);
static void print_all_tables(void);
static void keep_standard_files_open(void);

/* Large blocks go back to the system when they are freed, however large others were before: glibc would learn to keep them, and
 * a search that grows would hold its old room as well (translating with a beam of 5: 38.0 → 32.5 MB). */
static void keep_no_large_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

int main(int argc, char **argv)
{
    keep_standard_files_open();
    keep_no_large_blocks();
    enum status status = STATUS_FINE;
    if (argc < 2) {
        print_help(stderr);
        status = STATUS_USAGE;
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        print_help(stdout);
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        status = print_version();
    else if (strcmp(argv[1], "--tables") == 0)
        print_all_tables();
    else if (strcmp(argv[1], "help") == 0)
        status = help_on(argc - 2, argv + 2);
    else {
        const struct command *command = find_command(argv[1]);
        status = command ? run_command(command, argc - 2, argv + 2) : complain_about(argv[1]);
    }
    if (!flush_stdout() && status == STATUS_FINE)
        status = STATUS_FAILED;
    return (int)status;
}

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0 ||
            (commands[i]->alias && strcmp(name, commands[i]->alias) == 0))
            return commands[i];
    return NULL;
}

/* heed help, heed help COMMAND */
static enum status help_on(int n, char **words)
{
    const bool is_named = n > 0 && words[0][0] != '-';
    const struct command *command = is_named ? find_command(words[0]) : NULL;
    if (is_named && !command)
        return complain_about(words[0]);
    if (command)
        print_command_help(command);
    else
        print_help(stdout);
    return STATUS_FINE;
}

static enum status run_command(const struct command *command, int n, char **words)
{
    bool wants_help = false;
    struct invocation *invocation = invocation_new(command, n, words, &wants_help);
    if (wants_help)
        print_command_help(command);
    if (!invocation)
        return wants_help ? STATUS_FINE : STATUS_USAGE;
    const enum status status = command->run(invocation);
    invocation_free(invocation);
    return status;
}

static enum status print_version(void)
{
    heed_error err = {0};
    const char *kernel = heed_kernel(&err);
    if (!kernel) {
        complain("%s", err.message);
        return STATUS_FAILED;
    }
    printf("heed %s, built with %s\n", heed_version(), heed_compiler());
    printf("kernels of this CPU:");
    for (int i = 0; heed_kernel_available(i); i++)
        printf(" %s", heed_kernel_available(i));
    printf("; in use: %s\n", kernel);
    if (heed_kernel_note())
        printf("%s\n", heed_kernel_note());
    return STATUS_FINE;
}

/* The first word is neither a command nor an option of the program itself. */
static enum status complain_about(const char *word)
{
    static const char *const long_options[] = {"--help", "--version"};
    const char *names[N_COMMANDS + 1] = {"help"};
    for (int i = 0; i < N_COMMANDS; i++)
        names[i + 1] = commands[i]->name;
    const bool is_option = word[0] == '-';
    const char *nearest =
        is_option ? heed_nearest(word, long_options, 2) : heed_nearest(word, names, N_COMMANDS + 1);
    const char *kind = is_option ? "option" : "command";
    if (nearest)
        complain("there is no %s '%s'; did you mean '%s'?", kind, word, nearest);
    else
        complain("there is no %s '%s'; 'heed --help' lists what there is", kind, word);
    return STATUS_USAGE;
}

static void print_help(FILE *out)
{
    fprintf(out,
            "Usage: heed COMMAND [OPTIONS] [FILE...]\n\n"
            "Train attention-based sequence-to-sequence models and translate with them, on the "
            "CPU.\n\n");
    print_heading(out, "Commands");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n");
    print_heading(out, "Options");
    for (int i = 0; i < N_OWN_OPTIONS; i++)
        fprintf(out, "  %-16s %s\n", own_options[i].name, own_options[i].help);
    fprintf(out, "\n");
    print_heading(out, "Environment");
    for (int i = 0; i < N_ENVIRONMENT; i++) {
        fprintf(out, "  %-20s ", environment[i].name);
        print_wrapped(out, environment[i].help, 23, 23);
    }
}

static void print_all_tables(void)
{
    for (int i = 0; i < N_OWN_OPTIONS; i++)
        printf("own\t%s\t%s\n", own_options[i].name, own_options[i].help);
    for (int i = 0; i < N_ENVIRONMENT; i++)
        printf("environment\t%s\t%s\n", environment[i].name, environment[i].help);
    for (int i = 0; i < N_COMMANDS; i++)
        print_tables(commands[i]);
}

/* If one of the three was closed, a file opened later would take its place and be written to by
 * mistake. What is read from a closed stdin or printed to a closed stdout fails, as it should. */
static void keep_standard_files_open(void)
{
    int fd;
    do
        fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}
