/* slot_ad.c: a machine's ad as HTCondor would have it: one slot, partitionable.
 *
 *     [ Name = "heron"; Cpus = 4; CpusUsed = 1; Ad = [ OpSysName = "debian"; OpSysVersion = "12"; Site = "north"; ... ] ]
 *     Name = "slot1@heron"  Cpus = 3  TotalCpus = 4  OpSysAndVer = "Debian12"  Site = "north"  ...
 *
 * What the machine says of itself, and HTCondor has no other name for, stands as it is. */
#include "cli/condor/parts.h"
#include "lang/ad/get.h"
#include "lang/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Attributes that are said in HTCondor's words, or are the pool's own affair. */
static const char *const translated[] = {
    "Activity",
    "ActivityAge",
    "Arch",
    "Cpus",
    "DetectedCpus",
    "DetectedMemory",
    "Disk",
    "GPUs",
    "GPUs_Capability",
    "GPUs_DeviceName",
    "GPUs_DriverVersion",
    "GPUs_GlobalMemoryMb",
    "GpuCount",
    "Gpus",
    "HasContainer",
    "HasFileTransfer",
    "HasSingularity",
    "Identity",
    "KernelVersion",
    "LoadAvg",
    "Machine",
    "Memory",
    "MyType",
    "Name",
    "OpSys",
    "OpSysAndVer",
    "OpSysMajorVer",
    "OpSysName",
    "OpSysShortName",
    "OpSysVersion",
    "Owner",
    "PartitionableSlot",
    "Rank",
    "Received",
    "SlotID",
    "SlotType",
    "State",
    "TotalCpus",
    "TotalGPUs",
    "TotalMemory",
    "Type",
    "UtsnameNodename",
    "UtsnameRelease",
    "VirtualMemory",
};

/* Systems that HTCondor does not call as they call themselves, with a large letter in front. */
static const struct {
    const char *ours, *theirs;
} systems[] = {
    {"almalinux", "AlmaLinux"}, {"amzn", "Amazon"}, {"centos", "CentOS"}, {"rhel", "RedHat"}, {"scientific", "SL"}};

static bool is_translated(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof translated / sizeof *translated; i++)
        if (strlen(translated[i]) == len && !strncasecmp(translated[i], name, len))
            return true;
    return false;
}

void slot_name_add(struct maker *maker, const char *attribute, const char *machine, size_t len)
{
    struct buf slot;

    buf_init(&slot);
    buf_addf(&slot, "slot1@%.*s", (int)len, machine);
    maker_text(maker, attribute, buf_string(&slot));
    buf_done(&slot);
}

/* ---- what it says of itself */

static const struct expr *said_find(const struct tree *machine, const struct expr *said, const char *name)
{
    symbol known = symbols_find(machine->symbols, name, strlen(name));

    return said && known ? tree_find(machine, said, known) : NULL;
}

/* A text that it says, cut to `size`; "": none. */
static const char *said_text(const struct tree *machine, const struct expr *said, const char *name, char *ret,
                             size_t size)
{
    const struct expr *e = said_find(machine, said, name);
    bool is = e && e->kind == EXPR_STRING;

    snprintf(ret, size, "%.*s", is ? (int)e->u.run.count : 0, is ? tree_string(machine, e) : "");
    return ret;
}

static void said_text_add(struct maker *maker, const char *theirs, const struct tree *machine, const struct expr *said,
                          const char *ours)
{
    char text[256];

    if (*said_text(machine, said, ours, text, sizeof text))
        maker_text(maker, theirs, text);
}

static void plain_add(struct maker *maker, const char *name, const struct tree *machine, const struct expr *e)
{
    if (e->kind == EXPR_STRING)
        maker_bytes(maker, name, tree_string(machine, e), e->u.run.count);
    else if (e->kind == EXPR_INTEGER)
        maker_integer(maker, name, e->u.integer);
    else if (e->kind == EXPR_REAL)
        maker_real(maker, name, e->u.real);
    else if (e->kind == EXPR_BOOLEAN)
        maker_flag(maker, name, e->small);
}

static void system_add(struct maker *maker, const struct tree *machine, const struct expr *said)
{
    char id[64], version[64], name[80], both[96];
    int major;

    if (!*said_text(machine, said, "OpSysName", id, sizeof id))
        return;
    snprintf(name, sizeof name, "%s", id);
    if (*name >= 'a' && *name <= 'z')
        *name = (char)(*name - 0x20);
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (!strcmp(systems[i].ours, id))
            snprintf(name, sizeof name, "%s", systems[i].theirs);
    maker_text(maker, "OpSysName", name);
    maker_text(maker, "OpSysShortName", name);
    major = atoi(said_text(machine, said, "OpSysVersion", version, sizeof version));
    if (major <= 0)
        return;
    snprintf(both, sizeof both, "%s%d", name, major);
    maker_text(maker, "OpSysAndVer", both);
    maker_integer(maker, "OpSysMajorVer", major);
}

static void gpus_add(struct maker *maker, const struct tree *machine, const struct expr *said)
{
    static const char *const names[][2] = {
        {"GPUs_DeviceName", "Name"}, {"GPUs_Capability", "Capability"}, {"GPUs_DriverVersion", "Driver"}};
    const struct expr *gpus = said_find(machine, said, "Gpus"), *first, *memory;

    if (!gpus || gpus->kind != EXPR_LIST || !gpus->u.run.count)
        return;
    first = &tree_parts(machine, gpus)[0];
    if (first->kind != EXPR_AD)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct expr *e = said_find(machine, first, names[i][1]);

        if (e)
            plain_add(maker, names[i][0], machine, e);
    }
    memory = said_find(machine, first, "Memory");
    if (memory && memory->kind == EXPR_INTEGER)
        maker_integer(maker, "GPUs_GlobalMemoryMb", memory->u.integer >> 20);
}

static void said_add(struct maker *maker, const struct tree *machine, const struct expr *said)
{
    const struct expr *parts = tree_parts(machine, said), *e = said_find(machine, said, "VirtualMemory");
    const struct expr *images = said_find(machine, said, "Images");

    said_text_add(maker, "Arch", machine, said, "Arch");
    said_text_add(maker, "OpSys", machine, said, "OpSys");
    said_text_add(maker, "UtsnameRelease", machine, said, "KernelVersion");
    said_text_add(maker, "UtsnameNodename", machine, said, "Machine");
    system_add(maker, machine, said);
    gpus_add(maker, machine, said);
    maker_flag(maker, "HasFileTransfer", true);
    if (images && images->kind == EXPR_LIST && images->u.run.count) {
        maker_flag(maker, "HasContainer", true);
        maker_flag(maker, "HasSingularity", true);
    }
    if (e && e->kind == EXPR_INTEGER)
        maker_integer(maker, "VirtualMemory", e->u.integer >> 10);
    for (uint32_t i = 0; i < said->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(machine->symbols, parts[i].label, &len);

        if (!is_translated(name, len))
            plain_add(maker, name, machine, &parts[i]);
    }
}

/* ---- how it stands */

struct tree *slot_ad(const struct tree *machine, const char *state, bool busy)
{
    const struct expr *said = ad_find(machine, "Ad");
    const char *name = "";
    char host[256];
    struct maker maker;
    double number;
    size_t len = 0;

    said = said && said->kind == EXPR_AD ? said : NULL;
    maker_init(&maker, machine->symbols);
    maker.build.dialect = &dialect_condor;
    ad_string(machine, "Name", &name, &len);
    maker_text(&maker, "MyType", "Machine");
    slot_name_add(&maker, "Name", name, len);
    if (*said_text(machine, said, "Machine", host, sizeof host))
        maker_text(&maker, "Machine", host);
    else
        maker_bytes(&maker, "Machine", name, len);
    maker_integer(&maker, "SlotID", 1);
    maker_text(&maker, "SlotType", "Partitionable");
    maker_flag(&maker, "PartitionableSlot", true);
    maker_text(&maker, "State", state);
    maker_text(&maker, "Activity", busy ? "Busy" : "Idle");
    maker_integer(&maker, "Cpus", condor_integer(machine, "Cpus") - condor_integer(machine, "CpusUsed"));
    maker_integer(&maker, "TotalCpus", condor_integer(machine, "Cpus"));
    maker_integer(&maker, "Memory", (condor_integer(machine, "Memory") - condor_integer(machine, "MemoryUsed")) >> 20);
    maker_integer(&maker, "TotalMemory", condor_integer(machine, "Memory") >> 20);
    maker_integer(&maker, "Disk", (condor_integer(machine, "Disk") - condor_integer(machine, "DiskUsed")) >> 10);
    maker_integer(&maker, "GPUs", condor_integer(machine, "GpuCount") - condor_integer(machine, "GpusUsed"));
    maker_integer(&maker, "TotalGPUs", condor_integer(machine, "GpuCount"));
    maker_integer(&maker, "DetectedCpus", condor_integer(machine, "Cpus"));
    maker_integer(&maker, "DetectedMemory", condor_integer(machine, "Memory") >> 20);
    maker_real(&maker, "LoadAvg", job_number(machine, "LoadAvg", &number) ? number : 0);
    maker_integer(&maker, "ActivityAge", condor_integer(machine, "Since"));
    if (said)
        said_add(&maker, machine, said);
    return maker_seal(&maker);
}
