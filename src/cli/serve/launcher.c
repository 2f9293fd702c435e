/* launcher.c: berth launcher FOLDER: what an agent starts for each claim. It is not for people, so no list has it. */
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "exec/local.h"

int command_launcher(int word_count, char **words)
{
    if (word_count != 1) {
        report("launcher: expected the folder of a claim; agents start this by themselves");
        return STATUS_BAD;
    }
    return launcher_main(words[0]) == 0 ? STATUS_DONE : STATUS_BAD;
}
