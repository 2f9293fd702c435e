/* storage_test.c: what a store's ad says, and where a file of a logical name lies in it. */
#include "live/data/storage.h"

#include "lang/form/form.h"
#include "live/http/represent.h"

#include "common/tap.h"

#include <string.h>

static const struct {
    const char *says, *ad, *name;
    const char *url; /* or NULL: it is refused, with */
    const char *why;
} rows[] = {
    {"a store with a port", "[Name=\"a\"; Host=\"h\"; Port=8080; Protocol=\"http\"; Path=\"/dir\"]", "run7/a.dat",
     "http://h:8080/dir/run7/a.dat", NULL},
    {"a store without a port", "[Name=\"a\"; Host=\"h.example\"; Protocol=\"sftp\"; Path=\"/dir/\"]", "a",
     "sftp://h.example/dir/a", NULL},
    {"a local path", "[Name=\"a\"; Protocol=\"file\"; Path=\"/srv/x y\"]", "a", "file:///srv/x%20y/a", NULL},
    {"the host of a local path does not matter", "[Name=\"a\"; Host=\"h\"; Protocol=\"FILE\"; Path=\"/srv\"]", "a",
     "file:///srv/a", NULL},
    {"the root of a server", "[Name=\"a\"; Host=\"h\"; Protocol=\"https\"; Path=\"/\"]", "a", "https://h/a", NULL},
    {"an IPv6 address", "[Name=\"a\"; Host=\"::1\"; Protocol=\"http\"; Path=\"/\"]", "a", "http://[::1]/a", NULL},
    {"what a URL has another meaning for is escaped", "[Name=\"a\"; Host=\"h\"; Protocol=\"http\"; Path=\"/d\"]",
     "a?b#c%2e d\xc3\xa4", "http://h/d/a%3Fb%23c%252e%20d%C3%A4", NULL},
    {"no name", "[Host=\"h\"; Protocol=\"http\"; Path=\"/d\"]", "a", NULL, "Name: expected a text of 1 to 128 bytes"},
    {"no protocol", "[Name=\"a\"; Host=\"h\"; Path=\"/d\"]", "a", NULL,
     "Protocol: expected \"file\", \"http\", \"https\" or \"sftp\""},
    {"another protocol", "[Name=\"a\"; Host=\"h\"; Protocol=\"gopher\"; Path=\"/d\"]", "a", NULL,
     "Protocol: expected \"file\", \"http\", \"https\" or \"sftp\""},
    {"no host", "[Name=\"a\"; Protocol=\"http\"; Path=\"/d\"]", "a", NULL,
     "Host: expected the name or the address of a machine"},
    {"a host that is somebody's", "[Name=\"a\"; Host=\"me@h\"; Protocol=\"http\"; Path=\"/d\"]", "a", NULL,
     "Host: expected the name or the address of a machine, without a port"},
    {"a host with a port", "[Name=\"a\"; Host=\"h:81\"; Protocol=\"http\"; Path=\"/d\"]", "a", NULL,
     "Host: expected the name or the address of a machine, without a port"},
    {"a host with a path", "[Name=\"a\"; Host=\"h/x\"; Protocol=\"http\"; Path=\"/d\"]", "a", NULL,
     "Host: expected the name or the address of a machine"},
    {"a port that is none", "[Name=\"a\"; Host=\"h\"; Port=0; Protocol=\"http\"; Path=\"/d\"]", "a", NULL,
     "Port: expected a whole number from 1 to 65535"},
    {"a path that is not from the root", "[Name=\"a\"; Host=\"h\"; Protocol=\"http\"; Path=\"d\"]", "a", NULL,
     "Path: expected a folder, as a path from the root"},
    {"a path that leads up", "[Name=\"a\"; Host=\"h\"; Protocol=\"http\"; Path=\"/d/../e\"]", "a", NULL,
     "Path: expected a folder, as a path from the root without \".\" and \"..\""},
};

static void ads_are_read(void)
{
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct media media = {FORM_UNKNOWN, &dialect_classic};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        struct tree *ad = represent_read(symbols, &media, NULL, rows[i].ad, strlen(rows[i].ad), &err);
        struct store_place place;
        struct buf url;

        buf_init(&url);
        if (store_read(ad, &place, &err) == 0) {
            store_url(&place, rows[i].name, &url);
            tap_ok(rows[i].url && !strcmp(buf_string(&url), rows[i].url), "%s: %s", rows[i].says, buf_string(&url));
        } else {
            tap_ok(rows[i].why && !strcmp(err.text, rows[i].why), "%s: %s", rows[i].says, err.text);
        }
        buf_done(&url);
        tree_unref(ad);
    }
    symbols_free(symbols);
}

static void names_are_judged(void)
{
    static const char *const bad[] = {"", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "a\nb", "\x7f"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(!store_name_is_good(bad[i], strlen(bad[i])), "no file has the name %zu of those that lead elsewhere", i);
    tap_ok(!store_name_is_good("a\0b", 3), "nor one with a NUL");
    tap_ok(store_name_is_good("run7/a b.dat", 12), "a blank is allowed");
}

int main(void)
{
    ads_are_read();
    names_are_judged();
    return tap_done();
}
