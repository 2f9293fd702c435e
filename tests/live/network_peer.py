#!/usr/bin/env python3
"""network_peer.py serve ADDRESS:PORT... / names ADDRESS / try ADDRESS:PORT...

serve: listens at each address, and says "here" to whoever connects. names: a server of names, which knows one: "far.example" is ADDRESS; it listens at 127.0.0.1:53.
try: what a job reaches: each address is called in every way that a program without rights has; a line for each: "ADDRESS:PORT yes", or "no"."""
import concurrent.futures
import socket
import struct
import sys
import threading

IP_UNICAST_IF, SO_BINDTODEVICE, WAIT = 50, 25, 2


def split(address):
    host, port = address.rsplit(":", 1)
    return host.strip("[]"), int(port)


def listen(address):
    host, port = split(address)
    server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(64)
    while True:
        peer, _ = server.accept()
        peer.sendall(b"here\n")
        peer.close()


def serve(addresses):
    threads = [threading.Thread(target=listen, args=(address,)) for address in addresses]
    for thread in threads:
        thread.start()
    print("up", flush=True)


def names(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    print("up", flush=True)
    while True:
        asked, peer = server.recvfrom(512)
        question = asked[12:asked.index(b"\0", 12) + 5]
        known = question.startswith(b"\3far\7example\0\0\1")
        answer = asked[:2] + struct.pack(">HHHHH", 0x8180 if known else 0x8183, 1, known, 0, 0) + question
        if known:
            answer += struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address)
        server.sendto(answer, peer)


def called(host, port, prepare):
    try:
        caller = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        caller.settimeout(WAIT)
        prepare(caller)
        caller.connect((host, port))
        return caller.recv(16) == b"here\n"
    except OSError:
        return False


def ways():
    yield lambda caller: None
    for number, name in socket.if_nameindex():  # past the table of routes
        if name != "lo":
            yield lambda caller, name=name: caller.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, name.encode() + b"\0")
            yield lambda caller, number=number: caller.setsockopt(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack("!I", number))
    for by in ("192.0.2.2", "192.0.2.3"):  # a loose route by the one who leads out
        yield lambda caller, by=by: caller.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x83\x07\x04" + socket.inet_aton(by) + b"\0")
    yield lambda caller: caller.setsockopt(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)


def is_reached(address):
    host, port = split(address)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return any(pool.map(lambda way: called(host, port, way), ways()))


def main():
    what, *addresses = sys.argv[1:]
    if what == "serve":
        serve(addresses)
    elif what == "names":
        names(addresses[0])
    else:
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            for address, reached in zip(addresses, pool.map(is_reached, addresses)):
                print(address, "yes" if reached else "no")


main()
