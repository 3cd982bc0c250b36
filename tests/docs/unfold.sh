# unfold.sh -- for test scripts: what a page says, as files. Source it.
#
#   unfold PAGE short|whole    files of the page, and commands.sh, into the folder we are in
#
# Blocks ```sh are commands; a block ```LANGUAGE FILE is written to FILE. If short, numbers of updates and of lines are made smaller.
unfold() {
    awk -v is_short="$([ "$2" = short ] && echo 1)" '
        function smaller(line, before, by,   n) {
            if (!match(line, before "[0-9]+")) return line
            n = int(substr(line, RSTART + length(before), RLENGTH - length(before)) / by)
            return substr(line, 1, RSTART - 1) before (n < 1 ? 1 : n) substr(line, RSTART + RLENGTH)
        }
        /^```/ { file = in_block || NF == 0 ? "" : $0 == "```sh" ? "commands.sh" : NF == 2 ? $2 : ""; in_block = !in_block; next }
        file == "commands.sh" && is_short { $0 = smaller(smaller(smaller($0, "--updates ", 100), "--valid-every ", 100), "lines=", 40) }
        file != "" { print > file }' "$1"
}
