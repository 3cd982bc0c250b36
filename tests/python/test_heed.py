"""heed for Python, as people use it; run by test_package.sh with the package installed."""
import asyncio
import copy
import gc
import inspect
import json
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import heed


@pytest.fixture(scope="module")
def translator():
    with heed.Translator() as t:
        yield t


def test_the_model_inside_translates():
    result = heed.translate("I love my cat.")
    assert isinstance(result, str) and "chat" in result


def test_a_result_is_a_string_that_knows_how_it_was_made(translator):
    r = translator.translate("I love my cat.")
    assert r == str(r) and r.source == "I love my cat."
    assert [w.text for w in r.source_words] == ["I", "love", "my", "cat."]
    assert " ".join(w.text for w in r.words) == r
    assert r.logprob < 0 and 0 < r.confidence <= 1 and r.alternatives == [] and r.warnings == []
    assert all(0 <= k.source < 4 and 0 <= k.target < len(r.words) for k in r.links)
    assert r.sentences == [(0, len(r.source), 0, len(r))]
    assert r.json()["translations"][0]["text"] == r


def test_attention_has_a_row_per_word_and_outlives_its_result(translator):
    numpy = pytest.importorskip("numpy")
    r = translator.translate("I love my cat.")
    a, end, shape = r.attention, r.attention_end, (len(r.words), 4)
    expected = [list(map(float, row)) for row in r.json()["translations"][0]["attention"]]
    del r
    gc.collect()
    assert a.shape == shape and a.dtype == numpy.float32 and not a.flags.writeable
    assert numpy.allclose(a.sum(axis=1) + end, 1, atol=1e-4)
    assert numpy.allclose(a, expected, atol=1e-4)


def test_a_model_answers_questions_about_documents(tmp_path):
    names, places = "anna bert carl dora".split(), "kitchen cellar garden attic".split()
    with open(tmp_path / "qa.tsv", "w") as f:
        for i in range(240):
            who, where, other, there = names[i % 4], places[i // 4 % 4], names[(i + 1) % 4], places[(i // 16 + 1) % 4]
            f.write(f"{who} is in the {where} . {other} is in the {there} .\twhere is {who if i % 3 else other} ?\t")
            f.write(f"{where}\t4\n" if i % 3 else f"{there}\t10\n")
    heed.train(tsv=tmp_path / "qa.tsv", dev_tsv=tmp_path / "qa.tsv", out=tmp_path / "qa.safetensors", task="span", tokens="words", arch="bahdanau",
               dim=16, hops=2, rate=0.01, warmup=20, batch_tokens=600, updates=60, valid_every=60, threads=1)
    with heed.Translator(tmp_path / "qa.safetensors") as t:
        r = t.translate("anna is in the attic . dora is in the cellar .\twhere is dora ?")
        assert r.source == "anna is in the attic . dora is in the cellar ." and r.question == "where is dora ?"
        assert r == r.answer.text == r.source[r.answer.start : r.answer.end]
        assert 0 < r.answer.probability <= 1 and r.confidence == r.answer.probability
        assert len(r.attention) == 2 and len(r.attention[0]) == len(r.source_words) == 12
        assert r.json()["answer"]["text"] == r and "start" in r.show()
        assert t.translate("anna is here .\t").answer is None
        alone = t.translate("anna is in the attic .")
        assert alone.answer is None and "a TAB and a question" in alone.warnings[0]
    scores = heed.score_answers(["The cellar.", "attic"], ["cellar", "a garden"])
    assert scores.exact == scores.f1 == 50 and scores.n == 2


def test_lists_come_back_as_lists_in_order(translator):
    texts = ["One.", "Two birds.", "", "I love my cat."]
    assert translator.translate(texts) == [translator.translate(t) for t in texts]
    assert translator.translate([]) == []


def test_options_hold_for_a_call_and_are_those_of_the_command_line(translator):
    r = translator.translate("I love my cat.", n_best=3, beam=5)
    assert len({r, *r.alternatives}) == 3 and r.score >= r.alternatives[0].score
    assert translator.translate("I love my cat.").alternatives == []
    assert len(translator.translate(["One.", "Two."], n_best=2)[1].alternatives) == 1


def test_errors_carry_the_sentence(translator):
    with pytest.raises(heed.OptionError, match="there is no option 'beem'; did you mean beam"):
        translator.translate("x", beem=3)
    with pytest.raises(ValueError, match="beam must be a whole number"):
        heed.Translator(beam="x")
    with pytest.raises(heed.FileError, match="no such file"):
        heed.Translator("missing.safetensors")
    with pytest.raises(OSError):
        heed.Translator("missing.safetensors")
    with pytest.raises(TypeError, match="must be a str"):
        translator.translate(["a", 3])
    with pytest.raises(heed.TextError, match="NUL"):
        translator.translate("a\0b")


def test_a_closed_translator_says_so():
    t = heed.Translator()
    t.translate("Hello.", beam=2)
    t.close()
    t.close()
    with pytest.raises(ValueError, match="closed"):
        t.translate("Hello.")


def test_text_that_is_no_character_gives_a_warning(translator):
    assert translator.translate("a \ud800 b").warnings


def test_align_and_score(translator):
    r = translator.align("I love my cat.", "J'aime mon chat.")
    assert (3, 2) in r.links and r == "J'aime mon chat."
    one = translator.score("I love my cat.", "J'aime mon chat.")
    assert one == r.logprob and translator.score(["I love my cat."], ["J'aime mon chat."]) == [one]
    assert translator.complete("I love my cat.", "J'aime").startswith("J'aime")
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        translator.align(["a", "b"], ["c"])


def test_threads_get_the_same_answers(translator):
    texts = [f"I have {n} cats and {n} dogs." for n in range(12)]
    expected, seen = translator.translate(texts), [None] * 12

    def work(i):
        seen[i] = translator.translate(texts[i]) if i % 2 else translator.translate(texts[i], beam=5)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert seen == expected


def test_asyncio_awaits_translations(translator):
    texts = ["One.", "Two birds.", "I love my cat."]

    async def all_of_them():
        return await asyncio.gather(*(translator.translate_async(t) for t in texts))

    async def cancelled():
        task = asyncio.ensure_future(translator.translate_async("I love my cat. " * 200, beam=40))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert asyncio.run(all_of_them()) == translator.translate(texts)
    asyncio.run(cancelled())


def test_results_draw_themselves(translator, tmp_path):
    r = translator.translate("I love my <cat>.")
    assert "&lt;" in r._repr_html_() and "<cat>" not in r._repr_html_()
    assert "(end)" in r.show()
    try:
        r.plot(tmp_path / "a.svg", title="Attention", style="matrix")
    except heed.FileError as e:
        assert "heed_draw" in str(e)
        pytest.skip("pictures are not part of this build")
    assert "<svg" in (tmp_path / "a.svg").read_text() and "<svg" in r._repr_svg_()
    with pytest.raises(heed.OptionError, match="style must be one of"):
        r.svg(style="round")


def test_a_model_tells_what_it_is(translator):
    m = translator.model
    assert m.architecture == "transformer" and m.has_attention and "parameters" in str(m)
    assert m.info["config"]["dim"] > 0 if "config" in m.info else json.dumps(m.info)


def test_evaluation_is_that_of_sacrebleu():
    e = heed.evaluate(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert abs(e.bleu - 53.728497) < 1e-4 and e.n_sentences == 1 and "tok:13a" in e.signature
    with pytest.raises(heed.OptionError, match="metrics must be some of"):
        heed.evaluate("a", "b", metrics=["blue"])


SMALL = dict(tokens="words", dim=8, ffn=8, heads=2, layers=1, seed=3, threads=1, fresh=True)


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a b {i % 7}\t{i % 7} b a\n" for i in range(300)))
    return path


def test_training_tells_what_happens_and_leaves_a_model(tmp_path, pairs):
    events = []
    path = heed.train(tsv=pairs, out=tmp_path / "m.safetensors", updates=20, callback=events.append, **SMALL)
    assert {"says", "learned", "validated"} <= {e.news for e in events}
    assert max(e.update for e in events) == 20
    with heed.Translator(path) as t:
        assert isinstance(t.translate("a b 3"), str)


def test_training_stops_when_the_caller_says_so(tmp_path, pairs):
    path = heed.train(tsv=pairs, out=tmp_path / "m.safetensors", updates=10000, callback=lambda e: e.news != "learned", **SMALL)
    assert pathlib.Path(path.replace(".safetensors", ".state.safetensors")).exists()
    with pytest.raises(heed.OptionError, match="did you mean"):
        heed.train(tsv=pairs, out=tmp_path / "n.safetensors", updats=3)


def test_what_a_callback_raises_comes_out(tmp_path, pairs):
    def broken(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        heed.train(tsv=pairs, out=tmp_path / "m.safetensors", updates=10, callback=broken, **SMALL)


def interrupted(code, ready):
    """Runs a program, presses Ctrl-C when it has printed `ready`."""
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in p.stdout:
        if line.strip() == ready:
            break
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate()
    return p.returncode, err


def test_ctrl_c_saves_a_training(tmp_path, pairs):
    code = f"""
import heed
def tell(e):
    if e.news == "learned": print("going", flush=True)
heed.train(tsv={str(pairs)!r}, out={str(tmp_path / "m.safetensors")!r}, updates=10**8, patience=0, callback=tell, **{SMALL!r})
"""
    status, err = interrupted(code, "going")
    assert status != 0 and "KeyboardInterrupt" in err
    assert (tmp_path / "m.state.safetensors").exists()


def test_ctrl_c_ends_a_few_long_texts_and_nothing_else():
    code = """
import threading, heed
t = heed.Translator(beam=20, split="never")
other, said = heed.Translator(), []
def go_on():
    while len(said) < 2:
        said.append(other.translate(["Good morning!"] * 300) and "done")
worker = threading.Thread(target=go_on)
worker.start()
print("going", flush=True)
try:
    t.translate([" ".join(["The red house is very old."] * 2000)] * 3)
finally:
    worker.join()
    print(said, t.translate("Good morning!"), flush=True)
"""
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "going\n"
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate()
    assert p.returncode != 0 and "KeyboardInterrupt" in err
    assert "ignored" not in err and "CancelledError" not in err
    assert out.startswith("['done', 'done'] Bonjour")


def test_ctrl_c_ends_a_long_translation():
    code = """
import heed
t = heed.Translator(beam=20)
print("going", flush=True)
t.translate(["The red house is very old and very large indeed, is it not?"] * 200000)
"""
    status, err = interrupted(code, "going")
    assert status != 0 and "KeyboardInterrupt" in err


def test_results_can_be_pickled_and_copied(translator):
    t = translator.translate("I love my red cat.", n_best=2, attention="cross")
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), copy.copy(t)):
        assert other == t and type(other) is heed.Translation
        for name in ("score", "logprob", "confidence", "words", "source_words", "links", "sentences", "warnings", "source", "subwords", "source_subwords", "heard"):
            assert getattr(other, name) == getattr(t, name), name
        assert [str(a) for a in other.alternatives] == [str(a) for a in t.alternatives] and len(other.alternatives) == 1
        assert (other.attention == t.attention).all() and (other.subword_attention == t.subword_attention).all()
        assert other.json() == t.json() and other.svg() == t.svg() and other.show() == t.show()
        assert pickle.loads(pickle.dumps(other)).json() == t.json()
    plain = translator.translate("Good morning!", attention="none")
    assert pickle.loads(pickle.dumps(plain)).attention is None


def test_files_are_translated_as_on_the_command_line(translator, tmp_path):
    film = tmp_path / "film.srt"
    film.write_bytes(b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Good morning!</i>\r\n")
    made = translator.translate_file(film, tmp_path / "out.srt")
    assert made == "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Bonjour !</i>\r\n"
    assert (tmp_path / "out.srt").read_bytes().decode() == made
    po = tmp_path / "a.po"
    po.write_text('msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "Good morning!"\nmsgstr ""\n\nmsgid "a"\nmsgstr "b"\n')
    with pytest.warns(UserWarning, match="1 of 2 messages have a translation"):
        assert 'msgstr "Guten Morgen!"' in translator.translate_file(po)
    with pytest.warns(UserWarning):
        assert 'msgstr "Bonjour !"' in translator.translate_file(po, to="fr")
    (tmp_path / "a.txt").write_text("Good morning!\n\nGood morning!\n")
    assert translator.translate_file(tmp_path / "a.txt") == "Bonjour !\n\nBonjour !\n"
    with pytest.raises(heed.OptionError, match="format must be one of"):
        heed.Translator(format="docx")
    with pytest.raises(heed.OptionError, match="a table can be learned from"):
        (tmp_path / "a.csv").write_text("a,b\n")
        translator.translate_file(tmp_path / "a.csv")


def test_a_language_model_helps_the_search(tmp_path):
    with pytest.raises(heed.FileError, match="none.safetensors"):
        heed.Translator(lm=tmp_path / "none.safetensors")
    with pytest.raises(heed.OptionError, match="language model"):
        heed.Translator(lm=heed.Model(), lm_weight=0.3)


def test_models_are_converted(tmp_path):
    folder = heed.convert("default", tmp_path / "folder", to="hf")
    assert (tmp_path / "folder" / "config.json").exists()
    back = heed.convert(folder, tmp_path / "back.safetensors", store="f16", licence="ours")
    assert "ours" in json.dumps(heed.Model(back).info)
    with pytest.raises(heed.OptionError, match="store must be one of"):
        heed.convert("default", tmp_path / "x", store="f8")
    with pytest.raises(heed.Error, match="no such"):
        heed.convert(tmp_path / "none", tmp_path / "x")


def test_everything_has_a_docstring():
    for kind in (heed.Model, heed.Translator, heed.Translation):
        for name, member in vars(kind).items():
            assert name.startswith("_") or not (callable(member) or isinstance(member, property)) or inspect.getdoc(member), f"{kind.__name__}.{name}"


def test_modules_are_in_the_wheel(translator):
    assert translator.translate("I <b>love</b> cats.", markup="html").count("<b>") == 1


def test_the_notebook_runs():
    book = pathlib.Path(__file__).parents[2] / "docs" / "attention.ipynb"
    cells = [c for c in json.loads(book.read_text())["cells"] if c["cell_type"] == "code"]
    names = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(book), "exec"), names)
    assert 8 <= len(cells) <= 12
