/* url_client.c: berth url-client ...: what an agent starts to fetch by a program that the owner names. It is not for people, so no list has it. */
#include "exec/url_client.h"
#include "cli/term/command.h"

int command_url_client(int word_count, char **words)
{
    return url_client_main(word_count, words);
}
