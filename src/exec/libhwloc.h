/* libhwloc.h: hwloc, loaded when a machine is first looked at: only those that run jobs do. Its functions that stand in its header call others of
 * the library, and cannot be used; those here are as they are. */
#ifndef BERTH_EXEC_LIBHWLOC_H
#define BERTH_EXEC_LIBHWLOC_H

#include <hwloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the hwloc_ in front. */
#define LIBHWLOC_FUNCTIONS(X) \
    X(bitmap_alloc)           \
    X(bitmap_first)           \
    X(bitmap_free)            \
    X(bitmap_isset)           \
    X(bitmap_list_sscanf)     \
    X(get_cpubind)            \
    X(get_nbobjs_by_depth)    \
    X(get_obj_by_depth)       \
    X(get_type_depth)         \
    X(topology_destroy)       \
    X(topology_init)          \
    X(topology_load)          \
    X(topology_set_synthetic)

struct libhwloc {
#define X(name) __typeof__(hwloc_##name) *name;
    LIBHWLOC_FUNCTIONS(X)
#undef X
};

const struct libhwloc *libhwloc(void);

/* How many objects of a kind a machine has, 0 where it has none; and the one with that number, or NULL. */
unsigned libhwloc_count(hwloc_topology_t topology, hwloc_obj_type_t type);
hwloc_obj_t libhwloc_object(hwloc_topology_t topology, hwloc_obj_type_t type, unsigned number);

#ifdef __cplusplus
}
#endif
#endif
