"""Clients that mean ill, or only behave so: slow readers, bodies without an end, headers that drip, thousands that wait."""

import asyncio
import json
import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from benchmarks.faults.roster import BIG, LONG, answer_of, seconds_of
from benchmarks.faults.scene import Scene

HOST = "127.0.0.1"
READERS, READ_SECONDS = 40, 25.0
# Seconds: nginx waits 20 for a request's headers, a web process 60.
DRIPPING, DRIP_SECONDS, NGINX_WAITS = 1000, 66.0, 25.0
BODY, PIECE, EARLY_MIB = 10 * 2**30, bytes(1 << 20), 512
STREAMS, AT_ONCE, LONGEST_SILENCE = 5000, 100, 15.0


def _request(port: int, payload: dict[str, object], *headers: str) -> bytes:
    body = json.dumps(payload).encode()
    lines = ["POST /v1/chat/completions HTTP/1.1", f"Host: {HOST}:{port}", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def _asked(collection: str, mark: str) -> dict[str, object]:
    return {"model": collection, "stream": True, "messages": [{"role": "user", "content": f"Say all of {mark}"}]}


def _doors(scene: Scene) -> list[int]:
    """nginx and, as often, each web process."""
    first, second = scene.cluster.web_ports[:2]
    return [scene.cluster.port, first, scene.cluster.port, second]


async def slow_readers(scene: Scene) -> None:
    """Streams of megabytes, half of them read a byte a second, half never."""
    doors = _doors(scene)
    marks = [f"q-{scene.tag}reader-{number}" for number in range(READERS)]
    asked = (_slow_reader(doors[number % 4], mark, reads=number % 8 < 4) for number, mark in enumerate(marks))
    cut = sum(await asyncio.gather(*asked))
    whole = "SELECT count(*) FROM evidence_call WHERE status = 'ok' AND alias = %s AND length(answer) = %s"
    expected = len(answer_of(BIG, marks[-1]))
    kept = sum(scene.bench.rows(whole, BIG, length)[0][0] for length in (expected, expected - 2))
    scene.notes.append(f"{READERS} readers of {expected / 1e6:.0f} MB, {cut} cut off, {kept} answers kept")
    if kept != READERS:
        scene.problems.append(f"{kept} of {READERS} long answers are in the log")
    scene.undo()


async def _slow_reader(port: int, mark: str, *, reads: bool) -> bool:
    """Ask, read as slowly, and leave; whether it was cut off before."""
    loop, ends = asyncio.get_running_loop(), time.monotonic() + READ_SECONDS
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        await loop.sock_connect(connection, (HOST, port))
        await loop.sock_sendall(connection, _request(port, _asked("bench/big", mark)))
        while time.monotonic() < ends:
            with suppress(ConnectionError, TimeoutError):
                if reads and not await asyncio.wait_for(loop.sock_recv(connection, 1), READ_SECONDS):
                    return True
            await asyncio.sleep(1)
    return False


async def dripping_headers(scene: Scene) -> None:
    """Connections whose headers never end, a byte a second."""
    doors = _doors(scene)
    closed = await asyncio.gather(*(_drip(doors[number % 4]) for number in range(DRIPPING)))
    late = [seconds for number, seconds in enumerate(closed) if number % 2 == 0 and (seconds or DRIP_SECONDS) > NGINX_WAITS]
    scene.notes.append(f"{DRIPPING} connections, closed after {min(filter(None, closed), default=0):.0f} s and more")
    if late:
        scene.problems.append(f"nginx holds on to {len(late)} headers that drip")
    if held := closed.count(None):
        scene.problems.append(f"{held} headers drip after {DRIP_SECONDS:g} s still")
    scene.undo()


async def _drip(port: int) -> float | None:
    """When its server hung up; None: not in time."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection(HOST, port)
    reading = asyncio.ensure_future(reader.read())
    try:
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nX-Drip: ")
        while (passed := time.monotonic() - began) < DRIP_SECONDS:
            ended, _ = await asyncio.wait({reading}, timeout=1)
            if ended:
                return passed
            writer.write(b"a")
        return None
    finally:
        reading.cancel()
        writer.close()


async def endless_bodies(scene: Scene) -> None:
    """Ten gigabytes, announced and not, through nginx and past it."""
    doors = {"nginx": scene.cluster.port, "web": scene.cluster.web_ports[0]}
    framings = {"announced": f"Content-Length: {BODY}", "chunked": "Transfer-Encoding: chunked"}
    ways = [(door, framing) for door in doors for framing in framings]
    sent = await asyncio.gather(*(asyncio.to_thread(_pour, doors[door], framings[framing]) for door, framing in ways))
    for (door, framing), (mib, reply) in zip(ways, sent, strict=True):
        scene.notes.append(f"{framing} at {door}: {reply or 'reset'} after {mib} MiB")
        if mib > EARLY_MIB:
            scene.problems.append(f"10 GB {framing} at {door} were refused after {mib} MiB")
    scene.undo()


def _pour(port: int, framing: str) -> tuple[int, str]:
    """Send until it is refused; how many MiB that took, and the status that came."""
    mib, chunked = 0, "chunked" in framing
    head = ["POST /v1/chat/completions HTTP/1.1", f"Host: {HOST}:{port}", "Content-Type: application/json", framing, "", ""]
    piece = b"%x\r\n%b\r\n" % (len(PIECE), PIECE) if chunked else PIECE
    with socket.create_connection((HOST, port), timeout=30) as connection:
        connection.sendall("\r\n".join(head).encode())
        with suppress(OSError):
            while mib < BODY >> 20 and not _has_answered(connection):
                connection.sendall(piece)
                mib += 1
        with suppress(OSError):
            return mib, connection.recv(4096).decode(errors="replace").partition("\r\n")[0].partition(" ")[2]
    return mib, ""


def _has_answered(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK)) or True
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(30)


@dataclass(slots=True)
class Waited:
    """What one stream brought: the longest it was silent, in seconds, and whether the answer came to its end."""

    silence: float = 0.0
    is_whole: bool = False


async def idle_streams(scene: Scene) -> None:
    """Thousands of streams of one panel that thinks for long, half on each web process."""
    mark = f"q-{scene.tag}idle-1"
    end = f"[end of {LONG} to {mark}]".encode()
    began, room = time.monotonic(), asyncio.Semaphore(AT_ONCE)
    ports = scene.cluster.web_ports[:2]
    streams = [asyncio.ensure_future(_wait_for_it(ports[number % 2], mark, end, room)) for number in range(STREAMS)]
    waited = await asyncio.gather(*streams, return_exceptions=True)
    whole = sum(isinstance(one, Waited) and one.is_whole for one in waited)
    silence = max((one.silence for one in waited if isinstance(one, Waited)), default=0.0)
    seconds = time.monotonic() - began - seconds_of(LONG)
    scene.notes.append(f"{whole} of {STREAMS} whole, longest silence {silence:.1f} s, over {seconds:.0f} s after the seat's")
    asked = [event for event in scene.upstream.events(f"{scene.tag}idle") if event["event"] == "asked"]
    if len(asked) != 1:
        scene.problems.append(f"one question of {STREAMS} callers was asked {len(asked)} times")
    if whole != STREAMS:
        broken = next((one for one in waited if isinstance(one, BaseException)), "cut short")
        scene.problems.append(f"{STREAMS - whole} idle streams did not get the answer: {broken!r}")
    if silence > LONGEST_SILENCE:
        scene.problems.append(f"a stream was silent for {silence:.1f} s")
    scene.undo()


async def _wait_for_it(port: int, mark: str, end: bytes, room: asyncio.Semaphore) -> Waited:
    waited, came = Waited(), b""
    async with room:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(_request(port, _asked("bench/long", mark), f"Idempotency-Key: {mark}"))
        came += await reader.read(65536)
    last = time.monotonic()
    while piece := await reader.read(65536):
        now = time.monotonic()
        waited.silence, last = max(waited.silence, now - last), now
        came += piece
        if b"data: [DONE]" in came[-200:]:
            break
    waited.is_whole = end in came
    writer.close()
    return waited
