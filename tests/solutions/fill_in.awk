# fill_in.awk - an exercise with its gap filled: the comment that says FILL IN gives way
# to the file `with`.
/FILL IN/ {
    while ((getline line < with) > 0)
        print line
    gap = 1
}
!gap
/\*\// { gap = 0 }
