"""large.py -- large answers: nobody waits for those of others, and there is an end to how large one may be."""
import json
import signal
import socket
import threading
import time
from server import Server, beside, check, finish, same

ONE = {'q': 'eins zwei', 'source': 'de', 'target': 'en'}
LARGE = 'eins zwei drei. ' * 300


with Server('--quiet', '--drain-time', '600') as s:
    whole = s.post_json('/heed/translate', {'q': LARGE})
    drawn = s.post_json('/heed/plot', {'q': LARGE[:1500]})
    for name, ask in (('an answer', lambda: s.post_json('/heed/translate', {'q': LARGE})),
                      ('a stream', lambda: s.post_json('/heed/translate', {'q': LARGE, 'stream': True})),
                      ('a picture', lambda: s.post_json('/heed/plot', {'q': LARGE[:1500]}))):
        if name == 'a picture' and drawn.status == 500 and 'heed_draw' in drawn.text:
            print('skipped: pictures, as there is no heed_draw.so')
            continue
        a, took, wait = beside(ask, lambda: s.post_json('/translate', ONE))
        check(f'{name} that takes long does not make others wait', wait < 0.6 * took, (took, wait))
        wanted = drawn.bytes if name == 'a picture' else whole.bytes
        check('and is what it is without them', a.status == 200 and wanted in a.bytes and (name == 'a stream' or wanted == a.bytes), a)

    # clients that leave while their answer is made
    for stream in (True, False):
        body = json.dumps({'q': LARGE, 'stream': stream}).encode()
        for _ in range(3):
            with socket.create_connection(('127.0.0.1', s.port), timeout=60) as c:
                c.sendall(b'POST /heed/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
                          b'Content-Length: %d\r\n\r\n' % len(body) + body)
                time.sleep(0.3)
    same('those who leave leave nothing behind', s.post_json('/translate', ONE).json, {'translatedText': 'two one'})

    # the end: what is being made is sent
    begin, answers = time.monotonic(), []
    thread = threading.Thread(target=lambda: answers.append(s.post_json('/heed/translate', {'q': LARGE})))
    thread.start()
    for _ in range(2000):
        if 'heed_queue_length 0\n' not in s.get('/metrics').text:
            break
    for _ in range(2000):
        if 'heed_queue_length 0\n' in s.get('/metrics').text:
            break
    s.process.send_signal(signal.SIGTERM)
    thread.join()
    check('at the end what is being made is sent', [a.bytes for a in answers] == [whole.bytes], answers)
same('and the server ends well', s.status, 0)

with Server('--quiet') as s:
    for said in ({'q': LARGE * 2}, {'q': [LARGE[:4000]] * 8}, {'q': LARGE * 2, 'target': 'one. ' * 3000}):
        a = s.post_json('/heed/translate', said)
        check('an answer can be too large', a.status == 400 and 'more than 4000000 numbers' in a.json['error'], a)
    a = s.post_json('/heed/translate', {'q': [LARGE[:4000]] * 8, 'stream': True})
    check('in a stream as well', a.text.rstrip().split('\n')[-2] == 'event: error' and 'numbers' in a.text[-300:], a.text[-300:])
    same('without attention it is not', s.post_json('/heed/translate', {'q': LARGE * 2, 'attention': 'none'}).status, 200)
    same('nor a translation alone', s.post_json('/translate', {**ONE, 'q': LARGE * 2}).status, 200)
finish()
