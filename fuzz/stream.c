/* stream.c: a stream of ads whose form is recognised, by the law of forms.h. */
#include "forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return forms_fuzz(FORM_UNKNOWN, data, size);
}
