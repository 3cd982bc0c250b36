"""lab.py -- running heed for the study: trainings that go on where they stopped, results that are kept, two at a time.

What was measured stands in FOLDER/results/KEY.json together with everything that it depends on (commands, text, sizes); it is measured again
only when that has changed. Trainings are kept by heed itself: the same `heed train` goes on, and does nothing when it was done.
"""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


# Where a text of SHARED/data is to be had, and what it has to look like there.
SOURCES = {
    "multi30k": "task 1 of github.com/multi30k/dataset, English and German, cut into words by Moses' tokeniser and lower-cased: "
                "{train,val,test2016}.tok.lc.{en,de}",
    "tatoeba": "sentences of tatoeba.org as pairs, deu-eng of www.manythings.org/anki, 1,000 of them dev and 1,000 test: {train,dev,test}.en-de.{en,de}",
    "wordalign": "100 German and English sentences of parliament with links made by people: deen.{src,tgt,gold}, words between spaces, links as 1-2; "
                 "where these came from was not recorded",
    "speech": "AN4 of www.speech.cs.cmu.edu/databases/an4 as vectors (recipes/an4-letters.conf): an4/{train,dev,test}.{safetensors,letters}",
}


class Missing(Exception):
    """Something is not there: a text to learn from, a result to report."""


def say(text):
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


class Lab:
    def __init__(self, build, shared, folder, is_smoke):
        self.heed = str(pathlib.Path(build, "heed"))
        self.chart = str(pathlib.Path(build, "chart"))
        self.shared, self.folder, self.is_smoke = pathlib.Path(shared), pathlib.Path(folder), is_smoke
        self.running = set()  # what has to be told when the study is stopped
        for name in ("results", "models", "text"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    # ---- results -----------------------------------------------------------------------------------------------------

    def result(self, key):
        """What was measured under this name."""
        path = self.folder / "results" / (key + ".json")
        if not path.exists():
            raise Missing("no result " + key)
        return json.loads(path.read_text())["value"]

    def known(self, key, depends_on, measure):
        """The result of measure(), from the last time if it depends on the same things."""
        path = self.folder / "results" / (key + ".json")
        depends_on = json.loads(json.dumps(depends_on))
        if path.exists():
            before = json.loads(path.read_text())
            if before["depends_on"] == depends_on:
                return before["value"]
        value = measure()
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"depends_on": depends_on, "value": value}, indent=1))
        new.replace(path)
        return value

    # ---- text ----------------------------------------------------------------------------------------------------------

    def lines(self, *place):
        """The lines of a file of SHARED/data."""
        path = self.shared.joinpath("data", *place)
        if not path.exists():
            raise Missing("%s is not there; SHARED=folder says where the text is, %s" % (path, SOURCES[place[0]]))
        return path.read_text(encoding="utf-8").split("\n")[:-1]

    def tell_texts(self, names):
        """Which texts the study reads, where they are looked for, and where they are to be had."""
        for name in names:
            folder = self.shared / "data" / name
            say("text %s: %s" % (folder, "is there" if folder.is_dir() else "is not there; it is " + SOURCES[name]))

    def write(self, name, lines):
        """A text of the study's own; its path."""
        path = self.folder / "text" / name
        text = "".join(line + "\n" for line in lines)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        return str(path)

    # ---- heed ----------------------------------------------------------------------------------------------------------

    def call(self, *arguments):
        """What heed prints; its complaint ends the study."""
        process = subprocess.Popen([self.heed, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.add(process)
        out, errors = process.communicate()
        self.running.remove(process)
        if process.returncode != 0:
            raise RuntimeError("heed %s\n%s" % (" ".join(map(str, arguments)), errors[-2000:]))
        return out

    def objects(self, *arguments):
        """What heed prints with --json: an object a line."""
        return [json.loads(line) for line in self.call(*arguments, "--json", "-q").splitlines()]

    def model(self, name):
        return str(self.folder / "models" / (name + ".safetensors"))

    def train(self, name, options):
        """Train with one thread; the options, target pieces, seconds and parameters of the run."""
        options = [str(option) for option in options]
        if self.is_smoke:  # a few updates
            for name_of, value in (("--updates", "10"), ("--warmup", "1"), ("--batch-tokens", "50")):
                options[options.index(name_of) + 1] = value
        written = self.folder / "models" / (name + ".options")
        if not written.exists() or json.loads(written.read_text()) != options:  # another run: what is left of it is of no use
            for old in written.parent.glob(name + ".*"):
                old.unlink()
            written.write_text(json.dumps(options))

        def measure():
            say("%s: training" % name)
            self.call("train", *options, "--out", self.model(name), "--threads", 1, "-q")
            notes = [json.loads(line) for line in open(self.folder / "models" / (name + ".jsonl"))]
            updates = [note for note in notes if note["event"] == "update"]
            seconds = before = 0
            for note in updates:  # a call that goes on counts from 0
                seconds += note["seconds"] - before if note["seconds"] > before else note["seconds"]
                before = note["seconds"]
            parameters = json.loads(self.call("info", self.model(name), "--json"))["parameters"]
            say("%s: %d updates in %.0f s" % (name, updates[-1]["update"], seconds))
            return {"pieces": updates[-1]["target_pieces"], "seconds": seconds, "epochs": updates[-1]["epoch"], "parameters": parameters}
        return self.known("train/" + name, options, measure)

    def train_all(self, runs):
        """Several trainings {name: options}, two at a time, each on a core of its own."""
        with concurrent.futures.ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
            jobs = {name: pool.submit(self.train, name, options) for name, options in runs.items()}
            try:
                return {name: job.result() for name, job in jobs.items()}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(self.running):
                    process.send_signal(signal.SIGINT)  # heed saves, and says how to go on
                raise

    def computing(self, command):
        """Seconds of computing of a command and its peak of memory in MB; what else the machine does is not counted."""
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=errors, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                errors.seek(0)
                raise RuntimeError("%s\n%s" % (" ".join(command), errors.read()[-2000:]))
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def pace(self, options, n_updates):
        """Seconds of computing of an update, and the peak of memory in MB: a long run less a short one. Nothing is kept of either."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            runs = []
            for n in (2, 2 + n_updates):
                runs.append(self.computing([
                    self.heed, "train", *map(str, options), "--out", os.path.join(folder, "m.safetensors"), "--threads", "1", "-q", "--fresh",
                    "--updates", str(n), "--valid-metric", "ce", "--valid-every", "1000000", "--dropout", "0", "--ema", "0", "--warmup", "10"]))
        return max(runs[1][0] - runs[0][0], 1e-6) / n_updates, runs[1][1]

    def timed(self, *arguments):
        """Seconds of computing of heed with these arguments."""
        return self.computing([self.heed, *map(str, arguments)])[0]
