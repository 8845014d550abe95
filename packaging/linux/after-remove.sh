#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
