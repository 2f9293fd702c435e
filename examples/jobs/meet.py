# meet.py: the processes of a parallel job meet: the first listens, the others connect to it by BERTH_HOSTS, and each learns the sum of all numbers.
#
#     berth run --processes 4 --network -- python3 meet.py 23456
import os, socket, sys, time

me, members = int(os.environ["BERTH_MEMBER"]), int(os.environ["BERTH_MEMBERS"])
first = os.environ["BERTH_HOSTS"].split(",")[0]
port = int(sys.argv[1])


def connect():
    for _ in range(600):  # the first may begin to listen a moment later
        try:
            return socket.create_connection((first, port), timeout=60)
        except OSError:
            time.sleep(0.1)
    sys.exit("nobody listens at %s:%d" % (first, port))


if me == 0:
    server = socket.create_server(("", port))
    others = [server.accept()[0] for _ in range(members - 1)]
    total = sum(int(other.makefile().readline()) for other in others)
    for other in others:
        other.sendall(b"%d\n" % total)
    for other in others:  # until each has printed it: what the others do ends with the first
        other.recv(1)
else:
    server = connect()
    server.sendall(b"%d\n" % me)
    total = int(server.makefile().readline())
print("process %d of %d: the sum is %d" % (me, members, total), flush=True)
if me:
    server.close()
