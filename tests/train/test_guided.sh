#!/bin/sh
# test_guided.sh -- attention that is taught to align: it does, with links of a file and with heed's own; the model's file is the same for
# any number of threads and ranks and after a kill; broken links are told with file and line.
. tests/transcript.sh
. tests/train/corpus.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
cd "$here" || exit 1

# Links of the made-up language follow from its words.
gold() { # SOURCE TARGET LINKS FROM
    paste -d '|' "$1" "$2" | awk -F '|' -v from="$4" '
        BEGIN { n = split("the le a uno red ruga big granda old velta green verda quick rapa cat kato dog hundo house domo tree arbo bird birdo river rivo child infano sees vide likes ame finds trove takes preni hears aude", w, " ")
                for (i = 1; i < n; i += 2) other[w[i]] = w[i + 1] }
        { n = split($1, s, " "); m = split($2, t, " "); line = ""; split("", taken)
          for (i = 1; i <= n; i++)
              for (j = 1; j <= m; j++)
                  if (other[s[i]] == t[j] && !(j in taken)) { taken[j] = 1; line = line (line == "" ? "" : " ") i - 1 + from "-" j - 1 + from; break }
          print line }' >"$3"
}
corpus 31 600 t.en t.fr
corpus 32 40 d.en d.fr
gold t.en t.fr t.links 0
gold d.en d.fr d.gold 1
paste t.en t.fr >t.tsv
paste d.en d.fr >d.tsv
text='--src t.en --tgt t.fr --dev-src d.en --dev-tgt d.fr'
small='--dim 32 --tokens words --patience 0 --warmup 10 --rate 0.005 --valid-metric ce --batch-tokens 256 --updates 200 --valid-every 200 --dropout 0 --ema 0'

learn() { # NAME OPTIONS...
    out=$1
    shift
    # shellcheck disable=SC2086
    timeout 100 "$heed" train $text $small -q --out "$out.safetensors" "$@" >"$out.out" 2>&1
}
same() { # SENTENCE A B
    problem=
    cmp -s "$2.safetensors" "$3.safetensors" || problem="$2 and $3 differ"
    verdict "$1" "$problem" "$(cksum "$2.safetensors" "$3.safetensors" 2>&1; cat "$3.out" 2>/dev/null)"
}
errors() { "$heed" align -q -m "$1.safetensors" --gold d.gold d.en d.fr | sed -n 's/^AER = \([0-9.]*\) %.*/\1/p'; }
better() { # SENTENCE MOST NAME THAN
    problem=$(awk -v most="$2" -v a="$(errors "$3")" -v b="$(errors "$4")" 'BEGIN { if (!(a != "" && a < most && a + 10 < b + 0)) print "AER " a ", without guidance " b }')
    verdict "$1" "$problem" "$(cat "$3.out" "$4.out")"
}

# ---- it aligns ----------------------------------------------------------------------------------------------
for arch in transformer bahdanau; do
    # shellcheck disable=SC2086
    {
        [ $arch = transformer ] && layers='--layers 2 --heads 2 --ffn 64' || layers='--layers 1'
        [ $arch = transformer ] && fixed='--alignment-layer 1' || fixed= # or it would be chosen at the end
        learn plain$arch --arch $arch $layers $fixed
        learn file$arch --arch $arch $layers --guided-alignment t.links
        learn own$arch --arch $arch $layers --guided-alignment self
    }
    better "attention of a $arch aligns when it is guided by links" 25 file$arch plain$arch
    better "and by links that heed finds itself" 25 own$arch plain$arch
done
small='--dim 16 --ffn 16 --heads 2 --layers 1 --patience 0 --warmup 3 --valid-metric ce --vocab-size 200 --batch-tokens 300 --updates 14 --valid-every 7'
expect 'the model knows its head' 0 '*"alignment_layer":1,"alignment_heads":\[0\]*"alignment_shift":1*' '' "$heed" info --json filetransformer.safetensors

# ---- the same bits ---------------------------------------------------------------------------------------------
guided='--guided-alignment self --vary-punctuation 0.3 --join 0.3 --copy 0.3 --placeholders 0.2 --subword-sampling 0.1'
# shellcheck disable=SC2086
{
    learn one $guided -j 1
    learn two $guided -j 2
    learn three $guided -j 3
    learn parts $guided --updates 5 -j 2
    learn parts $guided --updates 14 -j 1
}
same 'guided training is the same for two threads' one two
same 'for three' one three
same 'and for a run in two parts' one parts
# shellcheck disable=SC2086
{
    long="$guided --updates 60 --save-every 5"
    learn whole $long
    "$heed" train $text $small $long -q --out killed.safetensors 2>killed.err & pid=$!
    while kill -0 $pid 2>/dev/null && [ ! -e killed.state.safetensors ]; do sleep 0.02; done
    sleep 0.2
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    learn killed $long
}
same 'and after kill -9' whole killed
if command -v mpirun >/dev/null && [ -e "$(dirname "$heed")/heed_mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    # shellcheck disable=SC2086
    timeout 100 mpirun -n 2 "$heed" train $text $small $guided -q -j 1 --out ranks.safetensors >ranks.out 2>&1
    same 'and for two ranks' one ranks
fi

# ---- a model that was guided, trained further without ------------------------------------------------------------
learn further --from one.safetensors --updates 4 --valid-every 4
learn further --from one.safetensors --updates 8 --valid-every 4
expect 'a model that begins as a guided one keeps its step, also in a run of two parts' 0 '*"alignment_shift":1*' '' "$heed" info --json further.safetensors

# ---- without guidance layer, head and step are chosen at the end ---------------------------------------------------
two='--dim 32 --tokens words --rate 0.005 --batch-tokens 256 --updates 200 --valid-every 100 --dropout 0 --ema 0 --layers 2 --heads 2 --ffn 64 --arch transformer'
# shellcheck disable=SC2086
{
    learn fixed $two --alignment-layer 1
    learn chosen $two -j 1
    learn threads $two -j 3
    learn pieces $two --updates 100
    learn pieces $two --updates 150
    learn pieces $two
    cp pieces.safetensors again.safetensors
    learn pieces $two
}
problem=$(awk -v a="$(errors chosen)" -v b="$(errors fixed)" 'BEGIN { if (!(a != "" && a + 5 < b + 0)) print "AER " a ", of the first layer " b }')
verdict 'the layer that aligns best is chosen' "$problem" "$(cat chosen.out)"
expect 'the model tells' 0 '*"alignment_shift":*' '' "$heed" info --json chosen.safetensors
expect 'a layer that was named stays' 0 '*"alignment_layer":1,"alignment_heads":\[\]*' '' "$heed" info --json fixed.safetensors
same 'the choice is the same for three threads' chosen threads
same 'and for a run in three parts' chosen pieces
same 'and once made it stays' again pieces

# ---- both directions --------------------------------------------------------------------------------------------
text='--pair en-fr=t.tsv fr-en=t.tsv --dev-pair en-fr=d.tsv'
learn file --guided-alignment t.links
learn self --guided-alignment self
"$heed" align -q --method hmm t.en t.fr >own.links
learn own --guided-alignment own.links
same 'a text of both directions has the same links, turned round' self own

# ---- what can be wrong -------------------------------------------------------------------------------------------
text='--src t.en --tgt t.fr --dev-src d.en --dev-tgt d.fr'
refuse() { # SENTENCE STATUS WORDS OPTIONS...
    sentence=$1 status=$2 words=$3
    shift 3
    # shellcheck disable=SC2086
    expect "$sentence" "$status" '' "*$words*" "$heed" train $text $small -q --out refused.safetensors "$@"
}
head -n 5 t.links >few.links
refuse 'links must be as many as pairs' 1 'few.links has 5 lines, but the text t.en has 600' --guided-alignment few.links
sed '7s/.*/0-0 1-99/' t.links >far.links
refuse 'a word must be there' 1 'far.links:7: link 1-99, but the pair has * words' --guided-alignment far.links
sed '9s/.*/0-0 1:1/' t.links >crooked.links
refuse 'a link must be one' 1 "crooked.links:9: '1:1' is no link" --guided-alignment crooked.links
refuse 'a file must be there' 1 'nowhere.links: there is no such file' --guided-alignment nowhere.links
refuse 'a file for each text' 2 'there are 1 different files of text and 2 of links' --guided-alignment t.links d.gold
small='--patience 0 --valid-metric ce --vocab-size 200 --batch-tokens 300 --updates 14 --layers 1'
refuse 'without attention nothing can be guided' 2 'guided-alignment teaches attention*has none' --guided-alignment self --arch seq2seq --dim 16
refuse 'one head is guided' 2 'guided-alignment teaches one head' --guided-alignment self --alignment-heads 0,1
learn two --guided-alignment t.links --fresh --dim 16
refuse 'other links are another text' 2 'the text is not the one that*' --guided-alignment self --out two.safetensors --dim 16
finish
