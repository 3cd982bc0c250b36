"""page.py -- the page of `heed serve` in a real browser: clicked, typed, hovered, and read back from the document.

usage: page.py HEED TOY VECTOR OUT [PART...]     VECTOR is a model without attention; pictures go to the folder OUT"""
import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, missing

HEED, TOY, VECTOR, OUT = sys.argv[1:5]
SENTENCE = 'The red house is very old.'
n_failed = 0


def check(name, is_well, seen=''):
    global n_failed
    print(f'[       OK ] {name}' if is_well else f'[  FAILED  ] {name}\n    {seen!r}'[:3000], flush=True)
    n_failed += not is_well


def same(name, seen, wanted):
    check(name, seen == wanted, f'{seen!r} instead of {wanted!r}')


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([HEED, 'serve', '--port', '0', '-q', *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().decode()
        found = re.search(r'http://[^/]*:\d+/', line)
        if not found:
            raise SystemExit(f'the server did not start: {line}')
        self.address = found[0]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def heed(*arguments, text=SENTENCE + '\n'):
    return subprocess.run([HEED, *arguments], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def go(b, server, **fields):
    b.go('about:blank')
    b.go(server.address + ('#' + urllib.parse.urlencode(fields) if fields else ''))
    check('the page is there', b.wait('document.querySelectorAll("#to option").length > 0'), b.js('document.body.textContent'))


TARGET = '[...document.querySelectorAll("#target .line")].map((l) => l.textContent.replace(/\\u200b/g, "")).join("\\n")'


def until(b, name, text):
    b.wait(f'{TARGET} === arguments[0] && !document.querySelector("#target[aria-busy]")', text)
    same(name, b.js(TARGET), text)


def word(text, pane='target'):
    return f'[...document.querySelectorAll("#{pane} .w")].find((w) => w.firstChild.data === {json.dumps(text)})'


# ---- a translator first ---------------------------------------------------------------------------------------------

def translator(b, s):
    go(b, s)
    b.click('#source')
    for letter in 'eins zwei':
        b.type('#source', letter)
    until(b, 'what is typed is translated', 'two one')
    b.fill('#source', 'eins\n\ndrei vier')
    until(b, 'line by line', 'one\n\nfour three')
    same('it stands in the address, behind #', urllib.parse.parse_qs(b.js('location.hash.slice(1)'))['q'], ['eins\n\ndrei vier'])
    b.go('about:blank')
    b.do('POST', '/back', {})
    until(b, 'and comes back from there', 'one\n\nfour three')
    same('languages have names', b.js('[...document.querySelectorAll("#from option")].map((o) => o.textContent).slice(1)'), ['German', 'English'])
    b.js('const f = document.getElementById("from"); f.value = "de"; f.dispatchEvent(new Event("change"))')
    until(b, 'a language can be chosen', 'one\n\nfour three')
    b.click('#swap')
    b.wait('document.getElementById("from").value === "en"')
    same('languages are swapped, and the texts', b.js('[document.getElementById("from").value, document.getElementById("to").value, document.getElementById("source").value]'),
         ['en', 'de', 'one\n\nfour three'])
    b.click('#clear')
    until(b, 'a text is cleared', '')
    b.js('const f = document.getElementById("from"); f.value = "de"; f.dispatchEvent(new Event("change"))')
    b.fill('#source', 'sechs')
    until(b, 'another text', 'six')
    b.click('#past summary')
    same('the history has both', b.wait('const n = document.querySelectorAll("#past-list li").length; return n >= 2 && n') >= 2, True)
    b.js('[...document.querySelectorAll("#past-list button")].find((x) => x.textContent.includes("drei vier")).click()')
    until(b, 'and gives one back', 'one\n\nfour three')
    long = '\n'.join(f'{"eins zwei drei vier " * 3}{"fünf " * (i % 4)}'.strip() for i in range(300))
    b.js('const box = document.getElementById("target"); window.seen = 0; new MutationObserver((list) => { window.seen += list.length; }).observe(box, { childList: true })')
    b.js('const t = document.getElementById("source"); t.value = arguments[0]; t.dispatchEvent(new Event("input"))', long)
    b.wait('document.querySelectorAll("#target .line").length === 300 && !document.querySelector("#target .stale, #target[aria-busy]")')
    check('and is read while the rest is translated', b.js('return window.seen') >= 300, b.js('return window.seen'))
    same('a long text is translated whole', b.js('[...document.querySelectorAll("#target .line")].filter((l) => l.querySelector(".w")).length'), 300)
    b.js('const e = document.getElementById("source-scroll"); e.dispatchEvent(new Event("wheel")); e.scrollTop = 2000')
    check('both panes scroll together', b.wait('document.getElementById("target-scroll").scrollTop > 500'))
    b.devtools('Browser.grantPermissions', permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'], origin=s.address[:-1])
    b.js('const t = document.getElementById("source"); t.value = "eins zwei"; t.dispatchEvent(new Event("input"))')
    until(b, 'a short one again', 'two one')
    b.click('#copy')
    b.wait('document.getElementById("news").textContent')
    same('it can be copied', b.later('{ return navigator.clipboard.readText(); }'), 'two one')


# ---- partners light up ---------------------------------------------------------------------------------------------------

def partners(b, s):
    go(b, s, q=SENTENCE + '\nKolmlp grizz frob.')
    b.wait('document.querySelectorAll("#target .w").length > 5')
    best = json.loads(heed('translate', '--json'))['translations'][0]
    t = next(i for i, w in enumerate(best['target_words']) if w['text'] == 'rouge')
    wanted = {w['text']: f'{x:.2f}'.lstrip('0') for w, x in zip(best['source_words'], best['attention'][t]) if x >= 0.05}
    b.hover_on(word('rouge'))
    seen = b.wait('const lit = [...document.querySelectorAll("#mirror .lit")]; return lit.length > 0 && Object.fromEntries(lit.map((n) => [n.firstChild.data, n.dataset.weight]))')
    same('the words that a word looked at light up, with their weights', seen, wanted)
    told = f'rouge looked at red 0{wanted["red"]}' if not wanted['red'].startswith('1') else 'rouge looked at red 1'
    check('and are told', told in b.js('document.getElementById("readout").textContent'), b.js('document.getElementById("readout").textContent'))
    r = b.js(f'const r = {word("red", "mirror")}.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]')
    b.hover(*r)
    check('so do those that looked at a word of the source', b.wait('[...document.querySelectorAll("#target .lit")].some((n) => n.firstChild.data === "rouge")'))
    b.hover(5, 5)
    check('light goes out', b.wait('document.querySelectorAll(".lit").length === 0'))
    b.js('const t = document.getElementById("source"); t.focus(); t.setSelectionRange(9, 9)')
    b.press('Left')
    check('the cursor lights, too', b.wait('[...document.querySelectorAll("#target .lit")].some((n) => n.firstChild.data === "maison" || n.firstChild.data === "rouge")'),
          b.js('document.getElementById("readout").textContent'))
    b.js('document.querySelector("#target .w").focus()')
    b.press('Right', 'Right')
    same('arrows go from word to word', b.js('document.activeElement.firstChild.data'), 'rouge')
    check('and light', b.js('[...document.querySelectorAll("#mirror .lit")].some((n) => n.firstChild.data === "red")'))
    check('unsure words are underlined', b.js('document.querySelectorAll("#target .unsure, #target .doubtful").length') > 0)
    check('warnings are shown', b.wait('document.querySelectorAll("#warnings li").length > 0'))
    same('the sentence that is looked at is marked', b.js('document.querySelectorAll("#mirror .sentence.chosen").length'), 1)
    b.click('#sentence-after')
    check('and another can be chosen', b.wait('document.querySelector("#mirror .chosen").textContent.startsWith("Kolmlp")'))


# ---- lines, matrix, files ----------------------------------------------------------------------------------------------------

def set_slider(b, selector, value):
    b.js('const e = document.querySelector(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event("input"))', selector, value)


def pictures(b, s):
    go(b, s, q=SENTENCE)
    b.wait('document.querySelectorAll(".ribbon").length > 0')
    best = json.loads(heed('translate', '--json'))['translations'][0]
    rows = [row + [end] for row, end in zip(best['attention'], best['attention_end'])]
    count = sum(w >= 0.1 for row in rows for w in row)
    same('a ribbon for each weight from the threshold', b.js('document.querySelectorAll(".ribbon").length'), count)
    same('the end marker has a place of its own', b.js('document.querySelectorAll("svg.lines .word.end").length'), 1)
    widths = b.js('return [...document.querySelectorAll(".ribbon")].map((p) => { const d = p.getAttribute("d").match(/M([\\d.]+),.*L([\\d.]+),\\S+C\\S+ \\S+ ([\\d.]+),/); '
                  'return [Number(p.dataset.t), Number(p.dataset.s), Number(d[3]) - Number(d[1])]; })')
    unit = max(w for _, _, w in widths) / max(max(row) for row in rows)
    check('as wide as its weight', all(abs(w - unit * rows[t][c]) < 0.3 for t, c, w in widths), widths)
    b.hover_on('document.querySelector("svg.lines .word[data-t=\\"2\\"]")')
    check('a word’s ribbons stay bright', b.wait('document.querySelectorAll(".ribbon.dim").length > 0 && document.querySelectorAll(".ribbon:not(.dim)").length > 0'))
    set_slider(b, '#threshold', 0.3)
    same('the slider leaves the heavy ones', b.js('document.querySelectorAll(".ribbon").length'), sum(w >= 0.3 for row in rows for w in row))
    b.click('input[value=subwords]')
    same('subwords', b.js('document.querySelectorAll("svg.lines .word[data-t]").length'), len(best['subwords']['target']))
    b.click('input[value=words]')
    set_slider(b, '#threshold', 0.05)
    same('numbers stand in a table, too', b.js('document.querySelectorAll("#panel table tbody tr").length'), len(rows))
    b.click('#tab-matrix')
    cells = b.wait('const c = [...document.querySelectorAll(".cell")].map((r) => [Number(r.dataset.t), Number(r.dataset.s), Number(r.getAttribute("fill-opacity"))]); return c.length && c')
    check('the matrix is as dark as its weights', len(cells) == sum(map(len, rows)) and all(abs(x - rows[t][c]) < 0.001 for t, c, x in cells), cells[:5])
    sums = b.js('[...document.querySelectorAll(".cover")].map((r) => r.getBoundingClientRect().height)')
    column = [sum(row[j] for row in rows) for j in range(len(rows[0]))]
    check('and has a bar for each column', len(sums) == len(column) and max(range(len(sums)), key=sums.__getitem__) == max(range(len(column)), key=column.__getitem__), sums)
    same('and the sum of each row', b.js('[...document.querySelectorAll(".sum")].map((n) => n.textContent)'), [f'{sum(row):.2f}' for row in rows])
    same('a table beside it', b.js('document.querySelectorAll("#panel table").length'), 1)


def files(b, s):
    go(b, s, q=SENTENCE)
    b.wait('!document.getElementById("views").hidden')
    b.devtools('Browser.setDownloadBehavior', behavior='allow', downloadPath=b.home)
    cli = {'svg': None, 'png': None, 'tex': None, 'json': heed('translate', '--json')}
    for kind in ('svg', 'png', 'tex'):
        path = os.path.join(b.home, f'cli.{kind}')
        heed('translate', '--plot', path)
        cli[kind] = open(path, 'rb').read()
    for i, kind in enumerate(('SVG', 'PNG', 'TikZ', 'JSON', 'CSV')):
        ending = 'tex' if kind == 'TikZ' else kind.lower()
        path = os.path.join(b.home, f'attention.{ending}')
        b.js('[...document.querySelectorAll("#save button")].find((x) => x.textContent === arguments[0]).click()', kind)
        found = wait_for_file(path)
        if kind == 'CSV':
            best = json.loads(cli['json'])['translations'][0]
            lines = found.decode().splitlines()
            same('CSV has the weights', [[float(x) for x in line.split(',')[1:]] for line in lines[1:]],
                 [row + [end] for row, end in zip(best['attention'], best['attention_end'])])
        else:
            same(f'{kind} is what the command line makes', found == cli[ending], True)


    same('each has a key of its own', b.js('new Set([...document.querySelectorAll("#save button")].map((x) => x.accessKey)).size'), b.js('document.querySelectorAll("#save button").length'))


def wait_for_file(path):
    import time
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if os.path.exists(path) and os.path.getsize(path) > 0:
            return open(path, 'rb').read()
        time.sleep(0.02)
    return b''


# ---- heads, beam, comparing -------------------------------------------------------------------------------------------------

def heads(b, s):
    go(b, s, q=SENTENCE, view='heads')
    model = b.later('{ return (await fetch("heed/model")).json(); }')[0]
    n = model['cross_layers'] * model['heads']
    same('each layer and head has a map', b.wait('const n = document.querySelectorAll("#heads .tile").length; return n'), n + 2)
    check('the best is marked and enlarged', b.js('document.querySelectorAll(".tile.best").length > 0 && document.querySelectorAll("#head-large .cell").length > 0'))
    b.js('document.querySelectorAll("#heads .tile")[1].click()')
    same('another can be', b.js('document.querySelector("#head-large h3").textContent'), 'layer 1, head 1')
    check('it says where links come from', 'layer 1' in b.js('document.querySelector("#heads p").textContent'))
    for kind, field in (('encoder', 'encoder_layers'), ('decoder', 'decoder_layers')):
        b.js('const k = document.getElementById("kind"); k.value = arguments[0]; k.dispatchEvent(new Event("change"))', kind)
        wanted = model[field] * model['heads'] + 2
        same(f'{kind}: self-attention', b.wait(f'const n = document.querySelectorAll("#heads .tile").length; return n === {wanted} && n'), wanted)


def tree(b, s):
    go(b, s, q=SENTENCE, view='tree', beam='3')
    b.wait('document.querySelectorAll(".node").length > 0')
    same('three hypotheses at most stand in a column', b.js('const n = {}; for (const e of document.querySelectorAll(".node:not(.best)")) n[e.getAttribute("x")] = (n[e.getAttribute("x")] || 0) + 1; '
                                                       'return Math.max(...Object.values(n)) <= 6'), True)
    check('pruned ones are grey', b.js('document.querySelectorAll(".node.pruned").length') > 0)
    same('ends are in a table', b.js('document.querySelector("#panel tbody tr td").textContent'), heed('translate', '--beam', '3').decode().strip())
    check('what length does is told', 'Length changes' in b.js('document.getElementById("length-says").textContent'))
    begins = b.js('document.querySelector(".node.pruned title").textContent').split('\n')[0]
    b.js('document.querySelector(".node.pruned").dispatchEvent(new MouseEvent("click", {bubbles: true}))')
    check('a node is a beginning', b.wait(f'{TARGET}.startsWith(arguments[0]) && document.getElementById("undo").hidden === false', begins), b.js(TARGET))
    b.click('#search summary')
    b.fill('#beam', '1')
    b.press('Tab')
    check('another beam is another tree', b.wait('const n = document.querySelectorAll(".node").length; return n > 0 && n < 12'), b.js('document.querySelectorAll(".node").length'))


def compare(b, s):
    go(b, s, q='I love my cat.', view='compare')
    same('two side by side', b.wait('const n = document.querySelectorAll(".column").length; return n'), 2)
    b.fill('#reference', 'J’aime mon chat.')
    b.press('Enter')
    check('a translation that is given is looked at', b.wait('document.querySelectorAll(".column")[1].textContent.includes("J’aime")'), b.js('document.getElementById("compared").textContent'))
    check('with probabilities', b.js('document.querySelectorAll(".column")[1].querySelectorAll(".chip small").length') == 3)
    check('and attention', b.js('document.querySelectorAll(".column")[1].querySelectorAll(".cell").length') > 0)
    b.fill('#reference', ' ')
    b.click('#compare-go')
    check('the same words are compared by their links', b.wait('(document.getElementById("agreement") || {textContent: ""}).textContent.includes("Links agree")'
                                                         ' || document.getElementById("agreement").textContent.includes("words of the second")'))


# ---- the lecture -------------------------------------------------------------------------------------------------------------

def steps(b, s):
    go(b, s, q=SENTENCE, view='steps')
    b.wait('document.querySelectorAll(".likely li").length > 0')
    pieces = json.loads(heed('translate', '--json'))['translations'][0]['subwords']['target']
    same('a step for each subword', b.js('document.getElementById("step-place").textContent'), f'Step 1 of {len(pieces)}')
    same('ten likely words', b.js('document.querySelectorAll(".likely li").length'), 10)
    same('one of them written', b.js('document.querySelector(".likely .taken .piece").textContent'), pieces[0])
    check('the formula is the model’s own', 'softmax' in b.js('document.querySelector(".terms").textContent') and
          b.js('document.querySelectorAll(".terms li").length') == 5)
    b.click('#next-word')
    same('a word on', b.js('document.getElementById("step-place").textContent'), f'Step 2 of {len(pieces)}')
    b.click('#next-term')
    same('a term on: the next step begins with its query', b.js('[document.getElementById("step-place").textContent, document.querySelector(".terms .lit").dataset.term]'),
         [f'Step 3 of {len(pieces)}', 'query'])
    same('what is not computed yet is not shown', b.js('[document.querySelectorAll(".weight .bar").length, document.querySelectorAll(".likely li").length]'), [0, 0])
    b.js('document.querySelector(".view").focus()')
    b.press('Down', 'Down')
    same('keys go on: weights', b.js('document.querySelector(".terms .lit").dataset.term'), 'weights')
    total = b.js('[...document.querySelectorAll(".weight small")].reduce((sum, n) => sum + Number(n.textContent), 0)')
    check('which are 1 in all', abs(total - 1) < 0.05, total)
    b.press('Right', 'Left', 'Home')
    same('and back', b.js('document.getElementById("step-place").textContent'), f'Step 1 of {len(pieces)}')
    b.press('Space')
    check('space plays', b.wait('document.getElementById("play").textContent.includes("Pause") && document.querySelector(".terms .lit").dataset.term !== "query"'))
    b.press('Space')
    check('and pauses', b.js('document.getElementById("play").textContent.includes("Play")'))
    same('a table beside it', b.js('document.querySelectorAll("#panel table tbody tr").length'), len(pieces))
    one_head = len(json.loads(heed('info', '--json'))['model']['config'].get('alignment_heads', [])) == 1  # no mean then
    for head, said in (('1', 'e'), ('mean', 'e' if one_head else 'ln α')):
        b.js('const h = document.getElementById("step-head"); h.value = arguments[0]; h.dispatchEvent(new Event("change"))', head)
        same(f'head {head} tells {said}', b.wait('const n = document.querySelector(".position.names .score"); return n && n.textContent === arguments[0] && n.textContent', said), said)


def elsewhere(b, s):
    go(b, s, q='eins zwei drei', view='steps', **{'from': 'de', 'to': 'en', 'model': 'toy.safetensors'})
    b.wait('document.querySelectorAll(".likely li").length > 0')
    until(b, 'it looks at the last word first', 'three two one')
    b.click('.position:nth-child(2) .piece')  # the first word of the source, behind the names of the rows
    forced = b.wait('(document.getElementById("forced") || {}).textContent')
    check('attention is forced: what would have been written', forced.startswith('one'), forced)
    b.js('document.getElementById("forced").remove()')
    middle = 'const r = document.querySelectorAll(".position:not(.names) .weight")[arguments[0]].getBoundingClientRect(); return [r.left + r.width / 2, r.bottom - 4]'
    b.js('document.querySelector(".lecture").scrollIntoView({block: "center"})')
    b.drag(b.js(middle, 2), b.js(middle, 1))
    dragged = b.wait('(document.getElementById("forced") || {}).textContent')
    check('weight is dragged to another word', dragged.startswith('two'), dragged)
    b.click('#panel p button')
    until(b, 'and what follows is taken', dragged)


def other_models(b, s):
    go(b, s, q='eins zwei drei', view='steps', **{'from': 'de', 'to': 'en', 'model': 'toy.safetensors'})
    b.wait('document.querySelectorAll(".terms li").length > 0')
    check('another model, another formula', 'v·tanh(W s' in b.js('document.querySelector(".terms").textContent'), b.js('document.querySelector(".terms").textContent'))
    same('raw scores are told', b.js('document.querySelector(".position.names .score").textContent'), 'e')
    b.click('#tab-heads')
    check('one head is not many', b.wait('document.getElementById("panel").textContent.includes("one attention")'))
    b.js('const m = document.getElementById("model"); m.value = "vector.safetensors"; m.dispatchEvent(new Event("change"))')
    b.wait('document.getElementById("about").textContent.includes("vector.safetensors")')
    b.click('#tab-steps')
    check('a model without attention shows its one vector', b.wait('document.querySelectorAll(".vector span").length > 0'), b.js('document.getElementById("panel").textContent'))
    shades = b.js('new Set([...document.querySelectorAll(".vector span")].map((n) => n.style.getPropertyValue("--weight"))).size')
    check('number by number', shades > 8, shades)
    check('and says that it is all there is', 'nothing else' in b.js('document.getElementById("panel").textContent'))
    b.click('#tab-lines')
    check('and that there are no lines', b.wait('document.getElementById("panel").textContent.includes("no attention")'), b.js('document.getElementById("panel").textContent'))
    b.click('#tab-compare')
    check('models are compared', b.wait('document.querySelectorAll(".column").length === 2 && document.querySelectorAll(".column .cell").length > 0'), b.js('document.getElementById("panel").textContent'))


# ---- changing a translation ------------------------------------------------------------------------------------------------------

def choices(b, s):
    go(b, s, q='I love my cat.')
    until(b, 'a translation', heed('translate', text='I love my cat.\n').decode().strip())
    b.js(word("J'adore") + '.click()')
    check('a word has alternatives', b.wait('document.querySelectorAll(".choice").length > 1'))
    check('with probabilities, likeliest first', b.js('[...document.querySelectorAll(".choice i")].map((i) => parseFloat(i.textContent)).every((p, i, a) => i === 0 || p <= a[i - 1])'))
    b.wait('[...document.querySelectorAll(".choice")].some((c) => c.textContent.includes("chat"))')
    same('the likeliest of them', b.js('document.querySelector(".choice b").textContent'), "J'aime")
    b.press('Escape')
    same('Escape goes back to the word', b.js('document.activeElement.firstChild.data'), "J'adore")
    b.press('Enter')
    b.wait('!document.getElementById("choices").hidden && document.activeElement.className === "choice"')
    b.press('Enter')
    check('choosing one writes the rest anew', b.wait(f'{TARGET}.startsWith("J\'aime")'), b.js(TARGET))
    check('what changed is marked', b.js('document.querySelectorAll("#target .new").length') > 0)
    check('attention is that of the new one', b.wait('[...document.querySelectorAll("svg.lines .word[data-t]")].some((w) => w.textContent === "J\'aime")'))
    b.js(word('mon') + '.click()')
    b.wait('!document.getElementById("choices").hidden && document.querySelector("#choices p b").textContent === "mon"')
    b.type('#choices input', 'votre')
    b.press('Enter')
    check('so does typing one', b.wait(f'{TARGET}.startsWith("J\'aime votre")'), b.js(TARGET))
    b.click('#undo')
    check('undo', b.wait(f'{TARGET}.startsWith("J\'aime mon")'), b.js(TARGET))
    b.click('#undo')
    until(b, 'and again', "J'adore mon chat.")
    b.click('#edit-button')
    b.fill('#edit', "J'aime ma chatte.")
    b.click('#edit-button')
    until(b, 'a translation can be edited as a whole', "J'aime ma chatte.")
    b.click('#edit-button')
    b.fill('#edit', 'Mon chat')
    b.click('#rest')
    check('or begun', b.wait(f'{TARGET}.startsWith("Mon chat")'), b.js(TARGET))


def remembering(b, s):
    go(b, s, q=SENTENCE, view='memory')
    until(b, 'a translation', heed('translate').decode().strip())
    check('nothing is remembered', b.wait('document.getElementById("panel").textContent.includes("Nothing yet")'), b.js('document.getElementById("panel").textContent'))
    b.click('#edit-button')
    b.fill('#edit', 'La maison rouge est fort ancienne.')
    b.click('#remember')
    until(b, 'what is remembered is the answer', 'La maison rouge est fort ancienne.')
    check('it says so', b.wait('document.getElementById("panel").textContent.includes("This very sentence is remembered")'), b.js('document.getElementById("panel").textContent'))
    same('it is listed', b.wait('const n = document.querySelectorAll("#memory-list tbody tr").length; return n'), 1)
    b.fill('#source', 'The red house is very big.')
    check('a similar sentence is translated with it', b.wait('document.querySelectorAll("#memory-used tbody tr").length === 1 && document.getElementById("sure").textContent.includes("memory")'),
          b.js('document.getElementById("panel").textContent'))
    b.click('#memory-list button')
    check('it can be forgotten', b.wait('document.getElementById("panel").textContent.includes("Nothing yet")'), b.js('document.getElementById("panel").textContent'))
    b.fill('#source', SENTENCE)
    until(b, 'and then is', heed('translate').decode().strip())
    with open(os.path.join(OUT, 'memory.tsv'), 'a') as f:
        f.writelines(f'Line {i}.\tLigne {i}.\ten\tfr\n' for i in range(1, 451))
    go(b, s, q=SENTENCE + ' ', view='memory')
    numbers = '[...document.querySelectorAll("#memory-list tbody tr")].map((r) => Number(r.cells[0].textContent))'
    same('of many lines the newest are shown', b.wait(f'const n = {numbers}; return n.length === 200 && [n[0], n[199]]'), [450, 251])
    b.click('#older')
    b.wait(f'{numbers}[0] === 250')
    b.click('#older')
    same('and older ones behind them', b.wait(f'const n = {numbers}; return n[0] === 50 && [n.length, n.at(-1)]'), [50, 1])
    same('to the end', b.js('document.getElementById("older").disabled'), True)
    b.click('#memory-list tr:last-child button')
    same('which can be forgotten as well', b.wait(f'const n = {numbers}; return n.length === 49 && n[0]'), 49)
    for width, dark in ((1440, False), (1440, True), (360, False), (360, True)):
        b.emulate(width, 780, dark)
        b.wait('document.querySelectorAll("#memory-list tr").length > 0')
        check(f'memory: {width} pixels are enough', b.js('document.documentElement.scrollWidth <= window.innerWidth'))
        same(f'memory: contrast, {"dark" if dark else "light"}', b.js(CONTRAST), [])
        b.shoot(os.path.join(OUT, f'memory-{width}-{"dark" if dark else "light"}.png'))


# ---- for everybody ------------------------------------------------------------------------------------------------------------------

CONTRAST = '''
const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255,255,255)'; };
const bad = [];
for (const e of document.querySelectorAll('button:not(:disabled), summary, label, p, small, th, td, select, .w, h1, #count, #sure, .piece')) {
  if (!e.textContent.trim() || !e.offsetParent || e.closest('#mirror') || e.closest('.terms li:not(.lit):not(.done)')) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(ground(e))], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30), ratio.toFixed(2)]);
}
return bad;'''


def everybody(b, s):
    go(b, s, q=SENTENCE)
    b.wait('document.querySelectorAll(".ribbon").length > 0')
    b.js('document.getElementById("source").focus()')
    seen = set()
    for _ in range(40):
        b.press('Tab')
        seen.add(b.js('document.activeElement.id || (document.activeElement.closest("[id]") || {id: ""}).id'))
    check('the tabulator reaches all', {'from', 'to', 'clear', 'target', 'edit-button', 'copy', 'tab-lines', 'panel', 'threshold', 'save'} <= seen, seen)
    b.js('document.getElementById("tab-lines").focus()')
    b.press('Right')
    same('arrows go from tab to tab', b.js('document.querySelector("#tabs [aria-selected=true]").textContent'), 'Matrix')
    unnamed = b.js('[...document.querySelectorAll("button, select, input, textarea, svg[role], canvas[role]")].filter((e) => e.offsetParent !== null '
                   '&& !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length))).map((e) => e.outerHTML)')
    same('whatever can be used has a name', unnamed, [])
    same('the translation is read out', b.wait('document.getElementById("spoken").textContent'), heed('translate').decode().strip())
    for dark in (False, True):
        b.emulate(1440, 1000, dark)
        for view in ('lines', 'matrix', 'steps', 'heads', 'tree', 'compare'):
            b.click('#tab-' + view)
            b.wait('document.querySelectorAll("#panel .view > *").length > 0 && (document.querySelectorAll("#panel svg, #panel .likely, #panel canvas").length > 0)')
            same(f'{view}: contrast, {"dark" if dark else "light"}', b.js(CONTRAST), [])
            same(f'{view}: no picture without a table', b.js('document.querySelectorAll("#panel table").length > 0'), True)
            b.shoot(os.path.join(OUT, f'{view}-1440-{"dark" if dark else "light"}.png'))
    for width, dark in ((320, False), (360, False), (360, True)):
        b.emulate(width, 780, dark)
        for view in ('lines', 'matrix', 'steps', 'heads', 'tree', 'compare'):
            b.click('#tab-' + view)
            b.wait('document.querySelectorAll("#panel .view > *").length > 0 && (document.querySelectorAll("#panel svg, #panel .likely, #panel canvas").length > 0)')
            check(f'{view}: {width} pixels are enough', b.js('document.documentElement.scrollWidth <= window.innerWidth'),
                  b.js('[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest(".wide, .scroll, #tabs, .heads-grid, .hidden, svg")).map((e) => e.outerHTML.slice(0, 80)).slice(0, 5)'))
            if view == 'steps':
                over = b.js('[...document.querySelectorAll(".position")].flatMap((p) => { const r = p.getBoundingClientRect(), q = p.querySelector(".piece").getBoundingClientRect(); return q.left < r.left - 1 || q.right > r.right + 1 ? [p.textContent] : []; })')
                same(f'steps: no subword lies over another at {width}', over, [])
                same(f'steps: what was written says so at {width}', b.js('[...document.querySelectorAll(".tick")].every((t) => t.scrollWidth <= t.clientWidth + 1 && t.getBoundingClientRect().height < 24)'), True)
            if width == 360:
                b.shoot(os.path.join(OUT, f'{view}-360-{"dark" if dark else "light"}.png'))
    b.emulate(1440, 1000, motion='reduce')
    same('no motion where none is wanted', b.js('getComputedStyle(document.querySelector(".ribbon, .bar, button")).transitionDuration'), '0s')
    b.js('const t = document.getElementById("source"); t.value = "مرحبا بالعالم"; t.dispatchEvent(new Event("input"))')
    same('right to left', b.wait('getComputedStyle(document.getElementById("source")).direction === "rtl" && "rtl"'), 'rtl')
    b.js('const t = document.getElementById("source"); t.value = "私は猫が好きです。 <b onclick=x>&amp;</b> <script>alert(1)</script>"; t.dispatchEvent(new Event("input"))')
    b.wait('document.querySelectorAll("#target .w").length > 0 && !document.querySelector("#target[aria-busy]")')
    same('tags are letters like others', b.js('document.querySelectorAll("#target b, #target script, #mirror b, #mirror script").length'), 0)
    b.devtools('Emulation.setEmulatedMedia', media='print')
    same('paper has no buttons', b.js('getComputedStyle(document.querySelector("#save")).display'), 'none')
    b.devtools('Emulation.setEmulatedMedia', media='')


def quiet(b, s):
    same('nothing was complained of', b.complaints(), [])
    away = [a for a in b.addresses() if not a.startswith((s.address, 'data:', 'blob:', 'about:', 'chrome:'))]
    same('nothing was asked of others', away, [])


def size():
    """The page is small."""
    folder = os.path.join(os.path.dirname(HEED), 'web')
    total = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith(('.html', '.css', '.js', '.svg')))
    check('the page has 90 kB at most', total <= 90000, total)


def main():
    if missing():
        raise SystemExit(f'there is no {missing()}')
    os.makedirs(OUT, exist_ok=True)
    only = sys.argv[5:]
    toys = ['-m', f'de-en={TOY}', '-m', f'en-de={TOY}', '-m', f'de-en={VECTOR}']
    memory = os.path.join(OUT, 'memory.tsv')
    if os.path.exists(memory):
        os.remove(memory)
    parts = [(['-m', 'default'], (partners, pictures, files, heads, tree, compare, steps, choices, everybody)), (toys, (translator, elsewhere, other_models)),
             (['-m', 'default', '--memory', memory], (remembering,))]
    for models, functions in parts:
        if only and not any(f.__name__ in only for f in functions):
            continue
        s, b = Server(*models), Browser()
        try:
            for function in functions:
                if not only or function.__name__ in only:
                    function(b, s)
                    quiet(b, s)
                    b.emulate(1440, 1000)
        finally:
            b.close()
            s.close()
    size()
    sys.exit(n_failed > 0)


main()
