/* image_oci.c: an image as an OCI layout or as Docker saves it, in a tar file or a folder. */
#include "exec/image_oci.h"

#include "exec/image_archive.h"
#include "exec/image_run.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define INDEX_DEPTH_MAX 4 /* of lists of images in lists of images */

/* What is known of an image before its layers are read. All is borrowed from the two documents. */
struct plan {
    json_t *manifest, *config;
    const char *names[IMAGE_LAYERS_MAX]; /* of the archive's files */
    char blobs[IMAGE_LAYERS_MAX][96];
    const char *digests[IMAGE_LAYERS_MAX];  /* of the file; or NULL */
    const char *unpacked[IMAGE_LAYERS_MAX]; /* of its bytes, unpacked; or NULL */
    size_t count;
};

static json_t *document(const struct archive *archive, const char *name, const char *digest, struct err *err)
{
    size_t len;
    char *text = archive_text(archive, name, digest, &len, err);
    json_error_t why;
    json_t *json = text ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &why) : NULL;

    if (text && !json)
        err_set(err, "'%.120s' in the image: line %d: %.120s", name, why.line, why.text);
    free(text);
    return json;
}

/* The name of the file that has the digest "sha256:DIGITS". */
static int blob_name(const char *digest, char ret[96], struct err *err)
{
    if (!digest || strncmp(digest, "sha256:", 7) != 0 || strlen(digest) != 71 ||
        strspn(digest + 7, "0123456789abcdef") != 64)
        return err_set(err, "'%.80s' in the image is no digest: sha256 and 64 digits are read here",
                       digest ? digest : "");
    snprintf(ret, 96, "blobs/sha256/%s", digest + 7);
    return 0;
}

static const char *member_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* This machine's processor, as images call it. */
static const char *machine_arch(void)
{
    static const struct {
        const char *kernel, *image;
    } names[] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "386"}, {"armv7l", "arm"}};
    static struct utsname here;

    if (uname(&here) < 0)
        return "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(here.machine, names[i].kernel))
            return names[i].image;
    return here.machine;
}

/* Of several images the one for this machine. Those without a platform may be anything, and do if there is no other. */
static json_t *index_choose(json_t *index, struct err *err)
{
    json_t *list = json_object_get(index, "manifests"), *one, *chosen = NULL;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const json_t *platform = json_object_get(one, "platform");
        const char *arch = member_text(platform, "architecture"), *system = member_text(platform, "os");

        if (arch && system && !strcmp(arch, machine_arch()) && !strcmp(system, "linux"))
            return one;
        if (!chosen && !platform)
            chosen = one;
    }
    if (!chosen)
        err_set(err, "there is no image for linux on %s in it", machine_arch());
    return chosen;
}

/* Follows lists of images to the manifest of one; the caller lets go of it. */
static json_t *manifest_find(const struct archive *archive, struct err *err)
{
    json_t *at = document(archive, "index.json", NULL, err);

    for (int depth = 0; at && depth < INDEX_DEPTH_MAX; depth++) {
        json_t *chosen, *next = NULL;
        char name[96];

        if (json_object_get(at, "layers"))
            return at;
        chosen = index_choose(at, err);
        if (chosen && blob_name(member_text(chosen, "digest"), name, err) == 0)
            next = document(archive, name, member_text(chosen, "digest"), err);
        json_decref(at);
        at = next;
    }
    if (at)
        err_set(err, "the image is a list in a list, and so on");
    json_decref(at);
    return NULL;
}

static int plan_oci(const struct archive *archive, struct plan *plan, struct err *err)
{
    const char *digest;
    json_t *layers, *layer;
    char name[96];
    size_t i;

    plan->manifest = manifest_find(archive, err);
    if (!plan->manifest)
        return -1;
    digest = member_text(json_object_get(plan->manifest, "config"), "digest");
    if (blob_name(digest, name, err) < 0 || !(plan->config = document(archive, name, digest, err)))
        return -1;
    layers = json_object_get(plan->manifest, "layers");
    if (!json_is_array(layers) || json_array_size(layers) > IMAGE_LAYERS_MAX)
        return err_set(err, "the image has more than %d layers, or no list of them", IMAGE_LAYERS_MAX);
    json_array_foreach(layers, i, layer)
    {
        plan->digests[i] = member_text(layer, "digest");
        if (blob_name(plan->digests[i], plan->blobs[i], err) < 0)
            return -1;
        plan->names[i] = plan->blobs[i];
    }
    plan->count = json_array_size(layers);
    return 0;
}

static int plan_docker(const struct archive *archive, struct plan *plan, struct err *err)
{
    const json_t *first, *sums;
    json_t *layers, *layer;
    size_t i;

    plan->manifest = document(archive, "manifest.json", NULL, err);
    first = json_array_get(plan->manifest, 0);
    if (!plan->manifest)
        return -1;
    if (!member_text(first, "Config"))
        return err_set(err, "'manifest.json' in the image does not say which it has");
    plan->config = document(archive, member_text(first, "Config"), NULL, err);
    layers = json_object_get(first, "Layers");
    sums = json_object_get(json_object_get(plan->config, "rootfs"), "diff_ids");
    if (!plan->config)
        return -1;
    if (!json_is_array(layers) || json_array_size(layers) > IMAGE_LAYERS_MAX ||
        json_array_size(layers) != json_array_size(sums))
        return err_set(err, "the image does not have as many layers as sums of them, or more than %d",
                       IMAGE_LAYERS_MAX);
    json_array_foreach(layers, i, layer)
    {
        plan->names[i] = json_string_value(layer);
        plan->unpacked[i] = json_string_value(json_array_get(sums, i));
        if (!plan->names[i] || !plan->unpacked[i])
            return err_set(err, "'manifest.json' in the image is not in order");
    }
    plan->count = json_array_size(layers);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------------- layers */

/* Reads a layer once: for what is gone, or for what is there. */
static int layer_read(const struct archive *archive, const struct plan *plan, size_t place, struct layer_tree *tree,
                      bool whiteouts, struct err *err)
{
    struct image_stream *stream = archive_stream(archive, plan->names[place], err);
    struct tar tar;
    int failed;

    if (!stream)
        return -1;
    tar_init(&tar, image_stream_read, stream);
    failed = whiteouts ? layer_whiteouts(tree, &tar, err) : layer_apply(tree, &tar, err);
    if (failed || whiteouts) {
        image_stream_end(stream, NULL, NULL, 0, NULL);
        return failed;
    }
    return image_stream_end(stream, plan->digests[place], plan->unpacked[place], tree->bytes_max, err);
}

static void says_list(struct buf *says, const char *key, const json_t *list)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one) if (json_is_string(one)) image_run_say(says, key, json_string_value(one));
}

static int config_read(const struct plan *plan, struct buf *says, char begin[IMAGE_BEGIN_MAX + 1], struct err *err)
{
    const json_t *config = json_object_get(plan->config, "config");
    const char *arch = member_text(plan->config, "architecture"), *folder = member_text(config, "WorkingDir");

    if (arch && *arch && strcmp(arch, machine_arch()) != 0)
        return err_set(err, "the image is for %.40s, and this machine is %s", arch, machine_arch());
    says_list(says, IMAGE_SAYS_ENV, json_object_get(config, "Env"));
    says_list(says, IMAGE_SAYS_ENTRY, json_object_get(config, "Entrypoint"));
    says_list(says, IMAGE_SAYS_COMMAND, json_object_get(config, "Cmd"));
    if (folder && *folder == '/' && folder[1] && strlen(folder) <= IMAGE_BEGIN_MAX) {
        strcpy(begin, folder);
        image_run_say(says, IMAGE_SAYS_BEGIN, folder);
    }
    return 0;
}

int image_oci_unpack(int fd, struct layer_tree *tree, struct buf *says, char begin[IMAGE_BEGIN_MAX + 1],
                     struct err *err)
{
    struct archive *archive = archive_open(fd, tree->bytes_max, err);
    struct plan *plan = calloc(1, sizeof *plan);
    int failed = -1;

    begin[0] = '\0';
    if (archive && plan) {
        if (archive_has(archive, "index.json"))
            failed = plan_oci(archive, plan, err);
        else if (archive_has(archive, "manifest.json"))
            failed = plan_docker(archive, plan, err);
        else
            err_set(err, "it is no image: there is no index.json in it, and no manifest.json");
    }
    if (!failed)
        failed = config_read(plan, says, begin, err);
    for (size_t i = 0; !failed && i < plan->count; i++)
        failed = (i && layer_read(archive, plan, i, tree, true, err) < 0) ||
                 layer_read(archive, plan, i, tree, false, err) < 0;
    if (plan) {
        json_decref(plan->manifest);
        json_decref(plan->config);
    }
    free(plan);
    archive_free(archive);
    return failed ? -1 : 0;
}
