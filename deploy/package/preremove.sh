#!/bin/sh
# Before the files go. dpkg says remove, rpm 0; on an upgrade the service goes on.
set -e
case $1 in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now clusterd.service
  fi
  if [ "$1" = 0 ] && [ -e /etc/clusterd/clusterd.yaml ]; then
    # rpm deletes it with the package.
    cp -p /etc/clusterd/clusterd.yaml /etc/clusterd/clusterd.yaml.rpmsave
  fi
  ;;
esac
