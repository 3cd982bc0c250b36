"""server.py -- for the tests of `heed serve`: a server on a free port of loopback, requests to it, and verdicts as transcript.sh prints them."""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

HEED, TOY = (os.path.abspath(x) for x in sys.argv[1:3])
n_failed = 0


def check(name, is_well, seen=''):
    """A verdict; what was seen is shown when it is bad."""
    global n_failed
    print(f"[       OK ] {name}" if is_well else f"[  FAILED  ] {name}\n    {seen!r}"[:3000], flush=True)
    n_failed += not is_well


def same(name, seen, wanted):
    check(name, seen == wanted, f"{seen!r} instead of {wanted!r}")


def finish():
    sys.exit(n_failed > 0)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {k.lower(): v for k, v in response.getheaders()}
        self.bytes = response.read()

    @property
    def text(self):
        return self.bytes.decode('utf-8', 'replace')

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:1500]}"


class Server:
    """`heed serve` with the toy model, which says German numbers backwards in English."""

    def __init__(self, *options, model=True):
        models = ['-m', 'de-en=' + TOY] if model else []
        self.process = subprocess.Popen([HEED, 'serve', '--port', '0', *models, *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        found = re.search(r'http://[^/]*:(\d+)/', line)
        if not found:
            print(self.process.communicate())
            raise SystemExit(f'the server did not start: {line}')
        self.port = int(found[1])
        self.log = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode('utf-8', 'replace'))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(60)
        self.reader.join(10)

    def connect(self, timeout=60):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        connection = self.connect()
        connection.request(method, path, body, headers or {})
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask('GET', path, headers={k.replace('_', '-'): v for k, v in headers.items()})

    def post_json(self, path, said, **headers):
        return self.ask('POST', path, json.dumps(said), {'Content-Type': 'application/json', **headers})

    def post_form(self, path, said, **headers):
        return self.ask('POST', path, urllib.parse.urlencode(said),
                        {'Content-Type': 'application/x-www-form-urlencoded', **headers})

    def post_parts(self, path, said, files=(), **headers):
        mark = 'a7d3boundary'
        body = b''
        for name, value in said.items():
            body += f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, file_name, value in files:
            body += (f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
                     'Content-Type: application/octet-stream\r\n\r\n').encode() + value + b'\r\n'
        body += f'--{mark}--\r\n'.encode()
        return self.ask('POST', path, body, {'Content-Type': f'multipart/form-data; boundary={mark}', **headers})


def beside(long, short):
    """The answer to a request that takes long, for how many seconds, and the longest that a short one takes meanwhile, again and again."""
    answers, waits = [], []

    def go():
        begin = time.monotonic()
        answers.append(long())
        answers.append(time.monotonic() - begin)
    thread = threading.Thread(target=go)
    thread.start()
    while thread.is_alive() or not waits:
        begin = time.monotonic()
        short()
        waits.append(time.monotonic() - begin)
    thread.join()
    return answers[0], answers[1], max(waits)


def memory_of(pid):
    """Bytes that a process has in memory."""
    with open(f'/proc/{pid}/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
