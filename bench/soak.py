"""soak.py -- does heed serve keep its memory? After an hour's worth of requests it should hold what it held after a minute's.

usage: soak.py BUILD      run by `make bench-serve`

Ten requests a second are what a busy server of one machine gets, so 600 are a minute's worth and 36,000 an hour's (REQUESTS_AN_HOUR); they are sent as
fast as they are answered, by 16 clients, to the model inside: single texts, lists, long texts, tags, attention, streams, clients that leave and
requests that are refused.
"""
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading

build = sys.argv[1]
AN_HOUR = int(os.environ.get("REQUESTS_AN_HOUR", "36000"))
targets = []
WORDS = "the red house is very old and my brother has a small dog that likes to sleep under an open window when it rains".split()


def sentence(of):
    return (" ".join(of.choice(WORDS) for _ in range(of.randint(1, 14))) + ".").capitalize()


def ask(connection, i):
    """One request; which one, its number decides."""
    of = random.Random(i)
    kind = of.randrange(20)
    body = {"q": sentence(of), "source": "en", "target": of.choice(targets)}
    path = "/translate"
    if kind == 0:
        body["q"] = [sentence(of) for _ in range(8)]
    elif kind == 1:
        body["q"] = " ".join(sentence(of) for _ in range(12))
    elif kind == 2:
        body.update(q=f"<p>{sentence(of)} <b>{sentence(of)}</b></p>", format="html")
    elif kind == 3:
        body["target"] = "xx"  # refused
    elif kind in (4, 5):
        path, body = "/heed/translate", {"q": sentence(of), "to": body["target"], "stream": kind == 5}
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    if kind == 6:  # gone before the answer
        connection.close()
        return
    answer = connection.getresponse()
    answer.read()
    if answer.status != (400 if kind == 3 else 200):
        sys.exit(f"request {i}: status {answer.status}")


def targets_of(port):
    """What the model inside translates English to."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/languages")
    languages = json.loads(connection.getresponse().read())
    connection.close()
    return [code for language in languages if language["code"] == "en" for code in language["targets"] if code != "en"]


def memory_of(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def send(port, numbers):
    lock, problems = threading.Lock(), []

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            with lock:
                i = next(numbers, None)
            if i is None or problems:
                break
            try:
                ask(connection, i)
            except (Exception, SystemExit) as problem:
                problems.append(problem)
        connection.close()

    clients = [threading.Thread(target=client) for _ in range(16)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    if problems:
        sys.exit(str(problems[0]))


def main():
    server = subprocess.Popen([os.path.join(build, "heed"), "serve", "-q", "--port", "0", "--threads", "1"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        targets.extend(targets_of(port))
        send(port, iter(range(AN_HOUR // 60)))
        after_a_minute = memory_of(server.pid)
        send(port, iter(range(AN_HOUR // 60, AN_HOUR)))
        after_an_hour = memory_of(server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(60)
    print(f"soak: {after_a_minute:.1f} MB after {AN_HOUR // 60:,} requests, {after_an_hour:.1f} MB after {AN_HOUR:,}; the server ended with status {status}")
    print(f"headline serve_soak_memory {after_an_hour / after_a_minute:.3f}")


main()
