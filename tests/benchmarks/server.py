"""What HTTP costs: the same answers from the library and through the server, in turn in one process.

    python -m tests.benchmarks.server [--streams 16] [--tokens 100] [--rounds 3]

The clients are raw sockets in one other process, so that only the server's own work is beside the engine's.
"""

import argparse
import json
import multiprocessing
import socket
import statistics
import threading
import time
from pathlib import Path

from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams
from llama_gui.server.serve import ApiServer, ServerOptions
from llama_gui.server.served import FixedModels

STARTER = Path(__file__).parents[2] / "resources" / "starter_model"
KEY = "sk-of-the-benchmark"
QUESTION = "What is this application?"


def one_stream(port: int, tokens: int, seed: int) -> int:
    """Read a stream to its end; the number of its events."""
    body = json.dumps(
        {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": tokens, "min_tokens": tokens,
         "seed": seed, "stream": True}
    ).encode()  # fmt: skip
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {KEY}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    data = b""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head.encode() + body)
        while more := client.recv(1 << 16):
            data += more
    assert b"[DONE]" in data, data[:500]
    return data.count(b"data: ")


def all_streams(port: int, streams: int, tokens: int) -> None:
    threads = [threading.Thread(target=one_stream, args=(port, tokens, seed)) for seed in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    requests = [
        GenerateRequest(
            messages=[Message("user", QUESTION)],
            max_tokens=options.tokens,
            min_tokens=options.tokens,
            sampling=SamplingParams(seed=seed),
        )
        for seed in range(options.streams)
    ]
    times: dict[str, list[float]] = {"library": [], "server": []}
    with (
        Engine.load(STARTER, max_batch=64) as engine,
        context.Pool(1) as pool,
        ApiServer(FixedModels.of(engine), ServerOptions(key=KEY, port=0)) as server,
    ):
        pool.apply(all_streams, (server.port, 1, 5))
        engine.generate_batch(requests[:1])
        for _ in range(options.rounds):
            began = time.perf_counter()
            engine.generate_batch(requests)
            times["library"].append(time.perf_counter() - began)
            began = time.perf_counter()
            pool.apply(all_streams, (server.port, options.streams, options.tokens))
            times["server"].append(time.perf_counter() - began)
    count = options.streams * options.tokens
    for name, seconds in times.items():
        print(f"{name:8} {count / statistics.median(seconds):8.0f} tokens/s  ({options.streams} streams)")


if __name__ == "__main__":
    main()
