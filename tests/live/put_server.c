/* put_server.c: a store for tests: an HTTP server that takes and gives files of a folder.
 *
 *     put_server FOLDER PORT [SPEED] [TOKEN] [CERT KEY]
 *
 * PORT 0: a free one. It prints the port when it is up, and a line for each file that was put. SPEED: bytes a second that it reads of a
 * body (0: all). It keeps a file whose name ends with ".spoilt" with another first byte, and of one that ends with ".said" it says a SHA-256 that is not
 * the file's. TOKEN: it wants that one ("": none). With a certificate it speaks TLS. A file is there when all of it has come. */
#include <fcntl.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096

static const char *folder, *wanted;
static long speed;

struct upload {
    FILE *file;
    char path[PATH_BYTES + 32], part[PATH_BYTES + 64];
};

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(0, (void *)(size_t) "", MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}

static bool is_admitted(struct MHD_Connection *connection)
{
    const char *field = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");

    return !*wanted || (field && !strncmp(field, "Bearer ", 7) && !strcmp(field + 7, wanted));
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), last = strlen(end);

    return len >= last && !strcmp(text + len - last, end);
}

static enum MHD_Result give(struct MHD_Connection *connection, const char *path)
{
    const char *range = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
    unsigned long from = range && !strncmp(range, "bytes=", 6) ? strtoul(range + 6, NULL, 10) : 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct MHD_Response *response;
    enum MHD_Result result;
    struct stat info;
    char text[128];

    if (fd < 0 || fstat(fd, &info) < 0 || from > (unsigned long)info.st_size)
        return say(connection, fd < 0 ? MHD_HTTP_NOT_FOUND : MHD_HTTP_RANGE_NOT_SATISFIABLE);
    response = MHD_create_response_from_fd_at_offset64((uint64_t)info.st_size - from, fd, from);
    snprintf(text, sizeof text, "bytes %lu-%lu/%lu", from, (unsigned long)info.st_size - 1,
             (unsigned long)info.st_size);
    if (range)
        MHD_add_response_header(response, "Content-Range", text);
    if (ends_with(path, ".said"))
        MHD_add_response_header(response, "Repr-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    result = MHD_queue_response(connection, range ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static void folders_make(char *path)
{
    for (char *c = path + strlen(folder) + 1; *c; c++)
        if (*c == '/') {
            *c = '\0';
            mkdir(path, 0755);
            *c = '/';
        }
}

static struct upload *upload_begin(const char *path)
{
    struct upload *upload = calloc(1, sizeof *upload);

    if (!upload)
        abort();
    snprintf(upload->path, sizeof upload->path, "%s", path);
    snprintf(upload->part, sizeof upload->part, "%s.%p", path, (void *)upload);
    folders_make(upload->path);
    upload->file = fopen(upload->part, "w");
    return upload;
}

static void bytes_take(const struct upload *upload, const char *bytes, size_t len)
{
    struct timespec pause;
    double seconds = speed ? (double)len / (double)speed : 0;

    if (upload->file)
        fwrite(bytes, 1, len, upload->file);
    pause.tv_sec = (time_t)seconds;
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

static enum MHD_Result upload_end(struct MHD_Connection *connection, struct upload *upload)
{
    bool spoils = upload->file && ends_with(upload->path, ".spoilt");
    bool good = upload->file && (!spoils || (rewind(upload->file), fputc('~', upload->file) != EOF)) &&
                fclose(upload->file) == 0 && rename(upload->part, upload->path) == 0;

    upload->file = NULL;
    if (good)
        printf("put %s\n", upload->path + strlen(folder) + 1);
    fflush(stdout);
    return say(connection, good ? MHD_HTTP_CREATED : MHD_HTTP_INTERNAL_SERVER_ERROR);
}

static enum MHD_Result serve(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                             const char *version, const char *bytes, size_t *len, void **state)
{
    static int seen;
    char path[PATH_BYTES];
    size_t got = *len;

    (void)user;
    (void)version;
    if (!*state) { /* the head */
        if (strcmp(method, "PUT") != 0) {
            *state = &seen;
            return MHD_YES;
        }
        if (!is_admitted(connection))
            return say(connection, MHD_HTTP_UNAUTHORIZED);
        snprintf(path, sizeof path, "%s%s", folder, url);
        *state = upload_begin(path);
        return MHD_YES;
    }
    if (*state == &seen) {
        snprintf(path, sizeof path, "%s%s", folder, url);
        *state = NULL;
        return is_admitted(connection) ? give(connection, path) : say(connection, MHD_HTTP_UNAUTHORIZED);
    }
    if (!got)
        return upload_end(connection, *state);
    *len = 0;
    bytes_take(*state, bytes, got);
    return MHD_YES;
}

static void over(void *user, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    struct upload *upload = *state;

    (void)user;
    (void)connection;
    if (!upload || code == MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN)
        return;
    if (upload->file) {
        fclose(upload->file);
        unlink(upload->part);
    }
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK || upload->path[0] == '/')
        free(upload);
}

static char *file_text(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(path, "r");

    if (!text || !file || !fread(text, 1, 65535, file))
        exit(2);
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, NULL},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, NULL},
                                   {MHD_OPTION_END, 0, NULL}},
                          plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon;

    if (argc < 3)
        return 2;
    folder = argv[1];
    speed = argc > 3 ? atol(argv[3]) : 0;
    wanted = argc > 4 ? argv[4] : "";
    if (argc > 6) {
        tls[0].ptr_value = file_text(argv[5]);
        tls[1].ptr_value = file_text(argv[6]);
    }
    daemon =
        MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | (argc > 6 ? MHD_USE_TLS : 0),
                         (uint16_t)atoi(argv[2]), NULL, NULL, serve, NULL, MHD_OPTION_NOTIFY_COMPLETED, over, NULL,
                         MHD_OPTION_ARRAY, argc > 6 ? tls : plain, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,
                         MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
    if (!daemon)
        return 1;
    printf("port %u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    for (;;)
        pause();
}
