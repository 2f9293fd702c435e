#!/bin/sh
# step.sh NODE SECONDS: a step of the diamond.
sleep "$2"
[ -f prepared ] && cat prepared
echo "$1 was here"
