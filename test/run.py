"""Runs suites side by side and adds up their counts; test/run.sh calls it.

    test/run.py LOGS LIST

LIST has a suite in each line: [VARIABLE=value]... command argument..., whose last line of output
is "NAME: N passed, M failed", or "skipped: WHY".  Its exit status is 0 if nothing failed.  The output of
each goes to a file of its own in the folder LOGS.  A line "skipped: WHY" anywhere in it is repeated
at the end.

JOBS=n runs n at a time (one more than there are processors, at most 5, since suites wait, too); LIMIT=n, for all or in a suite's line, ends
a suite after n seconds (3600); MINUTES=n starts no suite after n minutes.  The last line is "N passed, N failed".
FIRST=yes ends the run when a suite has failed.  Where the output is no terminal, a line says what runs after each
EVERY seconds without another line (30).
STARTED is the second in which all of it began, packages and building included, and REST says what did not run.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time

COUNT = re.compile(r"^.*: (\d+) passed, (\d+) failed$")
SKIPPED = re.compile(r"^(?:# )*skipped: (.*)$", re.MULTILINE)
PASSED = re.compile(r"^\s*ok\b", re.MULTILINE)
WRONG = re.compile(r"FAIL|^\s*not ok|ERROR: AddressSanitizer|runtime error|Traceback|to replay:|^# .*(got|expected):", re.MULTILINE)
QUIET_SECONDS = float(os.environ.get("EVERY") or 30)  # longest silence where the output is no terminal
MOST_LINES = 40  # of a failed suite's log, at the end


class Suite:
    def __init__(self, number, line, folder):
        words = shlex.split(line)
        self.settings = {}
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, value = words.pop(0).split("=", 1)
            self.settings[name] = value
        self.command = words
        self.label = " ".join([f"{n}={v}" for n, v in self.settings.items()] + words)
        name = re.sub(r"[^A-Za-z0-9_=]+", "-", self.label.replace("/usr/bin/python3 ", "")).strip("-")
        self.log = os.path.join(folder, f"{number:03d}-{name}.log")
        self.passed = self.failed = 0
        self.why = None  # what is wrong, or None
        self.seconds = 0
        self.skipped = False
        self.skips = []
        self.seen = self.at = 0

    def start(self):
        self.started = time.monotonic()
        with open(self.log, "wb") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True,
                       "env": {**os.environ, **self.settings}}
            try:
                self.process = subprocess.Popen(self.command, **options)
            except OSError as error:
                log.write(f"{error}; make test-build builds what the suites need\n".encode())
                self.process = subprocess.Popen(["false"], **options)

    def stop(self):
        """End the suite and what it started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(10)
            except (ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
                pass

    def progress(self):
        """How many lines of its log say "ok" so far, if any: some suites write their log at the end."""
        with open(self.log, "rb") as log:
            log.seek(self.at)
            text = log.read()
        end = text.rfind(b"\n") + 1
        self.at += end
        self.seen += len(PASSED.findall(text[:end].decode(errors="replace")))
        return f" {self.seen} ok," if self.seen else ""

    def text(self):
        with open(self.log, "rb") as log:
            return log.read().decode(errors="replace")

    def finish(self, status, hangs):
        self.seconds = time.monotonic() - self.started
        text = self.text()
        last = text.rstrip("\n").rsplit("\n", 1)[-1]
        count = COUNT.match(last)
        self.skipped = bool(SKIPPED.match(last))
        self.skips = [why.strip() for why in SKIPPED.findall(text)]
        if count:
            self.passed, self.failed = int(count[1]), int(count[2])
        if hangs:
            self.why = f"did not end in {hangs:.0f} s"
        elif status < 0:
            self.why = f"ended by signal {-status} ({signal.Signals(-status).name})"
        elif not count and not self.skipped:
            self.why = f"ended without its count, exit status {status}"
        elif status != 0 and not self.failed:
            self.why = f"exit status {status}, though no check failed"
        elif self.failed:
            self.why = f"{self.failed} failed"
        elif count and not self.passed and not self.skips:
            self.why = "ran no check"
        if self.why and not self.failed:
            self.failed = 1

    def replay(self):
        """A command that runs the suite as it was run here."""
        settings = {n: os.environ[n] for n in ("SEED", "PG_CONFIG") if os.environ.get(n)}
        settings.update(self.settings)
        words = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
        return " ".join(words + [shlex.quote(word) for word in self.command])

    def excerpt(self):
        """The lines of the log that matter: about failures, then the last ones."""
        lines = self.text().rstrip("\n").split("\n")
        if len(lines) <= MOST_LINES:
            return lines
        chosen = []
        for number, line in enumerate(lines):
            if WRONG.search(line):
                chosen += range(number, min(number + 4, len(lines)))
        chosen = sorted(set(chosen[:MOST_LINES - 10]) | set(range(len(lines) - 10, len(lines))))
        return [lines[number] for number in chosen]


class Screen:
    """Lines that stay, and in a terminal one more line that is written anew each second."""

    def __init__(self):
        self.terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.last = time.monotonic()

    def line(self, text=""):
        sys.stdout.write(("\r\033[K" if self.terminal else "") + text + "\n")
        sys.stdout.flush()
        self.last = time.monotonic()

    def status(self, text):
        if self.terminal:
            width = os.get_terminal_size().columns or 80
            sys.stdout.write("\r\033[K" + text[:width - 1])
            sys.stdout.flush()
        elif time.monotonic() - self.last >= QUIET_SECONDS:
            self.line(text)

    def clear(self):
        if self.terminal:
            sys.stdout.write("\r\033[K")
            sys.stdout.flush()


# Signals that ask the runner to end.  It ends where no suite is about to start.
asked_to_end = []


def run(suites, jobs, most, screen):
    waiting, running, done = list(suites), [], []
    told = 0
    until = time.monotonic() + 60 * float(os.environ.get("MINUTES") or 1e9)
    try:
        while waiting or running:
            if waiting and time.monotonic() > until:
                for suite in waiting:
                    suite.skips = [f"{suite.label}, since {os.environ['MINUTES']} minutes are over"]
                waiting = []
            while waiting and len(running) < jobs:
                suite = waiting.pop(0)
                suite.start()
                running.append(suite)
            time.sleep(0.1)
            if asked_to_end:
                raise KeyboardInterrupt
            for suite in list(running):
                status = suite.process.poll()
                limit = float(suite.settings.get("LIMIT") or most)
                hangs = status is None and time.monotonic() - suite.started > limit
                if hangs:
                    suite.stop()
                    status = suite.process.returncode or 0
                if status is None:
                    continue
                suite.finish(status, hangs and limit)
                running.remove(suite)
                done.append(suite)
                word = "FAILED " if suite.why else "skipped" if suite.skipped else "ok     "
                screen.line(f"{len(done):4d}/{len(suites)} {word} {suite.passed:6d} passed {suite.seconds:5.0f} s   {suite.label}"
                            + (f"   ({suite.why}; {suite.log})" if suite.why else ""))
                if suite.why and os.environ.get("FIRST"):
                    waiting = []
                    for other in running:
                        other.stop()
                    running = []
                    break
            if time.monotonic() < told + 1:
                continue
            told = time.monotonic()
            busy = ", ".join(f"{os.path.basename(s.command[-1])}{s.progress()} {time.monotonic() - s.started:.0f} s" for s in running)
            failed = sum(1 for s in done if s.why)
            screen.status(f"{len(done):4d}/{len(suites)}, {failed} failed; running: {busy}")
    except BaseException:
        screen.clear()
        for suite in running:
            suite.stop()
        raise
    screen.clear()


def report(suites, logs, seconds, screen):
    failures = [suite for suite in suites if suite.why]
    for suite in failures:
        screen.line()
        screen.line(f"==== FAILED: {suite.label}: {suite.why}")
        for line in suite.excerpt():
            screen.line("  " + line)
        screen.line(f"  log:    {suite.log}")
        screen.line(f"  replay: {suite.replay()}")
    screen.line()
    for why in sorted({why for suite in suites for why in suite.skips}):
        screen.line(f"skipped: {why}")
    screen.line(f"{len(suites)} suites in {seconds:.0f} s, {len(failures)} of them failed; their output is in {logs}")
    if os.environ.get("STARTED"):
        screen.line(f"All of it took {time.time() - int(os.environ['STARTED']):.0f} s, with packages and building.")
    if os.environ.get("REST"):
        screen.line(os.environ["REST"])
    passed, failed = sum(s.passed for s in suites), sum(s.failed for s in suites)
    screen.line(f"{passed} passed, {failed} failed")
    return failed == 0 and passed > 0


def main():
    logs, names = sys.argv[1:]
    os.makedirs(logs, exist_ok=True)
    with open(names) as lines:
        lines = [line.strip() for line in lines if line.strip()]
    suites = [Suite(number, line, logs) for number, line in enumerate(lines, 1)]
    jobs = int(os.environ.get("JOBS") or 0) or min(len(os.sched_getaffinity(0)) + 1, 5)
    limit = float(os.environ.get("LIMIT") or 3600)
    screen = Screen()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: asked_to_end.append(number))
    screen.line(f"{len(suites)} suites, {jobs} at a time, SEED={os.environ.get('SEED', 'fresh')}; their output goes to {logs}")
    started = time.monotonic()
    try:
        run(suites, jobs, limit, screen)
    except KeyboardInterrupt:
        screen.line("interrupted")
        return 130
    return 0 if report(suites, logs, time.monotonic() - started, screen) else 1


if __name__ == "__main__":
    sys.exit(main())
