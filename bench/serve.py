"""serve.py -- heed serve against a small Python server on CTranslate2 int8, on the same weights.

usage: serve.py BUILD PEERS      run by `make bench-serve`, after peers.sh has filled PEERS

The peer answers as LibreTranslate does: a thread per connection, a lock around the engine, texts one by one, beam 4 as its engine is called
by Argos Translate. Each server has one thread on the first core, the clients have the second. Rounds alternate; the best round of each counts.
"""
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

build, peers = sys.argv[1:3]
seconds = float(os.environ.get("SECONDS_EACH", "4"))
rounds = int(os.environ.get("ROUNDS", "2"))
spm = os.path.join(peers, "small.spm")
BEAM = "4"
MODEL = os.path.join(peers, "small-int8.heed")
with open(os.path.join(peers, "origin")) as origin:
    is_inside = "inside heed" in origin.read()  # and knows its languages itself
TARGET = "fr" if is_inside else "de"
with open(os.path.join(peers, "symbol")) as symbol_file:
    symbol = symbol_file.read().split()  # what sources begin with, of a model of several languages

PEER = r'''
import ctranslate2, json, sentencepiece, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
pieces = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2])
translator = ctranslate2.Translator(sys.argv[1], device="cpu", compute_type="int8", inter_threads=1, intra_threads=1)
end = [] if json.load(open(sys.argv[1] + "/config.json")).get("add_source_eos") else ["</s>"]
lock = threading.Lock()
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536
    def log_message(self, *_): pass
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            best = translator.translate_batch([sys.argv[4:] + pieces.encode(said["q"], out_type=str) + end], beam_size=int(sys.argv[3]))[0].hypotheses[0]
        body = json.dumps({"translatedText": pieces.decode(best)}, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d/" % server.server_address[1], flush=True)
server.serve_forever()
'''


def start(*command):
    process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
    return process, port


def sentences():
    with open(os.path.join(peers, "sentences.en")) as lines:
        return [line.strip() for line in lines][:2000]


TEXTS = sentences()


def request_of(text):
    body = json.dumps({"q": text, "source": "en", "target": TARGET}).encode()
    return b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


REQUESTS = [request_of(text) for text in TEXTS]
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Client:
    """One connection, with no more work than must be: what Python's http.client does with an answer takes as long as heed with a request."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        self.socket.sendall(request)
        answer = self.socket.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += self.receive()
        head = answer.index(b"\r\n\r\n")
        end = head + 4 + int(LENGTH.search(answer, 0, head)[1])
        while len(answer) < end:
            answer += self.receive()
        if not answer.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(answer.decode())
        return answer[head + 4:]

    def receive(self):
        more = self.socket.recv(65536)
        if not more:
            raise SystemExit("the server has closed a connection")
        return more


def load(port, n_clients):
    """Requests per second, and how long they took, in seconds, sorted."""
    times, end = [], time.perf_counter() + seconds

    def run(number):
        client = Client(port)
        k, mine = number * 37, []
        while time.perf_counter() < end:
            begin = time.perf_counter()
            client.ask(REQUESTS[k % len(REQUESTS)])
            mine.append(time.perf_counter() - begin)
            k += 1
        times.extend(mine)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n_clients)]
    begin = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return len(times) / (time.perf_counter() - begin), sorted(times)


def overhead(port):
    """What the server adds to translating: a short sentence over HTTP and by a warm `heed translate`, in milliseconds."""
    text = "Good morning."
    client = Client(port)

    def over_http(request):
        begin = time.perf_counter()
        client.ask(request)
        return time.perf_counter() - begin
    served = statistics.median(over_http(request_of(text)) for _ in range(500))
    process = subprocess.Popen(["taskset", "-c", "0", os.path.join(build, "heed"), "translate", "-m", MODEL, "-j", "1", "-b", BEAM],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def piped():
        begin = time.perf_counter()
        process.stdin.write(text + "\n")
        process.stdin.flush()
        process.stdout.readline()
        return time.perf_counter() - begin
    times = sorted(piped() for _ in range(500))
    process.stdin.close()
    process.wait()
    return 1e3 * served, 1e3 * statistics.median(times), 1e3 * statistics.median(
        over_http(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(500))


os.sched_setaffinity(0, {1})
mine, my_port = start(os.path.join(build, "heed"), "serve", "-q", "--port", "0", "-j", "1", "-b", BEAM, "-m", MODEL if is_inside else "en-de=" + MODEL)
theirs, their_port = start(os.path.join(peers, "ct2", "bin", "python"), "-c", PEER, os.path.join(peers, "small-ct2"), spm, BEAM, *symbol)
headlines = []
try:
    for n in (1, 16, 200):
        best = {}
        for _ in range(rounds):
            for name, port in (("heed", my_port), ("ct2", their_port)):
                rate, times = load(port, n)
                p99 = times[int(0.99 * (len(times) - 1))]
                old = best.get(name, (0, 1e9, 0))
                best[name] = (max(rate, old[0]), min(p99, old[1]), statistics.median(times))
        h, c = best["heed"], best["ct2"]
        print("%3d clients: heed %6.0f requests/s, p50 %7.2f ms, p99 %7.2f ms; CTranslate2 %6.0f, %7.2f, %7.2f; %.2f times the requests, %.2f of the p99" % (
            n, h[0], 1e3 * h[2], 1e3 * h[1], c[0], 1e3 * c[2], 1e3 * c[1], h[0] / c[0], h[1] / c[1]), flush=True)
        headlines += [("serve_rps_%d_vs_ct2" % n, h[0] / c[0]), ("serve_p99_%d_vs_ct2" % n, h[1] / c[1])]
    served, piped, health = overhead(my_port)
    print("a short sentence: %.3f ms over HTTP, %.3f ms through a pipe; /health %.3f ms" % (served, piped, health))
    headlines.append(("serve_overhead_ms", served - piped))
finally:
    for process in (mine, theirs):
        process.send_signal(signal.SIGTERM)
        process.wait()
for name, value in headlines:
    print("headline %s %.3f" % (name, value))
