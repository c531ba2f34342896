/* guest_compile.c - CUDA C to PTX at run time; see guest.h. Whole programs will do as
 * well: only their device code is compiled. What the compiler has to say goes to
 * standard error as it is. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

extern char **environ;

enum { PATH_ROOM = 1024, WORDS_MAX = 32 };

/* --- programs ----------------------------------------------------------------------- */

/* Run a program and wait. `out` gets its standard output; -1: it goes to standard
 * error. Returns its exit status, or -1. */
static int run_program(char *const argv[], int out)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    posix_spawn_file_actions_adddup2(&actions, out < 0 ? STDERR_FILENO : out,
                                     STDOUT_FILENO);
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return -1;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
        kill(child, SIGTERM);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Is there such a program, on the PATH or with a slash in its name? */
static bool can_run(const char *program)
{
    char candidate[PATH_ROOM];
    const char *path = getenv("PATH");
    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (path && *path) {
        int length = (int)strcspn(path, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", length, path, program);
        if (access(candidate, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* The folder with kernel.h and clang/: where the program stands, or beside or above. */
static bool find_kernels(char *folder, size_t room)
{
    static const char *const places[] = {"/kernels", "/../kernels"};
    char self[PATH_ROOM], header[PATH_ROOM + 20];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            snprintf(folder, room, "%.900s%s", self, places[i]);
        else
            snprintf(folder, room, "kernels");
        snprintf(header, sizeof header, "%s/kernel.h", folder);
        if ((i == 2 || slash) && access(header, R_OK) == 0)
            return true;
    }
    return false;
}

/* --- architectures ------------------------------------------------------------------ */

/* The newest architecture that this nvcc knows and the device can run; 0 if none. */
static int nvcc_arch(const char *nvcc, int device_cc)
{
    char program[PATH_ROOM], list[] = "--list-gpu-arch", line[80];
    int ends[2], best = 0;
    snprintf(program, sizeof program, "%s", nvcc);
    if (pipe(ends) != 0)
        return 0;
    /* some twenty short lines: they fit into the pipe before it is read */
    int status = run_program((char *[]){program, list, NULL}, ends[1]);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    while (from && status == 0 && fgets(line, sizeof line, from)) {
        int arch = 0;
        if (sscanf(line, "compute_%d", &arch) == 1 && arch <= device_cc && arch > best)
            best = arch;
    }
    if (from)
        fclose(from);
    else
        close(ends[0]);
    return best;
}

/* --- compiling ---------------------------------------------------------------------- */

struct command {
    char *argv[WORDS_MAX];
    int count;
};

static void add(struct command *c, const char *word)
{
    c->argv[c->count++] = xstrdup(word);
}

static bool nvcc_command(struct command *c, const char *nvcc, int device_cc,
                         const char *kernels, struct error *err)
{
    char arch[40];
    int best = nvcc_arch(nvcc, device_cc);
    if (best == 0)
        return error_set(err, EXIT_MISSING,
                         "--cu: %.80s makes no code for compute capability %d.%d: an "
                         "older CUDA toolkit does, or give --ptx",
                         nvcc, device_cc / 10, device_cc % 10);
    /* 9.0a: what only Hopper has, and all of 9.0 */
    snprintf(arch, sizeof arch, "-arch=compute_%d%s", best, best == 90 ? "a" : "");
    static const char *const words[] = {"-ptx",       "-x",  "cu",
                                        "-std=c++17", "-O3", "-lineinfo"};
    add(c, nvcc);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(c, words[i]);
    add(c, arch);
    if (kernels) {
        add(c, "-I");
        add(c, kernels);
    }
    return true;
}

static bool clang_command(struct command *c, const char *clang, int device_cc,
                          const char *kernels, struct error *err)
{
    static const char *const words[] = {"-x",
                                        "cuda",
                                        "-std=c++17",
                                        "-O3",
                                        "-g1",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "--cuda-device-only",
                                        "-Wno-unknown-cuda-version",
                                        "-Xclang",
                                        "-target-feature",
                                        "-Xclang",
                                        "+ptx70",
                                        "-S"};
    char text[PATH_ROOM + 60];
    if (!kernels)
        return error_set(err, EXIT_MISSING,
                         "--cu: there is no nvcc, and for clang the folder kernels/clang "
                         "is not beside this program: install the CUDA toolkit");
    *err = (struct error){0}; /* that nvcc could not */
    add(c, clang);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(c, words[i]);
    snprintf(text, sizeof text, "--cuda-gpu-arch=sm_%d", device_cc < 80 ? 70 : 80);
    add(c, text);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "-I%s%s", kernels, i == 0 ? "/clang" : "");
        add(c, text);
    }
    add(c, "-include");
    snprintf(text, sizeof text, "%s/clang/cuda_basics.h", kernels);
    add(c, text);
    return true;
}

static const char *find_nvcc(void)
{
    static const char *const usual[] = {"nvcc", "/usr/local/cuda/bin/nvcc"};
    const char *wish = getenv("NVCC");
    if (wish && *wish)
        return can_run(wish) ? wish : NULL;
    for (int i = 0; i < 2; i++)
        if (can_run(usual[i]))
            return usual[i];
    return NULL;
}

/* nvcc; where there is none, or none for this device, clang. */
static bool compiler_command(struct command *c, int device_cc, struct error *err)
{
    char folder[PATH_ROOM];
    const char *kernels = find_kernels(folder, sizeof folder) ? folder : NULL;
    const char *nvcc = find_nvcc(), *clang = getenv("CLANG");
    if (nvcc && nvcc_command(c, nvcc, device_cc, kernels, err))
        return true;
    clang = clang && *clang ? clang : "clang";
    if (can_run(clang) && (kernels || !nvcc))
        return clang_command(c, clang, device_cc, kernels, err);
    return !nvcc && error_set(err, EXIT_MISSING,
                              "--cu: neither nvcc nor clang is on the PATH: install the "
                              "CUDA toolkit (or make deps, which installs clang), or "
                              "give the compiled kernel with --ptx");
}

/* An empty file for the compiler to write; it goes when the program ends. */
static bool new_temporary(char *path, size_t room, struct error *err)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, room, "%.900s/peakbound_XXXXXX.ptx",
             folder && *folder ? folder : "/tmp");
    int descriptor = mkstemps(path, 4);
    if (descriptor < 0)
        return error_set(err, EXIT_MISSING,
                         "--cu: no file can be made in %.200s (%s): set TMPDIR to a "
                         "folder that can be written",
                         folder && *folder ? folder : "/tmp", strerror(errno));
    close(descriptor);
    temporary_add(path);
    return true;
}

bool guest_compile(const char *path, int device_cc, char **ptx, size_t *length,
                   struct error *err)
{
    struct command command = {0};
    char output[PATH_ROOM], source[PATH_ROOM];
    void *data = NULL;
    if (access(path, R_OK) != 0)
        return error_set(err, EXIT_USAGE, "--cu: `%.200s` cannot be read: %s", path,
                         strerror(errno));
    /* a name that starts with - is no option */
    snprintf(source, sizeof source, "%s%.1000s", path[0] == '-' ? "./" : "", path);
    bool good = compiler_command(&command, device_cc, err) &&
                new_temporary(output, sizeof output, err);
    if (good) {
        add(&command, "-o");
        add(&command, output);
        add(&command, source);
        good = run_program(command.argv, -1) == 0 ||
               error_set(err, interrupt_pending() ? EXIT_INTERRUPTED : EXIT_USAGE,
                         "--cu: %.80s did not compile `%.200s`", command.argv[0], path);
        good = good && guest_read(output, &data, length, err);
        unlink(output);
        temporary_forget(output);
    }
    for (int i = 0; i < command.count; i++)
        free(command.argv[i]);
    *ptx = data;
    return good;
}
