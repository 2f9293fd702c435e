/* run_gangs.c: the offers and jobs of which pools under faults make gangs. */
#include "sim/run_gangs.h"

#include <stdio.h>

/* The first licence is valid beside every machine, the second only beside small ones. One service needs a disk; another is made of a machine and a
 * disk, and its jobs run on that machine. */
const char *const gang_offers[GANG_OFFERS] = {
    "[ Type = \"Licence\"; Executes = false; Most = 4096; Constraint = other.RequestMemory > 0 ]",
    "[ Type = \"Disk\"; Executes = false; Room = 10; Constraint = other.RequestRoom <= Room ]",
    "[ Type = \"Service\"; Executes = false; RequestRoom = 4; RequestMemory = 256; RequestCpus = 1; Ports = { "
    "[ Label = request; Sort = \"store\"; Constraint = request.Type == \"Job\" ], "
    "[ Label = disk; Constraint = disk.Type == \"Disk\" ] } ]",
    "[ Type = \"Service\"; Executes = false; RequestRoom = 2; RequestMemory = 256; RequestCpus = 1; TimeLimit = 20; Ports = { "
    "[ Label = request; Sort = \"render\"; Constraint = request.RequestMemory > 0 ], "
    "[ Label = cpu; Constraint = cpu.Type == \"Machine\" && cpu.Memory >= RequestMemory; Rank = cpu.Memory ], "
    "[ Label = disk; Constraint = disk.Type == \"Disk\"; Essential = JobRunTime < 1 ] } ]",
    "[ Type = \"Licence\"; Executes = false; Most = 2048; Constraint = other.Beside <= Most ]",
    "[ Type = \"Disk\"; Executes = false; Room = 4; Constraint = other.RequestRoom <= Room ]",
};

/* The port asks for a little more memory than the job around it: the port's number counts. */
#define MACHINE(label)                                                                                   \
    "[ Label = " label "; RequestMemory = %d + 64; Constraint = " label ".Type == \"Machine\" && " label \
    ".Memory >= %d ]"
#define LICENCE                                                                                                       \
    "[ Label = lic; Beside = cpu.Memory; Constraint = lic.Type == \"Licence\" && lic.Most >= cpu.Memory; Rank = 0 - " \
    "lic.Most ]"
#define LICENCE_FREE "[ Label = lic; Constraint = lic.Type == \"Licence\" && lic.Most == 4096 ]"
#define STORE "[ Label = store; Constraint = store.Sort == \"store\" ]"

/* Each text may have up to three %d for the memory. */
static const char *const gang_texts[] = {
    MACHINE("cpu"),
    MACHINE("cpu") ", " LICENCE,
    LICENCE_FREE ", " MACHINE("cpu"),
    MACHINE("cpu") ", " STORE,
    MACHINE("cpu") ", " LICENCE ", " STORE,
    "[ Label = server; Constraint = server.Sort == \"render\" ]",
    MACHINE("cpu") ", " LICENCE ", [ Label = spare; Essential = false; Constraint = spare.Type == \"Machine\" && "
                   "spare.Memory >= %d ]",
    MACHINE(
        "cpu") ", [ Label = lic; Essential = false; Constraint = lic.Type == \"Licence\" && lic.Most == 4096 ], [ Label = "
               "help; Essential = JobRunTime < 1; Constraint = help.Type == \"Machine\" && help.Memory >= %d ]",
    "[ Label = node; Count = 2; Constraint = node.Type == \"Machine\" && node.Memory >= %d && sum(node.Memory) >= 512 ], " LICENCE_FREE,
    MACHINE(
        "cpu") ", [ Label = help; Essential = JobRunTime < 1; Constraint = help.Type == \"Machine\" && help.Memory >= "
               "%d ], " LICENCE ", " STORE,
};
#define GANG_TEXTS (sizeof gang_texts / sizeof *gang_texts)

void gang_ports(struct rng *rng, int memory, char *text, size_t size)
{
    const char *from = gang_texts[rng_below(rng, GANG_TEXTS)];
    size_t len = (size_t)snprintf(text, size, "; Ports = { ");

    for (; *from && len + 16 < size; from++) {
        if (from[0] == '%' && from[1] == 'd') {
            len += (size_t)snprintf(text + len, size - len, "%d", memory);
            from++;
        } else {
            text[len++] = *from;
        }
    }
    snprintf(text + len, size - len, " }");
}
