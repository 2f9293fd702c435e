/* unpack.c: berth unpack ...: what an agent starts to unpack an image. It is not for people, so no list has it. */
#include "cli/term/command.h"
#include "exec/image_unpack.h"

int command_unpack(int word_count, char **words)
{
    return image_unpack_main(word_count, words);
}
