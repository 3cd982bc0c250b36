#!/bin/sh
# heed convert: folders of transformers become models that translate, align, are quantised and trained further; models become folders; what
# cannot be is said in a sentence. The folders of tests/model/hf are small and random, made by tools/hf_golden.py.
. tests/transcript.sh
heed=$PWD/$BUILD/heed
case $BUILD in /*) heed=$BUILD/heed ;; esac
hf=$PWD/tests/model/hf
cd "$here" || exit 1
plain='--split never --protect no --restore-case no -q'
printf 'a small cat sees a big dog\nthe dog sees the small cat\na cat and a dog and a bird\n' >text.en
printf 'god gib a sees tac llams a\ntac llams eht sees god eht\ndrib a dna god a dna tac a\n' >text.xx
paste text.en text.xx >text.tsv

for kind in tied zip old separate untied gelu-new tanh pegasus; do
    expect "$kind: a folder is converted" 0 '' '' "$heed" convert "$hf/$kind" -o $kind.heed
    # shellcheck disable=SC2086
    "$heed" translate -m $kind.heed -b 1 $plain text.en >$kind.out
    expect "$kind: it translates" 0 '3' '' sh -c "wc -l <$kind.out | tr -d ' '"
    expect "$kind: it aligns" 0 '*' '' "$heed" align -q -m $kind.heed text.en text.xx
    expect "$kind: it is quantised" 0 '' '' "$heed" convert $kind.heed --store int8 -o $kind.int8.heed
    expect "$kind: and translates in 8 bits" 0 '*' '' "$heed" translate -m $kind.int8.heed -q text.en
    data='--src text.en --tgt text.xx --dev-src text.en --dev-tgt text.xx'
    [ $kind = zip ] && data='--pair en-deu=text.tsv --dev-pair en-deu=text.tsv'
    # shellcheck disable=SC2086
    expect "$kind: it is trained further" 0 '*' '*' "$heed" train --from $kind.heed $data --updates 2 --valid-every 2 -o $kind.more.heed
    expect "$kind: and translates" 0 '*' '' "$heed" translate -m $kind.more.heed -q text.en
    expect "$kind: it becomes a folder" 0 '' '' "$heed" convert $kind.heed --to hf -o $kind.folder
    expect "$kind: which is converted again" 0 '' '' "$heed" convert $kind.folder -o $kind.again.heed
    # shellcheck disable=SC2086
    "$heed" translate -m $kind.again.heed -b 1 $plain text.en >$kind.again
    expect "$kind: and says the same" 0 '' '' cmp $kind.out $kind.again
    "$heed" score -m $kind.heed text.en text.xx >$kind.scores 2>/dev/null
    "$heed" score -m $kind.again.heed text.en text.xx >$kind.scores.again 2>/dev/null
    expect "$kind: with the same scores" 0 '' '' cmp $kind.scores $kind.scores.again
done

# A language is chosen by option or in the text.
echo 'a small cat' | "$heed" translate -m zip.heed --to deu -q >by.option
echo '>>deu<< a small cat' | "$heed" translate -m zip.heed -q >by.text
echo 'a small cat' | "$heed" translate -m zip.heed --to fra -q >other
expect 'a language may stand in the text' 0 '' '' cmp by.option by.text
expect 'another language is another text' 1 '*' '*' cmp by.option other
expect 'languages are told' 0 '*en-fra, en-deu*' '' "$heed" info zip.heed

# Back: what cannot be said there.
expect 'a folder is not written over' 1 '' '*tied.folder: there is something of this name already*' "$heed" convert tied.heed --to hf -o tied.folder
expect 'nothing is left behind' 0 '' '' sh -c 'ls -d tied.folder.* 2>/dev/null || true'
expect 'int8 is not for folders' 1 '' '*f32, f16 or bf16*' "$heed" convert tied.heed --to hf --store int8 -o new
expect 'the model inside becomes one, too' 0 '' '' "$heed" convert default --to hf -o inside
expect 'half floats are' 0 '' '' "$heed" convert tied.heed --to hf --store f16 -o half
"$heed" train --arch bahdanau --size tiny --dim 16 --src text.en --tgt text.xx --dev-src text.en --dev-tgt text.xx --updates 1 --tokens chars -o rnn.heed >/dev/null 2>&1
expect 'recurrent models cannot be said' 1 '' '*transformers cannot express this model: it is recurrent*' "$heed" convert rnn.heed --to hf -o new
"$heed" train --arch transformer --size tiny --dim 16 --heads 2 --ffn 16 --norm post --src text.en --tgt text.xx --dev-src text.en --dev-tgt text.xx --updates 1 --tokens chars -o chars.heed >/dev/null 2>&1
expect 'nor are characters' 1 '' '*its vocabulary is no SentencePiece model*' "$heed" convert chars.heed --to hf -o new

# Broken folders.
broken() { # NAME WORDS: `broken` is a copy of a folder with a fault
    expect "$1" 1 '' "*$2*" "$heed" convert broken -o never.heed
    rm -rf broken
}
fresh() { cp -r "$hf/$1" broken && chmod -R u+w broken; }
mkdir broken && broken 'an empty folder' 'this folder has neither the config.json of a model of Hugging Face'"'"'s transformers nor the model.bin'
fresh tied && rm broken/model.safetensors && broken 'no weights' 'neither model.safetensors nor pytorch_model.bin'
fresh tied && mv broken/model.safetensors broken/model-00001-of-00001.safetensors && echo '{}' >broken/model.safetensors.index.json && broken 'cut weights' 'cut into several files*save_pretrained'
fresh tied && rm broken/vocab.json && broken 'no list' 'broken/vocab.json: there is no such file'
fresh tied && rm broken/source.spm && broken 'no model that cuts' 'broken/source.spm: there is no such file'
fresh tied && echo 'x' >broken/source.spm && broken 'a model that is none' 'broken/source.spm: *'
fresh tied && echo '{"a": 1, "a": 2}' >broken/vocab.json && broken 'a token twice' 'duplicate'
fresh tied && echo '{"a": 1, "b": 1}' >broken/vocab.json && broken 'an id twice' 'have the same id, 1'
fresh tied && echo '{"a": 999}' >broken/vocab.json && broken 'an id beyond' 'has the id 999'
fresh tied && echo '{"a": -1}' >broken/vocab.json && broken 'a negative id' 'has no number from 0 on'
fresh tied && echo '[]' >broken/config.json && broken 'a configuration that is a list' 'this is no JSON object'
fresh tied && sed -i 's/"marian"/"bart"/' broken/config.json && broken 'another model' "its model_type is 'bart'"
fresh tied && sed -i 's/"swish"/"quick_gelu"/' broken/config.json && broken 'another activation' "activation_function is 'quick_gelu'"
fresh tied && sed -i 's/"decoder_ffn_dim": 12/"decoder_ffn_dim": 16/' broken/config.json && broken 'two widths' 'encoder_ffn_dim is 12 and decoder_ffn_dim is 16'
fresh tied && sed -i 's/"d_model": 8/"d_model": 16/' broken/config.json && broken 'another width' 'its configuration asks for'
fresh tied && sed -i 's/"d_model": 8/"d_model": 60000/' broken/config.json && broken 'a width that is not there' 'numbers, but it holds'
fresh tied && sed -i 's/"eos_token_id": 0/"eos_token_id": 5/' broken/config.json && broken 'another end' 'eos_token_id in config.json is 5'
fresh tied && head -c 5000 "$hf/tied/model.safetensors" >broken/model.safetensors && broken 'weights that were cut' 'model.safetensors'
fresh zip && head -c 9000 "$hf/zip/pytorch_model.bin" >broken/pytorch_model.bin && broken 'a zip that was cut' 'there is no directory at the end'
fresh old && head -c 9000 "$hf/old/pytorch_model.bin" >broken/pytorch_model.bin && broken 'pickles that were cut' 'its pickle ends too early'
expect 'a folder has its vocabularies' 1 '' '*leave out --vocab*' "$heed" convert "$hf/tied" --vocab x.spm -o never.heed
expect 'a file of such a folder is no model of heed' 1 '' '*of transformers by the name of their folder*' "$heed" convert "$hf/tied/model.safetensors" -o never.heed
# ---- nothing is written over what is no file of tensors ----
echo notes >"$here/notes.txt"
expect 'another kind of file is not written over' 2 '' '*notes.txt is there already and is another kind of file*' "$heed" convert tests/translate/toy.safetensors -o "$here/notes.txt"
problem=
[ "$(cat "$here/notes.txt")" = notes ] || problem='notes.txt has changed'
verdict 'and stays as it was' "$problem" ''
finish
