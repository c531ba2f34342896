/* units.h - one way to write a number for a person: times, bytes, rates, sizes,
 * and the names of types and units. Every text of the program goes through
 * here, so that the same value looks the same in every table.
 *
 * Formatters return the text by value: printf("%s", format_time(ms).s).
 * All text is ASCII; the decimal point is a point whatever the locale.
 */
#ifndef PEAKBOUND_REPORT_UNITS_H
#define PEAKBOUND_REPORT_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct unit_text {
    char s[48];
};

/* 0.000512 -> "0.512 us", 12.34 -> "12.3 ms", 65432 -> "65.4 s", 1e6 -> "16.7 min";
 * "-" if ms is negative or not finite. */
struct unit_text format_time(double ms);
/* TFLOPS -> "185 GFLOPS", "19.5 TFLOPS", "1.02 PFLOPS". */
struct unit_text format_flops(double tflops);
/* TFLOPS as a bare number of about three digits: "0.0024", "2.61", "989". */
struct unit_text format_tflops(double tflops);
/* A published peak in TFLOPS, with the digits that were published: "989.4", "312". */
struct unit_text format_peak(double tflops);
/* Powers of 1000: "1.57 MB". Memory sizes come in powers of 1024: "79.3 GiB". */
struct unit_text format_bytes(double bytes);
struct unit_text format_memory(double bytes);
/* 66846720 -> "66,846,720". */
struct unit_text format_count(uint64_t count);
/* 13.34 -> "13.3", 0.04 -> "0.04", 0.0001 -> "<0.01". */
struct unit_text format_percent(double percent);
/* 1331.4 -> "1331", 12.34 -> "12.3", 0.512 -> "0.51". */
struct unit_text format_ratio(double ratio);
/* 512 x 512 x 512 -> "512", else "300x100x77". */
struct unit_text format_size(size_t m, size_t n, size_t k);
/* 12040 -> "12.4" (a CUDA version), 89 -> "8.9" (a compute capability). */
struct unit_text format_cuda_version(int version);
struct unit_text format_cc(int cc);

const char *unit_label(int unit); /* "CUDA cores", "tensor cores" */
const char *unit_key(int unit);   /* "cuda_cores", "tensor_cores" */
const char *type_label(int type); /* "FP32"; kernel_type_name gives "f32" */
/* "CUDA cores, FP32 in, FP32 sum" */
struct unit_text format_kind(int unit, int in, int acc);

#endif
