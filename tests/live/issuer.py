#!/usr/bin/env python3
"""issuer.py: an issuer of tokens for tests, on loopback, with keys of its own that openssl makes.

    issuer.py key NAME                   makes NAME.ec (P-256) or NAME.rsa, by the end of NAME
    issuer.py set NAME...                prints the set of public keys; a key's kid is its NAME
    issuer.py serve FOLDER [CERT KEY]    serves, encrypted if there is a certificate, the files of the folder on a free port, which it prints; a path is a file with _ for each /.
                                         POST /sign with name, header and claims gives a token; header and claims are JSON, or python that gives
                                         a dictionary, in which `now` is the time. The name `none`: no signature; `hmac:FILE`: HS256 with what the file holds.
                                         POST /device and POST /token play the device flow: see device() below;
                                         GET /authorize and POST /token play the code flow: see authorize() and code()
"""
import base64, hashlib, hmac, http.server, json, os, ssl, subprocess, sys, time, urllib.parse


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*words, data=None):
    return subprocess.run(("openssl",) + words, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def key(name):
    if name.endswith(".ec"):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", name)
    else:
        openssl("genrsa", "-out", name, "2048")


def public(name):
    if name.endswith(".ec"):
        point = openssl("ec", "-in", name, "-pubout", "-outform", "DER")[-64:]
        return {"kty": "EC", "crv": "P-256", "x": b64(point[:32]), "y": b64(point[32:]), "kid": name, "use": "sig"}
    modulus = openssl("rsa", "-in", name, "-noout", "-modulus").decode().strip().split("=")[1]
    return {"kty": "RSA", "n": b64(bytes.fromhex(modulus)), "e": "AQAB", "kid": name, "alg": "RS256"}


def raw(der):
    """The two numbers of a signature by an elliptic curve, 32 bytes each."""
    at, numbers = 2, b""
    for _ in range(2):
        length = der[at + 1]
        numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + length
    return numbers


def part(text):
    if text.startswith("{"):
        try:
            return b64(json.dumps(eval(text, {"now": int(time.time())})).encode())
        except (SyntaxError, NameError, TypeError):
            return b64(text.encode())
    return b64(text.encode())


def sign(name, header, claims):
    text = part(header) + "." + part(claims)
    if name == "none":
        return text + "."
    if name.startswith("hmac:"):
        return text + "." + b64(hmac.new(open(name[5:], "rb").read(), text.encode(), hashlib.sha256).digest())
    signature = openssl("dgst", "-sha256", "-sign", name, data=text.encode())
    return text + "." + b64(raw(signature) if name.endswith(".ec") else signature)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, head=()):
        self.send_response(status)
        for name, value in head:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/authorize?"):
            return self.answer(302, b"", [("Location", authorize(urllib.parse.parse_qs(self.path.split("?", 1)[1])))])
        path = os.path.join(sys.argv[2], self.path.strip("/").replace("/", "_"))
        with open("asked", "a") as log:
            log.write(self.path + "\n")
        if os.path.exists(path + ".slow"):
            time.sleep(60)
        if os.path.exists(path + ".moved"):
            self.answer(302, b"{}", [("Location", open(path + ".moved").read().strip())])
        elif os.path.exists(path):
            self.answer(200, open(path, "rb").read())
        else:
            self.answer(404, b"{}")

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        form = {name: values[0] for name, values in form.items()}
        if self.path == "/sign":
            return self.answer(200, sign(form["name"], form["header"], form["claims"]).encode())
        with open("asked", "a") as log:
            log.write(self.path + " " + json.dumps(form) + "\n")
        self.answer(*(code(form, self.headers) if form.get("grant_type") == "authorization_code" else device(self.path, form)))

    def log_message(self, *words):
        pass


def folder(name):
    """What a file of the folder says; None: it is not there."""
    path = os.path.join(sys.argv[2], name)
    return open(path).read().strip() if os.path.exists(path) else None


codes = {}


def authorize(query):
    """Nobody is asked: the browser goes back at once, with a code; or with the error in FOLDER/refuse."""
    asked = {name: values[0] for name, values in query.items()}
    with open("asked", "a") as log:
        log.write("/authorize " + json.dumps(asked) + "\n")
    back = {"state": asked["state"]}
    if folder("refuse"):
        back["error"] = folder("refuse")
    else:
        back["code"] = "code-%d" % (len(codes) + 1)
        codes[back["code"]] = asked
    if folder("iss"):
        back["iss"] = folder("iss")
    return asked["redirect_uri"] + "?" + urllib.parse.urlencode(back)


def code(form, head):
    """The code becomes an id_token with the claims of FOLDER/claims besides the usual ones, signed by FOLDER/signer; with FOLDER/secret the client must know that."""
    asked, url = codes.pop(form.get("code"), None), "http://127.0.0.1:%d" % server.server_port
    if not asked:
        return 400, b'{"error":"invalid_grant"}'
    challenge = b64(hashlib.sha256(form["code_verifier"].encode()).digest())
    if form["redirect_uri"] != asked["redirect_uri"] or challenge != asked["code_challenge"] or asked["code_challenge_method"] != "S256":
        return 400, b'{"error":"invalid_request"}'
    basic = "Basic " + base64.b64encode(("%s:%s" % (asked["client_id"], urllib.parse.quote(folder("secret") or "", safe=""))).encode()).decode()
    if folder("secret") and head.get("Authorization") != basic and form.get("client_secret") != folder("secret"):
        return 401, b'{"error":"invalid_client"}'
    if not folder("secret") and (form.get("client_id") != asked["client_id"] or head.get("Authorization")):
        return 401, b'{"error":"invalid_client"}'
    now = int(time.time())
    claims = {"iss": url, "sub": "alice", "aud": asked["client_id"], "exp": now + 300, "iat": now, "nonce": asked["nonce"]}
    claims.update(eval(folder("claims") or "{}", {"now": now}))
    signer = folder("signer") or "one.ec"
    token = sign(signer, json.dumps({"alg": "ES256", "kid": "one.ec"}), json.dumps(claims))
    return 200, json.dumps({"id_token": token, "access_token": "opaque", "token_type": "Bearer", "scope": folder("scope") or "openid"}).encode()


polls = 0


def device(path, form):
    """POST /device gives a code; POST /token is pending, then slow_down, then gives the token in FOLDER/token; with FOLDER/denied it is denied."""
    global polls
    url = "http://127.0.0.1:%d" % server.server_port
    if path == "/device":
        return 200, json.dumps({"device_code": "secret-code", "user_code": "WDJB-MJHT", "interval": 1, "expires_in": 60,
                                "verification_uri": url + "/activate"}).encode()
    if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:device_code" or form.get("device_code") != "secret-code":
        return 400, b'{"error":"invalid_grant"}'
    if os.path.exists(os.path.join(sys.argv[2], "denied")):
        return 400, b'{"error":"access_denied"}'
    polls += 1
    if polls < 3:
        return 400, b'{"error":"authorization_pending"}' if polls == 1 else b'{"error":"slow_down"}'
    return 200, json.dumps({"access_token": open(os.path.join(sys.argv[2], "token")).read().strip(), "token_type": "Bearer"}).encode()


if sys.argv[1] == "key":
    key(sys.argv[2])
elif sys.argv[1] == "set":
    print(json.dumps({"keys": [public(name) for name in sys.argv[2:]]}))
else:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        context.maximum_version = ssl.TLSVersion.TLSv1_2  # as many institutes have it
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()
