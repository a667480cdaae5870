# SPDX-License-Identifier: MIT
"""Functions that are made, run and freed, again and again: their code, names and files have the
addresses of those before. Every name and file has the number of its round. Usage:
churn_program.py SECONDS (of CPU time)."""
import sys
import time

SOURCE = """
def n_0d_{i}d_{i}s(*_):
    v = 0
    for i in range(200):
        v += i * i
    return v
def n_0d_{i}d():
    v = 0
    for i in range(200):
        v += i * i
    sorted((2, 1), key=n_0d_{i}d_{i}s)
n_0d_{i}d()
"""


def n_0d(end):
    i = 10000
    while time.process_time() < end:
        exec(compile(SOURCE.format(i=i), f"/made/{i}", "exec"), {})
        i = i + 1 if i < 99999 else 10000


def main():
    n_0d(time.process_time() + float(sys.argv[1]))


main()
