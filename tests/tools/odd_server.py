"""A server of tools without any library, so that it starts at once and can do what none should. Argument: how."""

import json
import os
import signal
import subprocess
import sys
import time

HOW = sys.argv[1] if len(sys.argv) > 1 else ""


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool(number):
    return {"name": f"tool{number}", "description": "d" * 20_000, "inputSchema": {"type": "object"}}


def listed(params):
    page = int(params.get("cursor") or 0)
    if HOW == "pages":
        return {"tools": [tool(2 * page), tool(2 * page + 1)], **({"nextCursor": str(page + 1)} if page < 2 else {})}
    if HOW == "endless":
        return {"tools": [tool(3 * page + n) for n in range(3)], "nextCursor": str(page + 1)}
    if HOW == "broken":
        return {"tools": [{"name": 5}]}
    extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if HOW == "modern" else {}
    return {"tools": [tool(0)], **extra}


def called(params):
    if HOW == "family":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        text = json.dumps([os.getpid(), child.pid, own.pid])
    elif HOW == "leaving":  # the child outlives it, and is nobody's then
        text = json.dumps([os.getpid(), subprocess.Popen(["sleep", "600"]).pid])
    elif HOW == "half a letter":
        text = "\ud83d"
    else:
        text = json.dumps(params["arguments"])
    extra = {"resultType": "complete"} if HOW == "modern" else {}
    return {"content": [{"type": "text", "text": text}], **extra}


def answer(method, params):
    if method == "initialize" and HOW != "modern":
        info = {"name": "odd", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "server/discover" and HOW == "modern":
        plain = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **plain}
    if method == "tools/list" and HOW != "no tools":
        return listed(params)
    if method == "tools/call":
        return called(params)
    return None


def main():
    if HOW == "banner":
        print("Welcome!\n{\nlistening on stdio", flush=True)
    if HOW == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "notifications/cancelled":
            print("cancelled:", message["params"]["reason"], file=sys.stderr, flush=True)
        if "id" not in message or HOW in ("silent", "stubborn"):
            continue
        if HOW == "first must be initialize" and message["method"] not in ("initialize", "tools/list"):
            sys.exit(9)
        if message["method"] == "tools/call" and HOW == "slow":
            continue
        if message["method"] == "tools/call" and HOW == "dies":
            if message["params"]["name"] == "now":
                print("the last words", file=sys.stderr, flush=True)
                os._exit(7)
            continue
        if message["method"] == "tools/call" and HOW == "rubbish":
            print("x" * 100, flush=True)
            say(id=message["id"], result={"content": 5})
            continue
        result = answer(message["method"], message.get("params", {}))
        if result is None:
            data = {"data": {"supported": ["2026-07-28"], "requested": "x"}} if HOW == "modern" else {}
            say(id=message["id"], error={"code": -32022 if data else -32601, "message": "Unknown method", **data})
        else:
            say(id=message["id"], result=result)
        if HOW == "leaving" and message["method"] == "tools/call":
            sys.exit(0)
    while HOW == "stubborn":
        time.sleep(1)


main()
