# planted.awk - the launches and expectations that stand before the kernels of
# mutants/*.cu and tricky/*.cu (see planted.h), as the table that planted_fixture.h
# declares.

function shape(text,    part) {
    split(text, part, "x")
    return "{" part[1] ", " (part[2] ? part[2] : 1) ", " (part[3] ? part[3] : 1) "}"
}
function mark(line) {
    lines = lines (line_count++ ? ", " : "") line
}
function begin_kernel() {
    grid = block = fault = result = lines = ""
    shared = count = cooperative = freed = line_count = 0
}
function end_kernel(    stem) {
    stem = FILENAME
    sub(/.*\//, "", stem)
    sub(/\.cu$/, "", stem)
    printf "    {\"%s\", \"%s\", \"%s\", \"%s\", %s, %s, %d, %d, %d, %d, {%s}, %d},\n", \
        stem, name, fault, result, shape(grid), shape(block), shared, count, cooperative, \
        freed, line_count ? lines : "0", line_count
    begin_kernel()
    name = ""
}

BEGIN {
    print "/* written by tests/planted.awk */"
    print "#include \"tests/planted_fixture.h\""
    print "const struct planted planted[] = {"
    begin_kernel()
}
/launch: / {
    gsub(/[,*]/, " ")
    for (i = 1; i < NF; i++) {
        if ($i == "grid") grid = $(i + 1)
        if ($i == "block") block = $(i + 1)
        if ($i == "shared") shared = $(i + 1)
        if ($i == "n") count = $(i + 1)
    }
    cooperative = $0 ~ / cooperative/
    freed = $0 ~ / freed/
    next
}
/fault: / { fault = $3 }
/result: / { result = $3 }
/^KERNEL\(/ {
    name = $0
    gsub(/^KERNEL\(|\).*/, "", name)
}
# an asm statement may be named by any of its lines
/asm volatile\(/ { asm_from = FNR }
/\/\* FAULT \*\// {
    if (asm_from)
        asm_fault = 1
    else
        mark(FNR)
}
/;( *\/\* FAULT \*\/)?$/ {
    for (i = asm_from; asm_fault && i <= FNR; i++)
        mark(i)
    asm_from = asm_fault = 0
}
/^}/ && name != "" { end_kernel() }
END {
    print "};"
    print "const int planted_count = sizeof planted / sizeof *planted;"
}
