/* gang_workload_test.c: the ads of chapter 5 are what the chapter says, seen by evaluating them. */
#include "cli/bench/gang_workload.h"

#include "common/tap.h"
#include "lang/ad/eval.h"
#include "lang/form/form.h"
#include "match/gang/ports.h"

#include <math.h>
#include <stdlib.h>

static const struct env env = {.now = 972223116};
static struct symbols *symbols;
static struct arena arena;

/* A job in the middle of its gang: what is docked at its ports, each of which has one. */
struct gang {
    struct surroundings around[3]; /* of the job and of the ads at its ports */
    struct label labels[4];        /* the job's two, then one for each of the others */
    struct scope ads[3], ports[4]; /* ports: the job's two, then one for each of the others */
    const struct expr *constraints[4];
};

/* The scope of a port, its label for the counterpart, and its constraint. */
static void gang_port(struct gang *gang, const struct tree *ad, int which, uint32_t port, int at, int counterpart)
{
    struct ports ports;

    if (ports_read(&ports, ad, NULL) < 0 || port >= ports.count)
        abort();
    scope_open(&gang->ports[at], &gang->ads[which], ports.items[port].ad);
    gang->labels[at] = (struct label){ports.items[port].label, &gang->ports[counterpart], NULL};
    gang->constraints[at] = port_constraint(&ports, port);
    ports_done(&ports); /* the ad holds the label as well */
}

/* Do the members dock, as figure 32 has it? Without a licence, the machine alone is asked. */
static bool docks(const struct tree *job, const struct tree *machine, const struct tree *license)
{
    struct arena_mark mark = arena_mark(&arena);
    const struct tree *ads[3] = {job, machine, license};
    struct gang gang = {0};
    bool all = true;

    gang.around[0] = (struct surroundings){gang.labels, license ? 2 : 1, NULL, 0};
    gang.around[1] = (struct surroundings){gang.labels + 2, 1, NULL, 0};
    gang.around[2] = (struct surroundings){gang.labels + 3, 1, NULL, 0};
    for (int i = 0; i < 3; i++)
        if (ads[i])
            scope_init(&gang.ads[i], ads[i], &gang.around[i]);
    gang_port(&gang, job, 0, 0, 0, 2);
    gang_port(&gang, machine, 1, 0, 2, 0);
    if (license) {
        gang_port(&gang, job, 0, 1, 1, 3);
        gang_port(&gang, license, 2, 0, 3, 1);
    }
    for (int i = 0; i < 4; i++) {
        struct eval eval;

        eval_init(&eval, &env, &arena);
        if (gang.constraints[i])
            all = all && eval_true(&eval, &gang.ports[i], gang.constraints[i]);
    }
    arena_rewind(&arena, mark);
    return all;
}

static const struct expr *attribute(const struct tree *ad, const char *name)
{
    return tree_find(ad, tree_root(ad), symbols_find(symbols, name, strlen(name)));
}

/* An attribute of the n-th port of an ad. */
static const struct expr *port_attribute(const struct tree *ad, uint32_t port, const char *name)
{
    const struct expr *ports = tree_find(ad, tree_root(ad), NAME_PORTS);

    return tree_find(ad, &tree_parts(ad, ports)[port], symbols_find(symbols, name, strlen(name)));
}

static bool is_text(const struct tree *ad, const char *name, const char *text)
{
    const struct expr *found = attribute(ad, name);

    return found && found->kind == EXPR_STRING && found->u.run.count == strlen(text) &&
           memcmp(tree_string(ad, found), text, strlen(text)) == 0;
}

static struct tree *machine_at(const struct gang_workload *workload, size_t i)
{
    return workload->ads[workload->jobs + i];
}

static struct tree *license_at(const struct gang_workload *workload, size_t i)
{
    return machine_at(workload, workload->machines + workload->dud_machines + i);
}

static size_t ad_count(const struct gang_workload *workload)
{
    return workload->jobs + workload->machines + workload->dud_machines + workload->licenses + workload->dud_licenses;
}

/* ------------------------------------------------------------------------------------------------------------- base */

static void test_counts(void)
{
    struct gang_plan plan = {GANG_BASE, 101, 50, 2, 0, 1};
    struct gang_workload workload;
    struct ports ports;
    bool sound = true;
    char name[30];

    gang_workload_init(&workload, symbols, &plan);
    tap_ok(workload.jobs == 101 && workload.machines == 101 && workload.licenses == 50 && workload.dud_machines == 0 &&
               workload.dud_licenses == 0,
           "there are as many jobs as machines, and half as many licences");
    for (size_t i = 0; i < ad_count(&workload); i++) {
        sound = sound && ports_read(&ports, workload.ads[i], NULL) == 0;
        sound = sound && ports.count == (i < workload.jobs ? 2 : 1) && !ports.implicit;
        ports_done(&ports);
    }
    tap_ok(sound, "the ports of all ads are in order: two of a job, one of all others");
    for (size_t i = 0; i < 101; i++) {
        const struct expr *key = attribute(machine_at(&workload, i), "Key");

        snprintf(name, sizeof name, "m%zu", i);
        sound = sound && key->kind == EXPR_INTEGER && key->u.integer == (int64_t)i &&
                is_text(machine_at(&workload, i), "Name", name) && is_text(machine_at(&workload, i), "Type", "Machine");
        snprintf(name, sizeof name, "j%zu", i);
        sound = sound && is_text(workload.ads[i], "Name", name);
    }
    for (size_t i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "l%zu", i);
        sound = sound && is_text(license_at(&workload, i), "Name", name) &&
                is_text(license_at(&workload, i), "App", "sim_app");
    }
    tap_ok(sound, "machines have the keys 0, 1, 2, ...; all ads have names");
    gang_workload_done(&workload);
    plan.percent = 100;
    gang_workload_init(&workload, symbols, &plan);
    tap_ok(workload.licenses == 101, "in the other regime there are as many licences");
    gang_workload_done(&workload);
}

/* Is a count of `total` what that part of it should be, within four standard deviations? */
static bool is_part(size_t count, size_t total, double part)
{
    return fabs((double)count - (double)total * part) <= 4 * sqrt((double)total * part * (1 - part));
}

static void test_machines(void)
{
    static const struct {
        const char *arch, *opsys;
        double part;
    } kinds[] = {{"INTEL", "LINUX", 0.3191},     {"INTEL", "SOLARIS26", 0.2127}, {"INTEL", "WINNT40", 0.2411},
                 {"SGI", "IRIX6", 0.0212},       {"SUN4u", "SOLARIS26", 0.0390}, {"SUN4u", "SOLARIS27", 0.0390},
                 {"SUN4x", "SOLARIS26", 0.0766}, {"SUN4x", "SOLARIS27", 0.0524}};
    static const struct {
        int megabytes;
        double part;
    } memories[] = {{32, 0.07}, {64, 0.4}, {128, 0.2}, {256, 0.2}, {800, 0.13}};
    const struct gang_plan plan = {GANG_BASE, 20000, 50, 1, 0, 7};
    size_t kind_counts[8] = {0}, memory_counts[5] = {0}, known = 0, remembered = 0;
    bool good = true, low = false, high = false;
    struct gang_workload workload;

    gang_workload_init(&workload, symbols, &plan);
    for (size_t i = 0; i < workload.machines; i++) {
        const struct tree *ad = machine_at(&workload, i);
        const struct expr *memory = attribute(ad, "Memory"), *available = attribute(ad, "VirtualMemory");
        double part = available->u.real / (2 * memory->u.real);

        good = good && memory->kind == EXPR_REAL && available->kind == EXPR_REAL && part >= 0.2 && part <= 0.9;
        low = low || part < 0.21;
        high = high || part > 0.89;
        for (size_t k = 0; k < 8; k++)
            kind_counts[k] += is_text(ad, "Arch", kinds[k].arch) && is_text(ad, "OpSys", kinds[k].opsys);
        for (size_t k = 0; k < 5; k++)
            memory_counts[k] += memory->u.real == memories[k].megabytes * 1048576.0;
    }
    tap_ok(good && low && high, "what a machine has left is from a fifth to nine tenths of twice its memory");
    for (size_t k = 0; k < 8; k++) {
        known += kind_counts[k];
        tap_ok(is_part(kind_counts[k], workload.machines, kinds[k].part / 1.0011), "%zu of %zu machines are %s/%s",
               kind_counts[k], workload.machines, kinds[k].arch, kinds[k].opsys);
    }
    for (size_t k = 0; k < 5; k++) {
        remembered += memory_counts[k];
        tap_ok(is_part(memory_counts[k], workload.machines, memories[k].part), "%zu of %zu have %d megabytes",
               memory_counts[k], workload.machines, memories[k].megabytes);
    }
    tap_ok(known == workload.machines && remembered == workload.machines, "and those are all that there are");
    gang_workload_done(&workload);
}

static void test_jobs(void)
{
    const struct gang_plan plan = {GANG_BASE, 2000, 50, 1, 0, 7};
    struct gang_workload workload;
    double least = 1e300, most = 0;
    size_t fitting = 0;
    bool good = true;

    gang_workload_init(&workload, symbols, &plan);
    for (size_t i = 0; i < workload.jobs; i++) {
        const struct expr *image = port_attribute(workload.ads[i], 0, "ImageSize");
        const struct expr *memory = port_attribute(workload.ads[i], 0, "MemoryReqs");
        double part = memory->u.real / image->u.real;

        good = good && image->kind == EXPR_REAL && memory->kind == EXPR_REAL && part >= 0.1999 && part <= 0.5001;
        least = image->u.real < least ? image->u.real : least;
        most = image->u.real > most ? image->u.real : most;
        fitting += docks(workload.ads[i], machine_at(&workload, i), NULL);
    }
    tap_ok(good, "a job needs from a fifth to a half of its image in memory");
    tap_ok(least >= 0.2 * 64 * 1048576 && least < 0.3 * 64 * 1048576 && most <= 0.8 * 1600 * 1048576 &&
               most > 0.7 * 1600 * 1048576,
           "images are from a fifth of 64 megabytes to four fifths of 1,600");
    tap_ok(fitting > workload.jobs / 20 && fitting < workload.jobs / 4,
           "a machine takes one job in ten or so (%zu of %zu)", fitting, workload.jobs);
    gang_workload_done(&workload);
}

/* The first job that the machine takes: to see by it which licences go with the machine. */
static const struct tree *job_for(const struct gang_workload *workload, const struct tree *machine)
{
    for (size_t i = 0; i < workload->jobs; i++)
        if (docks(workload->ads[i], machine, NULL))
            return workload->ads[i];
    return NULL;
}

static void test_licenses(unsigned selectivity, unsigned percent)
{
    const struct gang_plan plan = {GANG_BASE, 101, percent, selectivity, 0, 3};
    size_t first, end, last = 0, sizes[GANG_SELECTIVITY_MAX] = {0}, least = SIZE_MAX, most = 0, tested = 0;
    bool covering = true, valid = true;
    struct gang_workload workload;

    gang_workload_init(&workload, symbols, &plan);
    for (unsigned i = 0; i < selectivity; i++) {
        gang_partition_keys(i, selectivity, workload.machines, &first, &end);
        covering = covering && first == last && end > first;
        last = end;
    }
    tap_ok(covering && last == workload.machines,
           "selectivity %u: the partitions of machines are disjoint, and all machines are in one", selectivity);
    for (size_t m = 0; m < workload.machines; m++) {
        const struct tree *job = job_for(&workload, machine_at(&workload, m));

        for (size_t i = 0; job && i < workload.licenses; i++) {
            gang_partition_keys(gang_license_partition(i, workload.licenses, selectivity), selectivity,
                                workload.machines, &first, &end);
            valid = valid && docks(job, machine_at(&workload, m), license_at(&workload, i)) == (m >= first && m < end);
        }
        tested += job != NULL;
    }
    tap_ok(valid && tested > workload.machines / 2,
           "a licence of %zu is valid on exactly the machines of its partition (%zu machines tried)", workload.licenses,
           tested);
    for (size_t i = 0; i < workload.licenses; i++)
        sizes[gang_license_partition(i, workload.licenses, selectivity)]++;
    for (unsigned i = 0; i < selectivity; i++) {
        least = sizes[i] < least ? sizes[i] : least;
        most = sizes[i] > most ? sizes[i] : most;
    }
    tap_ok(most - least <= 1, "and the partitions of licences are as large as one another");
    gang_workload_done(&workload);
}

/* ------------------------------------------------------------------------------------------------- the other workloads */

static void test_duds(void)
{
    struct gang_plan plan = {GANG_DUDS, 300, 50, 4, 0, 5};
    struct gang_workload workload, base;
    bool one = true, never = true, useless = true, same = true;

    gang_workload_init(&workload, symbols, &plan);
    tap_ok(workload.dud_machines == 8 && workload.dud_licenses == 1 && workload.machines == 300 &&
               workload.licenses == 150,
           "there is a dud machine for each platform, and a dud licence");
    for (size_t i = 0; i < workload.jobs; i++) {
        size_t met = 0;

        for (size_t d = 0; d < workload.dud_machines; d++) {
            const struct tree *dud = machine_at(&workload, workload.machines + d);

            if (!docks(workload.ads[i], dud, NULL))
                continue;
            met++;
            for (size_t k = 0; k < workload.licenses + workload.dud_licenses; k++)
                never = never && !docks(workload.ads[i], dud, license_at(&workload, k));
        }
        one = one && met == 1;
    }
    tap_ok(one, "every job fits exactly one of the dud machines");
    tap_ok(never, "no licence, not even the dud, goes with them");
    tap_ok(is_text(license_at(&workload, workload.licenses), "App", "sim_app"),
           "the dud licence is for what jobs want");
    for (size_t m = 0; m < workload.machines; m++) {
        const struct tree *job = job_for(&workload, machine_at(&workload, m));

        useless = useless && (!job || !docks(job, machine_at(&workload, m), license_at(&workload, workload.licenses)));
    }
    tap_ok(useless, "but it is valid on no machine");
    plan.kind = GANG_BASE;
    gang_workload_init(&base, symbols, &plan);
    for (size_t i = 0; i < base.jobs + base.machines; i++)
        same = same && tree_equal(base.ads[i], tree_root(base.ads[i]), workload.ads[i], tree_root(workload.ads[i]));
    for (size_t i = 0; i < base.licenses; i++)
        same = same && tree_equal(license_at(&base, i), tree_root(license_at(&base, i)), license_at(&workload, i),
                                  tree_root(license_at(&workload, i)));
    tap_ok(same, "all other ads are those of the base workload");
    gang_workload_done(&base);
    gang_workload_done(&workload);
}

static void test_skewed(void)
{
    const struct gang_plan plan = {.kind = GANG_SKEWED, .machines = 500};
    struct gang_workload workload;
    bool fit = true, valid = true;

    gang_workload_init(&workload, symbols, &plan);
    tap_ok(workload.jobs == 500 && workload.machines == 500 && workload.licenses == 1000,
           "skewed: 500 jobs and machines, 1,000 licences");
    for (size_t j = 0; j < workload.jobs; j += 100)
        for (size_t m = 0; m < workload.machines; m++)
            fit = fit && docks(workload.ads[j], machine_at(&workload, m), NULL);
    tap_ok(fit, "every job fits every machine");
    for (size_t m = 0; m < workload.machines; m++)
        for (size_t i = 0; i < workload.licenses; i += 37)
            valid = valid && docks(workload.ads[m], machine_at(&workload, m), license_at(&workload, i)) == (m >= 400);
    tap_ok(valid, "every licence is valid on the last 100 machines, and on no other");
    gang_workload_done(&workload);
}

/* How many jobs a machine could take that are not served, by evaluation. */
static uint64_t count_compatible(const struct gang_workload *workload, const bool *served, size_t machine)
{
    uint64_t count = 0;

    for (size_t i = 0; i < workload->jobs; i++)
        count += !served[i] && docks(workload->ads[i], machine_at(workload, machine), NULL);
    return count;
}

static void test_opportunity(unsigned discrimination)
{
    const struct gang_plan plan = {
        .kind = GANG_OPPORTUNITY, .machines = 300, .discrimination = discrimination, .seed = 2};
    struct gang_pair pairs[300];
    struct gang_workload workload;
    bool served[300] = {0}, within = true;
    uint64_t cost = 0;
    size_t count = 0;

    gang_workload_init(&workload, symbols, &plan);
    for (size_t i = 0; i < 300; i++) {
        const struct gang_trait *job = &workload.traits[i], *machine = &workload.traits[300 + i];

        within = within && job->level >= 0 && job->level < 10 && machine->level >= 0 && machine->level < discrimination;
    }
    tap_ok(workload.licenses == 0 && within, "opportunity: no licences, tags below 10, thresholds below %u",
           discrimination);
    for (size_t m = 0; m < workload.machines; m++) { /* the last job that fits, so that the order is not theirs */
        for (size_t i = workload.jobs; i-- > 0;) {
            if (served[i] || !docks(workload.ads[i], machine_at(&workload, m), NULL))
                continue;
            cost += count_compatible(&workload, served, m);
            pairs[count++] = (struct gang_pair){i, m};
            served[i] = true;
            break;
        }
    }
    tap_ok(count > 100 && gang_opportunity_cost(&workload, pairs, count) == cost,
           "%zu matches cost %llu opportunities, as counted one by one", count, (unsigned long long)cost);
    gang_workload_done(&workload);
}

/* ------------------------------------------------------------------------------------------------------------ the seed */

static void print(struct buf *out, const struct gang_plan *plan)
{
    struct gang_workload workload;

    gang_workload_init(&workload, symbols, plan);
    for (size_t i = 0; i < ad_count(&workload); i++)
        form_write_ad(out, FORM_CLASSAD, workload.ads[i], NULL);
    gang_workload_done(&workload);
}

static void test_seed(enum gang_workload_kind kind)
{
    struct gang_plan plan = {kind, 200, 100, 8, 6, 1};
    struct buf a, b, other;

    buf_init(&a);
    buf_init(&b);
    buf_init(&other);
    print(&a, &plan);
    print(&b, &plan);
    plan.seed = 2;
    print(&other, &plan);
    tap_ok(a.len && a.len == b.len && memcmp(a.text, b.text, a.len) == 0, "%s: the same seed gives the same bytes",
           gang_workload_names[kind]);
    tap_ok((a.len == other.len && memcmp(a.text, other.text, a.len) == 0) == (kind == GANG_SKEWED),
           "%s: another seed gives %s", gang_workload_names[kind],
           kind == GANG_SKEWED ? "the same, for nothing is left to chance" : "others");
    buf_done(&a);
    buf_done(&b);
    buf_done(&other);
}

int main(void)
{
    symbols = names_new(0);
    arena_init(&arena);
    test_counts();
    test_machines();
    test_jobs();
    for (unsigned k = 1; k <= GANG_SELECTIVITY_MAX; k *= 2) {
        test_licenses(k, 50);
        test_licenses(k, 100);
    }
    test_duds();
    test_skewed();
    test_opportunity(1);
    test_opportunity(6);
    test_opportunity(10);
    for (int kind = 0; kind < GANG_WORKLOADS; kind++)
        test_seed((enum gang_workload_kind)kind);
    arena_done(&arena);
    symbols_free(symbols);
    return tap_done();
}
