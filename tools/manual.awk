# manual.awk -- what can be typed, told in five ways, from one table.
#
#   heed --tables | awk -v format=markdown -f tools/manual.awk                docs/reference/commands.md
#   heed --tables | awk -v format=man -v page=heed -v version=0.1.0 -f ...    heed.1; page=heed-train: heed-train.1
#   heed --tables | awk -v format=bash|zsh|fish -f ...                        completion for a shell
#
# The table (cli/tables.c) is read into arrays by command number c and option number o; END writes.

BEGIN { FS = "\t"; n_commands = n_own = n_environment = 0 }
$1 == "own" { own[++n_own] = $2; own_help[n_own] = $3 }
$1 == "environment" { variable[++n_environment] = $2; variable_help[n_environment] = $3 }
$1 == "command" { c = ++n_commands; name[c] = $2; summary[c] = $3; n_usages[c] = n_options[c] = 0 }
$1 == "usage" { usage[c, ++n_usages[c]] = $2 }
$1 == "about" { about[c] = $2 }
$1 == "group" { heading = $2 }
$1 == "option" {
    o = ++n_options[c]
    option[c, o] = $2; letter[c, o] = $3; value[c, o] = $4; least[c, o] = $5; most[c, o] = $6
    is[c, o] = $7; help[c, o] = $8; is_fixed[c, o] = $9 == "fixed"
    group[c, o] = heading; heading = ""
}
END {
    if (format == "markdown") markdown()
    else if (format == "man") { if (page == "heed") man_program(); else man_command() }
    else if (format == "bash") bash()
    else if (format == "zsh") zsh()
    else if (format == "fish") fish()
    else { print "manual.awk: format is markdown, man, bash, zsh or fish" > "/dev/stderr"; exit 2 }
}

# ---- of an option ------------------------------------------------------------------------------------------

function replaced(text, what, by,   result, at) {
    for (result = ""; (at = index(text, what)) > 0; text = substr(text, at + length(what)))
        result = result substr(text, 1, at - 1) by
    return result text
}
# "a|b|c" as "a b c" where the values are words to choose from, else "".
function choices(text) { return text ~ /^[a-z0-9][a-z0-9_-]*(\|[a-z0-9][a-z0-9_-]*)+$/ ? replaced(text, "|", " ") : "" }
function is_file(text) { return text ~ /FILE|MODEL/ }
function range(c, o) { return least[c, o] == "" ? "" : least[c, o] + 0 " to " most[c, o] + 0 }

# ---- markdown ------------------------------------------------------------------------------------------------

function cell(text) { return replaced(text, "|", "\\|") }
function code(text) { return text == "" ? "" : "`" cell(text) "`" }
function markdown(   c, o, i, has_table) {
    print "# Commands and options"
    print ""
    print "Made by `make reference` from the tables that the program itself is made of; not written by hand."
    print "What is true of all commands (exit codes, environment, what goes where) is on the [first page](README.md)."
    print ""
    for (c = 1; c <= n_commands; c++)
        print "- [`heed " name[c] "`](#heed-" name[c] "): " summary[c]
    for (c = 1; c <= n_commands; c++) {
        print "\n## heed " name[c] "\n\n```"
        for (i = 1; i <= n_usages[c]; i++)
            print "heed " name[c] " " usage[c, i]
        print "```\n\n" about[c]
        if (name[c] == "train") {
            print "\nIn a `--config` file the same names stand without their dashes, a line each: `dim = 256`. An option marked • belongs to"
            print "the run from its first update: going on with another value is refused. The others may change on the way."
        }
        for (o = 1; o <= n_options[c]; o++) {
            if (group[c, o] != "") {
                if (group[c, o] != "Options") print "\n### " group[c, o]
                print "\n| option | values | default | what it does |\n|---|---|---|---|"
            }
            print "| `" (letter[c, o] == "" ? "" : "-" letter[c, o] ", ") "--" option[c, o] "`" (is_fixed[c, o] ? " •" : "") " | " \
                code(value[c, o]) (range(c, o) == "" || value[c, o] ~ /\|/ ? "" : " " range(c, o)) " | " \
                cell(is[c, o]) " | " cell(help[c, o]) " |"
        }
    }
}

# ---- man pages ------------------------------------------------------------------------------------------------

# Text that troff takes as it is: no line begins with a dot or a quote, backslashes and dashes are themselves.
function roff(text) {
    text = replaced(text, "\\", "\\e")
    text = replaced(text, "-", "\\-")
    text = replaced(text, "'", "\\(aq")
    text = replaced(text, "…", "...")
    text = replaced(text, "√", "\\(sr")
    return text ~ /^\./ ? "\\&" text : text
}
function head(title, text) {
    print ".\\\" Made by tools/manual.awk from the tables of the program."
    print ".TH " toupper(title) " 1 \"\" \"heed " version "\" \"User Commands\""
    print ".SH NAME\n" roff(title) " \\- " roff(text)
}
function entry(term, text) { print ".TP\n" term "\n" roff(text) }
function man_program(   c, i) {
    head("heed", "attention-based sequence-to-sequence learning on the CPU")
    print ".SH SYNOPSIS\n.B heed\n.I COMMAND\n.RI [ OPTIONS ]\n.RI [ FILE ...]"
    print ".SH DESCRIPTION"
    print roff("heed trains models that translate, translates with them, and shows which words they looked at. " \
        "Results go to standard output, everything else to standard error. The same input gives the same output, to the " \
        "last bit, for any number of threads and on any CPU.")
    print ".SH COMMANDS"
    for (c = 1; c <= n_commands; c++) entry(".BR heed\\-" name[c] " (1)", summary[c])
    print ".SH OPTIONS"
    for (i = 1; i <= n_own; i++) entry(".B " roff(own[i]), own_help[i])
    print ".SH ENVIRONMENT"
    for (i = 1; i <= n_environment; i++) entry(".B " variable[i], variable_help[i])
    exit_status()
}
function exit_status() {
    print ".SH EXIT STATUS"
    entry(".B 0", "done"); entry(".B 1", "failed; a sentence on standard error says what, where, and what to do")
    entry(".B 2", "wrong usage")
}
function man_command(   c, o, i, default_text) {
    for (c = 1; c <= n_commands && "heed-" name[c] != page; c++) ;
    if (c > n_commands) { print "manual.awk: there is no command for " page > "/dev/stderr"; exit 2 }
    head(page, summary[c])
    print ".SH SYNOPSIS"
    for (i = 1; i <= n_usages[c]; i++)
        print (i > 1 ? ".br\n" : "") ".B heed " name[c] "\n" roff(usage[c, i])
    print ".SH DESCRIPTION\n" roff(about[c])
    print ".SH OPTIONS"
    for (o = 1; o <= n_options[c]; o++) {
        if (group[c, o] != "" && group[c, o] != "Options") print ".SS " roff(group[c, o])
        default_text = is[c, o] == "" ? "" : " (default " is[c, o] ")"
        entry(".BI \"" (letter[c, o] == "" ? "" : "\\-" letter[c, o] ", ") "\\-\\-" roff(option[c, o]) (value[c, o] == "" ? "" : " ") \
            "\" " "\"" roff(value[c, o]) "\"", help[c, o] default_text)
    }
    entry(".B \"\\-h, \\-\\-help\"", "a summary of this page")
    exit_status()
    print ".SH SEE ALSO\n.BR heed (1)"
}

# ---- completion ---------------------------------------------------------------------------------------------------

function words_of(c,   o, text) {
    text = "--help"
    for (o = 1; o <= n_options[c]; o++) text = text " --" option[c, o]
    return text
}
function bash(   c, o, all) {
    for (c = 1; c <= n_commands; c++) all = all (c > 1 ? " " : "") name[c]
    print "# bash completion for heed"
    print "_heed() {"
    print "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options= values="
    print "    COMPREPLY=()"
    print "    if [ \"$COMP_CWORD\" = 1 ]; then"
    print "        COMPREPLY=($(compgen -W '" all " --help --version' -- \"$word\"))"
    print "        return"
    print "    fi"
    print "    case ${COMP_WORDS[1]}:$before in"
    for (c = 1; c <= n_commands; c++)
        for (o = 1; o <= n_options[c]; o++)
            if (choices(value[c, o]) != "")
                print "    " name[c] ":--" option[c, o] ") values='" choices(value[c, o]) "' ;;"
    print "    esac"
    print "    case ${COMP_WORDS[1]} in"
    for (c = 1; c <= n_commands; c++) print "    " name[c] ") options='" words_of(c) "' ;;"
    print "    esac"
    print "    if [ -n \"$values\" ]; then"
    print "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))"
    print "    elif [ \"${word#-}\" != \"$word\" ]; then"
    print "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))"
    print "    fi"
    print "}"
    print "complete -o default -F _heed heed"
}
# Help as a text between single quotes; brackets and colons mean something to zsh.
function quoted(text) { return replaced(text, "'", "'\\''") }
function bare(text) { return replaced(replaced(replaced(quoted(text), "[", "("), "]", ")"), ":", "\\:") }
function zsh(   c, o, i, action, tail) {
    print "#compdef heed"
    print "local -a commands\ncommands=("
    for (c = 1; c <= n_commands; c++) print "    '" name[c] ":" bare(summary[c]) "'"
    print ")"
    print "if ((CURRENT == 2)); then"
    print "    _describe command commands"
    print "    _arguments '--help' '--version'"
    print "    return\nfi"
    print "local command=$words[2]\nshift words\n((CURRENT--))\ncase $command in"
    for (c = 1; c <= n_commands; c++) {
        print name[c] ")\n    _arguments \\"
        for (o = 1; o <= n_options[c]; o++) {
            action = choices(value[c, o]) != "" ? "(" choices(value[c, o]) ")" : is_file(value[c, o]) ? "_files" : " "
            tail = "[" bare(help[c, o]) "]" (value[c, o] == "" ? "" : ":" bare(value[c, o]) ":" action)
            print "        '--" option[c, o] tail "' \\"
            if (letter[c, o] != "") print "        '-" letter[c, o] tail "' \\"
        }
        print "        '--help[a summary]' '*:file:_files'\n    ;;"
    }
    print "esac"
}
function fish(   c, o, line) {
    print "# fish completion for heed"
    print "complete -c heed -n __fish_use_subcommand -f -l help -s h -d 'this text'"
    print "complete -c heed -n __fish_use_subcommand -f -l version -s V -d 'version, compiler, kernels'"
    for (c = 1; c <= n_commands; c++) print "complete -c heed -n __fish_use_subcommand -f -a " name[c] " -d '" fish_quoted(summary[c]) "'"
    for (c = 1; c <= n_commands; c++)
        for (o = 1; o <= n_options[c]; o++) {
            line = "complete -c heed -n '__fish_seen_subcommand_from " name[c] "' -l " option[c, o]
            if (letter[c, o] != "") line = line " -s " letter[c, o]
            if (choices(value[c, o]) != "") line = line " -x -a '" choices(value[c, o]) "'"
            else if (is_file(value[c, o])) line = line " -r -F"
            else if (value[c, o] != "") line = line " -x"
            print line " -d '" fish_quoted(help[c, o]) "'"
        }
}
function fish_quoted(text) { return replaced(replaced(text, "\\", "\\\\"), "'", "\\'") }
