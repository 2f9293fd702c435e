/* long.c: ads as the long form, by the law of forms.h. */
#include "forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return forms_fuzz(FORM_LONG, data, size);
}
