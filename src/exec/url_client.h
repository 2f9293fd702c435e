/* url_client.h: a program that the owner names brings a file from a URL of a sort that we do not know ourselves, or to one (settings UrlClients, UrlPutClients).
 *
 *     agent ---- berth url-client (makes the folder) ---- bubblewrap, with the network ---- PROGRAM WORDS... URL FILE
 *                                                                                            or PROGRAM WORDS... FILE URL
 *
 * A file that goes is copied into the folder first: the program may not read the job's, and is called with a name of ours, which is no option.
 * The URL is a stranger's; the program runs as an unprivileged user and can write that folder alone (fetch_sandbox.h). */
#ifndef BERTH_EXEC_URL_CLIENT_H
#define BERTH_EXEC_URL_CLIENT_H

#ifdef __cplusplus
extern "C" {
#endif

#define URL_CLIENT_FILE "file" /* what it brings, in FOLDER */

/* What `berth url-client get FOLDER BYTES UID URL PROGRAM WORDS...` does: makes FOLDER and has the program bring the file there, of up to BYTES, as user UID
 * (0: as we are). With `put` it brings the BYTES of standard input to the URL. Returns its exit status; what is wrong is said on standard error. */
int url_client_main(int count, char **words);

#ifdef __cplusplus
}
#endif
#endif
