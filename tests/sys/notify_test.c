/* notify_test.c: what a service manager hears, by a socket as it would have one. */
#include "sys/notify.h"

#include "common/folder.h"
#include "common/tap.h"

static int manager_new(const char *path, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + !abstract);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (abstract)
        address.sun_path[0] = '\0';
    if (bind(fd, (const struct sockaddr *)&address, len) != 0) {
        perror(path);
        exit(2);
    }
    return fd;
}

/* The next datagram; "" when there is none. */
static const char *heard(int manager)
{
    static char text[2048];
    ssize_t got = recv(manager, text, sizeof text - 1, 0);

    text[got > 0 ? got : 0] = '\0';
    return text;
}

static void check_words(int manager, const char *name, const char *socket_name)
{
    struct notify notify;
    struct err err;

    tap_ok(notify_init(&notify, socket_name, "3000000", NULL, 1, &err) == 0 && notify.watchdog == 1500000,
           "%s: the watchdog is fed twice as often as it demands", name);
    notify_ready(&notify, NULL);
    tap_ok(!strcmp(heard(manager), "READY=1"), "%s: it is ready", name);
    notify_ready(&notify, "serving at 127.0.0.1:7600");
    tap_ok(!strcmp(heard(manager), "READY=1\nSTATUS=serving at 127.0.0.1:7600"), "%s: and says where", name);
    notify_reloading(&notify, 123456789);
    tap_ok(!strcmp(heard(manager), "RELOADING=1\nMONOTONIC_USEC=123456789"), "%s: a reload has its time", name);
    notify_status(&notify, "%d ads\nMAINPID=%d", 3, 1);
    tap_ok(!strcmp(heard(manager), "STATUS=3 ads MAINPID=1"), "%s: a status cannot smuggle in another word", name);
    notify_watchdog(&notify);
    tap_ok(!strcmp(heard(manager), "WATCHDOG=1"), "%s: it is alive", name);
    notify_stopping(&notify, "draining");
    tap_ok(!strcmp(heard(manager), "STOPPING=1\nSTATUS=draining"), "%s: it stops", name);
    tap_ok(notify.sent == 6 && notify.missed == 0, "%s: all was sent", name);
    notify_done(&notify);
}

/* The manager does not read, or has gone: nobody waits for it. */
static void check_deaf(int manager, const char *socket_name)
{
    struct notify notify;
    struct err err;

    notify_init(&notify, socket_name, NULL, NULL, 1, &err);
    for (int i = 0; i < 5000; i++)
        notify_status(&notify, "%d", i);
    tap_ok(notify.missed > 0 && notify.sent > 0, "a manager that does not read misses some, and nobody waits");
    close(manager);
    notify_ready(&notify, NULL);
    tap_ok(notify.sent + notify.missed == 5001, "one that has gone misses all");
    notify_done(&notify);
    notify_done(&notify);
    notify_done(NULL);
}

static void check_settings(void)
{
    static const struct {
        const char *sentence, *socket, *usec, *pid;
        int result;
        int64_t watchdog;
    } rows[] = {
        {"without a manager nothing is sent", NULL, "1000", NULL, 0, 0},
        {"an empty name is none", "", "1000", NULL, 0, 0},
        {"a watchdog of our own process is ours", "/x", "1000", "77", 0, 500},
        {"one of another process is not", "/x", "1000", "78", 0, 0},
        {"a span that is no number is none", "/x", "soon", NULL, 0, 0},
        {"nor is one with more behind it", "/x", "1000s", NULL, 0, 0},
        {"a relative name is refused", "run/notify", NULL, NULL, -1, 0},
        {"and so is one of another kind", "vsock:2:1234", NULL, NULL, -1, 0},
        {"and one that is too long",
         "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         NULL, NULL, -1, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct notify notify;
        struct err err = {0};
        int result = notify_init(&notify, rows[i].socket, rows[i].usec, rows[i].pid, 77, &err);

        notify_ready(&notify, "x");
        notify_watchdog(&notify);
        tap_ok(result == rows[i].result && notify.watchdog == rows[i].watchdog &&
                   (result == 0 || (err.text[0] && notify.fd < 0)) && notify.sent == 0,
               "%s", rows[i].sentence);
        notify_done(&notify);
    }
}

int main(void)
{
    struct folder folder;
    char name[108];
    int manager;

    alarm(10); /* whatever waits is ended */
    folder_init(&folder);
    snprintf(name, sizeof name, "%.90s/notify", folder.path);
    manager = manager_new(name, false);
    check_words(manager, "by a path", name);
    check_deaf(manager, name);
    snprintf(name, sizeof name, "@berth-test-%ld", (long)getpid());
    manager = manager_new(name, true);
    check_words(manager, "by an abstract name", name);
    close(manager);
    check_settings();
    folder_done(&folder);
    return tap_done();
}
