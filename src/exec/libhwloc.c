/* libhwloc.c: the functions of hwloc, when they are first needed. */
#include "exec/libhwloc.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

static struct libhwloc functions;
static const char *const names[] = {
#define X(name) "hwloc_" #name,
    LIBHWLOC_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_HWLOC, "processors are found by hwloc", names, functions);

const struct libhwloc *libhwloc(void)
{
    return library_need(&library);
}

/* A level that there is not, or that there are several of, has a depth of its own that no object has. */
unsigned libhwloc_count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return libhwloc()->get_nbobjs_by_depth(topology, libhwloc()->get_type_depth(topology, type));
}

hwloc_obj_t libhwloc_object(hwloc_topology_t topology, hwloc_obj_type_t type, unsigned number)
{
    return libhwloc()->get_obj_by_depth(topology, libhwloc()->get_type_depth(topology, type), number);
}
