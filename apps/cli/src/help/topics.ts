// SPDX-License-Identifier: MPL-2.0

export interface Topic {
  readonly summary: string;
  /** Lines of at most 80 columns, each with its end. */
  readonly text: string;
}

const codes = `Codes

A code such as 7-guitar-pencil is a number, by which the two computers find each
other, and two words, which are the secret. The words come from a list of 2048,
so there are four million pairs. Give the code to the receiver by phone, by a
chat, or in person: whoever has it can receive.

  keibidrop send photos                  prints a new code
  keibidrop receive 7-guitar-pencil      on the other computer
  keibidrop receive                      asks for the code; Tab completes words

- A guess needs a connection to the sender. The third wrong one ends the offer.
- A code for one receiver is used up once a receiver has it. --receivers 3
  allows three. The code of a shared folder is valid until the share ends.
- Neither a server nor the network sees the words, or anything to try them on.
  An attacker with a large quantum computer could find them in a recording, but
  not the files: their keys also need ML-KEM.
- --code-length 4 makes a code of four words. --code uses your own words, and
  refuses weak ones without --insecure-code.
- Other users of a machine can read the arguments of a process. To hide a code
  from them, type it when asked, set KD_CODE, or use - and standard input.
`;

const contacts = `Contacts

A contact is a person whose computer you recognize, by the fingerprint of an
identity key. Contacts need no code:

  keibidrop send photos --to Anna        Anna accepts, and no code is typed
  keibidrop share photos --to Anna       Anna connects to you by name
  keibidrop invitations                  answer what contacts offer to you

There are two ways to become contacts. Both sides have to do their part:
- Meet by a code once: send --save Bob on one side, receive --save Anna on the
  other.
- Exchange fingerprints: keibidrop id shows yours, keibidrop contacts add saves
  one.

To be reachable, a daemon must run: keibidrop daemon --install starts it now and
at each login. Contacts on other networks meet at a rendezvous server that both
use (see keibidrop help relays).

A contact that was saved by a code is as trustworthy as that code. To be sure,
read sixteen words to each other: keibidrop contacts verify Anna.

keibidrop contacts rule decides what happens to an offer: ask, accept into a
folder, or never. keibidrop contacts block refuses a contact and says so.

The names and fingerprints of contacts are on this disk, readable by you alone,
and not encrypted. Your own key is encrypted: keibidrop id has more.

All commands: keibidrop contacts --help
`;

const mounts = `Mounts

A mount shows a folder of another computer as a folder here. Programs open its
files as if they were local; a file is fetched when a program reads it.

  keibidrop share photos                 on the other computer; prints a code
  keibidrop mount 7-guitar-pencil here   the folder here shows photos
  keibidrop mount                        list the mounts
  keibidrop unmount here

- Changes on the other side appear within a second. Files written here are
  uploaded soon after they are closed, and fsync waits for the other disk.
- A guest can change and delete files of the share, unless it is shared with
  --read-only. A file that both sides changed is kept twice.
- While the other side is offline, files that were read before stay readable,
  and writes wait. Other calls fail after 30 seconds.
- Programs on both sides exclude each other by fcntl and flock locks.
- Many small files are slower than on a local disk: each create or delete is a
  round trip to the other computer.

A mount is no copy: without the other side, files that were never read here are
not available. To get a copy, use keibidrop pull or keibidrop receive.

Mounting needs Linux with libfuse3. keibidrop doctor shows whether it is there.
Without it, keibidrop connect, list and pull browse a share and fetch from it.
`;

const relays = `Relays

On one machine or one network, two computers find each other by multicast, and
no server takes part. Where multicast is blocked, add the --connect HOST:PORT
that the sender prints.

Computers on different networks need a server that both can reach. There is no
public one. keibidrop relay runs one, on any machine with one open TCP port:

  keibidrop relay --listen 0.0.0.0:26431
  KD_RENDEZVOUS=relay.example.org:26431 keibidrop send photos

Both sides name the same server: by --rendezvous, by KD_RENDEZVOUS, or by
rendezvous in config.toml.

The server has two parts. The rendezvous lets both sides exchange addresses.
They then try to connect directly, through both routers. If that fails, the
relay forwards their bytes. Both commands show which path they take.

- The server sees the addresses of both sides, the times and the amount of data.
  It never sees words of a code, names or content, and it cannot change them.
- --direct-only never uses a relay; --relay-only uses nothing else, which hides
  your address from the other side.
- https://HOST as server wraps the meeting in TLS, which hides from the network
  who meets.

All limits, a unit for systemd and container files are in docs/relay.md.
`;

const firewalls = `Firewalls

The side that sends or shares listens on TCP port 26431; the other side dials
it. So only a sender or a sharer opens a port; receive, connect and mount do
not. Both sides find each other by multicast DNS, UDP port 5353.

  keibidrop doctor                       check ports, multicast and the router
  keibidrop send photos --listen 26431   this port, or an error if it is taken

Each running send or share needs a port of its own, and so does a daemon that
has contacts. Without --listen they take any free port if theirs is taken, and a
firewall blocks it. So open some more, and name one each: --listen 26432.
KD_LISTEN, or listen in config.toml, sets another port to start with.

ufw        sudo ufw allow 26431/tcp
           sudo ufw allow 5353/udp
firewalld  sudo firewall-cmd --permanent --add-port=26431/tcp --add-service=mdns
           sudo firewall-cmd --reload
KeibiDrop itself runs on Linux only so far. Around a virtual machine:
Windows    New-NetFirewallRule -DisplayName KeibiDrop -Direction Inbound \`
             -Protocol TCP -LocalPort 26431 -Action Allow
macOS      in System Settings, Network, Firewall: let its program accept

If multicast is blocked, name the sender's address on the other side:
  keibidrop receive 7-guitar-pencil --connect 192.168.1.7:26431

If a network allows only outgoing connections:
- Name a server that both sides reach at its TCP port 26431, and at 443 too for
  https://HOST (keibidrop help relays). The sender then asks its router for a
  port by PCP, NAT-PMP or UPnP, both sides dial each other at once, which passes
  many routers, and if all fails the server relays.
- With --relay-only on both sides, nothing but the server is dialled.
- Or let the side that can be dialled share a folder: keibidrop share. The other
  side pulls from it, or mounts it to put files there.
`;

/** The topics of `keibidrop help`. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  codes: { summary: 'how codes work, and how safe they are', text: codes },
  contacts: { summary: 'send to people without a code', text: contacts },
  mounts: { summary: 'open files of another computer in place', text: mounts },
  relays: { summary: 'reach computers on other networks', text: relays },
  firewalls: { summary: 'which ports to open, and what to do without', text: firewalls },
};
