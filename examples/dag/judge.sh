#!/bin/sh
# judge.sh NODE STATUS: runs on the submit host after the job of a node, and says what is to be thought of it.
echo "$1 ended with status $2"
exit "$2"
