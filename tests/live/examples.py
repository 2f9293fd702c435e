"""examples.py: takes the examples out of a service's /openapi.json, sends each to that service, and compares what it answers with what is written.

    examples.py BASE [TOKEN]       BASE: http://HOST:PORT, or unix:PATH of a socket

Each operation must have an example. They are sent in the order of the document, after those that they name (x-example.after). Compared are the status,
the type, and of JSON the shape: the attributes of the example are there, with values of the same sort, and no others unless the example says that there
may be more (x-example.more). What waits for something (a job that begins) is sent again for a while. Prints TAP, without the plan."""

import http.client
import json
import socket
import sys
import time
import urllib.parse

PATIENCE = 90  # seconds that an example is sent again for
METHODS = ("get", "put", "post", "patch", "delete")
LOOKS = ("match", "eval", "lint", "policy.try")  # POSTs that change nothing: the machine may just have been taken


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("service", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Service:
    def __init__(self, base, token=None):
        self.base, self.token = base, token

    def ask(self, method, path, accept=None, body=None, kind=None):
        """Returns status, type without its parameters, and the body."""
        if self.base.startswith("unix:"):
            connection = Socket(self.base[5:])
        else:
            connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.base).netloc, timeout=60)
        fields = {"Accept": accept or "*/*"}
        if self.token:
            fields["Authorization"] = "Bearer " + self.token
        if body is not None:
            fields["Content-Type"] = kind
        connection.request(method.upper(), path, body=body.encode() if body is not None else None, headers=fields)
        answer = connection.getresponse()
        kind = (answer.getheader("Content-Type") or "").split(";")[0]
        text = b"" if kind == "text/event-stream" else answer.read()
        connection.close()
        return answer.status, kind, text


def in_order(document):
    """The operations, each as (method, path, operation), after those that they name."""
    waiting = [(method, path, at[method]) for path, at in document["paths"].items() for method in METHODS if method in at]
    names = {operation["operationId"] for _, _, operation in waiting}
    done, order = set(), []
    while waiting:
        ready = next((row for row in waiting if set(row[2].get("x-example", {}).get("after", [])) & names <= done), None)
        if ready is None:
            raise ValueError("the examples wait for one another: " + ", ".join(row[2]["operationId"] for row in waiting))
        waiting.remove(ready)
        done.add(ready[2]["operationId"])
        order.append(ready)
    return order


def address(path, operation):
    """The path with the examples of its parameters."""
    query = []
    for parameter in operation["parameters"]:
        if "example" not in parameter:
            if parameter["in"] == "path":
                raise ValueError("no example of {" + parameter["name"] + "}")
            continue
        if parameter["in"] == "query":
            query.append((parameter["name"], parameter["example"]))
        else:
            rest = parameter["name"].endswith("...")
            path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(parameter["example"], safe="/" if rest else ""))
    return path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")


def example_in(content):
    """The type and the example of the one that has one; None when none has."""
    return next(((kind, at["example"]) for kind, at in content.items() if "example" in at), (None, None))


def sort_of(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def differs(wanted, got, more, at="the answer"):
    """In what the answer is not of that shape; None: it is."""
    if sort_of(wanted) != sort_of(got):
        return f"{at} is a {sort_of(got)}, and the example a {sort_of(wanted)}"
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            if name not in got:
                return f"{at} has no {name}"
            why = differs(value, got[name], more, f"{at}.{name}")
            if why:
                return why
        others = [name for name in got if name not in wanted]
        if others and not more:
            return f"{at} has {', '.join(others)}, which the example has not"
    if isinstance(wanted, list) and wanted:
        if not got:
            return f"{at} is empty"
        reasons = [differs(wanted[0], row, more, f"{at}[{i}]") for i, row in enumerate(got)]
        return None if None in reasons else reasons[0]
    return None


def compare(operation, status, kind, text):
    """What is wrong with an answer; None: nothing."""
    example = operation["x-example"]
    if status != example["status"]:
        return f"it is {status}, and not {example['status']}: {text[:300]!r}"
    answer = operation["responses"].get(str(status))
    if answer is None:
        return f"{status} is not among its answers"
    wanted_kind, wanted = example_in(answer.get("content", {}))
    if wanted_kind is None:
        return f"it has a body of {kind}, and the example none" if text else None
    if kind != wanted_kind:
        return f"its type is {kind}, and not {wanted_kind}"
    if not kind.endswith("json"):
        return None if bool(text) == bool(wanted) else "it is empty, and the example is not, or the other way round"
    return differs(wanted, json.loads(text), example["more"])


def send(service, method, path, operation):
    body_kind, body = example_in(operation.get("requestBody", {}).get("content", {}))
    answer = operation["responses"].get(str(operation["x-example"]["status"]), {})
    accept = example_in(answer.get("content", {}))[0]
    accept = None if accept == "application/problem+json" else accept
    if accept is None and any("application/json" in at.get("content", {}) for at in operation["responses"].values()):
        accept = "application/json"
    return service.ask(method, address(path, operation), accept, body, body_kind)


def attempt(service, method, path, operation):
    """What is wrong with the example; None: nothing."""
    until = time.monotonic() + PATIENCE
    while True:
        answer = send(service, method, path, operation)
        why = compare(operation, *answer)
        looks = method == "get" or operation["operationId"] in LOOKS
        changed = not looks and answer[0] == operation["x-example"]["status"]  # what was done is not done again
        if why is None or changed or time.monotonic() > until:
            return why
        time.sleep(0.2)


def main():
    service = Service(sys.argv[1], open(sys.argv[2]).read().strip() if len(sys.argv) > 2 else None)
    document = json.loads(service.ask("get", "/openapi.json")[2])
    failures = 0
    for method, path, operation in in_order(document):
        name = f"{document['info']['title']}: {operation['operationId']}, {method.upper()} {path}, is answered as its example says"
        try:
            why = attempt(service, method, path, operation) if "x-example" in operation else "there is none"
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = repr(error)
        print(("not ok - " if why else "ok - ") + name, flush=True)
        if why:
            failures += 1
            print("# " + why)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
