"""safety.py -- strangers' pages, keys, rates, slow and broken clients."""
import json
import os
import random
import socket
import tempfile
import time
from server import Answer, Server, check, finish, memory_of, same

ONE = {'q': 'eins zwei', 'source': 'de', 'target': 'en'}


def raw(s, data, timeout=30):
    """What comes back for these bytes, until the connection ends."""
    with socket.create_connection(('127.0.0.1', s.port), timeout=timeout) as c:
        c.sendall(data)
        seen = b''
        try:
            while piece := c.recv(65536):
                seen += piece
        except OSError:
            pass
        return seen


with Server('--cors', 'https://friend.example', '--host-name', 'translator.lan') as s:
    for host in ('localhost', f'localhost:{s.port}', '127.0.0.1', '[::1]:5000', 'LOCALHOST', 'translator.lan', 'translator.lan:80'):
        same(f'Host {host} is ours', s.get('/health', Host=host).status, 200)
    for host in ('localhost.evil.com', 'evil.com', '127.0.0.1.evil.com', 'localhost:80@evil.com', '10.0.0.1', 'translator.lan.evil', '[::1'):
        same(f'Host {host} is not', s.get('/health', Host=host).status, 421)
    for origin in ('http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:80', 'https://friend.example', f'http://127.0.0.1:{s.port}'):
        a = s.post_json('/translate', ONE, Origin=origin)
        check(f'pages of {origin} may ask', a.status == 200 and a.headers.get('access-control-allow-origin') == origin, a)
        a = s.ask('OPTIONS', '/translate', headers={'Origin': origin, 'Access-Control-Request-Method': 'POST'})
        check('and may ask whether they may', a.status == 204 and 'Content-Type' in a.headers['access-control-allow-headers'], a)
    a = s.ask('OPTIONS', '/heed/memory', headers={'Origin': 'https://friend.example', 'Access-Control-Request-Method': 'DELETE'})
    same('to delete included', a.headers['access-control-allow-methods'], 'GET, POST, DELETE')
    for origin in ('https://evil.example', 'null', 'http://localhost.evil.com', 'http://friend.example', 'chrome-extension://abc'):
        a = s.post_json('/translate', ONE, Origin=origin)
        check(f'pages of {origin} may not', a.status == 403 and 'access-control-allow-origin' not in a.headers and '--cors' in a.json['error'], a)
    check('without an origin there is no such header', 'access-control-allow-origin' not in s.post_json('/translate', ONE).headers)

    # garbage, and requests that are cut
    chance = random.Random(1)
    good = (b'POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n'
            b'{"q": "eins zwei", "source": "de", "target": "en"}')
    for i in range(60):
        kind = i % 3
        data = bytearray(good)
        if kind == 0:
            data = bytearray(chance.randbytes(200)) + b'\r\n\r\n'
        elif kind == 1:
            for _ in range(5):
                data[chance.randrange(len(data))] = chance.randrange(256)
        else:
            data = data[:chance.randrange(1, len(data))]
        with socket.create_connection(('127.0.0.1', s.port), timeout=10) as c:
            c.sendall(data)
    for head in (b'Content-Length: -1', b'Content-Length: 99999999999999999999', b'Content-Length: x', b'Transfer-Encoding: chunked'):
        with socket.create_connection(('127.0.0.1', s.port), timeout=10) as c:
            c.sendall(b'POST /translate HTTP/1.1\r\nHost: localhost\r\n' + head + b'\r\n\r\nzzz\r\n')
    mark = 'multipart/form-data; boundary=xx'
    for body in (b'', b'--xx', b'--xx--', b'--xx\r\n', b'--xx\r\n\r\n\r\n--xx--', b'--xx\r\nContent-Disposition: form-data; name=\r\n\r\nx\r\n--xx--',
                 b'--xx\r\nContent-Disposition: form-data; name="q\r\n\r\nx\r\n--xx', b'\xff' * 1000):
        check(f'a broken form is answered: {body[:20]}', s.ask('POST', '/translate', body, {'Content-Type': mark}).status == 400)
    check('a boundary may be missing', s.ask('POST', '/translate', b'x', {'Content-Type': 'multipart/form-data'}).status == 400)
    same('what is no UTF-8 is repaired', s.ask('POST', '/translate', b'q=eins\xff&source=de&target=en',
                                              {'Content-Type': 'application/x-www-form-urlencoded'}).status, 200)
    a = raw(s, b'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2000000\r\n\r\n')
    check('a body can be too long, and is not asked for', b' 413 ' in a[:40], a[:200])
    chunks = b''.join(b'10000\r\n' + b'x' * 65536 + b'\r\n' for _ in range(20)) + b'0\r\n\r\n'
    a = raw(s, b'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' + chunks)
    check('also one that does not say so', b' 413 ' in a[:40], a[:200])
    same('after all of that it is well', s.post_json('/translate', ONE).json, {'translatedText': 'two one'})
    # a client that will say nothing more may still listen
    body = json.dumps({**ONE, 'q': 'eins zwei drei. ' * 1500, 'alternatives': 5}).encode()
    head = b'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(body)
    with socket.create_connection(('127.0.0.1', s.port), timeout=60) as c:
        seen = b''
        c.sendall(head + body)
        c.shutdown(socket.SHUT_WR)
        while piece := c.recv(65536):
            seen += piece
    check('a client that says nothing more gets its answer', b'HTTP/1.1 200' in seen and b'three two one' in seen, seen[:300])
    same('and counts as one that is there', s.get('/metrics').text.count('heed_rejected_total{reason="gone"} 0'), 1)
    # one that has gone does not, unless it is answered before anybody looks
    n_gone = 0
    for n in range(1, 40):
        body = json.dumps({**ONE, 'q': ['eins zwei drei. ' * 1500] * n, 'alternatives': 5}).encode()
        with socket.create_connection(('127.0.0.1', s.port), timeout=60) as c:
            c.sendall(head.replace(head.split(b'Content-Length: ')[1], b'%d\r\n\r\n' % len(body)) + body)
        time.sleep(0.3)
        n_gone = int(s.get('/metrics').text.split('heed_rejected_total{reason="gone"} ')[1].split()[0])
        if n_gone:
            break
    same('one that has gone does not', n_gone, 1)
    a = s.get('/metrics').text
    check('refusals are counted', 'heed_rejected_total{reason="origin"} 5' in a and 'heed_rejected_total{reason="host"} 0' not in a, a)
    check('so are texts', 'heed_texts_total 0' not in a, a)
same('it ends well', s.status, 0)

with Server('--header-time', '1', '--body-time', '1', '--idle-time', '1') as s:
    def drip(data, rest):
        """Send the rest a byte at a time; how long until the server has had enough."""
        begin = time.monotonic()
        with socket.create_connection(('127.0.0.1', s.port), timeout=0.1) as c:
            c.sendall(data)
            for byte in rest:
                try:
                    c.sendall(bytes([byte]))
                    if c.recv(1000) == b'':
                        return True
                except TimeoutError:
                    continue
                except OSError:
                    return True
                if time.monotonic() - begin > 30:
                    return False
        return False
    check('a head cannot come a byte at a time', drip(b'GET / HTTP/1.1\r\nHost: localhost\r\n', b'X-A: ' + b'a' * 600))
    check('nor a body', drip(b'POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 600\r\n\r\n', b'a' * 600))
    check('nor nothing', raw(s, b'') == b'')
    same('others are served meanwhile', s.post_json('/translate', ONE).status, 200)

with tempfile.NamedTemporaryFile('w') as f:
    f.write('# people\nfirst-key\n\nsecond-key 60\nthird-key 1\n')
    f.flush()
    with Server('--api-keys', f.name, '--rate', '100000') as s:
        a = s.post_json('/translate', ONE)
        same('a key is needed', (a.status, a.json['error']), (400, 'Please contact the server operator to get an API key'))
        a = s.post_json('/translate', {**ONE, 'api_key': 'firs-key'})
        same('the right one', (a.status, a.json['error']), (403, 'Invalid API key'))
        for wrong in ('first-keyfirst-key', 'first-ke', 'first-key ', '#', '# people', 'x' * 5000):
            same(f'not {wrong[:20]}', s.post_json('/translate', {**ONE, 'api_key': wrong}).status, 403)
        same('in JSON', s.post_json('/translate', {**ONE, 'api_key': 'first-key'}).status, 200)
        same('in a form', s.post_form('/translate', {**ONE, 'api_key': 'second-key'}).status, 200)
        same('in the query string', s.ask('POST', '/translate?q=eins&source=de&target=en&api_key=first-key').status, 200)
        same('in a header', s.post_json('/translate', ONE, Authorization='Bearer first-key').status, 200)
        same("in DeepL's", s.post_json('/v2/translate', {'text': ['eins'], 'target_lang': 'EN'}, Authorization='DeepL-Auth-Key first-key').status, 200)
        same("without one DeepL's says 403", s.post_json('/v2/translate', {'text': ['eins'], 'target_lang': 'EN'}).status, 403)
        same('languages need none', s.get('/languages').status, 200)
        check('clients are told', s.get('/frontend/settings').json['keyRequired'] is True)
        same('numbers do', s.get('/metrics').status, 400)
        a = s.get('/metrics', Authorization='Bearer first-key').text
        check('keys are in no numbers', 'first-key' not in a, a)
        same('a key may have a rate', s.post_json('/translate', {**ONE, 'api_key': 'third-key'}).status, 200)
        a = s.post_json('/translate', {**ONE, 'api_key': 'third-key'})
        check('and is told to wait', a.status == 429 and a.json['error'] == 'Slowdown: 1 per 1 minute' and 1 <= int(a.headers['retry-after']) <= 61, a)
        f.write('fourth-key\n')
        f.flush()
        s.process.send_signal(1)
        for _ in range(200):
            if any('read again' in x for x in s.log):
                break
            time.sleep(0.05)
        same('keys are read again', s.post_json('/translate', {**ONE, 'api_key': 'fourth-key'}).status, 200)
    check('keys are in no log', not any('-key' in x for x in s.log), s.log)

with Server('--rate', '5', '--trust-proxy') as s:
    same('an address has a rate', s.post_json('/translate', {**ONE, 'q': ['eins'] * 5}).status, 200)
    same('by texts', s.post_json('/translate', ONE).status, 429)
    same('those of which only the language is asked included', s.post_json('/detect', {'q': 'eins'}).status, 429)
    same('others have their own', s.post_json('/translate', ONE, **{'X-Forwarded-For': '1.2.3.4, 10.0.0.9'}).status, 200)
    same('the last that the proxy saw counts', s.post_json('/translate', {**ONE, 'q': ['eins'] * 5}, **{'X-Forwarded-For': '9.9.9.9, 10.0.0.9'}).status, 429)
with Server('--max-connections-each', '2') as s:
    held = [socket.create_connection(('127.0.0.1', s.port)) for _ in range(2)]
    time.sleep(0.2)
    check('an address can have too many connections', raw(s, b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n', 5) == b'')
    for c in held:
        c.close()
finish()
