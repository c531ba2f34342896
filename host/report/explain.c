/* explain.c - see explain.h. Sectors: 32 bytes of global memory; a wavefront gives each of
 * 32 banks one 4-byte word; wide accesses go in phases of fewer lanes (Nsight Compute
 * documentation, memory tables). */
#include "explain.h"

#include <string.h>

#include "units.h"

enum { LANES = 32, WORD = 4, SECTOR = 32, LINE = 128, MOST_ROWS = 8, MOST_SITES = 5 };

static char lane_letter(int lane)
{
    return "0123456789abcdefghijklmnopqrstuv"[lane];
}

static bool is_on(const struct sim_site *site, int lane)
{
    return site->mask >> lane & 1;
}

/* --- advice ------------------------------------------------------------------------------- */

/* Bytes from each lane's address to the next lane's, if that is the same for all. */
static bool common_stride(const struct sim_site *site, int64_t *stride)
{
    if (site->mask != 0xffffffffu)
        return false;
    *stride = (int64_t)(site->address[1] - site->address[0]);
    for (int l = 1; l < LANES; l++)
        if ((int64_t)(site->address[l] - site->address[l - 1]) != *stride)
            return false;
    return true;
}

void explain_advice(char *text, size_t room, const struct sim_site *site)
{
    int64_t stride = 0;
    bool common = common_stride(site, &stride);
    if (site->worst_cost <= site->worst_ideal)
        snprintf(text, room, "Nothing is wasted: the access costs what its bytes need.");
    else if (!site->shared && common && stride == (int64_t)site->bytes)
        snprintf(text, room,
                 "The lanes lie side by side but begin inside a sector: align rows to 32 "
                 "bytes.");
    else if (!site->shared && common)
        snprintf(text, room,
                 "Neighbouring lanes are %lld bytes apart: let them touch neighbouring "
                 "elements.",
                 (long long)stride);
    else if (!site->shared)
        snprintf(
            text, room,
            "The lanes' places lie apart: order data or lanes so that neighbours share "
            "sectors.");
    else if (common)
        snprintf(
            text, room,
            "Lanes are %lld words apart and meet in the same banks: pad the rows, or "
            "swizzle.",
            (long long)stride / WORD);
    else
        snprintf(
            text, room,
            "Several lanes want different words of one bank: pad the rows, or swizzle.");
}

/* --- pictures ----------------------------------------------------------------------------- */

/* Put a lane into a cell of the picture. */
static void put_lane(char *cell, int lane)
{
    *cell = *cell == ' ' || *cell == '.' ? lane_letter(lane) : '*';
}

static int find_line(uint64_t *lines, int *count, uint64_t line)
{
    for (int i = 0; i < *count; i++)
        if (lines[i] == line)
            return i;
    lines[*count] = line;
    return (*count)++;
}

/* A row of the picture: 32 words of a line; words of a fetched sector are at least dots. */
static void fill_line(const struct sim_site *site, uint64_t line, char *words)
{
    memset(words, ' ', LANES);
    for (int pass = 0; pass < 2; pass++)
        for (int l = 0; l < LANES; l++)
            for (uint32_t b = 0; is_on(site, l) && b < site->bytes; b += WORD) {
                uint64_t at = site->address[l] + b;
                if (at / LINE != line)
                    continue;
                char *sector = words + at % LINE / SECTOR * (SECTOR / WORD);
                if (pass == 0)
                    memset(sector, '.', SECTOR / WORD);
                else
                    put_lane(&words[at % LINE / WORD], l);
            }
}

static void picture_lines(FILE *out, const struct sim_site *site)
{
    uint64_t lines[LANES * 2];
    int count = 0;
    for (int l = 0; l < LANES; l++)
        for (uint32_t b = 0; is_on(site, l) && b < site->bytes; b += WORD)
            if (count < LANES * 2)
                find_line(lines, &count, (site->address[l] + b) / LINE);
    fprintf(out, "  128-byte line   sector 0  sector 1  sector 2  sector 3\n");
    for (int i = 0; i < count && i < MOST_ROWS; i++) {
        char words[LANES];
        fill_line(site, lines[i], words);
        fprintf(out, "  %14llx  [%.8s][%.8s][%.8s][%.8s]\n",
                (unsigned long long)(lines[i] * LINE), words, words + 8, words + 16,
                words + 24);
    }
    if (count > MOST_ROWS)
        fprintf(out, "  ... and %d more lines\n", count - MOST_ROWS);
}

/* Wavefronts of lanes [first, end): the n-th different piece that a group of banks must
 * give is in the n-th. Returns how many there are. */
static int fill_wavefronts(const struct sim_site *site, int first, int end,
                           char rows[LANES][LANES])
{
    int width = site->bytes <= WORD ? 1 : (int)site->bytes / WORD, count = 0;
    uint64_t piece[LANES][LANES]; /* by row and first bank */
    memset(rows, ' ', LANES * LANES);
    for (int l = first; l < end; l++) {
        if (!is_on(site, l))
            continue;
        uint64_t word = site->address[l] / WORD;
        int bank = (int)(word % LANES) / width * width, row = 0;
        while (rows[row][bank] != ' ' && piece[row][bank] != word / (uint64_t)width)
            row++;
        piece[row][bank] = word / (uint64_t)width;
        for (int i = 0; i < width; i++)
            put_lane(&rows[row][bank + i], l);
        count = row + 1 > count ? row + 1 : count;
    }
    return count;
}

static void picture_banks(FILE *out, const struct sim_site *site)
{
    int lanes = site->bytes <= WORD ? LANES : LANES * WORD / (int)site->bytes, most = 0,
        worst = 0;
    char rows[LANES][LANES];
    for (int first = 0; first < LANES; first += lanes) {
        int count = fill_wavefronts(site, first, first + lanes, rows);
        worst = count > most ? first : worst;
        most = count > most ? count : most;
    }
    fill_wavefronts(site, worst, worst + lanes, rows);
    if (lanes < LANES)
        fprintf(out, "  (lanes %d to %d, one of %d phases)\n", worst, worst + lanes - 1,
                LANES / lanes);
    fprintf(out, "  bank          0         1         2         3\n"
                 "                01234567890123456789012345678901\n");
    for (int i = 0; i < most && i < MOST_ROWS; i++)
        fprintf(out, "  wavefront %2d [%.32s]\n", i + 1, rows[i]);
    if (most > MOST_ROWS)
        fprintf(out, "  ... and %d more wavefronts\n", most - MOST_ROWS);
}

void explain_picture(FILE *out, const struct sim_site *site)
{
    fprintf(
        out,
        "  warp %u of block (%u,%u,%u), %u bytes a lane; lanes 0 to v, * several, . in "
        "vain\n",
        site->warp, site->block[0], site->block[1], site->block[2], site->bytes);
    site->shared ? picture_banks(out, site) : picture_lines(out, site);
}

/* --- the whole ----------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void print_sites(FILE *out, const struct result *r)
{
    fprintf(out, "  %-28s %14s %16s %7s  %s\n", "line", "requests", "each costs", "ideal",
            "instruction");
    for (int i = 0; i < r->site_count && i < MOST_SITES; i++) {
        const struct sim_site *s = &r->sites[i];
        char where[64];
        snprintf(where, sizeof where, "%.40s:%d", file_name(s->file), s->line);
        fprintf(out, "  %-28s %14s %5.1f %-10s %7.1f  %.22s\n", where,
                format_count(s->requests).s, (double)s->cost / (double)s->requests,
                s->shared ? "wavefronts" : "sectors",
                (double)s->ideal / (double)s->requests, s->text);
    }
    if (r->site_count > MOST_SITES)
        fprintf(out, "  ... and %d more\n", r->site_count - MOST_SITES);
}

void explain_print(FILE *out, const struct row *rows, int row_count)
{
    bool any = false;
    for (int i = 0; i < row_count; i++) {
        const struct result *r = &rows[i].result;
        if (r->site_count == 0)
            continue;
        any = true;
        char advice[200];
        const struct sim_site *worst = &r->sites[0];
        fprintf(out, "\n%s: memory instructions, the most wasteful first (exact)\n",
                r->rung.info.name);
        print_sites(out, r);
        fprintf(out, "  the access of line %d that costs most: %u %s, ideal %u\n",
                worst->line, worst->worst_cost, worst->shared ? "wavefronts" : "sectors",
                worst->worst_ideal);
        explain_picture(out, worst);
        explain_advice(advice, sizeof advice, worst);
        fprintf(out, "  %s\n", advice);
    }
    if (!any)
        fprintf(out,
                "\nexplain  no GPU rung ran on the simulator, which keeps this account: "
                "add -d sim\n");
}
