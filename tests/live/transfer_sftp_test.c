/* transfer_sftp_test.c: files from sftp stores that lie: a real sshd, whose sftp server is the program argv[1] (sftp_liar). */
#include "live/data/transfer.h"

#include "live/world/runner.h"

#include "common/folder.h"
#include "common/tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define FILE_TEXT "by sftp"
#define FILE_LEN 7

/* libssh2 (1.10) does not give back a packet, of a kilobyte, of a session that is dropped in the middle of a file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libssh2\n";
}

static struct folder home;
static struct config config;
static struct networks networks;

static void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

/* Runs a program to its end. */
static bool program_run(const char *const words[])
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0) {
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static const char *key_make(const char *name)
{
    const char *path = folder_path(&home, name);
    const char *const words[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path, NULL};

    if (!program_run(words))
        bail("ssh-keygen does not make a key");
    return path;
}

/* A port that was free just now: sshd does not choose one by itself. */
static uint16_t port_choose(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        bail("no port");
    close(fd);
    return ntohs(address.sin_port);
}

static bool port_answers(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool answers = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;

    if (fd >= 0)
        close(fd);
    return answers;
}

/* Starts sshd, with the liar as its sftp server. */
static pid_t sshd_start(const char *sshd, const char *liar, uint16_t port)
{
    char digits[8], keys[512], subsystem[600];
    const char *const words[] = {sshd,
                                 "-D",
                                 "-e",
                                 "-f",
                                 "/dev/null",
                                 "-p",
                                 digits,
                                 "-h",
                                 folder_path(&home, "host"),
                                 "-o",
                                 "ListenAddress=127.0.0.1",
                                 "-o",
                                 "UsePAM=no",
                                 "-o",
                                 "StrictModes=no",
                                 "-o",
                                 "PidFile=none",
                                 "-o",
                                 keys,
                                 "-o",
                                 "PasswordAuthentication=no",
                                 "-o",
                                 subsystem,
                                 NULL};
    pid_t pid;

    snprintf(digits, sizeof digits, "%u", port);
    snprintf(keys, sizeof keys, "AuthorizedKeysFile=%s/user.pub", home.path);
    snprintf(subsystem, sizeof subsystem, "Subsystem=sftp %s", liar);
    pid = fork();
    if (pid == 0) {
        if (!freopen(folder_path(&home, "sshd.err"), "w", stderr))
            _exit(127);
        execv(sshd, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    for (int i = 0; i < 400 && !port_answers(port); i++)
        usleep(50000);
    return pid;
}

static struct transfer_rules *rules_make(uint16_t port)
{
    static char key[600], known[600], user[128];
    struct config_given given[] = {{"--set", "TransferStall", "2"},
                                   {"--set", "TransferKey", key},
                                   {"--set", "TransferKnownHosts", known},
                                   {"--set", "TransferUser", user}};
    const char *variables[] = {"BERTH_STATE=/tmp", NULL};
    struct config_sources sources = {.variables = variables, .given = given, .given_count = 4, .etc = home.path};
    char host[1024] = "", line[1200];
    FILE *file = fopen(folder_path(&home, "host.pub"), "r");
    struct passwd *own = getpwuid(getuid());
    struct transfer_rules *rules;
    struct err err = {0};

    if (!own || !file || !fgets(host, sizeof host, file))
        bail("no key of the host");
    fclose(file);
    snprintf(line, sizeof line, "[127.0.0.1]:%u %s", port, host);
    snprintf(known, sizeof known, "\"%s\"", folder_put(&home, "known", line));
    snprintf(key, sizeof key, "\"%s\"", folder_path(&home, "user"));
    snprintf(user, sizeof user, "\"%s\"", own->pw_name);
    rules = config_load(&config, &sources, &err) == 0 ? transfer_rules_new(&config, &networks, &err) : NULL;
    if (!rules)
        bail(err.text);
    return rules;
}

static bool is_left(void)
{
    return access(folder_path(&home, "lie"), F_OK) == 0;
}

/* What such a store says: the file is taken if it is that file, and never more bytes than it has. */
static void lying_store(struct transfer_rules *rules, uint16_t port)
{
    static const struct {
        const char *name;
        enum transfer_end end;
        const char *sentence;
    } rows[] = {
        {"right", TRANSFER_DONE, "a file comes by sftp"},
        {"other", TRANSFER_DAMAGED, "a store that gives other bytes, as many, is found out"},
        {"longer", TRANSFER_DAMAGED, "so is one whose file is longer"},
        {"less", TRANSFER_DAMAGED, "and one whose file is shorter"},
        {"endless", TRANSFER_DAMAGED, "one that does not say how long it is, and has no end, is left"},
        {"grows", TRANSFER_DAMAGED, "one that gives more than it says has another file"},
        {"huge", TRANSFER_DAMAGED, "one that says that its file is huge is left after the bytes of the right one"},
        {"negative", TRANSFER_AGAIN, "a size below zero is no size"},
        {"fat", TRANSFER_AGAIN, "more bytes than were asked for are not taken"},
        {"packet", TRANSFER_AGAIN, "nor a packet of four gigabytes"},
        {"vanishes", TRANSFER_AGAIN, "a file that vanishes midway may be tried again"},
        {"folder", TRANSFER_AGAIN, "a folder in its place gives nothing"},
        {"gone", TRANSFER_REFUSED, "a file that is not there is not asked for again"},
        {"mute", TRANSFER_AGAIN, "a store that never answers is left"},
    };
    char url[128], path[512], part[520], digits[HASH_DIGITS + 1];
    struct transfer_result result;
    struct stat info;
    int64_t began;

    hash_bytes(FILE_TEXT, FILE_LEN, digits);
    snprintf(path, sizeof path, "%s", folder_path(&home, "lie"));
    snprintf(part, sizeof part, "%s.part", path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct transfer_order order = {
            .way = TRANSFER_GET, .url = url, .path = path, .size = FILE_LEN, .hash = digits, .bytes_max = FILE_LEN};

        snprintf(url, sizeof url, "sftp://127.0.0.1:%u/store/%s", port, rows[i].name);
        began = runner_now();
        transfer_now(rules, &order, &result);
        if (!tap_ok(result.end == rows[i].end, "%s", rows[i].sentence))
            tap_diag("%s: %s", transfer_end_word(result.end), result.words);
        if (result.end != TRANSFER_DONE)
            tap_ok(!is_left() && (stat(part, &info) < 0 || info.st_size <= FILE_LEN) &&
                       runner_now() - began < 30 * SECOND,
                   "nothing of it is taken for the file, and it ends: %s", result.words);
        unlink(path);
        unlink(part);
    }
}

/* A store is asked whether it has the file: by its length, without its bytes. */
static void asked_store(struct transfer_rules *rules, uint16_t port)
{
    static const struct {
        const char *name;
        enum transfer_end end;
        const char *sentence;
    } rows[] = {
        {"right", TRANSFER_DONE, "asked whether it has a file, a store says so by sftp"},
        {"longer", TRANSFER_DAMAGED, "one that has a longer one has another file"},
        {"less", TRANSFER_DAMAGED, "and so has one that has a shorter one"},
        {"huge", TRANSFER_DAMAGED, "one that says that it is huge gives none of it"},
        {"gone", TRANSFER_DAMAGED, "one that does not have it says so"},
        {"mute", TRANSFER_AGAIN, "one that never answers may be asked again"},
    };
    char url[128];
    struct transfer_result result;
    int64_t began;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct transfer_order order = {.way = TRANSFER_ASK, .url = url, .path = "", .size = FILE_LEN};

        snprintf(url, sizeof url, "sftp://127.0.0.1:%u/store/%s", port, rows[i].name);
        began = runner_now();
        transfer_now(rules, &order, &result);
        if (!tap_ok(result.end == rows[i].end && runner_now() - began < 30 * SECOND, "%s", rows[i].sentence))
            tap_diag("%s: %s", transfer_end_word(result.end), result.words);
    }
}

int main(int argc, char **argv)
{
    static const char *const places[] = {"/usr/sbin/sshd", "/usr/bin/sshd", "/sbin/sshd"};
    const char *sshd = NULL;
    char *liar;
    struct transfer_rules *rules;
    uint16_t port = 0;
    pid_t pid;

    signal(SIGPIPE, SIG_IGN);
    if (argc < 2)
        return 2;
    for (size_t i = 0; i < sizeof places / sizeof *places && !sshd; i++)
        sshd = access(places[i], X_OK) == 0 ? places[i] : NULL;
    if (!sshd) {
        puts("1..0 # SKIP sshd is not here");
        return 0;
    }
    if (getuid() == 0)
        mkdir("/run/sshd", 0755);
    folder_init(&home);
    networks_init(&networks);
    networks_add(&networks, "127.0.0.0/8", NULL);
    key_make("host");
    key_make("user");
    port = port_choose();
    liar = realpath(argv[1], NULL);
    pid = sshd_start(sshd, liar ? liar : argv[1], port);
    free(liar);
    rules = rules_make(port);
    lying_store(rules, port);
    asked_store(rules, port);
    transfer_rules_unref(rules);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    config_done(&config);
    networks_done(&networks);
    folder_done(&home);
    return tap_done();
}
