#!/usr/bin/env python3
"""make_image.py OUT KIND: makes images of containers, good and hostile ones, for tests.

KIND is one of the names of functions below. A good image has a statically linked shell's stand-in: the machine's own busybox-like programs are
not needed, because its files are copies of the machine's /bin/sh, cat, ls, env and the libraries that these need."""
import ctypes, gzip, hashlib, io, json, os, platform, re, subprocess, sys, tarfile

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
PROGRAMS = ["sh", "cat", "ls", "env", "id", "pwd", "true", "touch", "stat"]


def sha(data):
    return hashlib.sha256(data).hexdigest()


def zstd(data):
    """Packed by the library that Berth itself needs: there need be no program."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(out, len(out), data, len(data), 1)
    return out.raw[:size]


def zstd_skipped(data):
    """In two frames with one between and one before that is to be skipped, as those have that are made to be read in parts."""
    note = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    return note + zstd(data[:1000]) + note + zstd(data[1000:])


def zstd_window(data):
    """A frame that wants a window of 2 GiB, with one block of zeros in it."""
    return b"\x28\xb5\x2f\xfd\x00" + bytes([21 << 3]) + (1 | 1 << 1 | 512 << 3).to_bytes(3, "little") + b"\0"


def member(tar, name, data=b"", kind=tarfile.REGTYPE, mode=0o644, link="", **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.type = kind
    info.mode = mode
    info.linkname = link
    for key, value in more.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))


def layer(fill):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        fill(tar)
    return out.getvalue()


def libraries(path):
    out = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    return set(re.findall(r"(/\S+)", out))


def programs(tar):
    """Programs of this machine, with the libraries that they need."""
    needed = set()
    for name in PROGRAMS:
        path = os.path.realpath("/usr/bin/" + name)
        needed |= libraries(path)
        member(tar, "usr/bin/" + name, open(path, "rb").read(), mode=0o755)
    for path in sorted(needed):
        real = os.path.realpath(path)
        where = path if path.startswith("/usr/") else "/usr" + path
        member(tar, where[1:], open(real, "rb").read(), mode=0o755)
    for name in ("bin", "lib", "lib64"):
        member(tar, name, kind=tarfile.SYMTYPE, link="usr/" + name)


def base(tar):
    programs(tar)
    member(tar, "etc", kind=tarfile.DIRTYPE, mode=0o755)
    member(tar, "etc/word", b"of the image\n")
    member(tar, "etc/passwd", b"root:x:0:0::/:/bin/sh\n")
    member(tar, "etc/private", b"private\n", mode=0o600)
    member(tar, "root", kind=tarfile.DIRTYPE, mode=0o700)
    member(tar, "root/word", b"at home\n", mode=0o600)
    member(tar, "opt/gone", b"below\n")
    member(tar, "opt/full/a", b"a\n")
    member(tar, "opt/full/b", b"b\n")
    member(tar, "usr/bin/su", b"#!/bin/sh\nid -u\n", mode=0o4755)
    member(tar, "dev/sda", kind=tarfile.BLKTYPE, devmajor=8, devminor=0)
    member(tar, "swapped", kind=tarfile.SYMTYPE, link="/etc")


def second(tar):
    member(tar, "opt/.wh.gone")
    member(tar, "opt/full/c", b"c\n")
    member(tar, "opt/full/.wh..wh..opq")
    member(tar, "swapped", kind=tarfile.DIRTYPE, mode=0o755)
    member(tar, "swapped/word", b"not in etc\n")
    member(tar, "etc/other", kind=tarfile.LNKTYPE, link="etc/word")
    member(tar, "lib/by-link", b"through a link\n")


CONFIG = {"Env": ["PATH=/usr/bin", "FROM_IMAGE=yes", "BOTH=image", "HOME=/root", "BERTH_JOB=0"], "Entrypoint": ["/usr/bin/env", "ENTRY=1"],
          "Cmd": ["sh", "-c", "echo by itself in $PWD"], "WorkingDir": "/srv/app", "User": "0:0"}


def oci(out, layers, config=None, pack=True, wrong=None, arch=ARCH, index=None):
    blobs = {}

    def blob(data, kind="layer.v1.tar" + ("+gzip" if pack is True else "+zstd" if pack else "")):
        digest = sha(data)
        blobs[digest] = data
        return {"digest": "sha256:" + digest, "size": len(data), "mediaType": "application/vnd.oci.image." + kind}

    packed = [one if not pack else gzip.compress(one, 1, mtime=0) if pack is True else pack(one) for one in layers]
    document = json.dumps({"architecture": arch, "os": "linux", "config": CONFIG if config is None else config,
                           "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha(one) for one in layers]}}).encode()
    manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                           "config": blob(document, "config.v1+json"), "layers": [blob(one) for one in packed]}).encode()
    top = json.dumps(index if index is not None else {"schemaVersion": 2, "manifests": [blob(manifest, "manifest.v1+json")]}).encode()
    if wrong is not None:
        digest = sha(packed[wrong])
        blobs[digest] = gzip.compress(layer(lambda tar: member(tar, "other", b"x")), 1, mtime=0)
    with tarfile.open(out, "w") as tar:
        member(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        member(tar, "index.json", top)
        for digest, data in blobs.items():
            member(tar, "blobs/sha256/" + digest, data)


def docker(out, layers, wrong=False):
    document = json.dumps({"architecture": ARCH, "config": CONFIG,
                           "rootfs": {"diff_ids": ["sha256:" + sha(one + b"x" * wrong) for one in layers]}}).encode()
    with tarfile.open(out, "w") as tar:
        for n, one in enumerate(layers):
            member(tar, "%d/layer.tar" % n, one)
        member(tar, sha(document) + ".json", document)
        member(tar, "manifest.json", json.dumps([{"Config": sha(document) + ".json", "RepoTags": None,
                                                  "Layers": ["%d/layer.tar" % n for n in range(len(layers))]}]).encode())


GOOD = {
    "good": lambda out: oci(out, [layer(base), layer(second)]),
    "plain": lambda out: oci(out, [layer(base)], config={}, pack=False),
    "zstd": lambda out: oci(out, [layer(base), layer(second)], pack=zstd),
    "zstd-skipped": lambda out: oci(out, [layer(base)], pack=zstd_skipped),
    "single": lambda out: oci(out, [layer(base)], config={"Env": ["OWN=" + os.urandom(8).hex()]}),
    "docker": lambda out: docker(out, [layer(base), layer(second)]),
    "packed": lambda out: (docker(out, [layer(base)]), open(out + ".gz", "wb").write(gzip.compress(open(out, "rb").read(), 1)), os.rename(out + ".gz", out)),
    "zstd-whole": lambda out: (oci(out, [layer(base)], pack=False), open(out + ".zst", "wb").write(zstd(open(out, "rb").read())), os.rename(out + ".zst", out)),
}


def bad(fill, first=None):
    return lambda out: oci(out, ([layer(first)] if first else []) + [layer(fill)])


def many(tar):
    for n in range(3000000 // 100):
        member(tar, "%d" % n)


def linked(tar):
    member(tar, "way", kind=tarfile.SYMTYPE, link="../../../../../../tmp")
    member(tar, "way/escaped", b"x")
    member(tar, "abs", kind=tarfile.SYMTYPE, link="/")
    member(tar, "abs/escaped-too", b"x")


HOSTILE = {
    "dotdot": bad(lambda tar: member(tar, "../escaped", b"x")),
    "dotdot-inside": bad(lambda tar: member(tar, "a/../../escaped", b"x")),
    "hardlink-out": bad(lambda tar: member(tar, "x", kind=tarfile.LNKTYPE, link="../../../../etc/passwd")),
    "hardlink-nowhere": bad(lambda tar: member(tar, "x", kind=tarfile.LNKTYPE, link="/proc/self/environ")),
    "links": bad(linked),
    "whiteout-dotdot": bad(lambda tar: member(tar, "a/.wh..."), lambda tar: member(tar, "a/x")),
    "whiteout-dot": bad(lambda tar: member(tar, "a/.wh.."), lambda tar: member(tar, "a/x")),
    "digest": lambda out: oci(out, [layer(base)], wrong=0),
    "diff-id": lambda out: docker(out, [layer(base)], wrong=True),
    "bomb": bad(lambda tar: member(tar, "zeros", bytes(64 << 20))),
    "wide": lambda out: oci(out, [layer(lambda tar: member(tar, "%d" % n, os.urandom(5 << 20))) for n in range(3)], pack=False),
    "zstd-bomb": lambda out: oci(out, [layer(lambda tar: member(tar, "zeros", bytes(64 << 20)))], pack=zstd),
    "zstd-cut": lambda out: oci(out, [layer(base)], pack=lambda data: zstd(data)[:-100]),
    "zstd-window": lambda out: oci(out, [layer(base)], pack=zstd_window),
    "zstd-garbage": lambda out: oci(out, [layer(base)], pack=lambda data: b"\x28\xb5\x2f\xfd" + data[:4000]),
    "gzip-cut": lambda out: oci(out, [layer(base)], pack=lambda data: gzip.compress(data, 1, mtime=0)[:-100]),
    "json": lambda out: oci(out, [], index={"manifests": [], "x": "y" * (5 << 20)}),
    "deep-json": lambda out: oci(out, [], index=[[]]),
    "arch": lambda out: oci(out, [layer(base)], arch="z80"),
    "no-image": lambda out: tarfile.open(out, "w").close(),
    "garbage": lambda out: open(out, "wb").write(os.urandom(4096)),
    "deep": bad(lambda tar: member(tar, "d/" * 2000 + "x", b"x")),
}


def sif(out, squash, fstype=1, cut=0, offset=None, count=1):
    data = open(squash, "rb").read()
    at = 4096
    extra = fstype.to_bytes(4, "little") + (2).to_bytes(4, "little") + b"02\0"
    descriptor = (0x4004).to_bytes(4, "little") + b"\1" + b"\1\0\0\0" + bytes(8)
    for number in (at if offset is None else offset, len(data), len(data), 0, 0, 0, 0):
        descriptor += number.to_bytes(8, "little")
    descriptor += b"root".ljust(128, b"\0") + extra.ljust(384, b"\0")
    assert len(descriptor) == 585
    head = b"#!/usr/bin/env run-singularity\n".ljust(32, b"\0") + b"SIF_MAGIC\0" + b"01\0" + b"02\0" + bytes(16) + bytes(16)
    for number in (0, count, 128, 585, at, len(data)):
        head += number.to_bytes(8, "little")
    assert len(head) == 128
    whole = (head + descriptor).ljust(at, b"\0") + data
    open(out, "wb").write(whole[:len(whole) - cut])


def tree(out):
    """A folder with the files of the good image, for mksquashfs or as it is."""
    os.makedirs(out)
    data = layer(lambda tar: base(tar))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for info in tar:
            if info.isreg() or info.isdir() or info.issym():
                info.mode = 0o755 if info.isdir() or info.mode & 0o111 else 0o644
                tar.extract(info, out, set_attrs=True, numeric_owner=False)


if __name__ == "__main__":
    out, kind = sys.argv[1:3]
    if kind == "sif":
        sif(out, sys.argv[3], **{key: int(value) for key, value in (word.split("=") for word in sys.argv[4:])})
    elif kind == "tree":
        tree(out)
    else:
        {**GOOD, **HOSTILE}[kind](out)
