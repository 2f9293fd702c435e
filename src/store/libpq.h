/* libpq.h: PostgreSQL's client library, loaded when the first store in a database is opened. */
#ifndef BERTH_STORE_LIBPQ_H
#define BERTH_STORE_LIBPQ_H

#include "lang/base/err.h"

#include <libpq-fe.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the PQ in front. */
#define LIBPQ_FUNCTIONS(X) \
    X(backendPID)          \
    X(clear)               \
    X(cmdStatus)           \
    X(connectdbParams)     \
    X(conninfoFree)        \
    X(conninfoParse)       \
    X(consumeInput)        \
    X(enterPipelineMode)   \
    X(errorMessage)        \
    X(exitPipelineMode)    \
    X(finish)              \
    X(flush)               \
    X(freemem)             \
    X(getResult)           \
    X(getisnull)           \
    X(getlength)           \
    X(getvalue)            \
    X(isBusy)              \
    X(ntuples)             \
    X(pingParams)          \
    X(pipelineSync)        \
    X(resultErrorField)    \
    X(resultStatus)        \
    X(sendPrepare)         \
    X(sendQueryParams)     \
    X(sendQueryPrepared)   \
    X(serverVersion)       \
    X(setNoticeProcessor)  \
    X(setnonblocking)      \
    X(socket)              \
    X(status)

struct libpq {
#define X(name) __typeof__(PQ##name) *name;
    LIBPQ_FUNCTIONS(X)
#undef X
};

/* -1 when it is not installed. The others need a call of this first, which went well. */
int libpq_load(struct err *err);
const struct libpq *libpq(void);

#ifdef __cplusplus
}
#endif
#endif
