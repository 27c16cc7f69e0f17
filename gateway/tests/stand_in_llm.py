"""A stand-in for the `llm` command: the model that it is asked for is the script. Copied to a folder of the PATH as `llm`.

Writes how it was called (arguments, input, environment, folder, process ids) to $HOME/called.json, for tests to read.
"""

import json
import os
import signal
import subprocess
import sys
import time

FOR_EVER = 30
HTTP_429 = "Error code: 429 - {'error': {'message': 'Rate limit reached. Try again in 20s', 'code': 'rate_limit_exceeded'}}"
HTTP_402 = "Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}"
TRACEBACK = 'Traceback (most recent call last):\n  File "/home/somebody/cli.py", line 1\n'
ERRORS = {
    "unknown": "Usage: llm [OPTIONS]\n\nError: 'Unknown model: unknown'",
    "keyless": "Error: No key found - add one using 'llm keys set openai' or set the OPENAI_API_KEY environment variable",
    "limited": f"I think\n\nError: {HTTP_429}",
    "unpaid": f"Error: {HTTP_402}",
    "long": "Error: Error code: 400 - This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.",
    "option": "Error: heat\n  Extra inputs are not permitted",
    "broken": f"{TRACEBACK}ModuleNotFoundError: No module named x",
    "leaky": f"Error: bad key {os.environ.get('A_KEY')} for https://x.example/v1?key=abcdef012345 " + "and so on " * 99,
    "silent": "",
}


def main(model: str) -> int:
    given = b"" if model == "deaf" else sys.stdin.buffer.read()
    child = subprocess.Popen(["sleep", str(FOR_EVER)]).pid if model in ("family", "lingering") else 0
    called = {
        "arguments": sys.argv[1:],
        "given": given.decode(),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "ids": [os.getpid(), child],
    }
    with open(f"{os.environ['HOME']}/called.json", "w") as file:
        json.dump(called, file)
    if model in ERRORS:
        say("The ")
        err(f"{ERRORS[model]}\n")
        return 3
    SCRIPTS.get(model, answer)()
    return 0


def say(*words: str) -> None:
    for word in words:
        sys.stdout.write(word)
        sys.stdout.flush()
        time.sleep(0.02)


def err(*words: str) -> None:
    for word in words:
        sys.stderr.write(word)
        sys.stderr.flush()


def answer() -> None:
    say("The ", "answer ", "is ", "42.", "\n")
    err('Token usage: 1,007 input, 5 output, {"cached": 1}\n')


def slow() -> None:
    time.sleep(FOR_EVER)


def hung() -> None:
    say("The ")
    time.sleep(FOR_EVER)


def thinking() -> None:
    for thought in ("Six ", "times ", "seven."):
        time.sleep(0.4)
        err(thought)
    err("\n")
    answer()


def huge() -> None:
    for _ in range(200):
        sys.stdout.write("x" * 100_000)


def bytewise() -> None:
    for byte in "Žluťoučký 🐎\n\nkůň\n".encode():
        os.write(1, bytes([byte]))


SCRIPTS = {
    "slow": slow,
    "hung": hung,
    "family": hung,
    "thinking": thinking,
    "huge": huge,
    "empty": lambda: say("\n"),
    "bytewise": bytewise,
    "notice": lambda: say("Rate limit exceeded. Please try again later.\n"),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[sys.argv.index("-m") + 1]))
