#!/usr/bin/env python3
"""registry.py FOLDER PORTFILE LOG [USER:PASSWORD]: a registry of images for tests, on loopback, over HTTP; it only gives.

FOLDER/NAME is an OCI layout, the repository NAME; FOLDER/NAME/tags/TAG has a digest in it. The port is written to PORTFILE, and each request for
something to LOG, as "METHOD PATH STATUS". With USER:PASSWORD nobody else is let in. A file FOLDER/refuse has the status that all requests get, a file
FOLDER/endless makes every blob go on for ever, and while there is a file FOLDER/slow every blob waits."""
import base64, http.server, json, os, re, sys, time

folder, port_file, log_file = sys.argv[1:4]
user = sys.argv[4] if len(sys.argv) > 4 else None


def kind_of(data):
    document = json.loads(data)
    return document.get("mediaType") or ("application/vnd.oci.image.index.v1+json" if "manifests" in document else "application/vnd.oci.image.manifest.v1+json")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, data=b"", kind="application/json", **more):
        with open(log_file, "a") as log:
            log.write("%s %s %d\n" % (self.command, self.path, status))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for key, value in more.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def fail(self, status, code):
        self.answer(status, json.dumps({"errors": [{"code": code, "message": code.lower().replace("_", " ")}]}).encode())

    def do_GET(self):
        if os.path.exists(folder + "/refuse"):
            return self.fail(int(open(folder + "/refuse").read()), "UNAVAILABLE")
        if user and self.headers.get("Authorization") != "Basic " + base64.b64encode(user.encode()).decode():
            return self.answer(401, b'{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}', WWW_Authenticate='Basic realm="test"')
        if self.path == "/v2/":
            return self.answer(200, b"{}")
        what = re.fullmatch(r"/v2/([a-z0-9/_.-]+)/(manifests|blobs)/([A-Za-z0-9_.:-]+)", self.path)
        if not what or ".." in self.path or not os.path.isdir(folder + "/" + what[1]):
            return self.fail(404, "NAME_UNKNOWN")
        layout = folder + "/" + what[1]
        digest = what[3]
        if what[2] == "manifests" and os.path.exists(layout + "/tags/" + digest):
            digest = open(layout + "/tags/" + digest).read().strip()
        path = layout + "/blobs/" + digest.replace(":", "/")
        if not os.path.isfile(path):
            return self.fail(404, "MANIFEST_UNKNOWN" if what[2] == "manifests" else "BLOB_UNKNOWN")
        data = open(path, "rb").read()
        if what[2] == "manifests":
            return self.answer(200, data, kind_of(data), Docker_Content_Digest=digest)
        if os.path.exists(folder + "/slow"):
            open(folder + "/waits", "w").close()
            while os.path.exists(folder + "/slow"):
                time.sleep(0.05)
        if os.path.exists(folder + "/endless"):
            return self.endless()
        self.answer(200, data, "application/octet-stream")

    do_HEAD = do_GET

    def endless(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(os.urandom(1 << 16))
        except OSError:
            pass

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as out:
    out.write("%d\n" % server.server_address[1])
os.rename(port_file + ".new", port_file)
server.serve_forever()
