"""PySide6 6.12.0 loses a reference to True at each emit: on Python 3.11 the interpreter aborts after some thousands."""

import subprocess
import sys

CODE = """
import sys
from PySide6.QtCore import QObject, Signal, Slot

class Sender(QObject):
    told = Signal(bool, object, str)

class Receiver(QObject):
    count = 0
    @Slot(bool, object, str)
    def hear(self, flag, thing, text):
        self.count += 1

sender, receiver = Sender(), Receiver()
sender.told.connect(receiver.hear)
before = sys.getrefcount(True), sys.getrefcount(None)
for _ in range(20_000):
    assert sender.told.emit(True, None, "x") in (True, None)
after = sys.getrefcount(True), sys.getrefcount(None)
print(receiver.count, max(abs(a - b) for a, b in zip(before, after)) < 1000)
"""


def test_thousands_of_signals_lose_no_reference():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["20000", "True"]
