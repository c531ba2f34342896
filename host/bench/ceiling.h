/* ceiling.h - what a device can do at most: arithmetic alone, tensor cores alone, memory
 * alone (kernels/00_machine.cu and .c). On a GPU the times are measured, on the simulator
 * predicted.
 *
 * A result is checked before its rate is told: the chains of multiply-adds against the
 * host's own, tensor sums exactly (whole numbers), copies byte for byte. */
#ifndef PEAKBOUND_BENCH_CEILING_H
#define PEAKBOUND_BENCH_CEILING_H

#include "bench.h"

enum ceiling_kind {
    CEILING_FMA,    /* FP32 multiply-adds; TFLOPS */
    CEILING_TENSOR, /* FP16 in, FP32 sum, through WMMA; TFLOPS. No CPU has it here */
    CEILING_COPY,   /* bytes read + bytes written; GB/s */
    CEILING_TRIAD,  /* a = b + s * c, 12 bytes a step; GB/s. Only on the CPU */
    CEILING_KINDS
};

/* Ways to measure wrongly, for demonstrations. */
enum mistake {
    MISTAKE_NONE,
    MISTAKE_NO_SYNC,   /* the clock is read when the launch returns */
    MISTAKE_COLD,      /* the first launch, with the loading of the module */
    MISTAKE_ZEROS,     /* all inputs zero */
    MISTAKE_HOST_COPY, /* input and result cross to and from the host inside the time */
    MISTAKES
};

struct ceiling_options {
    enum mistake mistake;
    int reps;      /* 0 = choose */
    uint64_t seed; /* of the inputs */
};

struct ceiling {
    enum ceiling_kind kind;
    bool predicted; /* time from the model */
    bool passed;    /* the result was checked and is right */
    char why[200];  /* what went wrong; "" if passed */
    double work;    /* FLOP or bytes of one launch */
    double rate;    /* TFLOPS or GB/s; 0 unless passed */
    double time_ms, spread_pct;
    int reps;
};

/* The published peak of the device that a ceiling is held against: TFLOPS or GB/s; NAN if
 * none is known. *published as peak_tflops. */
double ceiling_peak(const struct peak_row *row, enum ceiling_kind kind, bool *published);

/* Always fills *c. The device must be open; on a CPU only MISTAKE_NONE counts. */
void ceiling_measure(const struct device *device, enum ceiling_kind kind,
                     const struct ceiling_options *options, struct ceiling *c);

/* What the host's link to a simulated card carries, GB/s each way: PCIe 4.0 x16 has 31.5
 * on paper (16 GT/s x 16 lanes x 128/130), about 25 of them arrive. An assumption. */
#define CEILING_LINK_GBS 25.0

#endif
