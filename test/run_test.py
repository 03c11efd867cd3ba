#!/usr/bin/python3
"""The runner of suites, test/run.py, with suites that pass, fail, crash, hang, skip and say nothing."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = {
    "passes": 'echo "  ok one"; echo "passes: 3 passed, 0 failed"',
    "fails": 'echo "  FAILED: two and two: got 5"; echo "fails: 2 passed, 1 failed"; exit 1',
    "lies": 'echo "lies: 4 passed, 0 failed"; exit 3',
    "forgets": 'echo "all is well"',
    "crashes": 'echo "  ok one"; kill -SEGV $$',
    "hangs": "sleep 60",
    "skips": 'echo "skipped: a driver that is not here"',
    "skips-some": 'echo "# skipped: a part"; echo "skips-some: 5 passed, 0 failed"',
    "set": 'echo "set: 0 passed, 1 failed"; exit 1',
    "runs-nothing": 'echo "runs-nothing: 0 passed, 0 failed"',
    "seed": '[ "$SEED $ROUNDS" = "7 20" ] && echo "seed: 1 passed, 0 failed"',
    "waits": 'i=0; while [ ! -f "$0.other" ] && [ $i -lt 3000 ]; do sleep 0.1; i=$((i + 1)); done; [ $i -lt 3000 ] && echo "waits: 1 passed, 0 failed"',
    "long": 'echo "  ok one"; while [ ! -f "$0.told" ]; do sleep 0.1; done; echo "long: 1 passed, 0 failed"',
    "wordy": 'echo "  FAILED: at the start"; for i in $(seq 1000); do echo "line $i"; done; echo "wordy: 0 passed, 1 failed"; exit 1',
}
passed = failed = 0


def check(what, condition, *details):
    global passed, failed
    if condition:
        passed += 1
        print(f"  ok {what}")
    else:
        failed += 1
        print(f"  FAILED {what}", *details, sep="\n    ")


class Run:
    """What the runner says of some suites, and its exit status."""

    def __init__(self, folder, lines, **environment):
        names = os.path.join(folder, "list")
        with open(names, "w") as file:
            file.write("\n".join(lines) + "\n")
        self.command = ["/usr/bin/python3", os.path.join(ROOT, "test/run.py"), os.path.join(folder, "log"), names]
        self.environment = {"PATH": os.environ["PATH"], "SEED": "7", **environment}
        done = subprocess.run(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment, cwd=folder)
        self.text = done.stdout.decode()
        self.status = done.returncode
        self.last = self.text.rstrip("\n").rsplit("\n", 1)[-1]

    def line(self, name):
        """The line of a suite that has ended."""
        found = re.search(rf"^ *\d+/\d+ (ok|FAILED|skipped) .*\./{name}\b.*$", self.text, re.MULTILINE)
        return " ".join(found[0].split()) if found else ""

    def after(self, name):
        """What is told at the end of a suite that failed."""
        found = re.search(rf"^==== FAILED: [^\n]*\./{name}:.*?^  replay: [^\n]*$", self.text, re.MULTILINE | re.DOTALL)
        return found[0] if found else ""


def everything(folder):
    run = Run(folder, ["./" + name for name in SUITES if name not in ("hangs", "waits", "long", "seed", "set")]
              + ["ROUNDS=20 ./seed", "ROUNDS=20 ./set", "./not-built"])
    text = run.text
    check("the last line is the sum", run.last == "15 passed, 8 failed", text)
    check("the exit status tells of failures", run.status == 1)
    check("nothing but plain lines comes where no terminal is", "\r" not in text and "\033" not in text)
    check("each suite has its line", all(run.line(name) for name in SUITES if name not in ("hangs", "waits", "long")), text)
    check("a suite that passes", re.search(r" ok 3 passed \d+ s \./passes$", run.line("passes")), text)
    for name, passes, why in (("fails", 2, "1 failed"), ("lies", 4, "exit status 3, though no check failed"),
                              ("forgets", 0, "ended without its count, exit status 0"),
                              ("crashes", 0, "ended by signal 11 (SIGSEGV)"),
                              ("runs-nothing", 0, "ran no check"), ("wordy", 0, "1 failed")):
        line, after = run.line(name), run.after(name)
        check(f"{name}: its line tells why", f" FAILED {passes} passed " in line and why in line, line)
        check(f"{name}: the end tells why again", after.startswith(f"==== FAILED: ./{name}: {why}\n"), after)
        check(f"{name}: the end tells how to replay it", after.endswith(f"\n  replay: SEED=7 ./{name}"), after)
        log = re.search(r"^  log:    (.*)$", after, re.MULTILINE)
        check(f"{name}: its log is there", log and os.path.isfile(os.path.join(folder, log[1])), after)
    check("the end has the words of a failure", "two and two: got 5" in run.after("fails"))
    check("also where thousands follow", "at the start" in run.after("wordy") and run.after("wordy").count("\n") < 60)
    check("a suite gets the seed, and what its line sets", " ok 1 passed " in run.line("seed"), run.line("seed"))
    check("a suite that is not built fails, and the end tells who builds it",
          " FAILED 0 passed " in run.line("not-built") and "make test-build" in run.after("not-built"), text)
    check("a skipped suite is no failure", " skipped 0 passed " in run.line("skips"), run.line("skips"))
    check("the replay has what the suite's line sets", run.after("set").endswith("\n  replay: SEED=7 ROUNDS=20 ./set"), run.after("set"))
    end = text[text.rindex("replay:"):]
    check("what was skipped comes after the failures", "skipped: a driver that is not here\nskipped: a part\n" in end, end)
    check("the folder of the logs is said first and last", "/log" in text.split("\n")[0] and "/log" in end)


def hangs(folder):
    run = Run(folder, ["./hangs"], LIMIT="1")
    check("a suite that hangs is ended", run.status == 1 and "did not end in 1 s" in run.line("hangs"), run.text)
    check("and has its replay", run.after("hangs").endswith("\n  replay: SEED=7 ./hangs"), run.text)
    run = Run(folder, ["LIMIT=1 ./hangs"], LIMIT="60")
    check("a suite's line may have its own limit", run.status == 1 and "did not end in 1 s" in run.line("hangs"), run.text)


def ends_late(folder):
    """A suite that has ended by itself did not hang, however late the runner sees it."""
    sys.path.insert(0, os.path.join(ROOT, "test"))
    sys.dont_write_bytecode = True
    import run as runner

    class Ended(runner.Suite):
        def start(self):
            super().start()
            self.process.wait()

    suite = Ended(1, os.path.join(folder, "passes"), folder)
    runner.run([suite], 1, 1e-6, runner.Screen())
    check("a suite that ends late passes", suite.why is None and suite.passed == 3, suite.why)


def side_by_side(folder):
    run = Run(folder, ["./waits", "./lets"], JOBS="2")
    check("two suites run side by side", run.status == 0 and run.last == "2 passed, 0 failed", run.text)
    os.remove(os.path.join(folder, "waits.other"))
    run = Run(folder, ["./lets", "./waits"], JOBS="1")
    check("one after the other with JOBS=1", run.status == 0 and run.text.index("./lets\n") < run.text.index("./waits\n"), run.text)


def first_failure(folder):
    run = Run(folder, ["./passes", "./fails", "./forgets"], JOBS="1", FIRST="yes")
    check("FIRST=yes ends the run when a suite has failed", run.status == 1 and run.last == "5 passed, 1 failed" and not run.line("forgets"), run.text)
    run = Run(folder, ["./hangs", "./fails"], JOBS="2", FIRST="yes")
    check("and those that run", run.status == 1 and run.last == "2 passed, 1 failed", run.text)


def told_while_it_runs(folder):
    run = Run(folder, ["./passes"], EVERY="1")
    with open(os.path.join(folder, "list"), "w") as file:
        file.write("./long\n")
    text = ""
    with subprocess.Popen(run.command, stdout=subprocess.PIPE, env=run.environment, cwd=folder) as process:
        for line in process.stdout:
            text += line.decode()
            if "running: long 1 ok, " in line.decode():
                open(os.path.join(folder, "long.told"), "w").close()
    check("a long suite is told of while it runs", re.search(r"0/1, 0 failed; running: long 1 ok, ", text), text)
    check("it passes", process.returncode == 0 and text.endswith("\n1 passed, 0 failed\n"), text)


def time_is_over(folder):
    run = Run(folder, ["./lasts", "./passes"], JOBS="1", MINUTES="0.04")
    check("no suite starts after MINUTES", run.status == 0 and run.last == "1 passed, 0 failed" and not run.line("passes"), run.text)
    check("those left are named", "\nskipped: ./passes, since 0.04 minutes are over\n" in run.text, run.text)


def in_a_terminal(folder):
    """One line is written anew, and what stays is whole lines."""
    try:
        master, slave = pty.openpty()
    except OSError as error:
        print(f"skipped: what a terminal shows, since there is none: {error}")
        return
    with open(os.path.join(folder, "list"), "w") as file:
        file.write("./lasts\n")
    command = ["/usr/bin/python3", os.path.join(ROOT, "test/run.py"), os.path.join(folder, "log"), os.path.join(folder, "list")]
    with subprocess.Popen(command, stdout=slave, stderr=slave, cwd=folder, env={"PATH": os.environ["PATH"], "TERM": "xterm", "SEED": "7"}) as process:
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 1000):
                text += part
        except OSError:  # the end, in a terminal
            pass
    os.close(master)
    lines = text.decode().replace("\r\n", "\n").split("\n")
    check("in a terminal a line shows what runs", process.returncode == 0 and re.search(r"\r\033\[K +0/1, 0 failed; running: lasts \d+ s", text.decode()), text)
    check("and is gone where a line stays", any(re.search(r"\r\033\[K +1/1 ok ", line) for line in lines), text)
    check("and the last line is the sum", lines[-2].endswith("1 passed, 0 failed"), text)


def unknown_group(folder):
    done = subprocess.run([os.path.join(ROOT, "test/run.sh"), "lockstep"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder)
    check("a group that is none is refused in words", done.returncode == 2 and b'no group "lockstep"' in done.stdout, done.stdout)


def interrupted(folder):
    """An interrupt ends the suites, too."""
    run = Run(folder, ["./passes"])
    with open(os.path.join(folder, "list"), "w") as file:
        file.write("./endless\n")
    with subprocess.Popen(run.command, stdout=subprocess.PIPE, env=run.environment, cwd=folder) as process:
        pid = os.path.join(folder, "pid")
        while not (os.path.exists(pid) and open(pid).read().strip()):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        text = process.communicate()[0].decode()
    check("an interrupt has its exit status", process.returncode == 130, text)
    alive = True
    for _ in range(600):
        alive = os.path.exists(f"/proc/{int(open(pid).read())}") and " Z " not in open(f"/proc/{int(open(pid).read())}/stat").read()
        if not alive:
            break
        time.sleep(0.1)
    check("and ends the suites that run", not alive)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, body in {**SUITES, "lets": 'touch waits.other; echo "lets: 1 passed, 0 failed"',
                           "lasts": 'sleep 2.5; echo "lasts: 1 passed, 0 failed"', "endless": "echo $$ > pid.new; mv pid.new pid; sleep 60; sleep 60"}.items():
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write("#!/bin/sh\n" + body + "\n")
            os.chmod(path, 0o755)
        for test in (everything, hangs, ends_late, side_by_side, first_failure, told_while_it_runs, time_is_over, in_a_terminal, unknown_group, interrupted):
            test(folder)
    print(f"run: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
