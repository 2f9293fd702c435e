/* fake_nvml.c: a library that answers as NVIDIA's own does, about GPUs that are not there.
 *
 *     FAKE_NVML=2        so many, the first of 80 GiB and capability 9.0, the others of 40 GiB and 8.0; -1: it never answers; -2: it does not begin
 *     FAKE_NVML_SPLIT=1  number 1 is split into two instances */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART 100 /* handles of instances begin here */

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void **);
int nvmlDeviceGetHandleByUUID(const char *, void **);
int nvmlDeviceGetUUID(void *, char *, unsigned);
int nvmlDeviceGetName(void *, char *, unsigned);
int nvmlDeviceGetMemoryInfo(void *, unsigned long long *);
int nvmlDeviceGetMinorNumber(void *, unsigned *);
int nvmlDeviceGetPciInfo_v3(void *, char *);
int nvmlDeviceGetCudaComputeCapability(void *, int *, int *);
int nvmlDeviceGetMigMode(void *, unsigned *, unsigned *);
int nvmlDeviceGetMaxMigDeviceCount(void *, unsigned *);
int nvmlDeviceGetMigDeviceHandleByIndex(void *, unsigned, void **);
int nvmlDeviceGetGpuInstanceId(void *, unsigned *);
int nvmlDeviceGetComputeInstanceId(void *, unsigned *);
int nvmlDeviceGetUtilizationRates(void *, unsigned *);

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

static unsigned number(void *device)
{
    return (unsigned)(size_t)device - 1;
}

int nvmlInit_v2(void)
{
    while (setting("FAKE_NVML", 2) == -1)
        sleep(1);
    return setting("FAKE_NVML", 2) == -2 ? 9 : 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)setting("FAKE_NVML", 2);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(size_t)(index + 1);
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    unsigned which = number(device);

    snprintf(text, size,
             which >= PART ? "MIG-0000000%u-aaaa-bbbb-cccc-000000000000" : "GPU-0000000%u-aaaa-bbbb-cccc-000000000000",
             which % PART);
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *text, void **device)
{
    unsigned which = (unsigned)strtoul(text + 4, NULL, 10) % 10;

    *device = (void *)(size_t)(which + 1 + (strncmp(text, "MIG-", 4) == 0 ? PART : 0));
    return 0;
}

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    snprintf(text, size, number(device) >= PART ? "Fake GPU MIG 1g.10gb" : "Fake GPU");
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory)
{
    memory[0] = (number(device) >= PART ? 10ull : number(device) ? 40ull : 80ull) << 30;
    memory[2] = 3ull << 30;
    memory[1] = memory[0] - memory[2];
    return 0;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
    *minor = number(device);
    return number(device) >= PART ? 3 : 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, char *info)
{
    memset(info, 0, 68);
    snprintf(info + 36, 32, "00000000:0%u:00.0", number(device) + 1);
    return number(device) >= PART ? 3 : 0;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    *major = number(device) ? 8 : 9;
    *minor = 0;
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later)
{
    *now = *later = setting("FAKE_NVML_SPLIT", 0) && number(device) == 1;
    return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
    (void)device;
    *count = 7;
    return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **part)
{
    (void)device;
    *part = (void *)(size_t)(PART + index + 1);
    return index < 2 ? 0 : 6;
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id)
{
    *id = number(device) - PART + 1;
    return 0;
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *id)
{
    (void)device;
    *id = 0;
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned *use)
{
    (void)device;
    use[0] = 75;
    use[1] = 10;
    return 0;
}
