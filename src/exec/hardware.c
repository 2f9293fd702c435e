/* hardware.c: what this machine is, by hwloc and /proc; read once.
 *
 * hwloc knows the machine that we run on, or a made-up one. Below another root only files tell: then it is not asked. */
#include "exec/libhwloc.h"
#include "exec/probe_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define DISK_SHARE 0.9 /* of what is free */

/* ---------------------------------------------------------------------------------------------------------- processors */

struct shape {
    int64_t cpus, cores, sockets, nodes; /* 0: not known */
    char model[PROBE_TEXT_MAX + 1];
};

/* Asks hwloc for the shape of the machine; -1 when it cannot tell. */
static int shape_read(struct shape *shape, const char *synthetic, struct err *err)
{
    hwloc_topology_t topology;
    hwloc_obj_t package;
    const char *model;

    if (libhwloc()->topology_init(&topology) < 0)
        return err_set(err, "hwloc cannot be used");
    if ((synthetic && libhwloc()->topology_set_synthetic(topology, synthetic) < 0) ||
        libhwloc()->topology_load(topology) < 0) {
        libhwloc()->topology_destroy(topology);
        return err_set(err, "hwloc cannot make out the machine%s%.200s", synthetic ? ": " : "",
                       synthetic ? synthetic : "");
    }
    shape->cpus = libhwloc_count(topology, HWLOC_OBJ_PU);
    shape->cores = libhwloc_count(topology, HWLOC_OBJ_CORE);
    shape->sockets = libhwloc_count(topology, HWLOC_OBJ_PACKAGE);
    shape->nodes = libhwloc_count(topology, HWLOC_OBJ_NUMANODE);
    package = libhwloc_object(topology, HWLOC_OBJ_PACKAGE, 0);
    model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (model)
        text_clean(model, strlen(model), shape->model, sizeof shape->model);
    libhwloc()->topology_destroy(topology);
    return 0;
}

/* How many numbers are in a list such as 0-3,8; 0 when the text is not one. */
static int64_t list_count(const char *text)
{
    int64_t count = 0, from, to;

    for (;; text++) {
        if (!text_integer(text, &from))
            return 0;
        text += strspn(text, "0123456789");
        to = from;
        if (*text == '-') {
            if (!text_integer(++text, &to))
                return 0;
            text += strspn(text, "0123456789");
        }
        if (to < from || to >= PROBE_CPUS_MAX || count > PROBE_CPUS_MAX)
            return 0;
        count += to - from + 1;
        if (*text != ',')
            return *text ? 0 : count;
    }
}

/* The processors that we may use: what sched_getaffinity says, as the kernel writes it in /proc. */
static int64_t count_allowed(const char *root)
{
    char list[8192];
    struct buf text;
    int64_t count = 0;

    buf_init(&text);
    if (rooted_read(root, "/proc/self/status", &text) &&
        text_value(text.text, "Cpus_allowed_list", ':', list, sizeof list))
        count = list_count(list);
    if (!count && rooted_line(root, "/sys/devices/system/cpu/online", list, sizeof list))
        count = list_count(list);
    buf_done(&text);
    return count;
}

static int64_t count_described(const char *cpuinfo)
{
    int64_t count = 0;

    for (const char *line = cpuinfo; line && count < PROBE_CPUS_MAX; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, "processor", 9) == 0;
    }
    return count;
}

static int write_cpus(struct facts *facts, const struct probe_settings *settings, const struct confines *confines,
                      struct err *err)
{
    struct shape shape = {0};
    int64_t allowed = 0;
    struct buf cpuinfo;

    if (settings->synthetic && shape_read(&shape, settings->synthetic, err) < 0)
        return -1;
    if (!settings->synthetic && !*settings->root)
        shape_read(&shape, NULL, NULL); /* when it cannot tell, /proc may */
    if (!settings->synthetic)
        allowed = count_allowed(settings->root);
    buf_init(&cpuinfo);
    if (!rooted_read(settings->root, "/proc/cpuinfo", &cpuinfo))
        buf_reset(&cpuinfo);
    if (!shape.cpus)
        shape.cpus = allowed ? allowed : count_described(buf_string(&cpuinfo));
    if (allowed && allowed < shape.cpus)
        shape.cpus = allowed;
    if (shape.cpus && confines->cpus < (double)shape.cpus) /* a part of a processor is not told, but one always is */
        shape.cpus = confines->cpus < 1 ? 1 : (int64_t)confines->cpus;
    text_value(buf_string(&cpuinfo), "model name", ':', shape.model, sizeof shape.model);
    buf_done(&cpuinfo);
    if (shape.cpus)
        facts_integer(facts, "Cpus", shape.cpus);
    if (shape.cores)
        facts_integer(facts, "Cores", shape.cores);
    if (shape.sockets)
        facts_integer(facts, "Sockets", shape.sockets);
    if (shape.nodes)
        facts_integer(facts, "NumaNodes", shape.nodes);
    facts_string(facts, "CpuModel", shape.model);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- name and system */

static void write_upper(struct facts *facts, const char *name, const char *text)
{
    char upper[PROBE_TEXT_MAX + 1];
    size_t n = 0;

    for (; n < PROBE_TEXT_MAX && text[n]; n++)
        upper[n] = (char)toupper((unsigned char)text[n]);
    upper[n] = '\0';
    facts_string(facts, name, upper);
}

/* Writes what a file of the kernel says, below the root; where there is none, what the kernel says to us. */
static void kernel_word(const char *root, const char *file, const char *otherwise, char out[PROBE_TEXT_MAX + 1])
{
    if (!rooted_line(root, file, out, PROBE_TEXT_MAX + 1))
        snprintf(out, PROBE_TEXT_MAX + 1, "%.*s", PROBE_TEXT_MAX, otherwise);
}

/* Writes the value of a line of os-release: KEY=value or KEY="value". */
static void write_release(struct facts *facts, const char *name, const char *text, const char *key)
{
    char value[PROBE_TEXT_MAX + 1], *from = value;
    size_t len;

    if (!text_value(text, key, '=', value, sizeof value))
        return;
    len = strlen(value);
    if (len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value) {
        value[len - 1] = '\0';
        from++;
    }
    facts_string(facts, name, from);
}

static void write_system(struct facts *facts, const char *root)
{
    char word[PROBE_TEXT_MAX + 1];
    struct utsname here;
    struct buf release;

    if (uname(&here) < 0)
        memset(&here, 0, sizeof here);
    kernel_word(root, "/proc/sys/kernel/hostname", here.nodename, word);
    facts_string(facts, "Name", word);
    facts_string(facts, "Machine", word);
    kernel_word(root, "/proc/sys/kernel/arch", here.machine, word);
    write_upper(facts, "Arch", word);
    kernel_word(root, "/proc/sys/kernel/ostype", here.sysname, word);
    write_upper(facts, "OpSys", word);
    buf_init(&release);
    if (rooted_read(root, "/etc/os-release", &release) || rooted_read(root, "/usr/lib/os-release", &release)) {
        write_release(facts, "OpSysName", release.text, "ID");
        write_release(facts, "OpSysVersion", release.text, "VERSION_ID");
    }
    buf_done(&release);
    kernel_word(root, "/proc/sys/kernel/osrelease", here.release, word);
    facts_string(facts, "KernelVersion", word);
}

/* Writes the version of the Python 3 that jobs find, as far as the names of files tell: python3 is a link to python3.11. */
static void write_python(struct facts *facts, const char *root)
{
    static const char *const places[] = {"/usr/local/bin/python3", "/usr/bin/python3",
                                         "/bin/python3"}; /* PATH of jobs */
    static const char start[] = "python3.";
    char whole[PROBE_PATH_MAX], name[PROBE_TEXT_MAX + 1];
    const char *version = name + strlen("python");
    size_t i = 0;

    while (i < sizeof places / sizeof *places && (!rooted_path(root, places[i], whole) || access(whole, F_OK) != 0))
        i++;
    if (i == sizeof places / sizeof *places || !rooted_link(root, places[i], name, sizeof name))
        return;
    if (!strcmp(name, "python3"))
        rooted_link(root, "/etc/alternatives/python3", name, sizeof name);
    if (!strncmp(name, start, strlen(start)) && strspn(version, "0123456789.") == strlen(version))
        facts_string(facts, "Python", version);
}

/* ------------------------------------------------------------------------------------------------------ memory and disk */

static void write_memory(struct facts *facts, const char *root, const struct confines *confines)
{
    int64_t memory = 0, swap = 0;
    char value[64];
    struct buf text;

    buf_init(&text);
    if (rooted_read(root, "/proc/meminfo", &text)) {
        if (text_value(text.text, "MemTotal", ':', value, sizeof value))
            text_integer(value, &memory);
        if (text_value(text.text, "SwapTotal", ':', value, sizeof value))
            text_integer(value, &swap);
    }
    buf_done(&text);
    /* kilobytes; more than an exabyte is a slip of the pen */
    memory = memory < INT64_C(1) << 50 ? memory * 1024 : 0;
    swap = swap < INT64_C(1) << 50 ? swap * 1024 : 0;
    if (memory > confines->memory)
        memory = confines->memory;
    if (!memory)
        return;
    facts_integer(facts, "Memory", memory);
    facts_integer(facts, "VirtualMemory", memory + swap);
}

/* Disk is reserved, not observed: it is the capacity that is set aside for jobs at the start, and Residual takes off what each job may
 * use of it. What is free at the moment (FreeDisk) has the jobs' files in it already: to give that away would count them twice. */
static void write_disk(struct facts *facts, const struct probe_settings *settings)
{
    int64_t free;

    if (settings->disk > 0)
        facts_integer(facts, "Disk", settings->disk);
    else if (disk_free(settings->scratch, &free))
        facts_integer(facts, "Disk", (int64_t)((double)free * DISK_SHARE));
}

int hardware_write(struct facts *facts, const struct probe_settings *settings, struct err *err)
{
    struct confines confines;

    build_string(&facts->build, "Machine", strlen("Machine"));
    facts_name(facts, "Type");
    write_system(facts, settings->root);
    write_python(facts, settings->root);
    confines_read(settings->root, &confines);
    if (write_cpus(facts, settings, &confines, err) < 0)
        return -1;
    write_memory(facts, settings->root, &confines);
    write_disk(facts, settings);
    gpus_write(facts, settings->root, settings->gpus);
    if (settings->benchmark > 0)
        facts_real(facts, "Benchmark", settings->benchmark);
    return 0;
}
