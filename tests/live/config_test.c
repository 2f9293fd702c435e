/* config_test.c: settings: where they come from, which are refused and with what words, and what a reload changes. */
#include "live/config/config.h"

#include "common/folder.h"
#include "common/tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* ------------------------------------------------------------------------------------------------------------- helpers */

static const char *const no_variables[] = {"HOME=/home/alice", NULL};

static bool load(struct config *config, const char *file, const char *const *variables,
                 const struct config_given *given, size_t given_count, struct err *err)
{
    struct config_sources sources = {.file = file,
                                     .variables = variables ? variables : no_variables,
                                     .given = given,
                                     .given_count = given_count,
                                     .etc = "/nonexistent"};

    *err = (struct err){0};
    *config = (struct config){0};
    return config_load(config, &sources, err) == 0;
}

/* The value of a key, printed. */
static const char *shown(const struct config *config, enum config_key key)
{
    static struct buf out;

    if (!config) {
        buf_done(&out);
        return NULL;
    }
    buf_reset(&out);
    config_print(&out, key, &config->values[key]);
    return buf_string(&out);
}

static bool is_shown(const struct config *config, enum config_key key, const char *want)
{
    bool same = !strcmp(shown(config, key), want);

    if (!same)
        tap_diag("%s is %s, not %s", config_row(key)->name, shown(config, key), want);
    return same;
}

/* ------------------------------------------------------------------------------------------------------------ defaults */

static void test_defaults(void)
{
    struct config config;
    struct spans spans;
    struct err err;
    size_t count;

    if (!tap_ok(load(&config, NULL, NULL, NULL, 0, &err), "a pool needs no configuration at all")) {
        tap_diag("%s", err.text);
        return;
    }
    spans = config_spans(&config);
    tap_ok(!memcmp(&spans, &spans_default, sizeof spans),
           "the spans of the protocol are those that the roles have by themselves");
    tap_ok(!strcmp(config_list(&config, CONFIG_LISTEN, &count)[0], "127.0.0.1:7600") && count == 1,
           "it listens on loopback alone");
    tap_ok(
        config_size(&config, CONFIG_BODY_MAX) == 1 << 20 && config_count(&config, CONFIG_ADS_PER_IDENTITY) == 20000 &&
            config_span(&config, CONFIG_TOKEN_LIFETIME) == 24 * 60 * MINUTE && !config_flag(&config, CONFIG_METRICS) &&
            !config_flag(&config, CONFIG_ALLOW_PLAIN) && !strcmp(config_text(&config, CONFIG_TLS), "auto"),
        "limits and flags have the defaults of the manual");
    tap_ok(config_word(&config, CONFIG_LOG_LEVEL) == 2 && config_word(&config, CONFIG_TLS) == 0,
           "a word is known by its place among those it could be");
    tap_ok(!config.file && !strcmp(config.values[CONFIG_LEASE].from, "default") && !config.values[CONFIG_LEASE].over,
           "a default says that it is one");
    config_done(&config);
}

static void test_state(void)
{
    static const struct {
        const char *sentence;
        const char *variables[4];
        bool root;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"state is kept below the home folder", {"HOME=/home/alice"}, false, "\"/home/alice/.local/state/berth\""},
        {"or where XDG_STATE_HOME says", {"HOME=/home/alice", "XDG_STATE_HOME=/s"}, false, "\"/s/berth\""},
        {"a relative XDG_STATE_HOME does not count",
         {"HOME=/h", "XDG_STATE_HOME=s"},
         false,
         "\"/h/.local/state/berth\""},
        {"an empty one neither", {"HOME=/h", "XDG_STATE_HOME="}, false, "\"/h/.local/state/berth\""},
        {"the superuser's is in /var/lib", {"HOME=/root"}, true, "\"/var/lib/berth\""},
        {"unless XDG_STATE_HOME says otherwise", {"HOME=/root", "XDG_STATE_HOME=/s"}, true, "\"/s/berth\""},
        {"what is set explicitly needs no home", {"BERTH_STATE=/srv/berth"}, false, "\"/srv/berth\""},
        {"without a home it must be set", {NULL}, false, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config_sources sources = {.variables = rows[i].variables, .root = rows[i].root, .etc = "/nonexistent"};
        struct config config = {0};
        struct err err = {0};
        int got = config_load(&config, &sources, &err);

        tap_ok(rows[i].want ? got == 0 && is_shown(&config, CONFIG_STATE, rows[i].want)
                            : got < 0 && strstr(err.text, "State is not set"),
               "%s", rows[i].sentence);
        config_done(&config);
    }
}

/* -------------------------------------------------------------------------------------------------------------- sources */

static void test_order(const struct folder *folder)
{
    const char *file =
        folder_put(folder, "pool.ad", "// a pool\n[ Name = \"file\";\n  Pin = 20; Lease = 2 * Pin;\n  Keep = 1 ]\n");
    const char *variables[] = {
        "HOME=/h", "BERTH_NAME=environment", "BERTH_LEASE=50", "BERTH_POOL=http://x", "PATH=/bin", NULL};
    const struct config_given given[] = {
        {"--name", "Name", "flag"}, {"--set keep", "keep", "3"}, {"--set Keep", "Keep", "4"}};
    struct config config;
    struct buf trace, want;
    struct err err;

    folder_make(folder, "pool.ad.d");
    folder_put(folder, "pool.ad.d/20.ad", "[ Name = \"twenty\"; Grace = 5 ]");
    folder_put(folder, "pool.ad.d/10.ad", "[ Name = \"ten\"; Grace = 4; Retry = 0.1 ]");
    folder_put(folder, "pool.ad.d/30.ad~", "[ Name = 1 ]");
    folder_put(folder, "pool.ad.d/.40.ad", "[ Name = 1 ]");
    if (!tap_ok(load(&config, file, variables, given, 3, &err),
                "settings come from a file, its folder, the environment and flags")) {
        tap_diag("%s", err.text);
        return;
    }
    tap_ok(is_shown(&config, CONFIG_NAME, "\"flag\""), "a flag wins over all others");
    tap_ok(is_shown(&config, CONFIG_LEASE, "50"), "the environment wins over files");
    tap_ok(is_shown(&config, CONFIG_GRACE, "5") && is_shown(&config, CONFIG_RETRY, "0.1"),
           "of the files in the folder the last by name wins, and others are passed over");
    tap_ok(is_shown(&config, CONFIG_KEEP, "4"), "of two flags the later wins");
    tap_ok(is_shown(&config, CONFIG_PIN, "20"), "what nothing overrides is taken from the file");
    buf_init(&trace);
    buf_init(&want);
    config_trace(&trace, &config);
    buf_addf(
        &want,
        "Name = \"flag\" (--name; over \"environment\", BERTH_NAME; over \"twenty\", %s.d/20.ad:1; over \"ten\", %s.d/10.ad:1; over \"file\", %s:2; over \"pool\", default)\n",
        file, file, file);
    if (!tap_ok(strstr(buf_string(&trace), buf_string(&want)) != NULL,
                "the trace tells all places that set it, with their lines"))
        tap_diag("%s", trace.text);
    buf_reset(&want);
    buf_addf(&want, "Lease = 50 (BERTH_LEASE; over 40, %s:3; over 60, default)\n", file);
    tap_ok(strstr(trace.text, buf_string(&want)) != NULL, "an expression may read other settings of its file");
    tap_ok(config.file && !strcmp(config.file, file), "the file that was read is known");
    buf_done(&trace);
    buf_done(&want);
    config_done(&config);
}

static void test_usual_places(const struct folder *folder)
{
    char xdg[512], home[512], named[512], etc[512];
    const char *variables[] = {home, xdg, NULL, NULL};
    struct config_sources sources = {.variables = variables, .etc = etc};
    struct config config;
    struct err err;

    folder_make(folder, "xdg");
    folder_make(folder, "etc");
    folder_make(folder, "etc/berth.ad.d");
    snprintf(home, sizeof home, "HOME=%s", folder_path(folder, "home"));
    snprintf(xdg, sizeof xdg, "XDG_CONFIG_HOME=%s", folder_path(folder, "xdg"));
    snprintf(etc, sizeof etc, "%s", folder_path(folder, "etc"));
    tap_ok(config_load(&config, &sources, &err) == 0 && is_shown(&config, CONFIG_NAME, "\"pool\""),
           "a folder of the usual places may be empty");
    config_done(&config);
    folder_put(folder, "etc/berth.ad.d/1.ad", "[ Name = \"etc\" ]");
    tap_ok(config_load(&config, &sources, &err) == 0 && is_shown(&config, CONFIG_NAME, "\"etc\""),
           "FILE.d is read where FILE itself is missing");
    config_done(&config);
    folder_make(folder, "xdg/berth");
    folder_put(folder, "xdg/berth/berth.ad", "[ Name = \"xdg\" ]");
    tap_ok(config_load(&config, &sources, &err) == 0 && is_shown(&config, CONFIG_NAME, "\"xdg\""),
           "the user's own file is read in place of the system's");
    config_done(&config);
    snprintf(named, sizeof named, "BERTH_CONFIG=%s", folder_put(folder, "named.ad", "[ Name = \"named\" ]"));
    variables[2] = named;
    tap_ok(config_load(&config, &sources, &err) == 0 && is_shown(&config, CONFIG_NAME, "\"named\""),
           "BERTH_CONFIG names another");
    config_done(&config);
    snprintf(named, sizeof named, "BERTH_CONFIG=%s", folder_path(folder, "missing.ad"));
    tap_ok(config_load(&config, &sources, &err) < 0 && strstr(err.text, "missing.ad: there is no such file"),
           "a file that is named must be there");
}

/* --------------------------------------------------------------------------------------------------------------- values */

/* What is accepted and what is refused: as written in a file, and as a text of the environment. */
static const struct value_row {
    enum config_key key;
    const char *text, *want; /* as config_print shows it; "!..." is a part of the error */
} file_rows[] =
    {
        {CONFIG_LEASE, "90", "90"},
        {CONFIG_LEASE, "'00:01:30'", "90"},
        {CONFIG_LEASE, "\"1.5 min\"", "90"},
        {CONFIG_LEASE, "\"2 h\"", "7200"},
        {CONFIG_LEASE, "1h", "!a number ends before 'h'"},
        {CONFIG_CYCLE_INTERVAL, "0.001", "0.001"},
        {CONFIG_CYCLE_INTERVAL, "\"1 ms\"", "0.001"},
        {CONFIG_CYCLE_INTERVAL, "0.0125", "0.0125"},
        {CONFIG_CYCLE_INTERVAL, "0.0009", "!CycleInterval: expected seconds from 0.001 to 86400, got 0.0009"},
        {CONFIG_CYCLE_INTERVAL, "0", "!got 0"},
        {CONFIG_CYCLE_INTERVAL, "-1", "!got -1"},
        {CONFIG_WINDOW, "0", "!Window: expected seconds from 0.001"},
        {CONFIG_WINDOW, "true", "!expected seconds from 0.001 to 86400, got true"},
        {CONFIG_WINDOW, "\"soon\"", "!got \"soon\""},
        {CONFIG_WINDOW, "\"5 m\"", "!got \"5 m\""},
        {CONFIG_WINDOW, "1.0e300 * 1.0e300", "!Window: expected seconds"},
        {CONFIG_WINDOW, "9223372036854775807", "!got 9223372036854775807"},
        {CONFIG_WINDOW, "Window", "!got undefined"},
        {CONFIG_WINDOW, "other.Window", "!got undefined"},
        {CONFIG_WINDOW, "1 / 0", "!got error"},
        {CONFIG_POOLS, "{}", "{}"},
        {CONFIG_POOLS, "{ [ Name = \"own\"; Access = other.Group == \"a\" && Pin > 3 ] }",
         "{ [ Name = \"own\"; Access = other.Group == \"a\" && Pin > 3 ] }"},
        {CONFIG_POOLS,
         "{ [name = \"w\"; TOKEN = \"/t\"; Matchmaker = {\"https://a:1\", \"unix:/m\"}; CA = \"c\"; Share = 1] }",
         "{ [ name = \"w\"; TOKEN = \"/t\"; Matchmaker = { \"https://a:1\", \"unix:/m\" }; CA = \"c\"; Share = 1 ] }"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Token = \"t\"; Matchmaker = \"ftp://a\" ] }",
         "!Pools: w: Matchmaker: expected a URL"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Token = \"\" ] }", "!Pools: w: Token: expected the name of a file, got \"\""},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Token = strcat(\"a\", \"b\") ] }", "!w: Token: expected the name of a file"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; CA = \"c\" ] }", "!w: CA: a pool without a Token is the agent's own"},
        {CONFIG_POOLS, "{ [ Name = \"a b\" ] }", "!Name: expected a name of up to 63 letters"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Share = -0.1 ] }", "!w: Share: expected a number from 0 to 1, got -0.1"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Rank = 1 ] }", "!w: there is no field 'Rank'"},
        {CONFIG_POOLS, "{ [ Name = \"w\"; Token = \"t\" ], [ Share = 1 ] }", "!pool 2: Name: every pool has one"},
        {CONFIG_POOLS, "{ 1 }", "!pool 1: expected an ad"},
        {CONFIG_POOLS, "[ Name = \"w\" ]", "!Pools: expected a list of up to 16 ads"},
        {CONFIG_ISSUERS, "{}", "{}"},
        {CONFIG_ISSUERS,
         "{ [ Issuer = \"https://a\"; Audience = { \"x\", \"y\" }; Group = g[0]; Scopes = \"match\" ] }",
         "{ [ Issuer = \"https://a\"; Audience = { \"x\", \"y\" }; Group = g[0]; Scopes = \"match\" ] }"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"https://a\" ] }", "!Issuers: issuer 1: Audience: without it"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"https://a\"; Audience = {} ] }",
         "!Issuers: issuer 1: Audience: expected a text"},
        {CONFIG_ISSUERS, "{ [ Audience = \"x\" ] }", "!issuer 1: Issuer: every issuer has a URL"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"ftp://a\"; Audience = \"x\" ] }", "!Issuer: expected a URL"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"http://a\"; Audience = \"x\" ] }", "!Issuer: only https://"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"http://localhost\"; Audience = \"x\"; Plain = true ] }",
         "!Issuer: only https://"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"https://a\"; Audience = \"x\"; Name = \"A\" ] }", "!Name: expected a name"},
        {CONFIG_ISSUERS,
         "{ [ Issuer = \"https://a\"; Audience = \"x\" ], [ Issuer = \"https://b\"; Audience = \"x\"; Name = \"a\" ] }",
         "!a: Name: another issuer is called so"},
        {CONFIG_ISSUERS,
         "{ [ Issuer = \"https://a\"; Audience = \"x\" ], [ Issuer = \"https://a\"; Audience = \"x\" ] }",
         "!a: Issuer: it is there twice"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"https://accounts.a-very-long-name.example.org/realm\"; Audience = \"x\" ] }",
         "!Name: it is needed"},
        {CONFIG_ISSUERS, "{ [ Issuer = \"https://a\"; Audience = \"x\"; KeysAge = 0 ] }",
         "!KeysAge: expected seconds from 1 to 86400"},
        {CONFIG_ISSUERS, "7", "!Issuers: expected a list of up to 16 ads"},
        {CONFIG_BODY_MAX, "4096", "\"4 KiB\""},
        {CONFIG_BODY_MAX, "4097", "4097"},
        {CONFIG_BODY_MAX, "\"2 MiB\"", "\"2 MiB\""},
        {CONFIG_BODY_MAX, "\"2mib\"", "\"2 MiB\""},
        {CONFIG_BODY_MAX, "\"2 MB\"", "2000000"},
        {CONFIG_BODY_MAX, "\"1.5 M\"", "\"1536 KiB\""},
        {CONFIG_BODY_MAX, "\"0.1 KiB\"", "!expected a size from 1 KiB to 64 MiB, got \"0.1 KiB\""},
        {CONFIG_BODY_MAX, "\"1024.5\"", "!got \"1024.5\""},
        {CONFIG_BODY_MAX, "\"1 GiB\"", "!expected a size"},
        {CONFIG_BODY_MAX, "'00:15'", "!expected a size"},
        {CONFIG_BODY_MAX, "\"MiB\"", "!expected a size"},
        {CONFIG_CONNECTIONS, "500", "500"},
        {CONFIG_CONNECTIONS, "5.0e2", "500"},
        {CONFIG_CONNECTIONS, "500.5", "!Connections: expected a whole number from 4 to 1000000, got 500.5"},
        {CONFIG_CONNECTIONS, "\"500\"", "!got \"500\""},
        {CONFIG_METRICS, "false", "false"},
        {CONFIG_METRICS, "1 == 2", "false"},
        {CONFIG_METRICS, "0", "!Metrics: expected true or false, got 0"},
        {CONFIG_TLS, "\"on\"", "\"on\""},
        {CONFIG_TLS, "\"On\"", "!Tls: expected auto, on or off, got \"On\""},
        {CONFIG_TLS, "true", "!got true"},
        {CONFIG_NAME, "strcat(\"a\", \"b\")", "\"ab\""},
        {CONFIG_NAME, "\"a\\nb\"", "!Name: expected a text of 1 to 128 bytes, got \"a\\nb\""},
        {CONFIG_NAME, "\"\"", "!got \"\""},
        {CONFIG_LISTEN, "\"[::1]:0\"", "{ \"[::1]:0\" }"},
        {CONFIG_LISTEN, "{ \"0.0.0.0:1\", \"unix:/run/berth.sock\", \"localhost:2\" }",
         "{ \"0.0.0.0:1\", \"unix:/run/berth.sock\", \"localhost:2\" }"},
        {CONFIG_LISTEN, "{}", "!Listen: expected a list of 1 to 16 texts"},
        {CONFIG_LISTEN, "{ \"127.0.0.1:7600\", 3 }", "!got { \"127.0.0.1:7600\", 3 }"},
        {CONFIG_LISTEN, "\"127.0.0.1\"", "!each an address (HOST:PORT, [IPV6]:PORT or unix:/PATH), got \"127.0.0.1\""},
        {CONFIG_LISTEN, "\"127.0.0.1:70000\"", "!an address"},
        {CONFIG_LISTEN, "\":7600\"", "!an address"},
        {CONFIG_LISTEN, "\"::1:7600\"", "!an address"},
        {CONFIG_LISTEN, "\"[127.0.0.1]:7600\"", "!an address"},
        {CONFIG_LISTEN, "\"unix:run\"", "!an address"},
        {CONFIG_NETWORKS, "{ \"10.0.0.0/8\", \"fd00::/8\", \"192.168.1.7/32\" }",
         "{ \"10.0.0.0/8\", \"fd00::/8\", \"192.168.1.7/32\" }"},
        {CONFIG_NETWORKS, "{}", "{}"},
        {CONFIG_NETWORKS, "\"10.0.0.1/8\"", "!a network"},
        {CONFIG_NETWORKS, "\"10.0.0.0/33\"", "!a network"},
        {CONFIG_NETWORKS, "\"ten\"", "!a network"},
        {CONFIG_MATCHMAKERS, "{ \"https://mm:7600\", \"http://[::1]:7600/x\" }",
         "{ \"https://mm:7600\", \"http://[::1]:7600/x\" }"},
        {CONFIG_MATCHMAKERS, "\"https://alice:secret@mm\"", "!a URL"},
        {CONFIG_MATCHMAKERS, "\"http://[::1\"", "!a URL"},
        {CONFIG_MATCHMAKERS, "\"ftp://mm\"", "!a URL"},
        {CONFIG_PUBLIC_URL, "\"https://\"", "!PublicUrl: expected a URL"},
        {CONFIG_PUBLIC_URL, "\"\"", "\"\""},
        {CONFIG_CONFIG_SOURCES, "{ \"/etc/site.ad\", \"https://mm/v1/config\" }",
         "{ \"/etc/site.ad\", \"https://mm/v1/config\" }"},
        {CONFIG_CONFIG_SOURCES, "\"ftp://mm\"", "!a file or a URL"},
        {CONFIG_LEASE, "29.9", "!Lease (29.9, "},
},
  text_rows[] = {
      {CONFIG_NAME, "harbour", "\"harbour\""},
      {CONFIG_NAME, "\"quoted\"", "\"quoted\""},
      {CONFIG_NAME, "\"\"", "!got \"\""},
      {CONFIG_NAME, "1 + 1", "\"1 + 1\""},
      {CONFIG_NAME, "(", "\"(\""},
      {CONFIG_NAME, "true", "\"true\""},
      {CONFIG_STATE, "/srv//berth", "\"/srv//berth\""},
      {CONFIG_LISTEN, "127.0.0.1:1", "{ \"127.0.0.1:1\" }"},
      {CONFIG_LISTEN, "127.0.0.1:1, [::1]:2", "{ \"127.0.0.1:1\", \"[::1]:2\" }"},
      {CONFIG_LISTEN, "{ \"127.0.0.1:1\" }", "{ \"127.0.0.1:1\" }"},
      {CONFIG_LISTEN, "127.0.0.1:1,,", "!expected a list of 1 to 16 texts"},
      {CONFIG_LISTEN, "", "!expected a list"},
      {CONFIG_NETWORKS, "", "{}"},
      {CONFIG_POOLS, "", "{}"},
      {CONFIG_POOLS, "{ [ Name = \"w\"; Token = \"t\" ] }", "{ [ Name = \"w\"; Token = \"t\" ] }"},
      {CONFIG_POOLS, "world", "!BERTH_POOLS: expected a list of up to 16 ads"},
      {CONFIG_POOLS, "{ [ Name = ] }", "!BERTH_POOLS: expected a list of up to 16 ads"},
      {CONFIG_LEASE, "90", "90"},
      {CONFIG_LEASE, "90s", "90"},
      {CONFIG_LEASE, "90 s", "90"},
      {CONFIG_LEASE, "60 * 2", "120"},
      {CONFIG_LEASE, "never", "!BERTH_LEASE: expected seconds from 0.001 to 86400, got \"never\""},
      {CONFIG_LEASE, "0", "!got 0"},
      {CONFIG_BODY_MAX, "2MiB", "\"2 MiB\""},
      {CONFIG_BODY_MAX, "2K", "\"2 KiB\""},
      {CONFIG_METRICS, "off", "false"},
      {CONFIG_METRICS, "1", "true"},
      {CONFIG_METRICS, "maybe", "!BERTH_METRICS: expected true or false, got \"maybe\""},
      {CONFIG_CONNECTIONS, "100", "100"},
      {CONFIG_CONNECTIONS, "many", "!got \"many\""},
      {CONFIG_LOG, "json", "\"json\""},
};

static void check_value(const struct value_row *row, bool loaded, const struct config *config, const struct err *err)
{
    bool refused = *row->want == '!';
    bool right =
        refused ? !loaded && strstr(err->text, row->want + 1) : loaded && is_shown(config, row->key, row->want);

    if (!tap_ok(right, "%s = %s is %s", config_row(row->key)->name, row->text, refused ? "refused" : "accepted"))
        tap_diag("%s", loaded ? "it was accepted" : err->text);
}

static void test_values(const struct folder *folder)
{
    struct config config;
    struct buf text;
    struct err err;

    buf_init(&text);
    for (size_t i = 0; i < sizeof file_rows / sizeof *file_rows; i++) {
        const char *file;

        buf_reset(&text);
        buf_addf(&text, "[ %s = %s ]", config_row(file_rows[i].key)->name, file_rows[i].text);
        file = folder_write(folder, "value.ad", text.text, text.len);
        check_value(&file_rows[i], load(&config, file, NULL, NULL, 0, &err), &config, &err);
        config_done(&config);
    }
    for (size_t i = 0; i < sizeof text_rows / sizeof *text_rows; i++) {
        const char *variables[] = {"HOME=/h", NULL, NULL};

        buf_reset(&text);
        config_variable_name(&text, text_rows[i].key);
        buf_addf(&text, "=%s", text_rows[i].text);
        variables[1] = buf_string(&text);
        check_value(&text_rows[i], load(&config, NULL, variables, NULL, 0, &err), &config, &err);
        config_done(&config);
    }
    buf_done(&text);
}

/* Whatever is shown can be written into a file again. */
static void test_shown_reads_back(const struct folder *folder)
{
    const struct config_given given[] = {{"--set", "Listen", "127.0.0.1:1,unix:/a b"},
                                         {"--set", "BodyMax", "12345"},
                                         {"--set", "Retry", "0.000001 + 0.125"},
                                         {"--set", "Name", "a\"b\\c \xc3\xa9"},
                                         {"--set", "Pools", "{[Name=\"a\";Access=other.N>1?\"\\n\":2.5e3]}"}};
    struct config config, again;
    struct buf text;
    struct err err;
    int same = 0;

    if (!tap_ok(load(&config, NULL, NULL, given, 5, &err), "odd values are accepted as flags")) {
        tap_diag("%s", err.text);
        return;
    }
    buf_init(&text);
    buf_adds(&text, "[\n");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        buf_addf(&text, "%s = %s;\n", config_row((enum config_key)i)->name, shown(&config, (enum config_key)i));
    buf_adds(&text, "]\n");
    if (load(&again, folder_write(folder, "again.ad", text.text, text.len), NULL, NULL, 0, &err))
        for (int i = 0; i < CONFIG_KEY_COUNT; i++)
            same += !config_differs(&config, &again, (enum config_key)i);
    if (!tap_ok(same == CONFIG_KEY_COUNT, "all settings as they are shown can be read again as a file"))
        tap_diag("%s", err.text);
    tap_ok(same == CONFIG_KEY_COUNT && strstr(again.values[CONFIG_BODY_MAX].from, "again.ad:"),
           "and each knows its line");
    buf_done(&text);
    config_done(&config);
    config_done(&again);
}

/* -------------------------------------------------------------------------------------------------------------- refusals */

static void expect_refusal(bool loaded, struct config *config, const struct err *err, const char *part,
                           const char *sentence)
{
    if (!tap_ok(!loaded && strstr(err->text, part) && err->line == 0, "%s", sentence))
        tap_diag("%s", loaded ? "it was accepted" : err->text);
    config_done(config);
}

static void test_wrong_keys(const struct folder *folder)
{
    const char *typo[] = {"HOME=/h", "BERTH_CYCLE_INTERVALL=1", NULL},
               *far[] = {"HOME=/h", "BERTH_QQQQQQQQQQQ=1", NULL};
    const char *many[101] = {NULL};
    uint32_t told = 1;
    const char *others[] = {"HOME=/h",     "BERTH_POOL=x",   "BERTH_TOKEN=x", "BERTH_SEED=1",   "BERTH_ROUNDS=1",
                            "BERTH=x",     "BERTH_SOURCE=x", "BERTHS=1",      "BERTH_JOB=1",    "BERTH_INDEX=0",
                            "BERTH_TRY=1", "BERTH_NODE=a",   "BERTH_CPUS=1",  "BERTH_STATUS=x", NULL};
    const struct config_given given = {"--set Leese", "Leese", "3"};
    struct config config;
    struct err err;

    expect_refusal(load(&config, folder_put(folder, "typo.ad", "[ Pin = 1;\n  Leese = 3 ]"), NULL, NULL, 0, &err),
                   &config, &err, "typo.ad:2:3: there is no setting 'Leese'; did you mean 'Lease'?",
                   "a misspelt setting in a file is refused with its place and the right one");
    folder_make(folder, "good.ad.d");
    folder_put(folder, "good.ad.d/x.ad", "[ Listn = 3 ]");
    expect_refusal(load(&config, folder_put(folder, "good.ad", "[]"), NULL, NULL, 0, &err), &config, &err,
                   "good.ad.d/x.ad:1:3: there is no setting 'Listn'; did you mean 'Listen'?",
                   "and so in the folder beside it");
    tap_ok(load(&config, NULL, typo, NULL, 0, &err) &&
               !strcmp(config.doubts, "BERTH_CYCLE_INTERVALL is passed over: there is no such setting; did you mean "
                                      "BERTH_CYCLE_INTERVAL?"),
           "in the environment it is told, with the right one, and stops nothing");
    config_done(&config);
    tap_ok(load(&config, NULL, far, NULL, 0, &err) &&
               !strcmp(config.doubts,
                       "BERTH_QQQQQQQQQQQ is passed over: there is no such setting; `berth config` lists them"),
           "and so is one that is like no other");
    config_done(&config);
    expect_refusal(load(&config, NULL, NULL, &given, 1, &err), &config, &err,
                   "--set Leese: there is no setting 'Leese'; did you mean 'Lease'?", "and as a flag");
    for (size_t i = 0; i < 100; i++)
        many[i] = i ? "BERTH_QQQQQQQQQQQ=1" : "HOME=/h";
    tap_ok(load(&config, NULL, many, NULL, 0, &err), "a hundred of them stop nothing");
    for (const char *at = config.doubts; *at; at++)
        told += *at == '\n';
    tap_ok(told == 8, "and the first eight are told");
    config_done(&config);
    tap_ok(load(&config, NULL, others, NULL, 0, &err) && !*config.doubts,
           "variables that are no settings but ours, as those of jobs, are let pass");
    config_done(&config);
}

static void test_bad_files(const struct folder *folder)
{
    char *large = calloc(1, CONFIG_FILE_MAX + 2);
    struct config config;
    struct err err;
    struct buf deep;

    expect_refusal(load(&config, folder_put(folder, "bad.ad", "[ Pin = 1\n  Lease = 2 ]"), NULL, NULL, 0, &err),
                   &config, &err, "bad.ad:2:3: expected an operator, ';' or ']', got 'Lease'",
                   "a file that is no ad is refused with the place");
    tap_ok(load(&config, folder_put(folder, "empty.ad", " \n// Pin = 3;\n"), NULL, NULL, 0, &err) &&
               is_shown(&config, CONFIG_PIN, "30"),
           "a file of blanks and comments sets nothing");
    config_done(&config);
    tap_ok(load(&config, "/dev/null", NULL, NULL, 0, &err), "/dev/null is the way to have no file");
    config_done(&config);
    expect_refusal(load(&config, folder_put(folder, "twice.ad", "[ Pin = 1; pin = 2 ]"), NULL, NULL, 0, &err), &config,
                   &err, "twice.ad:1:12: ", "a setting twice in one file is refused");
    expect_refusal(load(&config, folder->path, NULL, NULL, 0, &err), &config, &err, "Is a directory",
                   "a folder is no file");
    memset(large, ' ', CONFIG_FILE_MAX + 1);
    memcpy(large, "[]", 2);
    expect_refusal(load(&config, folder_write(folder, "large.ad", large, CONFIG_FILE_MAX + 1), NULL, NULL, 0, &err),
                   &config, &err, "large.ad: it has more than 1048576 bytes",
                   "a file of more than a mebibyte is refused");
    tap_ok(load(&config, folder_write(folder, "large.ad", large, CONFIG_FILE_MAX), NULL, NULL, 0, &err),
           "one of a mebibyte is read");
    config_done(&config);
    buf_init(&deep);
    buf_adds(&deep, "[ Pin = ");
    for (int i = 0; i < 100000; i++)
        buf_addc(&deep, '(');
    expect_refusal(load(&config, folder_write(folder, "deep.ad", deep.text, deep.len), NULL, NULL, 0, &err), &config,
                   &err, "deep.ad:1:", "brackets without end are refused");
    buf_done(&deep);
    expect_refusal(load(&config, folder_put(folder, "circle.ad", "[ Pin = Lease; Lease = Pin ]"), NULL, NULL, 0, &err),
                   &config, &err, "circle.ad:1:3: Pin: expected seconds from 0.001 to 86400, got undefined",
                   "settings that read each other in a circle are refused");
    folder_make(folder, "pipe.ad.d");
    mkfifo(folder_path(folder, "pipe.ad.d/x.ad"), 0600);
    expect_refusal(load(&config, folder_put(folder, "pipe.ad", "[]"), NULL, NULL, 0, &err), &config, &err,
                   "pipe.ad.d/x.ad: it is not a plain file", "a pipe among the files is refused, not waited for");
    free(large);
}

static void test_across(const struct folder *folder)
{
    static const struct {
        const char *sentence, *text, *part; /* NULL: accepted */
    } rows[] = {
        {"a lease shorter than the pin is refused, and both places are told", "[ Lease = 20 ]",
         "Lease (20, %s:1) is shorter than Pin (30, default)"},
        {"a lease of the pin's length is not", "[ Lease = 30 ]", NULL},
        {"a first pause longer than the deadline is refused", "[ Retry = 11 ]",
         "Deadline (10, default) is shorter than Retry (11, %s:1)"},
        {"a submission must be allowed what any body is", "[ BodyMax = \"32 MiB\"; SubmissionMax = \"16 MiB\" ]",
         "SubmissionMax (\"16 MiB\", %s:1) is less than BodyMax (\"32 MiB\", "},
        {"plain HTTP to other machines is refused, with what to do", "[ Tls = \"off\"; Listen = \"0.0.0.0:80\" ]",
         "Listen (0.0.0.0:80, %s:1) would be served without encryption: leave Tls at auto"},
        {"also when only one of the addresses is open", "[ Tls = \"off\"; Listen = { \"127.0.0.1:80\", \"[::]:80\" } ]",
         "Listen ([::]:80, "},
        {"unless it is allowed in so many words", "[ Tls = \"off\"; Listen = \"0.0.0.0:80\"; AllowPlain = true ]",
         NULL},
        {"on loopback and Unix sockets it is no matter",
         "[ Tls = \"off\"; Listen = { \"127.0.0.1:80\", \"[::1]:1\", \"unix:/x\", \"localhost:3\" } ]", NULL},
        {"spans of milliseconds are possible, for tests",
         "[ Window = 0.05; Pin = 0.1; Lease = 0.3; CycleInterval = 0.001; Retry = 0.001; Deadline = 0.002; Grace = 0.001 ]",
         NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *file = folder_put(folder, "across.ad", rows[i].text);
        char part[1024] = "";
        struct config config;
        struct err err;
        bool loaded = load(&config, file, NULL, NULL, 0, &err);

        if (rows[i].part)
            snprintf(part, sizeof part, rows[i].part, file);
        if (!tap_ok(rows[i].part ? !loaded && strstr(err.text, part) : loaded, "%s", rows[i].sentence))
            tap_diag("%s", loaded ? "accepted" : err.text);
        config_done(&config);
    }
}

/* --------------------------------------------------------------------------------------------------------------- reload */

static void test_reload(const struct folder *folder)
{
    char path[512];
    struct config_sources sources = {.file = path, .variables = no_variables, .etc = "/nonexistent"};
    struct config_change change;
    struct config config;
    struct err err;
    int taken = 0, waits = 0;

    snprintf(path, sizeof path, "%s",
             folder_put(folder, "reload.ad", "[ LogLevel = \"info\"; Listen = \"127.0.0.1:1\"; Lease = 100 ]"));
    tap_ok(config_load(&config, &sources, &err) == 0, "a configuration is loaded");
    folder_put(
        folder, "reload.ad",
        "[ LogLevel = \"debug\"; Listen = { \"127.0.0.1:2\", \"[::1]:3\" }; Lease = 200; Networks = \"10.0.0.0/8\" ]");
    tap_ok(config_reload(&config, &sources, &change, &err) == 0, "and again when its file has changed");
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        taken += change.taken[i];
        waits += change.waits[i];
    }
    tap_ok(taken == 2 && change.taken[CONFIG_LOG_LEVEL] && change.taken[CONFIG_NETWORKS] &&
               is_shown(&config, CONFIG_LOG_LEVEL, "\"debug\"") &&
               is_shown(&config, CONFIG_NETWORKS, "{ \"10.0.0.0/8\" }"),
           "what may change while it runs has changed");
    tap_ok(waits == 2 && change.waits[CONFIG_LISTEN] && change.waits[CONFIG_LEASE] &&
               is_shown(&config, CONFIG_LISTEN, "{ \"127.0.0.1:1\" }") && is_shown(&config, CONFIG_LEASE, "100"),
           "what may not is named, and stays");
    folder_put(folder, "reload.ad", "[ LogLevel = \"loud\" ]");
    tap_ok(config_reload(&config, &sources, &change, &err) < 0 &&
               strstr(err.text, "LogLevel: expected error, warning, info or debug") &&
               is_shown(&config, CONFIG_LOG_LEVEL, "\"debug\""),
           "a wrong file changes nothing, and is told");
    unlink(path);
    tap_ok(config_reload(&config, &sources, &change, &err) < 0 && is_shown(&config, CONFIG_LOG_LEVEL, "\"debug\""),
           "nor does one that has gone");
    config_done(&config);
    config_done(&config);
    config_done(NULL);
}

/* ------------------------------------------------------------------------------------------------------------- networks */

static void test_networks(void)
{
    tap_ok(config_address_is_local("[::1]:80") && config_address_is_local("127.3.2.1:0") &&
               config_address_is_local("unix:/x") && config_address_is_local("LocalHost:1") &&
               !config_address_is_local("0.0.0.0:80") && !config_address_is_local("[::]:80") &&
               !config_address_is_local("example.org:80") && !config_address_is_local("127.0.0.1.example.org:80"),
           "loopback addresses are told from others");
}

int main(void)
{
    struct folder folder;

    folder_init(&folder);
    test_defaults();
    test_state();
    test_order(&folder);
    test_usual_places(&folder);
    test_values(&folder);
    test_shown_reads_back(&folder);
    test_wrong_keys(&folder);
    test_bad_files(&folder);
    test_across(&folder);
    test_reload(&folder);
    test_networks();
    shown(NULL, CONFIG_NAME);
    folder_done(&folder);
    return tap_done();
}
