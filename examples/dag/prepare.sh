#!/bin/sh
# prepare.sh NODE: runs before the job of a node, on the submit host, beside the workflow.
echo "prepared for $1" >prepared
