#!/bin/sh
# prepare.sh NODE: runs before the job of a node, in its folder.
echo "prepared for $1" >prepared
