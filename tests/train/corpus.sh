# corpus.sh -- for test scripts: sentence pairs of a made-up language, without python and the same under every awk.
#
#   corpus SEED N SOURCE TARGET    "the red cat sees a house" and, word by word but the noun first, "le kato ruga vide uno domo"
corpus() {
    awk -v seed="$1" -v n="$2" -v source="$3" -v target="$4" '
        function below(m) { state = (state * 16807) % 2147483647; return int(state / 7) % m }
        function noun_phrase(   d, a, k) {
            d = below(2); a = below(2) ? below(n_adjectives) + 1 : 0; k = below(n_nouns) + 1
            s = s determiner[1, d] " " (a ? adjective[1, a] " " : "") noun[1, k] " "
            t = t determiner[2, d] " " noun[2, k] " " (a ? adjective[2, a] " " : "")
        }
        function learn(table, words,   i, pairs) {
            pairs = split(words, list, " ") / 2
            for (i = 1; i <= pairs; i++) { table[1, i] = list[2 * i - 1]; table[2, i] = list[2 * i] }
            return pairs
        }
        BEGIN {
            state = seed * 7919 + 1
            determiner[1, 0] = "the"; determiner[2, 0] = "le"; determiner[1, 1] = "a"; determiner[2, 1] = "uno"
            n_adjectives = learn(adjective, "red ruga big granda old velta green verda quick rapa")
            n_nouns = learn(noun, "cat kato dog hundo house domo tree arbo bird birdo river rivo child infano")
            n_verbs = learn(verb, "sees vide likes ame finds trove takes preni hears aude")
            for (i = 0; i < n; i++) {
                s = t = ""
                noun_phrase()
                k = below(n_verbs) + 1; s = s verb[1, k] " "; t = t verb[2, k] " "
                noun_phrase()
                sub(/ $/, "", s); sub(/ $/, "", t)
                print s >source
                print t >target
            }
        }' </dev/null
}
