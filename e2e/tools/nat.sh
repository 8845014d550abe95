#!/bin/bash
# SPDX-License-Identifier: MPL-2.0
# nat.sh - two peers, each behind its own NAT, and a public host between them, all in network namespaces.
#
#   usage: nat.sh up TYPE_A TYPE_B     TYPE: cone | sym
#          nat.sh down
#
#   $P-A 192.168.10.2 -- $P-natA 203.0.113.10 --\
#                                                br0 in $P-pub 203.0.113.1 and .2 (rendezvous, relay)
#   $P-B 192.168.20.2 -- $P-natB 203.0.113.20 --/
#
# cone = masquerade: the mapping keeps the source port and does not depend on the destination, and
#        only answers to sent packets come in (a port-restricted cone, as in most home routers).
# sym  = masquerade fully-random: a new random port for each destination.
# Unsolicited packets to the NAT itself are dropped, as home routers do: an RST or a conntrack entry
# would spoil a hole punch.   Needs: root, iproute2, nftables.   NAT_PREFIX renames the namespaces.
P=${NAT_PREFIX:-kd}

down() { for n in pub natA natB A B; do ip netns del "$P-$n" 2>/dev/null; done; }

up() {
  down
  set -e
  for n in pub natA natB A B; do ip netns add "$P-$n"; ip -n "$P-$n" link set lo up; done
  ip -n "$P-pub" link add br0 type bridge
  ip -n "$P-pub" addr add 203.0.113.1/24 dev br0
  ip -n "$P-pub" addr add 203.0.113.2/24 dev br0
  ip -n "$P-pub" link set br0 up
  one_side A 10 "$1"
  one_side B 20 "$2"
}

one_side() { # name, last byte of its addresses, NAT type
  local x=$1 i=$2 random=""
  [ "$3" = sym ] && random="fully-random"
  ip link add wan netns "$P-nat$x" type veth peer name "w$x" netns "$P-pub"
  ip -n "$P-pub" link set "w$x" master br0 up
  ip -n "$P-nat$x" addr add "203.0.113.$i/24" dev wan
  ip -n "$P-nat$x" link set wan up
  ip link add lan netns "$P-nat$x" type veth peer name eth0 netns "$P-$x"
  ip -n "$P-nat$x" addr add "192.168.$i.1/24" dev lan
  ip -n "$P-nat$x" link set lan up
  ip -n "$P-$x" addr add "192.168.$i.2/24" dev eth0
  ip -n "$P-$x" link set eth0 up
  ip -n "$P-$x" route add default via "192.168.$i.1"
  ip netns exec "$P-nat$x" sysctl -qw net.ipv4.ip_forward=1
  ip netns exec "$P-nat$x" nft -f - <<RULES
table ip nat {
  chain cpost { type nat hook postrouting priority 100; oifname "wan" masquerade $random; }
}
table ip filter {
  chain cforward {
    type filter hook forward priority 0; policy drop;
    ct state established,related accept
    iifname "lan" accept
  }
  chain cinput {
    type filter hook input priority 0;
    iifname "wan" ct state new meta l4proto { tcp, udp } drop
  }
}
RULES
}

case "$1" in
  up) up "$2" "$3" ;;
  down) down ;;
  *) sed -n '2,6p' "$0"; exit 2 ;;
esac
