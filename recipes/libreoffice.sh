#!/bin/sh
# libreoffice.sh -- a translator from English into any of LibreOffice's 120 languages, from what its translators wrote.
#
#   recipes/libreoffice.sh LANG [OPTION...]     such as cy or pt-BR; options are those of `heed train`, such as --hours 3
#
# 1. fetches the translations in the source package of Debian 12 (LibreOffice 7.4.7, 200 MB, once for all languages), and checks their sum;
# 2. makes pairs of menus, dialogs and help: one text each, tags and marks of shortcut keys gone;
# 3. holds out 1,000 pairs for validation and 1,000 as test set (fewer of small texts). Texts that differ only in capitals and punctuation
#    are one text here, so nothing of the test set was learned, nor the like of it;
# 4. trains for an hour, or as long as --hours says, and evaluates. The same command goes on where it was interrupted.
#
# All of it is in build/libreoffice (FOLDER names another place): train.LANG.tsv, dev.LANG.tsv, test.LANG.tsv, en-LANG.safetensors.
# TURN=1 trains from LANG into English instead, LANG-en.safetensors. HEED names the program (build/heed), MIRROR a mirror of
# Debian; without it the archive comes from where apt has its packages from.
# The text is LibreOffice's, under MPL-2.0; its name goes into the model's record. It is never part of heed's repository.
set -eu
folder=${FOLDER:-build/libreoffice}
heed=${HEED:-build/heed}
archive=libreoffice_7.4.7.orig-translations.tar.xz
sum=cf772d54d17fa58318dcecd064c520481d0f98a16b872d899098df3a321c247f
case ${1:-} in
'' | -*)
    echo 'usage: recipes/libreoffice.sh LANG [OPTION...], such as: recipes/libreoffice.sh cy --hours 0.5' >&2
    exit 2 ;;
esac
lang=$1
shift
say() { echo "libreoffice.sh: $*" >&2; }
for program in curl xz tar sha256sum; do
    command -v $program >/dev/null || { say "there is no $program here; install it and run the command again"; exit 1; }
done
mkdir -p "$folder"

# The archive stays; its list of languages, too, as looking it up takes half a minute.
is_whole() { [ -f "$folder/$archive" ] && echo "$sum  $folder/$archive" | sha256sum --check --status; }
if [ ! -f "$folder/languages" ]; then
    for mirror in ${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | sort -u)}; do
        ! is_whole || break
        say "fetching $archive from $mirror, 200 MB"
        curl --fail --location --continue-at - --output "$folder/$archive" "${mirror%/}/pool/main/libr/libreoffice/$archive" || true
    done
    if ! is_whole; then
        say "$folder/$archive could not be fetched, or is damaged; remove it and try again, or name a mirror by MIRROR"
        exit 1
    fi
    tar -tJf "$folder/$archive" | sed -n 's|^translations/source/\([^/]*\)/$|\1|p' | sort >"$folder/languages.new"
    mv "$folder/languages.new" "$folder/languages"
fi
if ! grep -qxF -e "$lang" "$folder/languages"; then
    say "LibreOffice has no language '$lang'; it has $(grep -v '^en' "$folder/languages" | tr '\n' ' ')"
    exit 1
fi

# pairs: PO files to lines of English, TAB, translation. Messages that are fuzzy, untranslated, or of several forms are left out.
pairs() {
    awk '
        # What a quoted line says.
        function unquote(text) {
            sub(/^[^"]*"/, "", text); sub(/"[ \t\r]*$/, "", text)
            gsub(/\\\\/, "\001", text); gsub(/\\n|\\t|\\r/, " ", text); gsub(/\\"/, "\"", text); gsub(/\001/, "\\", text)
            return text
        }
        # Tags go; the mark of a shortcut key goes from menus and dialogs, where there is one: ~File, Save _As, (~F).
        function plain(text,    rest) {
            gsub(/<[^<>]*>/, "", text)
            gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text); gsub(/&amp;/, "\\&", text)
            gsub(/%PRODUCTNAME|\$\[officename\]|%productname%/, "LibreOffice", text)
            if (!is_help) {
                sub(/ ?\([~_][A-Za-z0-9]\)/, "", text)
                rest = text
                if (gsub(/[~_]/, "", rest) == 1 && match(text, /[~_][^ ~_]/))
                    text = rest
            }
            gsub(/[ \t]+/, " ", text); gsub(/^ | $/, "", text)
            return text
        }
        function tell(    from, to) {
            from = plain(id); to = plain(str)
            if (id != "" && str != "" && !is_fuzzy && !is_plural && from != to && from ~ /[A-Za-z][A-Za-z]/ && from !~ /[a-z]\.[a-z]|[_{}=]/)
                print from "\t" to
            id = str = part = ""; is_fuzzy = is_plural = 0
        }
        FNR == 1 { tell(); is_help = FILENAME ~ /helpcontent2/ }
        /^[ \t\r]*$/ { tell(); next }
        /^#,.*fuzzy/ { is_fuzzy = 1 }
        /^#/ { next }
        /^msgctxt/ { part = "context"; next }
        /^msgid_plural/ { is_plural = 1; part = ""; next }
        /^msgid/ { if (part == "str") tell(); part = "id"; id = unquote($0); next }
        /^msgstr/ { part = "str"; str = str unquote($0); next }
        /^[ \t]*"/ && part == "id" { id = id unquote($0) }
        /^[ \t]*"/ && part == "str" { str = str unquote($0) }
        END { tell() }' "$@"
}

# in_order: each pair once, in an order that is random but always the same, by a number made of the letters of the English text.
in_order() {
    LC_ALL=C awk -F '\t' '
        BEGIN { letters = "abcdefghijklmnopqrstuvwxyz0123456789" }
        !seen[$0]++ {
            key = tolower($1); gsub(/[^a-z0-9]/, "", key)
            for (i = 1; i <= length(key); i++)
                hash = (hash * 37 + index(letters, substr(key, i, 1))) % 999983
            printf "%d\t%s\t%s\n", (hash * 7919) % 999983, key, $0
            hash = 0
        }' | LC_ALL=C sort -t "$(printf '\t')" -k 1,1n -k 2
}

train=$folder/train.$lang.tsv dev=$folder/dev.$lang.tsv test=$folder/test.$lang.tsv
if [ ! -f "$train" ]; then
    say "unpacking and reading the translations into $lang"
    mkdir -p "$folder/unpacked.$lang"
    tar -xJf "$folder/$archive" -C "$folder/unpacked.$lang" "translations/source/$lang"
    find "$folder/unpacked.$lang" -name '*.po' | LC_ALL=C sort >"$folder/files.$lang"
    while read -r file; do pairs "$file"; done <"$folder/files.$lang" | in_order >"$folder/pairs.$lang"
    n=$(wc -l <"$folder/pairs.$lang")
    if [ "$n" -lt 2000 ]; then
        say "only $n messages of LibreOffice are translated into $lang, too few to learn from; choose another language"
        exit 1
    fi
    awk -F '\t' -v n="$n" -v test="$test" -v dev="$dev" -v train="$train.new" '
        BEGIN { size = n / 20 < 1000 ? int(n / 20) : 1000 }
        # A set is full when it has its size and a new text begins.
        { out = $2 == key ? out : NR <= size ? test : n_dev < size ? dev : train; key = $2; n_dev += out == dev; print $3 "\t" $4 >out }' "$folder/pairs.$lang"
    rm -r "$folder/unpacked.$lang" "$folder/files.$lang" "$folder/pairs.$lang"
    mv "$train.new" "$train"
fi
say "$(wc -l <"$train") pairs to learn, $(wc -l <"$dev") for validation, $(wc -l <"$test") for the test, in $folder"

# A name of languages has letters, digits and _ alone.
name=$(echo "$lang" | tr -- '-@' '__')
if [ -n "${TURN:-}" ]; then
    pair=$name-en
    for file in "$train" "$dev" "$test"; do
        awk -F '\t' '{ print $2 "\t" $1 }' "$file" >"${file%.tsv}-en.tsv"
    done
    train=${train%.tsv}-en.tsv dev=${dev%.tsv}-en.tsv test=${test%.tsv}-en.tsv
else
    pair=en-$name
fi
model=$folder/$pair.safetensors
head -n 300 "$dev" >"$folder/valid.$pair.tsv"
"$heed" train --pair "$pair=$train" --dev-pair "$pair=$folder/valid.$pair.tsv" --exclude "$dev" "$test" --clean all \
    --licence 'MPL-2.0' --attribution 'LibreOffice contributors, MPL-2.0' \
    --hours 1 --out "$model" "$@"
say 'evaluating on the test set'
"$heed" eval -m "$model" --tsv "$test"
say "try it: echo 'Save the file' | $heed translate -m $model"
