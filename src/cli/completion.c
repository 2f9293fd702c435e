/* completion.c: berth completion: makes shells complete commands, options and what there is in the pool.
 *
 * What a shell reads is short: at each TAB it asks this program, `berth completion words WORD...`, so that all shells say the same, and what help says
 * (complete.h). The sign `:files` has the shell complete names of files in its own way. */
#include "cli/complete.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 2 /* seconds for a pool that does not answer: somebody waits at a prompt */

static const struct {
    const char *name, *script;
} shells[] = {
    {"bash", "# Completion of berth for bash. In ~/.bashrc:  source <(berth completion bash)\n"
             "_berth()\n"
             "{\n"
             "    local word what program=${BASH_ALIASES[$1]-$1} here=${COMP_WORDS[COMP_CWORD]}\n"
             "    COMPREPLY=()\n"
             "    while IFS=$'\\t' read -r word what; do\n"
             "        case $word in\n"
             "            :files) compopt -o default ;;\n"
             "            :folders) compopt -o dirnames ;;\n"
             "            :programs) COMPREPLY+=($(compgen -c -f -- \"$here\")) ;;\n"
             "            *=) compopt -o nospace; COMPREPLY+=(\"$word\") ;;\n"
             "            *) COMPREPLY+=(\"$word\") ;;\n"
             "        esac\n"
             "    done < <($program completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
             "}\n"
             "complete -F _berth berth\n"},
    {"zsh", "#compdef berth\n"
            "# Completion of berth for zsh. In ~/.zshrc, behind compinit:  source <(berth completion zsh)\n"
            "_berth()\n"
            "{\n"
            "    local word what\n"
            "    local -a found\n"
            "    while IFS=$'\\t' read -r word what; do\n"
            "        case $word in\n"
            "            :files) _files ;;\n"
            "            :folders) _files -/ ;;\n"
            "            :programs) _command_names -e ;;\n"
            "            *) found+=(\"$word${what:+:$what}\") ;;\n"
            "        esac\n"
            "    done < <(${(Q)words[1]} completion words \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)\n"
            "    (( $#found )) && _describe -V berth found\n"
            "}\n"
            "if [[ ${funcstack[1]} = _berth ]]; then _berth \"$@\"; else compdef _berth berth; fi\n"},
    {"fish", "# Completion of berth for fish. In ~/.config/fish/config.fish:  berth completion fish | source\n"
             "function __berth_complete\n"
             "    set -l words (commandline -opc)\n"
             "    set -l here (commandline -ct)\n"
             "    for line in ($words[1] completion words $words[2..-1] $here 2>/dev/null)\n"
             "        switch $line\n"
             "            case :files\n"
             "                __fish_complete_path $here\n"
             "            case :folders\n"
             "                __fish_complete_directories $here\n"
             "            case :programs\n"
             "                __fish_complete_command\n"
             "            case '*'\n"
             "                printf '%s\\n' $line\n"
             "        end\n"
             "    end\n"
             "end\n"
             "complete -c berth -f -a '(__berth_complete)'\n"},
};
#define SHELLS (sizeof shells / sizeof *shells)

/* Prints what can stand in the place of the last word. Whatever is wrong, nothing is said: the user is in the middle of a line. */
static int words_run(int word_count, char **words)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct buf out;

    if (null >= 0)
        dup2(null, STDERR_FILENO);
    alarm(PATIENCE);
    buf_init(&out);
    complete_words(&out, word_count, words);
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}

static int completion_run(const void *settings, int word_count, char **words)
{
    struct buf out;

    (void)settings;
    if (word_count && !strcmp(words[0], "words"))
        return words_run(word_count - 1, words + 1);
    for (size_t i = 0; i < SHELLS && word_count == 1; i++)
        if (!strcmp(words[0], shells[i].name)) {
            buf_init(&out);
            buf_adds(&out, shells[i].script);
            output_write(&out);
            buf_done(&out);
            return STATUS_DONE;
        }
    report("completion wants the name of your shell: bash, zsh or fish");
    return STATUS_BAD;
}

const struct command command_completion = {
    .name = "completion",
    .summary = "make your shell complete commands, options, jobs and machines",
    .usage = "bash|zsh|fish",
    .about =
        "Prints what makes a shell complete berth's commands and options, numbers of jobs, names of machines, agents and users, "
        "attributes in expressions, and settings, with what each of them is where the shell shows that. Jobs and names are those that the "
        "pool has at that moment; one that does not answer within two seconds has none.\n"
        "\n"
        "A shell reads it when it starts:\n"
        "\n"
        "    bash   ~/.bashrc                    source <(berth completion bash)\n"
        "    zsh    ~/.zshrc, behind compinit    source <(berth completion zsh)\n"
        "    fish   ~/.config/fish/config.fish   berth completion fish | source",
    .examples = {{"source <(berth completion bash)", NULL}},
    .leading = true,
    .run = completion_run,
};
