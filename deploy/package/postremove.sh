#!/bin/sh
# After the files are gone. Configuration and state stay until dpkg says purge. The user stays, who
# may own other files.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/clusterd
  rm -f /etc/clusterd/clusterd.yaml
fi
