/* machine.c - see machine.h. */
#include "machine.h"

#include "isa.h"

extern const struct cpu_machine CPU_ISA_NAMES(cpu_rung_00_machine);

const struct cpu_machine *cpu_machine(void)
{
    return CPU_ISA_PICK(cpu_rung_00_machine);
}
