/* probe_test.c: what is told of machines that are made up, of odd ones, and of this one. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "common/tap.h"

#include "common/lang.h"
#include "machines.h"
#include "probed.h"

#include "exec/probe.h"
#include "lang/base/rng.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

static struct lang lang;

static struct tree *probe(const struct machine *machine, const char *synthetic)
{
    struct probe_settings settings = {.root = machine->root.path, .scratch = "/", .synthetic = synthetic};
    struct err err = {0};
    struct prober *prober = prober_new(lang.symbols, &settings, &err);
    struct tree *ad = prober ? prober_probe(prober, 0) : NULL;

    if (!ad)
        tap_diag("%s", err.text);
    prober_free(prober);
    return ad;
}

/* ---------------------------------------------------------------------------------------------------- made-up machines */

static void check_laptop(void)
{
    struct machine machine;
    struct tree *ad;

    machine_init(&machine);
    machine_common(&machine, "finch\n", "0.42 0.30 0.10 1/200 4242\n");
    machine_put(&machine, "proc/pressure/cpu",
                "some avg10=9.00 avg60=12.50 avg300=1.00 total=99\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    machine_put(&machine, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    machine_put(&machine, "proc/pressure/io", "some avg10=0.00 avg60=-4 avg300=0.00 total=0\n");
    machine_put(&machine, "usr/bin/python3.11", "");
    machine_link(&machine, "usr/bin/python3", "python3.11");
    machine_terminal(&machine, "tty2", 7200);
    machine_terminal(&machine, "pts/0", 600);
    machine_login(&machine, "ada", "tty2");
    machine_login(&machine, "ada", ":0");
    machine_login(&machine, "grace", "pts/0");
    machine_put(&machine, "sys/class/drm/card0/device/vendor", "0x8086\n");
    machine_put(&machine, "sys/class/drm/card0/device/device", "0x9a49\n");
    machine_put(&machine, "sys/class/drm/card0-eDP-1/status", "connected\n");
    ad = probe(&machine, NULL);
    check(ad, "Type", "\"Machine\"", "a machine says that it is one");
    check(ad, "Name", "\"finch\"", "its name is the host's");
    check(ad, "Machine", "\"finch\"", "and so is Machine");
    check(ad, "Arch", "\"X86_64\"", "the architecture is told");
    check(ad, "OpSys", "\"LINUX\"", "the operating system is told");
    check(ad, "OpSysName", "\"debian\"", "whose it is, is told");
    check(ad, "OpSysVersion", "\"12\"", "its version comes without quotes");
    check(ad, "KernelVersion", "\"6.1.0-18-amd64\"", "the kernel's version is told");
    check(ad, "Python", "\"3.11\"", "the version of python3 is that of the file that it leads to");
    check(ad, "Cpus", "4", "the processors that we may use are counted");
    check(ad, "CpuModel", "\"Made-up CPU @ 3.00GHz\"", "the model is that of the first");
    check(ad, "Memory", "17179869184", "memory is in bytes");
    check(ad, "VirtualMemory", "19327352832", "virtual memory is memory and swap");
    check(ad, "FreeMemory", "8589934592", "free memory is what the kernel calls available");
    check(ad, "LoadAvg", "0.42", "the load is that of the last minute");
    check(ad, "OwnerLoad", "0.42", "all of it is the owner's when we run nothing");
    check(ad, "PressureCpu", "12.5", "how long processes waited for processors in the last minute is told in percent");
    check(ad, "PressureMemory", "0.0", "for memory too");
    check(ad, "PressureIo", "-", "a percentage that makes no sense is not told");
    check(ad, "Users", "2", "who is logged in twice counts once");
    tap_ok(number(ad, "KeyboardIdle") >= 600 && number(ad, "KeyboardIdle") < 660,
           "the terminal that was used last says since when nobody types");
    tap_ok(strncmp(said(ad, "KeybrdIdle"), "'00:10:", 7) == 0, "the same is told as a relative time");
    check(ad, "GpuCount", "0", "a graphics processor that no job can be given does not count");
    check(ad, "Gpus", "{ [ Name = \"Intel 0x9a49\"; Vendor = \"Intel\"; Device = \"/dev/dri/card0\" ] }",
          "it is described; a plug for a screen is none");
    tap_ok(ad && lang_reads_back(&lang, ad, PRINT_PLAIN), "the ad reads back");
    tree_unref(ad);
    machine_done(&machine);
}

static void check_keyboard(void)
{
    static const char *const rows[] = {"  1:   9   1   IO-APIC   1-edge   i8042\n 16: 5 0 IO-APIC xhci_hcd\n",
                                       "  1:   9   2   IO-APIC   1-edge   i8042\n 16: 5 0 IO-APIC xhci_hcd\n",
                                       "  1:   9   2   IO-APIC   1-edge   i8042\n 16: 6 0 IO-APIC xhci_hcd\n"};
    struct machine machine;
    struct probe_settings settings = {0};
    struct prober *prober;
    struct tree *ad;

    machine_init(&machine);
    settings.root = machine.root.path;
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    check(ad, "KeyboardIdle", "-", "where there is nobody to ask, idleness is undefined");
    check(ad, "Users", "-", "where nobody keeps a list, the users are undefined");
    tree_unref(ad);
    machine_put(&machine, "proc/interrupts", rows[0]);
    ad = prober_probe(prober, 0);
    check(ad, "KeyboardIdle", "-", "a keyboard that has been silent as long as we looked says nothing");
    tree_unref(ad);
    machine_put(&machine, "proc/interrupts", rows[1]);
    ad = prober_probe(prober, 0);
    tap_ok(strcmp(said(ad, "KeyboardIdle"), "-") != 0 && number(ad, "KeyboardIdle") < 5,
           "a keyboard that has moved was touched just now");
    tree_unref(ad);
    prober_free(prober);

    machine_login(&machine, "ada", ":0");
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    check(ad, "Users", "1", "a graphical session is a user");
    check(ad, "KeyboardIdle", "0", "who sits at the machine counts as typing until we have looked for a while");
    tree_unref(ad);
    prober_free(prober);

    machine_put(&machine, "proc/interrupts", " 99: 1 2 timer\n");
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    check(ad, "KeyboardIdle", "-", "idleness is undefined where somebody is there and no device can be asked");
    tree_unref(ad);
    prober_free(prober);
    machine_done(&machine);

    machine_init(&machine);
    settings.root = machine.root.path;
    machine_terminal(&machine, "pts/3", 100);
    machine_terminal(&machine, "pts/ptmx", 1);
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    tap_ok(number(ad, "KeyboardIdle") >= 100 && number(ad, "KeyboardIdle") < 160,
           "without a list of users every pseudo terminal is looked at");
    tree_unref(ad);
    machine_terminal(&machine, "pts/4", -5000);
    ad = prober_probe(prober, 0);
    check(ad, "KeyboardIdle", "0", "a terminal from the future was used now");
    tree_unref(ad);
    prober_free(prober);
    machine_done(&machine);
}

static void check_terminal_names(void)
{
    struct machine machine;
    struct tree *ad;

    machine_init(&machine);
    machine_put(&machine, "secret", "");
    machine_put(&machine, "dev/pts/9", ""); /* so that the way up is there */
    machine_login(&machine, "eve", "../secret");
    machine_login(&machine, "eve", "/etc/passwd");
    machine_login(&machine, "eve", "pts/../../secret");
    ad = probe(&machine, NULL);
    check(ad, "Users", "1", "a user with an odd terminal is a user");
    check(ad, "KeyboardIdle", "-", "a terminal outside /dev is not looked at");
    tree_unref(ad);
    machine_done(&machine);
}

/* Control groups of both versions: the files, and what is left of the machine. */
static const struct confined {
    const char *sentence;
    const char *files[8][2];
    const char *cpus, *memory, *free_memory;
} confined_rows[] = {
    {"a machine without control groups is all ours", {{NULL, NULL}}, "4", "17179869184", "8589934592"},
    {"version 2 limits us",
     {{"proc/self/cgroup", "0::/a/b\n"},
      {"sys/fs/cgroup/a/b/memory.max", "4294967296\n"},
      {"sys/fs/cgroup/a/b/memory.current", "1073741824\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "250000 100000\n"}},
     "2",
     "4294967296",
     "3221225472"},
    {"a group further up limits us as well",
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/b/c/memory.max", "max\n"},
      {"sys/fs/cgroup/a/memory.max", "1073741824\n"},
      {"sys/fs/cgroup/a/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"}},
     "1",
     "1073741824",
     "1073741824"},
    {"version 1 limits us",
     {{"proc/self/cgroup", "7:cpu,cpuacct:/jobs\n4:memory:/jobs\n0::/\n"},
      {"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "2147483648\n"},
      {"sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "2147483000\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "300000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n"}},
     "3",
     "2147483648",
     "648"},
    {"in a container our group is at the top, whatever the path says",
     {{"proc/self/cgroup", "4:memory:/docker/123456\n1:cpu:/docker/123456\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     "4",
     "3221225472",
     "3221225472"},
    {"limits larger than the machine change nothing",
     {{"proc/self/cgroup", "0::/../../x\n"},
      {"sys/fs/cgroup/memory.max", "99999999999999999999999\n"},
      {"sys/fs/cgroup/cpu.max", "6400000 100000\n"}},
     "4",
     "17179869184",
     "8589934592"},
    {"limits that make no sense change nothing",
     {{"proc/self/cgroup", "::::\n0:\n:::/\n0::relative\n"},
      {"sys/fs/cgroup/memory.max", "0\n"},
      {"sys/fs/cgroup/cpu.max", "100000 0\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"}},
     "4",
     "17179869184",
     "8589934592"},
};

static void check_confines(void)
{
    for (size_t i = 0; i < sizeof confined_rows / sizeof *confined_rows; i++) {
        const struct confined *row = &confined_rows[i];
        struct machine machine;
        struct tree *ad;

        machine_init(&machine);
        machine_common(&machine, "rack", "0.00");
        for (int k = 0; k < 8 && row->files[k][0]; k++)
            machine_put(&machine, row->files[k][0], row->files[k][1]);
        ad = probe(&machine, NULL);
        check(ad, "Cpus", row->cpus, row->sentence);
        check(ad, "Memory", row->memory, row->sentence);
        check(ad, "FreeMemory", row->free_memory, row->sentence);
        tree_unref(ad);
        machine_done(&machine);
    }
}

static void check_gpus(void)
{
    struct machine machine;
    struct tree *ad;

    machine_init(&machine);
    machine_put(&machine, "proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t Made-up A100\nIRQ: 1\nDevice Minor: \t 0\n");
    machine_put(&machine, "proc/driver/nvidia/gpus/0000:02:00.0/information",
                "Model: \t\t Made-up A100\nDevice Minor: \t 1\n");
    machine_put(&machine, "dev/nvidia0", "");
    machine_put(&machine, "dev/nvidiactl", "");
    machine_put(&machine, "sys/devices/0000:01:00.0/vendor", "0x10de\n");
    machine_link(&machine, "sys/class/drm/card1/device", "../../../devices/0000:01:00.0");
    machine_put(&machine, "sys/devices/0000:03:00.0/vendor", "0x1002\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/product_name", "Made-up MI\n");
    machine_put(&machine, "sys/devices/0000:03:00.0/mem_info_vram_total", "68702699520\n");
    machine_link(&machine, "sys/class/drm/card2/device", "../../../devices/0000:03:00.0");
    machine_put(&machine, "sys/class/drm/card3/device/vendor", "0x1a03\n");
    ad = probe(&machine, NULL);
    check(ad, "GpuCount", "0", "nor do several");
    check(
        ad, "Gpus",
        "{ [ Name = \"Made-up A100\"; Vendor = \"NVIDIA\"; Bus = \"0000:01:00.0\"; Device = \"/dev/nvidia0\" ], "
        "[ Name = \"Made-up MI\"; Vendor = \"AMD\"; Bus = \"0000:03:00.0\"; Device = \"/dev/dri/card2\"; "
        "Memory = 68702699520 ] }",
        "each is described once, by what its driver says; one that was not given to us, and an adapter for a picture, are not");
    tree_unref(ad);
    machine_done(&machine);

    machine_init(&machine);
    machine_put(&machine, "dev/nvidia0", "");
    machine_put(&machine, "dev/nvidia1", "");
    machine_put(&machine, "dev/nvidia-uvm", "");
    ad = probe(&machine, NULL);
    check(ad, "Gpus",
          "{ [ Name = \"NVIDIA\"; Vendor = \"NVIDIA\"; Device = \"/dev/nvidia0\" ], "
          "[ Name = \"NVIDIA\"; Vendor = \"NVIDIA\"; Device = \"/dev/nvidia1\" ] }",
          "where only the devices are there, they are told");
    check(ad, "GpuCount", "0", "and do not count either");
    tree_unref(ad);
    machine_done(&machine);
}

static void check_synthetic(void)
{
    struct probe_settings settings = {.synthetic = "no machine"};
    struct machine machine;
    struct err err = {0};
    struct tree *ad;

    machine_init(&machine);
    ad = probe(&machine, "package:2 numa:2 core:16 pu:2");
    check(ad, "Cpus", "128", "hwloc counts the processors of a large machine");
    check(ad, "Cores", "64", "and its cores");
    check(ad, "Sockets", "2", "and its sockets");
    check(ad, "NumaNodes", "4", "and its nodes of memory");
    check(ad, "Memory", "-", "memory that nobody tells of is undefined");
    check(ad, "LoadAvg", "-", "so is load");
    tree_unref(ad);
    machine_put(&machine, "sys/fs/cgroup/cpu.max", "1000000 100000\n");
    ad = probe(&machine, "package:2 numa:2 core:16 pu:2");
    check(ad, "Cpus", "10", "a quota holds on a large machine too");
    tree_unref(ad);
    machine_done(&machine);
    tap_ok(!prober_new(lang.symbols, &settings, &err) && strstr(err.text, "no machine"),
           "a description that makes no sense is refused with a reason");
}

/* ------------------------------------------------------------------------------------------------------- odd machines */

static const char *const odd_files[] = {
    "proc/sys/kernel/hostname",
    "proc/sys/kernel/arch",
    "proc/sys/kernel/ostype",
    "proc/sys/kernel/osrelease",
    "etc/os-release",
    "proc/meminfo",
    "proc/self/status",
    "proc/self/cgroup",
    "proc/cpuinfo",
    "proc/loadavg",
    "proc/pressure/memory",
    "proc/interrupts",
    "var/run/utmp",
    "sys/fs/cgroup/memory.max",
    "sys/fs/cgroup/a/memory.max",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/memory/memory.limit_in_bytes",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "sys/devices/system/cpu/online",
    "sys/class/drm/card0/device/vendor",
    "sys/class/drm/card0/device/mem_info_vram_total",
    "sys/class/drm/card0/device/product_name",
    "proc/driver/nvidia/gpus/0000:01:00.0/information",
    "dev/pts/0",
    "dev/nvidia0",
};
#define ODD_COUNT (sizeof odd_files / sizeof *odd_files)

/* Pieces of which odd files are made. */
static const char *const odd_pieces[] = {
    "MemTotal:",
    "MemAvailable: ",
    "SwapTotal:",
    "99999999999999999999999",
    " kB\n",
    "-1",
    "0",
    "max",
    " ",
    "\n",
    "Cpus_allowed_list:\t",
    "0-3",
    "7-2",
    "0-99999999999",
    ",",
    "0::/a/b",
    "4:memory:/",
    "1:cpu,cpuacct:/..",
    ":",
    "/",
    "processor\t: ",
    "ID=\"",
    "VERSION_ID='",
    "model name :",
    "0x1002",
    "nan",
    "1e999",
    "  1: 5 9 i8042\n",
    "Model: ",
    "Device Minor: ",
    "\"; x = [",
    "\xff\xfe\x80",
    "]",
    "0.5",
    "\t",
};

static void put_odd(const struct machine *machine, const char *name, struct rng *rng)
{
    uint64_t kind = rng_below(rng, 12), size = rng_below(rng, 30);
    struct buf text;

    machine_make(machine, name);
    buf_init(&text);
    if (kind == 0) {
        if (mkfifo(folder_path(&machine->root, name), 0600) != 0)
            perror(name);
    } else if (kind == 1) {
        folder_make(&machine->root, name);
    } else if (kind > 2) { /* 2: it is missing */
        if (kind == 3)
            size *= 500;
        for (uint64_t i = 0; i < size; i++) {
            if (kind == 4)
                buf_addc(&text, (char)rng_below(rng, 256));
            else
                buf_adds(&text, odd_pieces[rng_below(rng, sizeof odd_pieces / sizeof *odd_pieces)]);
        }
        if (strstr(name, "utmp")) { /* records of which at least the kind is right */
            struct utmpx record;

            for (uint64_t i = 0; i < size * 40; i++)
                buf_addc(&text, (char)rng_below(rng, 256));
            for (size_t at = 0; at + sizeof record <= text.len; at += sizeof record) {
                memcpy(&record, text.text + at, sizeof record);
                record.ut_type = USER_PROCESS;
                memcpy(text.text + at, &record, sizeof record);
            }
        }
        machine_write(machine, name, text.len ? text.text : "", text.len);
    }
    buf_done(&text);
}

static bool is_sane(const struct tree *ad)
{
    static const char *const counts[] = {"Cpus", "Memory", "VirtualMemory", "FreeMemory", "KeyboardIdle", "Users"};
    struct buf text;
    bool sane = ad && lang_reads_back(&lang, ad, PRINT_PLAIN);

    buf_init(&text);
    if (ad)
        print_tree(&text, ad, PRINT_PLAIN);
    for (size_t i = 0; i < text.len; i++)
        sane &= text.text[i] >= ' ' && text.text[i] <= '~';
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sane &= !strcmp(said(ad, counts[i]), "-") || number(ad, counts[i]) >= 0;
    buf_done(&text);
    return sane;
}

/* A file that never seems to end is read up to a bound, and what stands in front counts. */
static void check_endless(void)
{
    struct machine machine;
    struct tree *ad;
    size_t len = 8u << 20;
    char *text = mem_alloc(len);

    memset(text, '7', len);
    machine_init(&machine);
    machine_write(&machine, "proc/loadavg", text, len);
    machine_write(&machine, "proc/interrupts", text, len);
    machine_write(&machine, "proc/sys/kernel/hostname", text, len);
    memcpy(text, "MemTotal: 1024 kB\n", strlen("MemTotal: 1024 kB\n"));
    machine_write(&machine, "proc/meminfo", text, len);
    ad = probe(&machine, NULL);
    check(ad, "Memory", "1048576", "of a file that is far too long the beginning is read");
    tap_ok(strlen(said(ad, "Name")) == 202, "a name that is far too long is cut");
    tap_ok(is_sane(ad), "and the rest of the machine is told as ever");
    tree_unref(ad);
    machine_done(&machine);
    free(text);
}

static void check_odd(void)
{
    const char *rounds = getenv("BERTH_ROUNDS"), *seeds = getenv("BERTH_SEED");
    uint64_t seed = seeds ? strtoull(seeds, NULL, 10) : 1, bad = 0;
    int count = rounds ? atoi(rounds) : 60;

    for (int i = 0; i < count && !bad; i++) {
        struct machine machine;
        struct tree *ad;
        struct rng rng;

        rng_init(&rng, seed + (uint64_t)i);
        machine_init(&machine);
        for (size_t k = 0; k < ODD_COUNT; k++)
            put_odd(&machine, odd_files[k], &rng);
        ad = probe(&machine, NULL);
        if (!is_sane(ad)) {
            bad = seed + (uint64_t)i;
            tap_diag("seed %llu: %s", (unsigned long long)bad, ad ? lang_show_tree(ad) : "no ad");
        }
        tree_unref(ad);
        machine_done(&machine);
    }
    tap_ok(!bad, "whatever the files hold, what is told is an ad of sane numbers and plain text, and nothing waits");
}

/* ------------------------------------------------------------------------------------------------------- this machine */

static void check_real(void)
{
    struct probe_settings settings = {.root = "", .scratch = "/tmp"};
    struct prober *prober = prober_new(lang.symbols, &settings, NULL);
    struct tree *ad = prober_probe(prober, 0), *loaded = prober_probe(prober, 1e6);
    struct statvfs st;
    struct utsname here;
    cpu_set_t set;

    uname(&here);
    statvfs("/tmp", &st);
    tap_ok(sched_getaffinity(0, sizeof set, &set) == 0 && number(ad, "Cpus") >= 1 &&
               number(ad, "Cpus") <= CPU_COUNT(&set),
           "this machine has a processor, and no more than we may use");
    tap_ok(number(ad, "Cores") >= 1, "hwloc finds a core here");
    tap_ok(number(ad, "Memory") > 1 << 24 &&
               number(ad, "Memory") <= sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE),
           "it has memory, and no more than the kernel says");
    tap_ok(!strncasecmp(said(ad, "Arch") + 1, here.machine, strlen(here.machine)), "its kind is the kernel's");
    tap_ok(strchr(said(ad, "LoadAvg"), '.') != NULL, "it has a load");
    check(loaded, "OwnerLoad", "0.0", "a load that our own jobs make is not the owner's");
    tap_ok(number(ad, "Disk") > 0 && (double)number(ad, "Disk") <= (double)st.f_blocks * (double)st.f_frsize * 0.9,
           "nine tenths of what is free are set aside for jobs");
    check(ad, "TimeZone", "'05:30:00'", "the zone of the machine is told");
    tap_ok(number(ad, "DayTime") >= 0 && number(ad, "DayTime") < 86400 && number(ad, "Day") >= 0 &&
               number(ad, "Day") < 7,
           "so are the day and the time of day");
    tree_unref(ad);
    tree_unref(loaded);
    prober_free(prober);
    settings.disk = 12345;
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    check(ad, "Disk", "12345", "what an owner sets aside is what is told");
    tree_unref(ad);
    prober_free(prober);
}

static void check_affinity(void)
{
    struct probe_settings settings = {.root = ""};
    struct prober *prober;
    cpu_set_t all, one;
    struct tree *ad;
    int first = 0;

    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, 0);
    check(ad, "Cpus", "1", "who may use one processor only has one");
    sched_setaffinity(0, sizeof all, &all);
    tree_unref(ad);
    prober_free(prober);
}

int main(void)
{
    setenv("TZ", "<+0530>-05:30", 1);
    alarm(110); /* whatever waits must not wait for ever */
    lang_init(&lang);
    check_laptop();
    check_keyboard();
    check_terminal_names();
    check_confines();
    check_gpus();
    check_synthetic();
    check_odd();
    check_endless();
    check_real();
    check_affinity();
    lang_done(&lang);
    return tap_done();
}
