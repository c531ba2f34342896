/* output_file.c - see output_file.h. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A temporary file beside file->path. */
static bool open_temporary(struct output_file *file, mode_t mode)
{
    size_t room = strlen(file->path) + 16;
    file->temporary = xmalloc(room);
    snprintf(file->temporary, room, "%s.XXXXXX", file->path);
    int descriptor = mkstemp(file->temporary);
    if (descriptor < 0)
        return false;
    temporary_add(file->temporary);
    fchmod(descriptor, mode);
    file->stream = fdopen(descriptor, "w");
    return file->stream != NULL;
}

bool output_file_open(struct output_file *file, const char *path)
{
    *file = (struct output_file){0};
    struct stat status;
    bool exists = stat(path, &status) == 0, good;
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    char *target = exists ? realpath(path, NULL) : NULL; /* through a symbolic link */
    file->path = target ? target : xstrdup(path);
    if (exists && !S_ISREG(status.st_mode)) {
        file->stream = fopen(path, "we");
        good = file->stream != NULL;
    } else {
        good = open_temporary(file, exists ? status.st_mode & 0777 : usual_mode());
    }
    if (!good) {
        int problem = errno;
        free(file->path);
        free(file->temporary);
        *file = (struct output_file){0};
        errno = problem;
    }
    return good;
}

bool output_file_close(struct output_file *file, bool keep)
{
    bool written = !ferror(file->stream);
    errno = 0;
    if (fclose(file->stream) != 0)
        written = false;
    if (keep && written && file->temporary)
        written = rename(file->temporary, file->path) == 0;
    int problem = errno;
    if (file->temporary) {
        if (!keep || !written)
            unlink(file->temporary);
        temporary_forget(file->temporary);
    }
    free(file->path);
    free(file->temporary);
    *file = (struct output_file){0};
    errno = problem;
    return written || !keep;
}

/* A pipe or a device must not be opened and closed: its reader would see the end. */
bool output_can_write(const char *path, const char *option, struct error *err)
{
    struct output_file file;
    struct stat status;
    bool special =
        stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    bool good = special ? access(path, W_OK) == 0 : output_file_open(&file, path);
    if (!good)
        return error_set(err, EXIT_USAGE, "%s: `%.200s` cannot be written: %s", option,
                         path, strerror(errno));
    if (!special)
        output_file_close(&file, false);
    return true;
}

void output_hold_standard_streams(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != descriptor)
            return;
}
