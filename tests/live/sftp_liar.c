/* sftp_liar: an sftp server (as sshd's subsystem) that lies. What it says of a file is chosen by the last word of the path that is opened:
 * see `lies`. It knows the few requests of version 3 of the protocol by which a file is read, and has no files.
 *
 *     packet: length (4 bytes), kind (1), number (4), ... */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define PACKET_MAX 70000

enum {
    INIT = 1,
    VERSION = 2,
    OPEN = 3,
    CLOSE = 4,
    READ = 5,
    LSTAT = 7,
    FSTAT = 8,
    REALPATH = 16,
    STAT = 17,
    STATUS = 101,
    HANDLE = 102,
    DATA = 103,
    NAME = 104,
    ATTRS = 105
};
enum { OK = 0, AT_END = 1, NO_FILE = 2, DENIED = 3, FAILURE = 4 };
enum { ENDLESS = 1, FAT = 2, VANISHES = 4, FOLDER = 8, MUTE = 16, GONE = 32, HUGE_PACKET = 64, NO_SIZE = 128 };

static const struct lie {
    const char *name;
    uint64_t size;     /* that it says */
    const char *bytes; /* that it gives, up to their end */
    unsigned flags;
} lies[] = {
    {"right", 7, "by sftp", 0},
    {"other", 7, "by evil", 0},
    {"longer", 9, "by sftp!!", 0},
    {"less", 3, "by ", 0},
    {"endless", 0, "by sftp", ENDLESS | NO_SIZE},
    {"grows", 7, "by evil", ENDLESS},
    {"huge", UINT64_C(1) << 62, "by sftp", ENDLESS},
    {"negative", UINT64_MAX - 6, "by sftp", 0},
    {"fat", 7, "by sftp", FAT},
    {"vanishes", 7, "by ", VANISHES},
    {"folder", 4096, "", FOLDER},
    {"mute", 7, "by sftp", MUTE},
    {"gone", 7, "", GONE},
    {"packet", 7, "by sftp", HUGE_PACKET},
};

static const struct lie *lie = &lies[0];
static unsigned char in[PACKET_MAX], out[PACKET_MAX + 8];
static size_t out_len;

static bool take(void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = read(0, (char *)bytes + at, len - at);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put(uint64_t number, int bytes)
{
    while (bytes-- > 0)
        out[out_len++] = (unsigned char)(number >> (8 * bytes));
}

static void put_text(const char *text, size_t len)
{
    put(len, 4);
    memcpy(out + out_len, text, len);
    out_len += len;
}

/* Sends what was put; its length is what it is, or what is said. */
static bool send_as(uint32_t length)
{
    size_t len = out_len;

    out_len = 0;
    put(length, 4);
    for (size_t at = 0; at < len;) {
        ssize_t n = write(1, out + at, len - at);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void begin(int kind, uint32_t number)
{
    out_len = 4;
    put((uint64_t)kind, 1);
    put(number, 4);
}

static bool send_status(uint32_t number, unsigned code)
{
    begin(STATUS, number);
    put(code, 4);
    put_text("", 0);
    put_text("", 0);
    return send_as((uint32_t)out_len - 4);
}

static bool opened(uint32_t number, const unsigned char *path, uint32_t len)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        size_t word = strlen(lies[i].name);

        if (len > word && path[len - word - 1] == '/' && !memcmp(path + len - word, lies[i].name, word))
            lie = &lies[i];
    }
    if (lie->flags & MUTE)
        return true;
    if (lie->flags & GONE)
        return send_status(number, NO_FILE);
    begin(HANDLE, number);
    put_text("h", 1);
    return send_as((uint32_t)out_len - 4);
}

static bool told(uint32_t number)
{
    begin(ATTRS, number);
    put(lie->flags & NO_SIZE ? 0 : 1, 4);
    if (!(lie->flags & NO_SIZE))
        put(lie->size, 8);
    return send_as((uint32_t)out_len - 4);
}

static bool given(uint32_t number, uint64_t from, uint32_t most)
{
    uint64_t len = strlen(lie->bytes);

    if (lie->flags & FOLDER)
        return send_status(number, FAILURE);
    if (from >= len && !(lie->flags & ENDLESS))
        return send_status(number, lie->flags & VANISHES ? NO_FILE : AT_END);
    if (most > PACKET_MAX / 2)
        most = PACKET_MAX / 2;
    if (lie->flags & FAT)
        most += 1000;
    else if (!(lie->flags & ENDLESS) && most > len - from)
        most = (uint32_t)(len - from);
    begin(DATA, number);
    put(most, 4);
    for (uint32_t i = 0; i < most; i++)
        out[out_len++] = (unsigned char)lie->bytes[(from + i) % len];
    return send_as(lie->flags & HUGE_PACKET ? UINT32_MAX : (uint32_t)out_len - 4);
}

static bool answer(uint32_t len)
{
    uint32_t number = len >= 5 ? number_at(in + 1) : 0, first = len >= 9 ? number_at(in + 5) : 0;

    if (first > len - 9)
        first = 0;
    switch (in[0]) {
    case INIT:
        out_len = 4;
        put(VERSION, 1);
        put(3, 4);
        return send_as((uint32_t)out_len - 4);
    case REALPATH:
        begin(NAME, number);
        put(1, 4);
        put_text("/", 1);
        put_text("/", 1);
        put(0, 4);
        return send_as((uint32_t)out_len - 4);
    case OPEN:
        return opened(number, in + 9, first);
    case STAT:
    case LSTAT:
    case FSTAT:
        return told(number);
    case READ:
        return given(number, (uint64_t)number_at(in + 9 + first) << 32 | number_at(in + 13 + first),
                     number_at(in + 17 + first));
    case CLOSE:
        return send_status(number, OK);
    default:
        return send_status(number, DENIED);
    }
}

int main(void)
{
    unsigned char head[4];

    while (take(head, sizeof head)) {
        uint32_t len = number_at(head);

        if (len < 1 || len > sizeof in - 32 || !take(in, len) || !answer(len))
            return 1;
    }
    return 0;
}
