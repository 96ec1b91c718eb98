"""On what a figure was measured."""

import os
import platform
import time
from pathlib import Path


def machine() -> str:
    """One line: processor, cores, memory, system and Python, the date, and how busy it is with other work."""
    cpu = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = next((int(line.split()[1]) // 1024**2 for line in _lines("/proc/meminfo") if "MemTotal" in line), 0)
    system = f"{platform.system()} {platform.release()}"
    when = time.strftime("%Y-%m-%d", time.gmtime())
    load = f"load {os.getloadavg()[0]:.1f} before"
    return f"{cpu}, {os.cpu_count()} cores, {memory} GB, {system}, Python {platform.python_version()}, {when}, {load}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
