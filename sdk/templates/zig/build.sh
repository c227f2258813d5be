#!/bin/sh
exec portcullis build "$@"
