"""load.py -- many clients: equal answers, a full queue, clients that leave, the end and new models under load."""
import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
from server import HEED, TOY, Answer, Server, check, finish, memory_of, same

WORDS = 'eins zwei drei vier fünf sechs sieben acht neun'.split()
TEXTS = [' '.join(WORDS[(i * 7 + k * (i + 3)) % 9] for k in range(1 + i * 5 % 13)) for i in range(50)]


def in_threads(n, work):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


lines = subprocess.run([HEED, 'translate', '-m', TOY], input='\n'.join(TEXTS).encode() + b'\n', stdout=subprocess.PIPE,
                       check=True).stdout.decode().rstrip('\n').split('\n')
with Server('--quiet') as s:
    def ask(text, **more):
        return s.post_json('/translate', {'q': text, 'source': 'de', 'target': 'en', **more}).bytes
    alone = [ask(t) for t in TEXTS]
    same('one client gets what heed translate prints', [json.loads(x)['translatedText'] for x in alone], lines)
    together = [None] * 50
    for _ in range(3):
        in_threads(50, lambda i: together.__setitem__(i, ask(TEXTS[i])))
        same('fifty get the same bytes', together, alone)
    whole = [s.post_json('/heed/translate', {'q': t}).bytes for t in TEXTS[:20]]
    in_threads(20, lambda i: together.__setitem__(i, s.post_json('/heed/translate', {'q': TEXTS[i]}).bytes))
    same('attention included', together[:20], whole)
    same('a list is the same as its texts', json.loads(ask(TEXTS))['translatedText'], lines)
    together = [None] * 200
    in_threads(200, lambda i: together.__setitem__(i, ask(TEXTS[i % 50])))
    same('two hundred get the same bytes', together, alone * 4)
    in_threads(200, lambda i: together.__setitem__(i, s.post_json('/heed/translate', {'q': TEXTS[i % 20]}).bytes))
    same('with attention as well', together, whole * 10)

    # clients that read a little at a time, of answers that do not fit into any buffer
    def slow():
        c = socket.socket()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.settimeout(60)
        c.connect(('127.0.0.1', s.port))
        said = json.dumps({'q': 'eins zwei drei. ' * 100}).encode()
        c.sendall(b'POST /heed/translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(said) + said)
        return c
    wanted = s.post_json('/heed/translate', {'q': 'eins zwei drei. ' * 100}).bytes
    check('their answer is long', len(wanted) > 500000, len(wanted))
    readers = [slow() for _ in range(20)]
    seen = [b''] * len(readers)
    for _ in range(20):
        for i, c in enumerate(readers):
            seen[i] += c.recv(100)
        same('beside slow readers others are served', ask(TEXTS[3]), alone[3])
    for i, c in enumerate(readers):
        while piece := c.recv(65536):
            seen[i] += piece
        c.close()
    same('and they get the same bytes', [x.split(b'\r\n\r\n', 1)[1] == wanted for x in seen], [True] * len(readers))

    # clients that leave, half-sent requests, streams that nobody reads to their end
    body = json.dumps({'q': TEXTS * 4, 'source': 'de', 'target': 'en'}).encode()
    head = b'POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(body)
    stream = json.dumps({'q': TEXTS * 4, 'stream': True}).encode()
    stream_head = b'POST /heed/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(stream)

    def leave(i):
        with socket.create_connection(('127.0.0.1', s.port), timeout=60) as c:
            if i % 3 == 0:
                c.sendall(head + body[:len(body) // 2])
            elif i % 3 == 1:
                c.sendall(head + body)
            else:
                c.sendall(stream_head + stream)
                c.recv(100)
    in_threads(24, leave)
    for _ in range(400):
        if 'heed_queue_length 0\n' in s.get('/metrics').text:
            break
        time.sleep(0.05)
    text = s.get('/metrics').text
    check('for those who have gone nothing is done', 'heed_queue_length 0\n' in text, text)
    same('others are served as before', ask(TEXTS[7]), alone[7])
    warm = memory_of(s.process.pid)
    for _ in range(6):
        in_threads(20, lambda i: [ask(TEXTS[(i + k) % 50]) for k in range(10)])
    with open(HEED, 'rb') as f:
        is_sanitized = b'__asan_init' in (bytes := f.read()) or b'__tsan_init' in bytes
    check('memory does not grow', is_sanitized or memory_of(s.process.pid) < warm * 1.2 + 4e6, (warm, memory_of(s.process.pid)))
same('it ends well', s.status, 0)

# A thousand clients, all connected before the first is answered.
N_CLIENTS = 1000
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if hard == resource.RLIM_INFINITY or hard >= N_CLIENTS + 200:
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, N_CLIENTS + 200), hard))
    with Server('--quiet', '--max-connections', '1100') as s:
        bodies = [json.dumps({'q': x, 'source': 'de', 'target': 'en'}).encode() for x in TEXTS]
        sockets = [socket.create_connection(('127.0.0.1', s.port), timeout=60) for _ in range(N_CLIENTS)]
        for i, c in enumerate(sockets):
            c.sendall(b'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n'
                      b'Content-Length: %d\r\n\r\n' % len(bodies[i % 50]) + bodies[i % 50])
        n_right = 0
        for i, c in enumerate(sockets):
            answer = b''
            while more := c.recv(65536):
                answer += more
            c.close()
            n_right += answer.startswith(b'HTTP/1.1 200') and answer.endswith(alone[i % 50])
        same('a thousand get the same bytes', n_right, N_CLIENTS)
    same('and it ends well', s.status, 0)

# 10 MB
long = {'q': 'eins zwei', 'source': 'de', 'target': 'en', 'more': 'x' * 10_000_000}
with Server('--quiet') as s:
    try:
        same('10 MB are too much', s.post_json('/translate', long).status, 413)
    except OSError:
        pass  # the connection ended before all was sent
    same('and are not kept', s.post_json('/translate', {**long, 'more': ''}).json, {'translatedText': 'two one'})
with Server('--quiet', '--max-body', '20000000', '--max-characters', '20000000') as s:
    same('where they may be sent they are read', s.post_json('/translate', long).json, {'translatedText': 'two one'})
    same('as a form, too', s.post_form('/translate', long).json, {'translatedText': 'two one'})
    same('and as one text', s.post_json('/translate', {**long, 'q': 'x' * 10_000_000, 'more': '', 'target': 'de'}).json, {'translatedText': 'x' * 10_000_000})

with Server('--max-queue', '20', '--threads', '1') as s:
    answers = []
    in_threads(12, lambda i: answers.append(s.post_json('/translate', {'q': TEXTS[:19], 'source': 'de', 'target': 'en'})))
    full = [a for a in answers if a.status == 503]
    check('every request is answered', len(answers) == 12 and all(a.status in (200, 503) for a in answers), answers)
    check('those that are too many are told to come again', full and all(a.headers['retry-after'] == '1' and 'error' in a.json for a in full), answers)
    check('the others are translated', any(a.json.get('translatedText') == lines[:19] for a in answers), answers)

# the end: what is under way is answered
s = Server('--threads', '1')
answers = []


def ask_at_the_end(_):
    try:
        answers.append(s.post_json('/translate', {'q': TEXTS, 'source': 'de', 'target': 'en'}))
    except OSError:
        pass  # it came too late


client = threading.Thread(target=lambda: in_threads(8, ask_at_the_end))
client.start()
for _ in range(600):
    if 'heed_queue_length 0\n' not in s.get('/metrics').text:
        break
s.process.send_signal(signal.SIGTERM)
client.join()
with s:
    pass
good = [a for a in answers if a.status == 200]
check('at the end what was accepted is answered', len(good) >= 1 and all(a.json['translatedText'] == lines for a in good), answers)
same('and the server ends well', s.status, 0)

# new models: no request is dropped
with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, 'model.safetensors')
    with open(TOY, 'rb') as f, open(model, 'wb') as g:
        g.write(f.read())
    with Server('-m', 'de-en=' + model, model=False) as s:
        stop, answers = threading.Event(), []

        def go_on(i):
            while not stop.is_set():
                answers.append(s.post_json('/translate', {'q': TEXTS[i], 'source': 'de', 'target': 'en'}).status)
        crowd = threading.Thread(target=lambda: in_threads(6, go_on))
        crowd.start()
        for i in range(5):
            s.process.send_signal(signal.SIGHUP)
            for _ in range(400):
                if sum('read again' in x for x in s.log) > i:
                    break
                time.sleep(0.02)
        with open(model, 'wb') as g:
            g.write(b'nothing')
        s.process.send_signal(signal.SIGHUP)
        for _ in range(400):
            if any('used as they were' in x for x in s.log):
                break
            time.sleep(0.02)
        stop.set()
        crowd.join()
        check('models are read again under load', sum('read again' in x for x in s.log) == 5, s.log[:5])
        check('and no request is dropped', len(answers) > 5 and set(answers) == {200}, set(answers))
        check('a model that cannot be read changes nothing', any('used as they were' in x for x in s.log) and
              s.post_json('/translate', {'q': 'eins', 'source': 'de', 'target': 'en'}).json == {'translatedText': 'one'}, s.log[-3:])
    same('then it ends well, too', s.status, 0)

# socket activation, as systemd does it
SCRIPT = ('import os, sys\nfor i in range(int(sys.argv[2])):\n os.dup2(int(sys.argv[1]), 3 + i)\n os.set_inheritable(3 + i, True)\n'
          'os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=sys.argv[2])\nos.execv(sys.argv[3], sys.argv[3:])')


def given(listener, *options, n=1):
    return subprocess.Popen(['python3', '-c', SCRIPT, str(listener.fileno()), str(n), HEED, 'serve', '-m', 'de-en=' + TOY, *options],
                            pass_fds=[listener.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ask_health(connection):
    connection.sendall(b'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    return connection.recv(100)[:12]


def serves(process, line, listener, address, wanted):
    check(f'a socket can be given, and is told: {wanted}', wanted in line, line)
    with socket.socket(listener.family, socket.SOCK_STREAM) as c:
        c.connect(address)
        same('and is served', ask_health(c), b'HTTP/1.1 200')
    process.send_signal(signal.SIGINT)
    same('until Ctrl-C', (process.wait(60), process.communicate()[1].decode().count('everybody who reaches')),
         (0, int(not wanted.startswith(('http://127.0.0.1', 'unix:')))))


with socket.create_server(('127.0.0.1', 0)) as listener:
    port = listener.getsockname()[1]
    process = given(listener, '--host', '0.0.0.0', '--port', '1')
    serves(process, process.stdout.readline().decode(), listener, ('127.0.0.1', port), f'http://127.0.0.1:{port}/')
    process = given(listener, n=2)
    check('but not two', process.wait(60) == 1 and b'2 sockets are given' in process.communicate()[1])
with socket.create_server(('0.0.0.0', 0)) as listener:
    port = listener.getsockname()[1]
    process = given(listener)
    check('one that is open to others is not served without keys',
          process.wait(60) == 1 and b'at 0.0.0.0 everybody who reaches this machine' in process.communicate()[1])
    process = given(listener, '--insecure')
    serves(process, process.stdout.readline().decode(), listener, ('127.0.0.1', port), f'http://0.0.0.0:{port}/')
with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
    listener.bind(os.path.join(folder, 'heed'))
    listener.listen()
    process = given(listener)
    serves(process, process.stdout.readline().decode(), listener, os.path.join(folder, 'heed'), f'unix:{folder}/heed')
finish()
