/* doctor_host.c: this machine, whatever runs on it: kernel, sandboxes, control groups, clock, name, addresses. */
#define _GNU_SOURCE
#include "cli/admin/doctor.h"

#include "exec/cgroup.h"
#include "exec/jobnet.h"
#include "exec/support.h"
#include "live/config/here.h"
#include "sys/confined_path.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_LEAST INT64_C(1700000000) /* a clock that says less was never set */

static void kernel_look(struct doctor *doctor)
{
    struct utsname name;
    struct err err = {0};

    uname(&name);
    if (confined_probe(&err) < 0) {
        doctor_say(doctor, DOCTOR_PROBLEM, "kernel", "Linux %s: %s", name.release, err.text);
        doctor_advise(doctor,
                      "it takes Linux 5.6 or later; in a container, a filter of system calls that knows openat2");
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "kernel", "Linux %s, %s", name.release, name.machine);
    }
}

/* Is the program that is typed as `berth` this one? Another version may lie first in the PATH. */
static void program_look(struct doctor *doctor)
{
    const char *path = getenv("PATH");
    char own[PATH_MAX], *found = NULL, *place = strdup(path ? path : ""), *rest = place, *folder;
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

    own[len > 0 ? len : 0] = '\0';
    while (!found && (folder = strsep(&rest, ":"))) {
        char name[PATH_MAX];

        if (*folder == '/' && (size_t)snprintf(name, sizeof name, "%s/berth", folder) < sizeof name &&
            access(name, X_OK) == 0)
            found = realpath(name, NULL);
    }
    if (found && *own && strcmp(found, own) != 0) {
        doctor_say(doctor, DOCTOR_NOTE, "program", "this is %s, version " BERTH_VERSION "; `berth` alone is %s", own,
                   found);
        doctor_advise(doctor, "if the other one is not meant, remove it, or put the folder of this one first in PATH");
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "program", "%s, version " BERTH_VERSION, own);
    }
    free(found);
    free(place);
}

static void sandbox_look(struct doctor *doctor)
{
    struct support support;
    struct err err = {0};

    support_look(&support);
    if (!support.sandbox) {
        support_refuse(&support, &err);
        doctor_say(doctor, DOCTOR_PROBLEM, "sandbox", "%s", err.text);
        doctor_advise(
            doctor, "until then this machine runs no jobs; a host that only submits them, or has the matchmaker alone, "
                    "needs none. docs/sandbox.md says what each setting of the kernel does");
        return;
    }
    doctor_say(doctor, DOCTOR_GOOD, "sandbox", "bubblewrap works here%s%s", support.landlock ? ", with landlock" : "",
               support.users ? ", and each claim has a user of its own" : "");
    if (support.jobnet)
        return;
    doctor_say(doctor, DOCTOR_NOTE, "job network", "jobs that may use the network have that of the machine: %s",
               support.no_jobnet);
    if (jobnet_program())
        doctor_advise(doctor, "let slirp4netns work here, so that they cannot reach what listens on its loopback: it "
                              "wants /dev/net/tun (modprobe tun; in a container, its host gives it the device)");
    else
        doctor_advise(doctor, "apt install slirp4netns, so that they cannot reach what listens on its loopback");
}

static void groups_look(struct doctor *doctor)
{
    struct buf why;

    buf_init(&why);
    cgroups_look("", &why);
    if (why.len) {
        doctor_say(doctor, DOCTOR_NOTE, "cgroups",
                   "a provider started from here would not hold all limits of jobs by control "
                   "groups: %s",
                   buf_string(&why));
        doctor_advise(
            doctor, "what they do not hold is watched instead, less exactly. As a service the unit wants Delegate=yes; "
                    "as a user: systemd-run --user --scope -p Delegate=yes berth provider");
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "cgroups", "processors, memory and processes of jobs can be limited");
    }
    buf_done(&why);
}

static void clock_look(struct doctor *doctor)
{
    struct timex state = {0};
    int result = adjtimex(&state);

    if (time(NULL) < CLOCK_LEAST) {
        doctor_say(doctor, DOCTOR_PROBLEM, "clock", "this machine's clock was never set");
        doctor_advise(doctor, "set it: no token and no certificate is good at such a time");
    } else if (result == TIME_ERROR || (result >= 0 && state.status & STA_UNSYNC)) {
        doctor_say(doctor, DOCTOR_NOTE, "clock", "nothing keeps this machine's clock right");
        doctor_advise(
            doctor, "apt install chrony (or systemd-timesyncd): where clocks differ by more than a minute, tokens are "
                    "refused. In a virtual machine or a container, its host may do it");
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "clock", "it is kept right");
    }
}

static void address_look(struct doctor *doctor)
{
    char host[ADDRESS_HOST_MAX + 1], told[ADDRESS_HOST_MAX + 1];
    struct sockaddr_storage address;

    if (!here_hostname(host)) {
        doctor_say(doctor, DOCTOR_PROBLEM, "name",
                   "the name of this machine, '%s', can stand in no address and no certificate", host);
        doctor_advise(doctor, "hostnamectl set-hostname NAME, of letters, digits and '-'");
        return;
    }
    if (!here_address(&address)) {
        doctor_say(doctor, DOCTOR_NOTE, "addresses", "%s has no address but loopback", host);
        doctor_advise(doctor, "that is enough for a pool of this machine alone; for others it wants a network");
        return;
    }
    here_name(told);
    if (!strcmp(told, host)) {
        doctor_say(doctor, DOCTOR_GOOD, "name", "others reach it as %s", told);
    } else {
        doctor_say(doctor, DOCTOR_NOTE, "name",
                   "its name, %s, is not a whole one that leads to an address of it: others are told %s", host, told);
        doctor_advise(
            doctor, "all is well if others reach it there; else, for a matchmaker, --set PublicUrl=https://NAME:PORT");
    }
}

void doctor_host(struct doctor *doctor)
{
    kernel_look(doctor);
    program_look(doctor);
    sandbox_look(doctor);
    groups_look(doctor);
    clock_look(doctor);
    address_look(doctor);
}
