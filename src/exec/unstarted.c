/* unstarted.c: why a program could not be started. The file is the user's, so it is opened as one that a stranger has made. */
#define _GNU_SOURCE /* ST_NOEXEC */
#include "exec/unstarted.h"

#include "exec/sandbox.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LINE_MAX_READ 256 /* bytes of the first line: as many as the kernel looks at */

/* The name of the program beneath the job's folder; NULL when it is elsewhere. */
static const char *name_in_folder(const char *program)
{
    size_t len = strlen(SANDBOX_FOLDER "/");

    if (!strncmp(program, SANDBOX_FOLDER "/", len))
        program += len;
    while (!strncmp(program, "./", 2))
        program += 2;
    return confined_name_is_good(program, strlen(program)) ? program : NULL;
}

/* What the first line asks for, when that is not there. */
static void interpreter_print(int fd, char *out, size_t size)
{
    char line[LINE_MAX_READ + 1], *interpreter;
    ssize_t got = pread(fd, line, LINE_MAX_READ, 0);
    size_t len;

    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return;
    len = strlen(line);
    interpreter = line + 2 + strspn(line + 2, " \t");
    if (line[len - 1] == '\r') {
        snprintf(out, size, "its lines end as on Windows, with a carriage return: sed -i 's/\\r$//' mends it");
        return;
    }
    interpreter[strcspn(interpreter, " \t")] = '\0';
    for (char *at = interpreter; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    snprintf(out, size, "its first line asks for %.100s, which the machine does not have", interpreter);
}

/* Why it may not be executed. */
static void permission_print(int fd, char *out, size_t size)
{
    struct statvfs disk;
    struct stat info;

    if (fstat(fd, &info) == 0 && !(info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        snprintf(out, size, "the file is not executable: chmod +x makes it so");
    else if (fstatvfs(fd, &disk) == 0 && (disk.f_flag & ST_NOEXEC))
        snprintf(out, size, "jobs have their folders there on a disk that is mounted noexec: State names another");
}

void unstarted_add(int folder, const char *program, char *words, size_t size)
{
    const char *name = name_in_folder(program);
    char hint[200] = "";
    size_t len = strlen(words);
    int fd = name ? confined_file(folder, name, O_RDONLY, 0) : -1;

    if (fd < 0)
        return;
    if (strstr(words, strerror(ENOENT)))
        interpreter_print(fd, hint, sizeof hint);
    else if (strstr(words, strerror(EACCES)))
        permission_print(fd, hint, sizeof hint);
    close(fd);
    if (*hint)
        snprintf(words + len, size - len, " (%s)", hint);
}
