/* The names of images in registries: each has one form, and what an owner lists holds those beneath it and no others. */
#include "common/tap.h"
#include "pool/protocol/image_ref.h"

#include <stdio.h>
#include <string.h>

#define D "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *name, *place, *tag, *digest; /* place: NULL for one that is refused */
} names[] = {
    {"docker://python", "docker://docker.io/library/python", "latest", ""},
    {"docker://python:3.12", "docker://docker.io/library/python", "3.12", ""},
    {"docker://docker.io/python", "docker://docker.io/library/python", "latest", ""},
    {"docker://index.docker.io/physics/tools", "docker://docker.io/physics/tools", "latest", ""},
    {"docker://physics/tools@" D, "docker://docker.io/physics/tools", "", D},
    {"docker://Registry.Example.ORG/a/b:1", "docker://registry.example.org/a/b", "1", ""},
    {"docker://localhost/a", "docker://localhost/a", "latest", ""},
    {"docker://127.0.0.1:5000/a:x@" D, "docker://127.0.0.1:5000/a", "", D},
    {"docker://host:5000/a-b_c.d/e", "docker://host:5000/a-b_c.d/e", "latest", ""},
    {"docker://", NULL, NULL, NULL},
    {"docker:///a", NULL, NULL, NULL},
    {"docker://a/", NULL, NULL, NULL},
    {"docker://a//b", NULL, NULL, NULL},
    {"docker://a/../b", NULL, NULL, NULL},
    {"docker://A/b", NULL, NULL, NULL},
    {"docker://host.org/B", NULL, NULL, NULL},
    {"docker://host.org", "docker://docker.io/library/host.org", "latest", ""},
    {"docker://host.org/a:", NULL, NULL, NULL},
    {"docker://host.org/a:-x", NULL, NULL, NULL},
    {"docker://host.org/a:b c", NULL, NULL, NULL},
    {"docker://host.org/a --tls-verify=false", NULL, NULL, NULL},
    {"docker://-host.org/a", NULL, NULL, NULL},
    {"docker://host.org:/a", NULL, NULL, NULL},
    {"docker://host.org:port/a", NULL, NULL, NULL},
    {"docker://user@host.org/a", NULL, NULL, NULL},
    {"docker://user:word@host.org/a", NULL, NULL, NULL},
    {"docker://host.org/a@sha256:0123", NULL, NULL, NULL},
    {"docker://host.org/a@" D "0", NULL, NULL, NULL},
    {"docker://host.org/a@md5:0123456789abcdef0123456789abcdef", NULL, NULL, NULL},
    {"docker://host.org/a\nb", NULL, NULL, NULL},
    {"oci://host.org/a", NULL, NULL, NULL},
    {"host.org/a", NULL, NULL, NULL},
};

static const struct {
    const char *source, *name;
    bool held;
} lists[] = {
    {"docker://registry.example.org/", "docker://registry.example.org/a/b:1", true},
    {"docker://registry.example.org", "docker://registry.example.org/a", true},
    {"docker://Registry.example.org/", "docker://registry.EXAMPLE.org/a", true},
    {"docker://registry.example.org/", "docker://registry.example.org.evil/a", false},
    {"docker://registry.example.org/", "docker://registry.example.org:5000/a", false},
    {"docker://registry.example.org/", "docker://evil/registry.example.org/a", false},
    {"docker://registry.example.org/a", "docker://registry.example.org/a", true},
    {"docker://registry.example.org/a/", "docker://registry.example.org/a/b", true},
    {"docker://registry.example.org/a/", "docker://registry.example.org/ab", false},
    {"docker://registry.example.org/a/", "docker://registry.example.org/b/a", false},
    {"docker://docker.io/library/", "docker://python", true},
    {"docker://docker.io/library/", "docker://physics/tools", false},
    {"docker://docker.io/", "docker://physics/tools", true},
    {"docker://localhost:5000/", "docker://localhost:5000/a", true},
};

static void names_are_read(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct image_ref ref;
        struct err err = {0};
        int got = image_ref_read(names[i].name, strlen(names[i].name), &ref, &err);

        if (names[i].place)
            tap_ok(got == 0 && !strcmp(ref.place, names[i].place) && !strcmp(ref.tag, names[i].tag) &&
                       !strcmp(ref.digest, names[i].digest),
                   "'%s' is an image", names[i].name);
        else
            tap_ok(got < 0 && *err.text, "the %zuth name is none", i);
    }
}

static void lists_are_held(void)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct image_ref source, ref;
        struct err err = {0};

        tap_ok(image_source_read(lists[i].source, strlen(lists[i].source), &source, &err) == 0 &&
                   image_ref_read(lists[i].name, strlen(lists[i].name), &ref, &err) == 0 &&
                   image_source_holds(source.place, &ref) == lists[i].held,
               "'%s' %s '%s'", lists[i].source, lists[i].held ? "holds" : "does not hold", lists[i].name);
    }
}

static void sources_are_refused(void)
{
    static const char *const bad[] = {"docker://",
                                      "docker:///",
                                      "registry.example.org",
                                      "docker://python",
                                      "docker://host.org/a:1",
                                      "docker://host.org/*",
                                      "docker://*.host.org/"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct image_ref source;
        struct err err = {0};

        tap_ok(image_source_read(bad[i], strlen(bad[i]), &source, &err) < 0 && *err.text, "'%s' is no source", bad[i]);
    }
}

static void a_long_name_is_refused(void)
{
    char name[2 * IMAGE_REF_MAX];
    struct image_ref ref;
    struct err err = {0};

    memset(name, 'a', sizeof name);
    memcpy(name, IMAGE_REF_BEGIN, strlen(IMAGE_REF_BEGIN));
    tap_ok(image_ref_read(name, IMAGE_REF_MAX, &ref, &err) == 0, "a name of the longest is one");
    tap_ok(image_ref_read(name, IMAGE_REF_MAX + 1, &ref, &err) < 0, "a longer one is none");
}

int main(void)
{
    names_are_read();
    lists_are_held();
    sources_are_refused();
    a_long_name_is_refused();
    return tap_done();
}
