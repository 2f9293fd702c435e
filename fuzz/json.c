/* json.c: ads as JSON, by the law of forms.h. */
#include "forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return forms_fuzz(FORM_JSON, data, size);
}
