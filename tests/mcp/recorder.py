"""Runs a command and keeps a copy of every byte that passes: `recorder.py FOLDER COMMAND…` writes FOLDER/up and FOLDER/down."""

import os
import subprocess
import sys
import threading


def copy(source: int, targets: list[int]) -> None:
    while block := os.read(source, 65536):
        for target in targets:
            view = memoryview(block)
            while view:
                try:
                    view = view[os.write(target, view):]
                except BrokenPipeError:
                    return


def main() -> int:
    folder, *command = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    kept = [os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for name in ("up", "down")]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with open(f"{folder}/pid", "w") as pid:
        pid.write(str(child.pid))

    def up() -> None:
        copy(0, [kept[0], child.stdin.fileno()])
        child.stdin.close()

    threading.Thread(target=up, daemon=True).start()
    copy(child.stdout.fileno(), [kept[1], 1])
    return child.wait()


if __name__ == "__main__":
    os._exit(main() & 0xFF)
