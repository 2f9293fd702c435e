/* xml.c: ads as XML, by the law of forms.h. */
#include "forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return forms_fuzz(FORM_XML, data, size);
}
