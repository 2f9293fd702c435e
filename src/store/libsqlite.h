/* libsqlite.h: SQLite, loaded when the first store is opened: only daemons have stores. */
#ifndef BERTH_STORE_LIBSQLITE_H
#define BERTH_STORE_LIBSQLITE_H

#include "lang/base/err.h"

#include <sqlite3.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the sqlite3_ in front. */
#define LIBSQLITE_FUNCTIONS(X) \
    X(backup_finish)           \
    X(backup_init)             \
    X(backup_step)             \
    X(bind_blob)               \
    X(bind_blob64)             \
    X(bind_int64)              \
    X(bind_text)               \
    X(bind_value)              \
    X(busy_timeout)            \
    X(clear_bindings)          \
    X(close)                   \
    X(close_v2)                \
    X(column_blob)             \
    X(column_bytes)            \
    X(column_int64)            \
    X(column_text)             \
    X(column_type)             \
    X(column_value)            \
    X(create_function)         \
    X(db_config)               \
    X(errcode)                 \
    X(errmsg)                  \
    X(exec)                    \
    X(extended_errcode)        \
    X(finalize)                \
    X(get_autocommit)          \
    X(open_v2)                 \
    X(prepare_v2)              \
    X(prepare_v3)              \
    X(progress_handler)        \
    X(reset)                   \
    X(result_error_nomem)      \
    X(result_int64)            \
    X(snprintf)                \
    X(sql)                     \
    X(step)                    \
    X(stmt_busy)               \
    X(value_blob)              \
    X(value_bytes)             \
    X(value_text)              \
    X(wal_autocheckpoint)      \
    X(wal_checkpoint_v2)       \
    X(wal_hook)

struct libsqlite {
#define X(name) __typeof__(sqlite3_##name) *name;
    LIBSQLITE_FUNCTIONS(X)
#undef X
};

const struct libsqlite *libsqlite(void);

#ifdef __cplusplus
}
#endif
#endif
