"""serving.py -- a server under requests, good and broken, whose clients go away and which is killed, stopped or told to read its models anew.

An answer is the right one or says in JSON what is wrong; a stopped server ends in time with 0, a killed one leaves nothing that keeps the next
from taking its port; faults under it are told in a sentence at its start, or cost the request that meets them, never the server."""
import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time

from chamber import Finding

WORDS = 'eins zwei drei vier'.split()
TEXTS = [' '.join(WORDS[(i + k) % 4] for k in range(1 + i % 4)) for i in range(12)]
DISTURBANCES = ['write:short', 'write:EINTR', 'read:short', 'read:EINTR', 'write:slow']


class Server:
    """`heed serve` with the toy model on a port."""

    def __init__(self, trial, port, extra, sanitized):
        chamber = trial.chamber
        env = dict(extra)
        if sanitized:
            env.update(ASAN_OPTIONS='abort_on_error=0:exitcode=77', LSAN_OPTIONS=f'suppressions={chamber.leaks}:print_suppressions=0')
        words = ['serve', '--port', str(port), '-m', 'de-en=' + chamber.toy_model(trial), '-j', '2']
        program = chamber.asan if sanitized else chamber.plain
        trial.note(program, words, env, None, 0, None)
        self.trial, self.err = trial, []
        self.process = subprocess.Popen([program] + words, cwd=trial.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **env})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        line = self.process.stdout.readline().decode()
        found = re.search(r'http://[^/]*:(\d+)/', line)
        self.port = int(found[1]) if found else None

    def read(self):
        for line in self.process.stderr:
            self.err.append(line.decode('utf-8', 'replace'))

    def end(self, seconds=60):
        """Its status; what it said must be no crash."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Finding(f'it hangs: {seconds} seconds after its signal it is still there') from None
        self.reader.join(10)
        self.process.stdout.close()
        said = ''.join(self.err)
        for word in ('AddressSanitizer', 'LeakSanitizer', 'runtime error:', 'Assertion', 'terminate called'):
            if word in said:
                raise Finding(f'a sanitizer or an assertion speaks:\n{said[-3000:]}')
        if status in (-4, -6, -7, -8, -11, 77, 134, 139):
            raise Finding(f'a crash, status {status}:\n{said[-3000:]}')
        return status


def ask(port, draw, counts, wrong):
    """One request: a good one, a broken one, or one whose client goes away."""
    kind = draw.random()
    text = draw.choice(TEXTS)
    good = json.dumps({'q': [text] * draw.choice((1, 1, 3, 40)), 'source': 'de', 'target': 'en'})
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    try:
        if kind < 0.15:  # it goes away in the middle
            connection.putrequest('POST', '/translate')
            connection.putheader('Content-Type', 'application/json')
            connection.putheader('Content-Length', str(len(good)))
            connection.endheaders()
            connection.send(good[:draw.randrange(len(good))].encode())
        elif kind < 0.3:
            broken = bytearray(good.encode())
            broken[draw.randrange(len(broken))] = draw.randrange(256)
            connection.request('POST', draw.choice(['/translate', '/heed/translate', '/v2/translate', '/detect', '/nowhere']), bytes(broken),
                               {'Content-Type': draw.choice(['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data'])})
            connection.getresponse().read()
        else:
            connection.request('POST', '/translate', good, {'Content-Type': 'application/json'})
            response = connection.getresponse()
            answer = json.loads(response.read())
            wanted = ' '.join(['one', 'two', 'three', 'four'][WORDS.index(w)] for w in reversed(text.split()))
            if response.status == 200 and any(one != wanted for one in answer['translatedText']):
                wrong.append(f'{text!r} became {answer!r} instead of {wanted!r}')
            elif response.status != 200 and 'error' not in answer:
                wrong.append(f'status {response.status} without a sentence: {answer!r}')
        counts['requests'] += 1
    except (OSError, http.client.HTTPException, ValueError):
        counts['requests cut off'] += 1  # it was killed, or a fault met the answer
    finally:
        connection.close()


def clients(port, trial, end, wrong):
    """Some clients that ask until `end` is set."""
    def client(number):
        draw = type(trial.random)(f'{trial.folder} {number}')
        while not end.is_set():
            ask(port, draw, trial.chamber.counts, wrong)
    threads = [threading.Thread(target=client, args=(i,)) for i in range(trial.random.randint(1, 6))]
    for thread in threads:
        thread.start()
    return threads


def serve(trial):
    """Some lives of a server on one port."""
    chamber, draw = trial.chamber, trial.random
    port, wrong = 0, []
    if not os.path.exists(os.path.join(os.path.dirname(chamber.plain), 'heed_serve.so')):
        return  # there is no libmicrohttpd here
    sanitized = draw.random() < 0.4
    for _ in range(5):
        disturbs = draw.random() < 0.4 and not sanitized
        faults = ','.join(draw.sample(DISTURBANCES, draw.randint(1, 2))) if disturbs else ''
        if not sanitized and not faults and draw.random() < 0.3:
            faults = f'memory:ENOMEM:{int(10 ** draw.uniform(0, 4.5))}'
        server = Server(trial, port, {'HEED_FAULTS': faults, 'LD_PRELOAD': chamber.shim} if faults else {}, sanitized)
        if server.port is None:
            trial.must(faults and server.end() == 1 and server.err and server.err[-1].startswith('heed: '),
                       f'it does not start: {server.err[-3:]}')
            chamber.counts['faults'] += 1
            continue
        port, end = server.port, threading.Event()
        threads = clients(port, trial, end, wrong)
        sent = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        for _ in range(draw.randrange(3)):
            time.sleep(draw.uniform(0, 0.3))
            server.process.send_signal(signal.SIGHUP)
            chamber.counts['models read anew'] += 1
        time.sleep(draw.uniform(0, 0.6))
        trial.must(server.process.poll() is None, f'it ended by itself: {server.err[-3:]}')
        server.process.send_signal(sent)
        status = server.end()
        end.set()
        for thread in threads:
            thread.join()
        chamber.counts['kills'] += 1
        chamber.counts['faults'] += bool(faults)
        trial.must(status == (-9 if sent == signal.SIGKILL else 0), f'after signal {sent} it ends with {status}: {server.err[-3:]}')
        trial.must(not wrong, '\n'.join(wrong[:5]))
