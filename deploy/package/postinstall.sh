#!/bin/sh
# After the files are there: the user, the state, and a service that runs is restarted.
set -e

if ! getent passwd clusterd >/dev/null; then
  useradd --system --user-group --no-create-home --home-dir /var/lib/clusterd \
    --shell /usr/sbin/nologin clusterd
fi
install -d -o clusterd -g clusterd -m 0700 /var/lib/clusterd
# What is there is the user's, changed or not: another method would not fit the clusters.
if [ ! -e /etc/clusterd/clusterd.yaml ]; then
  cp /usr/share/clusterd/clusterd.yaml /etc/clusterd/clusterd.yaml
fi
chgrp clusterd /etc/clusterd/clusterd.yaml /etc/default/clusterd
chmod 0640 /etc/clusterd/clusterd.yaml /etc/default/clusterd

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart clusterd.service
fi

# Of an upgrade, dpkg says the version before, and rpm how many there are.
if [ -z "$2" ] && [ "$1" != 2 ]; then
  cat <<'TEXT'
clusterd is installed. See it at work:  clusterd demo
As a service: set the brokers in /etc/clusterd/clusterd.yaml, then
  clusterd doctor -c /etc/clusterd/clusterd.yaml
  systemctl enable --now clusterd
TEXT
fi
