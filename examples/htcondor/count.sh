#!/bin/sh
# count.sh FILE WORD: how many lines of a file have a word; job and process are told on standard error.
grep -c -- "$2" "$1"
echo "process $BERTH_INDEX counted $2 in $1" >&2
