#!/bin/sh
# After the files are gone. The state stays until dpkg says purge, as does the user, who may own
# other files.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "$1" = purge ]; then
  rm -rf /var/lib/clusterd
fi
