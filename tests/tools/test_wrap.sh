#!/bin/sh
# test_wrap.sh -- prose of pages is wrapped at 120 columns, and all else stays as it is.
. tests/transcript.sh

if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not here'
    exit 0
fi
ten='one two three four five six seven eight nine ten'
cat >"$here/page.md" <<END
# A heading that is longer than the others: $ten $ten $ten

Short lines stay
where they are.

A paragraph: $ten $ten and then \`code of several words stays whole\` and [a link](../somewhere/far/away/in/another/folder/of/this/project.md#heading).
Its second line joins.
- An item that begins a list: $ten $ten $ten
  and goes on here, $ten.
   1. An item inside: $ten $ten nobody was born in 1990, nor was $ten
> A quotation: $ten $ten $ten
> that goes on.

| a table | $ten $ten $ten |
|---|---|

\`\`\`sh
a command of many words $ten $ten $ten
\`\`\`

\$\$ a formula: $ten $ten $ten \$\$

<p>HTML $ten $ten $ten</p>

$ten $ten four more words, and now - a dash that begins no line, but is glued to a word
END
cat >"$here/wanted.md" <<END
# A heading that is longer than the others: $ten $ten $ten

Short lines stay
where they are.

A paragraph: $ten $ten and then
\`code of several words stays whole\` and [a link](../somewhere/far/away/in/another/folder/of/this/project.md#heading).
Its second line joins.
- An item that begins a list: one two three four five six seven eight nine ten one two three four five six seven eight
  nine ten one two three four five six seven eight nine ten and goes on here, one two three four five six seven eight
  nine ten.
   1. An item inside: one two three four five six seven eight nine ten one two three four five six seven eight nine ten
      nobody was born in 1990, nor was $ten
> A quotation: one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two
> three four five six seven eight nine ten that goes on.

| a table | $ten $ten $ten |
|---|---|

\`\`\`sh
a command of many words $ten $ten $ten
\`\`\`

\$\$ a formula: $ten $ten $ten \$\$

<p>HTML $ten $ten $ten</p>

$ten $ten four more words, and
now - a dash that begins no line, but is glued to a word
END
cp "$here/page.md" "$here/before.md"
expect 'lines that are too long are named' 1 '' '*page.md:6: longer than 120 columns; tools/wrap_markdown.py wraps it*page.md:8: longer*page.md:10: longer*page.md:11: longer*page.md:25: longer*' \
    tools/wrap_markdown.py --check "$here/page.md"
expect 'and stay' 0 '' '' cmp "$here/page.md" "$here/before.md"
expect 'a page is wrapped' 0 '' '' tools/wrap_markdown.py "$here/page.md"
expect 'prose alone, code and links whole' 0 '' '' diff "$here/wanted.md" "$here/page.md"
expect 'then nothing is too long' 0 '' '' tools/wrap_markdown.py --check "$here/page.md"
finish
