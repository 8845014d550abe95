#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
# deb: `remove` or `upgrade`; rpm: how many versions stay. An upgrade stops nothing.
case "$1" in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now keibidrop-relay.service || true
  systemctl --global disable keibidrop-daemon.service || true
fi
