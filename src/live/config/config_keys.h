/* config_keys.h: the settings of the daemons, one a row: the table behind config.h, `berth config` and the manual.
 *
 *     X(id, name, sort, form, default, low, high, when, help)
 *     S(id, name, field, low, high, when, help)             a span of the protocol: its default is that of spans_default
 *
 * name     as written in a file; BERTH_CYCLE_INTERVAL in the environment, --cycle-interval as a flag
 * sort     TEXT, LIST (of texts), SPAN (microseconds; written as seconds), SIZE (bytes), COUNT, FLAG, ADS (a list, kept as it is written)
 * form     what its value is called in help; a text is also checked by it: ADDRESS, CONTACT, URL, CATALOGUE, NETWORK, SOURCE, FOLDER, FILE, TEXT, POOLS, ISSUERS, or the words it may be
 * default  as it would be written in a file
 * low high bounds, both allowed: of the number; of a text's bytes; of a list's length
 * when     LIVE: a reload takes it on; RESTART: it waits for the next start */
#ifndef BERTH_LIVE_CONFIG_CONFIG_KEYS_H
#define BERTH_LIVE_CONFIG_CONFIG_KEYS_H

#define CONFIG_TEXT_MAX 4096 /* bytes of a text */
#define CONFIG_LIST_MAX 256  /* texts of a list */
#define CONFIG_KIB (INT64_C(1) << 10)
#define CONFIG_MIB (INT64_C(1) << 20)
#define CONFIG_GIB (INT64_C(1) << 30)
#define CONFIG_DAY (24 * 60 * MINUTE)
#define CONFIG_YEAR (366 * CONFIG_DAY)

#define CONFIG_KEYS(X, S)                                                                                               \
    /* where and as what it serves */                                                                                   \
    X(LISTEN, "Listen", LIST, "ADDRESS", "\"127.0.0.1:7600\"", 1, 16, RESTART,                                          \
      "the addresses to listen at: HOST:PORT, [IPV6]:PORT or unix:PATH")                                                \
    X(STATE, "State", TEXT, "FOLDER", "\"\"", 1, CONFIG_TEXT_MAX, RESTART,                                              \
      "the folder for keys, tokens and what must outlive a restart")                                                    \
    X(STORE, "Store", TEXT, "TEXT", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                                                \
      "the database in which a role keeps its rows: postgresql://HOST/DATABASE, as libpq takes it; empty: the file "    \
      "berth.db of its state folder")                                                                                   \
    X(NAME, "Name", TEXT, "TEXT", "\"pool\"", 1, 128, RESTART, "what the pool is called")                               \
    X(PUBLIC_URL, "PublicUrl", TEXT, "URL", "\"\"", 0, 1024, RESTART,                                                   \
      "the address by which others reach this service, if not by that of Listen")                                       \
    X(TLS, "Tls", TEXT, "auto|on|off", "\"auto\"", 1, 16, RESTART,                                                      \
      "encrypted connections; auto: on every address but loopback and unix")                                            \
    X(ALLOW_PLAIN, "AllowPlain", FLAG, "FLAG", "false", 0, 1, RESTART,                                                  \
      "serve plain HTTP on addresses other than loopback")                                                              \
    X(NETWORKS, "Networks", LIST, "NETWORK", "{}", 0, CONFIG_LIST_MAX, LIVE,                                            \
      "networks that contact addresses may lie in beside public ones")                                                  \
    X(MATCHMAKERS, "Matchmakers", LIST, "URL", "{}", 0, 16, RESTART,                                                    \
      "where an agent finds its matchmaker, the first that answers")                                                    \
    X(CONFIG_SOURCES, "ConfigSources", LIST, "SOURCE", "{}", 0, 16, LIVE,                                               \
      "files and URLs that an agent asks for what its pool has configured")                                             \
    X(AGENT_NAME, "AgentName", TEXT, "TEXT", "\"\"", 0, 60, RESTART,                                                    \
      "what a customer or provider is called; the name of the machine if it does not say")                              \
    X(CUSTOMER_LISTEN, "CustomerListen", TEXT, "CONTACT", "\"auto\"", 0, 256, RESTART,                                  \
      "where a customer can be called by providers; auto: at its address in the network of the matchmaker; empty: it "  \
      "cannot, and all goes by the matchmaker")                                                                         \
    X(SUBMIT_FOR, "SubmitFor", LIST, "TEXT", "{}", 0, 64, RESTART,                                                      \
      "the Unix groups of this machine whose members may bring jobs to the customer by SubmitSocket, each as the user " \
      "that it is; \"*\": everybody; none: only the user who runs it")                                                  \
    X(SUBMIT_SOCKET, "SubmitSocket", TEXT, "FILE", "\"/run/berth/customer.sock\"", 1, 1024, RESTART,                    \
      "where those users find the customer; commands look there by themselves if it is this")                           \
    X(SUBMIT_DOMAIN, "SubmitDomain", TEXT, "TEXT", "\"\"", 0, 64, RESTART,                                              \
      "behind the names of those users in the pool: alice@DOMAIN; empty: alice, the same on all submit hosts")          \
    X(CUSTOMER_FILES, "CustomerFiles", TEXT, "FOLDER", "\"\"", 0, 2048, RESTART,                                        \
      "the folder for what a customer's jobs read and leave, where another host has it, too, and goes on with them; "   \
      "empty: its state folder")                                                                                        \
    X(PROVIDER_LISTEN, "ProviderListen", TEXT, "CONTACT", "\"auto\"", 0, 256, RESTART,                                  \
      "where a provider can be called by customers; auto: at its address in the network of the matchmaker; empty: it "  \
      "cannot, and all goes by the matchmaker")                                                                         \
    X(OWNER_POLICY, "OwnerPolicy", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                                   \
      "the file of the owner's policy for this machine")                                                                \
    X(PROBES, "Probes", LIST, "FILE", "{}", 0, 64, RESTART, "programs that print an ad about this machine")             \
    X(HEALTH_CHECK, "HealthCheck", LIST, "TEXT", "{}", 0, 64, RESTART,                                                  \
      "a program with its arguments that says whether this machine is fit for jobs: by status 0, or why not")           \
    X(URL_CLIENTS, "UrlClients", LIST, "TEXT", "{}", 0, 64, RESTART,                                                    \
      "programs that fetch inputs of jobs from other URLs: \"SCHEME = PROGRAM WORDS\"; URL and file are added")         \
    X(URL_PUT_CLIENTS, "UrlPutClients", LIST, "TEXT", "{}", 0, 64, RESTART,                                             \
      "programs that bring outputs of jobs to other URLs: \"SCHEME = PROGRAM WORDS\"; file and URL are added")          \
    X(PULL, "Pull", FLAG, "FLAG", "false", 0, 1, RESTART,                                                               \
      "a provider asks for jobs when it has room, and does not advertise")                                              \
    X(POOLS, "Pools", ADS, "POOLS", "{}", 0, 16, RESTART,                                                               \
      "the pools that a provider pulls from, in that order, and that a customer offers jobs to")                        \
    X(ISSUERS, "Issuers", ADS, "ISSUERS", "{}", 0, 16, LIVE,                                                            \
      "institutes whose tokens a matchmaker or a customer takes, and what they give")                                   \
    X(CATALOGUES, "Catalogues", LIST, "CATALOGUE", "{}", 0, 2, RESTART,                                                 \
      "where the catalogues of files are, one or two; none: the pool's own")                                            \
    X(CATALOGUE_TOKENS, "CatalogueTokens", LIST, "FILE", "{}", 0, 2, RESTART,                                           \
      "the files of the tokens for those catalogues, in the same order; \"-\": none, or that of the pool")              \
    X(CLOSE_STORAGE, "CloseStorage", LIST, "TEXT", "{}", 0, 32, RESTART,                                                \
      "the stores that are near a provider: it says so, and fetches from them first")                                   \
    X(INPUTS_AHEAD, "InputsAhead", SIZE, "BYTES", "\"4 GiB\"", 0, 1024 * CONFIG_GIB, RESTART,                           \
      "of inputs that a provider fetches for the next job of a claim while one runs; 0: none")                          \
    X(REPLICAS_PERIOD, "ReplicasPeriod", SPAN, "SECONDS", "600", 0, CONFIG_DAY, LIVE,                                   \
      "how often a customer looks up again which stores have the files of jobs that wait; 0: never")                    \
    X(COPIES_PERIOD, "CopiesPeriod", SPAN, "SECONDS", "600", 0, CONFIG_DAY, LIVE,                                       \
      "how often a customer looks whether the copies of its user's files that are to be kept are there; 0: never")      \
    X(STORE_FOLDERS, "StoreFolders", LIST, "FOLDER", "{}", 0, 64, RESTART,                                              \
      "folders of this machine that stores of Protocol \"file\" may lie in")                                            \
    X(STORE_OWNERS, "StoreOwners", LIST, "TEXT", "{}", 0, 64, RESTART,                                                  \
      "whose stores a provider or customer brings files to; none: its own owner's, and of a job's owner those without " \
      "a key")                                                                                                          \
    X(TRANSFER_KEY, "TransferKey", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                                   \
      "the private key by which a provider is known to stores of Protocol \"sftp\"")                                    \
    X(TRANSFER_KNOWN_HOSTS, "TransferKnownHosts", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                    \
      "the keys of those stores' hosts, as ssh keeps them; a host that is not there is not trusted")                    \
    X(TRANSFER_USER, "TransferUser", TEXT, "TEXT", "\"\"", 0, 64, RESTART, "whom sftp stores know; else own user")      \
    X(TRANSFER_TOKENS, "TransferTokens", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                             \
      "a private file with lines HOST[:PORT] TOKEN: the tokens that are shown to stores; no port is 443 and 80")        \
    X(TRANSFER_CA, "TransferCa", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, RESTART,                                     \
      "certificates that those of https stores are checked against, if not the system's")                               \
    X(TRANSFER_STALL, "TransferStall", SPAN, "SECONDS", "60", SECOND, 60 * MINUTE, RESTART,                             \
      "silence after which a transfer is given up, and tried again later; less than 1,000 bytes a second (or half of "  \
      "`TransferSpeed`) for so long is silence")                                                                        \
    X(TRANSFER_SPEED, "TransferSpeed", SIZE, "BYTES", "0", 0, 1024 * CONFIG_GIB, RESTART,                               \
      "bytes a second that one transfer may take; 0: as many as it can")                                                \
    X(TRANSFER_FILE_MAX, "TransferFileMax", SIZE, "BYTES", "\"1 TiB\"", CONFIG_KIB, CONFIG_GIB << 20, RESTART,          \
      "of one file that is brought from or to a store")                                                                 \
    X(TRANSFER_READ_BACK, "TransferReadBack", FLAG, "FLAG", "true", 0, 1, RESTART,                                      \
      "a file that was put into a store by HTTP is read back, where the server does not say what its SHA-256 is")       \
    X(TRANSFER_ROOM, "TransferRoom", SIZE, "BYTES", "\"64 GiB\"", 0, 1024 * 1024 * CONFIG_GIB, RESTART,                 \
      "files on their way to stores that a provider keeps, all together")                                               \
    X(TRANSFER_PATIENCE, "TransferPatience", SPAN, "SECONDS", "600", MILLISECOND, CONFIG_YEAR, RESTART,                 \
      "how long a store is tried before the next one gets the file")                                                    \
    X(TRANSFER_KEEP, "TransferKeep", SPAN, "SECONDS", "1209600", SECOND, CONFIG_YEAR, RESTART,                          \
      "a file that no store takes, before it is dropped")                                                               \
    X(JOB_DISK, "JobDisk", SIZE, "BYTES", "0", 0, CONFIG_GIB << 20, RESTART,                                            \
      "disk set aside for jobs; 0: nine tenths of what is free at the first start")                                     \
    X(IMAGE_CACHE, "ImageCache", SIZE, "BYTES", "\"32 GiB\"", CONFIG_MIB, CONFIG_GIB << 20, RESTART,                    \
      "disk for images of jobs that were unpacked; none of them may be larger")                                         \
    X(UNPROTECTED, "Unprotected", FLAG, "FLAG", "false", 0, 1, RESTART,                                                 \
      "run jobs without a sandbox where none can be made")                                                              \
    X(JOB_NETWORK, "JobNetwork", TEXT, "auto|own|machine", "\"auto\"", 1, 16, RESTART,                                  \
      "the network of jobs that may use one; own: one of the job's own, or it does not run; machine: the machine's; "   \
      "auto: own where slirp4netns works, else machine; processes of parallel jobs need machine")                       \
    X(EXEC, "Exec", FLAG, "FLAG", "true", 0, 1, RESTART,                                                                \
      "owners of jobs may run commands in the sandboxes of their own jobs while these run (`berth exec`)")              \
    X(POLICY, "Policy", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, LIVE, "the file of the administrative policy")        \
    X(ASSIGNMENT, "Assignment", TEXT, "one-by-one|fcfs|sjf|ljf|srfm|lbm|minsum|singles|singles-minsum|optimal",         \
      "\"one-by-one\"", 1, 16, RESTART,                                                                                 \
      "the policy that settles all who wait at once, a window of CycleInterval after the other")                        \
    X(BACK_FILL, "BackFill", TEXT, "none|easy|some|many", "\"easy\"", 1, 16, RESTART,                                   \
      "how many of the first that wait for room are planned, whom others may not delay: none, 1, 8 or 100")             \
    X(SHARES, "Shares", TEXT, "FILE", "\"\"", 0, CONFIG_TEXT_MAX, LIVE, "the file of groups, quotas and limits")        \
    X(LOG, "Log", TEXT, "logfmt|json", "\"logfmt\"", 1, 16, LIVE, "the form of the log's lines")                        \
    X(LOG_LEVEL, "LogLevel", TEXT, "error|warning|info|debug", "\"info\"", 1, 16, LIVE,                                 \
      "what is logged: that level and the graver ones")                                                                 \
    X(METRICS, "Metrics", FLAG, "FLAG", "false", 0, 1, LIVE, "/metrics wants no token from loopback")                   \
    /* spans of the protocol: the same in the whole pool */                                                             \
    S(WINDOW, "Window", window, MILLISECOND, CONFIG_DAY, RESTART, "to complete a claim after a match")                  \
    S(PIN, "Pin", pin, MILLISECOND, CONFIG_DAY, RESTART, "a pin without activation")                                    \
    S(LEASE, "Lease", lease, MILLISECOND, CONFIG_DAY, RESTART,                                                          \
      "a claim without acknowledged heart beats; not shorter than Pin")                                                 \
    S(CLAIM_LIFE, "ClaimLife", life, MILLISECOND, CONFIG_YEAR, RESTART,                                                 \
      "how long a claim is used again for further jobs")                                                                \
    S(DEADLINE, "Deadline", deadline, MILLISECOND, CONFIG_DAY, RESTART,                                                 \
      "of a request between agents: then its outcome is unknown")                                                       \
    S(RETRY, "Retry", retry, MILLISECOND, CONFIG_DAY, RESTART,                                                          \
      "the first pause before a message is repeated; it doubles up to Deadline")                                        \
    S(LIFETIME, "Lifetime", lifetime, MILLISECOND, CONFIG_DAY, RESTART, "of an ad that does not say")                   \
    S(CYCLE_INTERVAL, "CycleInterval", cycle, MILLISECOND, CONFIG_DAY, RESTART,                                         \
      "between cycles that look for offers, at least")                                                                  \
    S(KEEP, "Keep", keep, MILLISECOND, CONFIG_YEAR, RESTART, "a finished job's result that nobody took")                \
    S(GRACE, "Grace", grace, MILLISECOND, CONFIG_DAY, RESTART, "between a job's warning and its end")                   \
    S(HALF_LIFE, "HalfLife", half, MILLISECOND, CONFIG_YEAR, RESTART, "of the usage that shares are reckoned by")       \
    X(TOKEN_LIFETIME, "TokenLifetime", SPAN, "SECONDS", "86400", SECOND, CONFIG_YEAR, LIVE,                             \
      "of a token that does not say")                                                                                   \
    X(AUDIT_ROWS, "AuditRows", COUNT, "N", "10000", 16, 1000000, LIVE,                                                  \
      "rows of the audit log: then the oldest go; attempts have a quarter as many of their own")                        \
    X(AUDIT_AGE, "AuditAge", SPAN, "SECONDS", "31536000", MINUTE, 10 * CONFIG_YEAR, LIVE,                               \
      "how long rows of the audit log are kept at most")                                                                \
    X(MEMORY_MAX, "MemoryMax", SIZE, "BYTES", "0", 0, 1024 * 1024 * CONFIG_GIB, LIVE,                                   \
      "memory of its own with which a matchmaker, customer or provider takes nothing "                                  \
      "new; 0: half of what the machine, or its control group, has")                                                    \
    /* limits on what strangers send */                                                                                 \
    X(BODY_MAX, "BodyMax", SIZE, "BYTES", "\"1 MiB\"", CONFIG_KIB, 64 * CONFIG_MIB, LIVE, "of a request's body")        \
    X(SUBMISSION_MAX, "SubmissionMax", SIZE, "BYTES", "\"128 MiB\"", CONFIG_KIB, CONFIG_GIB, LIVE,                      \
      "of a submission's body; not less than BodyMax")                                                                  \
    X(AD_ATTRIBUTES, "AdAttributes", COUNT, "N", "1000", 1, 32767, LIVE, "attributes of an ad")                         \
    X(AD_NODES, "AdNodes", COUNT, "N", "10000", 16, 1000000, LIVE, "nodes of an ad's expressions")                      \
    X(EVALUATION_STEPS, "EvaluationSteps", COUNT, "N", "100000", 1000, INT64_C(1000000000), LIVE,                       \
      "steps of one evaluation")                                                                                        \
    X(EVALUATION_BYTES, "EvaluationBytes", SIZE, "BYTES", "\"4 MiB\"", 4 * CONFIG_KIB, CONFIG_GIB, LIVE,                \
      "memory of one evaluation")                                                                                       \
    X(QUERY_STEPS, "QuerySteps", COUNT, "N", "10000000", 1000, INT64_C(1000000000000), LIVE,                            \
      "steps of a query, or of a class in a cycle")                                                                     \
    X(AD_BYTES_PER_IDENTITY, "AdBytesPerIdentity", SIZE, "BYTES", "\"64 MiB\"", 4 * CONFIG_KIB, 1024 * CONFIG_GIB,      \
      LIVE, "text of all ads of one identity")                                                                          \
    X(ADS_PER_IDENTITY, "AdsPerIdentity", COUNT, "N", "20000", 1, 16000000, RESTART, "ads of one identity")             \
    X(TOKENS_PER_IDENTITY, "TokensPerIdentity", COUNT, "N", "20000", 1, 10000000, LIVE,                                 \
      "tokens that one identity has lent to its users, renewed or exchanged, and that have not ended")                  \
    X(JOBS_MAX, "JobsMax", COUNT, "N", "10000000", 1, 100000000, LIVE,                                                  \
      "queued jobs of a customer, of all its users together")                                                           \
    X(JOBS_PER_IDENTITY, "JobsPerIdentity", COUNT, "N", "1000000", 1, 100000000, LIVE, "queued jobs of one identity")   \
    X(JOB_BYTES_PER_IDENTITY, "JobBytesPerIdentity", SIZE, "BYTES", "\"4 GiB\"", CONFIG_MIB, 1024 * 1024 * CONFIG_GIB,  \
      LIVE, "memory of the ads of one identity's jobs, of those that are alike once, until their keys are forgotten")   \
    X(POLICY_PERIOD, "PolicyPeriod", SPAN, "SECONDS", "60", SECOND, CONFIG_DAY, LIVE,                                   \
      "how often a customer looks at what its jobs say of themselves: PeriodicHold and such")                           \
    X(LOCAL_JOBS, "LocalJobs", COUNT, "N", "200", 0, 100000, LIVE,                                                      \
      "jobs of the universes local and scheduler that run on a customer's own host at once; 0: none is taken")          \
    X(LOCAL_JOBS_PER_USER, "LocalJobsPerUser", COUNT, "N", "50", 1, 100000, LIVE, "the same, of one user")              \
    X(LOCAL_MEMORY, "LocalMemory", SIZE, "BYTES", "\"4 GiB\"", CONFIG_MIB, 1024 * 1024 * CONFIG_GIB, LIVE,              \
      "address space of each process of such a job")                                                                    \
    X(LOCAL_TIME, "LocalTime", SPAN, "SECONDS", "604800", SECOND, CONFIG_YEAR, LIVE,                                    \
      "seconds that such a job may run")                                                                                \
    X(FILES_PER_IDENTITY, "FilesPerIdentity", COUNT, "N", "100000", 1, 4000000, LIVE,                                   \
      "files that one identity may enter in the catalogue")                                                             \
    X(SPOOL_MAX, "SpoolMax", SIZE, "BYTES", "\"64 GiB\"", CONFIG_MIB, 1024 * 1024 * CONFIG_GIB, LIVE,                   \
      "inputs of jobs that a customer keeps, all together")                                                             \
    X(OUTPUTS_PER_USER, "OutputsPerUser", SIZE, "BYTES", "\"1048576 GiB\"", CONFIG_MIB, 1024 * 1024 * CONFIG_GIB,       \
      LIVE, "what jobs of one user have left that a customer keeps; and no more than is still free")                    \
    X(HISTORY_MAX, "HistoryMax", SIZE, "BYTES", "\"4 GiB\"", 64 * CONFIG_KIB, 1024 * 1024 * CONFIG_GIB, LIVE,           \
      "jobs in a customer's history, all together; one counts 4 KiB at least")                                          \
    X(REQUESTS_PER_SECOND, "RequestsPerSecond", COUNT, "N", "100", 1, 10000000, LIVE,                                   \
      "HTTP requests a second of a person")                                                                             \
    X(AGENT_REQUESTS_PER_SECOND, "AgentRequestsPerSecond", COUNT, "N", "20000", 1, 10000000, LIVE,                      \
      "HTTP requests a second of an agent")                                                                             \
    X(HEAD_DEADLINE, "HeadDeadline", SPAN, "SECONDS", "10", MILLISECOND, 60 * MINUTE, RESTART,                          \
      "to send a request's head")                                                                                       \
    X(BODY_DEADLINE, "BodyDeadline", SPAN, "SECONDS", "30", MILLISECOND, 60 * MINUTE, RESTART,                          \
      "to send a request's body, of each 16 MiB")                                                                       \
    X(REPLY_DEADLINE, "ReplyDeadline", SPAN, "SECONDS", "30", MILLISECOND, 60 * MINUTE, RESTART, "to read an answer")   \
    X(STRANGERS_PER_ADDRESS, "StrangersPerAddress", COUNT, "N", "64", 1, 1000000, RESTART,                              \
      "connections of one address that have not said who they are")                                                     \
    X(CONNECTIONS, "Connections", COUNT, "N", "10000", 4, 1000000, RESTART, "connections in all")                       \
    X(STREAMS_PER_IDENTITY, "StreamsPerIdentity", COUNT, "N", "4000", 1, 1000000, LIVE,                                 \
      "event streams of one identity")                                                                                  \
    X(STREAM_QUEUE, "StreamQueue", SIZE, "BYTES", "\"1 MiB\"", 4 * CONFIG_KIB, CONFIG_GIB, LIVE,                        \
      "what may wait for the reader of a stream")

#endif
