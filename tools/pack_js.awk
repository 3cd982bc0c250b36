# pack_js.awk -- a script without comments and needless spaces, for what is embedded. Lines are joined only behind a character after which
# no statement can end unsaid, so nothing depends on where semicolons would be put in; strings, templates and regular expressions stay as they are.
#
# What it asks of the scripts: a template has no template inside, and neither it nor a regular expression goes over the end of a line.

function is_name(c) { return c ~ /[A-Za-z0-9_$]/ || c > "~" }

# The end of what begins at i with the character q.
function end_of(line, i, q,    in_class, c) {
    for (i++; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\\") i++
        else if (q == "/" && c == "[") in_class = 1
        else if (q == "/" && c == "]") in_class = 0
        else if (c == q && !in_class) return i
    }
    print FILENAME ":" FNR ": what begins with " q " does not end in this line" > "/dev/stderr"
    exit 1
}

{
    out = ""
    last = "" # character that was written last
    has_gap = 0
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (c == " ") {
            has_gap = 1
            continue
        }
        if (substr($0, i, 2) == "//" ) break
        if (has_gap && out != "" && ((is_name(last) && is_name(c)) || ((last == "+" || last == "-") && c == last))) out = out " "
        has_gap = 0
        is_regex = c == "/" && (out == "" || index("(,=:[!&|?{};", last))
        if (c == "'" || c == "\"" || c == "`" || is_regex) {
            j = end_of($0, i, c)
            out = out substr($0, i, j - i + 1)
            i = j
            last = c
        } else {
            out = out c
            last = c
        }
    }
    if (out != "") printf "%s%s", out, index(";{,([", last) ? "" : "\n"
}
