// SPDX-License-Identifier: MPL-2.0
import { run } from './sandbox.ts';

/** Each try takes a few milliseconds. */
const RUNNING_TRIES = 2000;

/** One port of a switch, with a host at the other end of the cable. */
export interface Plug {
  readonly switch: string;
  readonly port: string;
}

/** Makes the switch stop forwarding to and from the port; the host does not notice. */
export function silence({ switch: into, port }: Plug): void {
  inside(into, 'ip', 'link', 'set', port, 'nomaster');
}

/** Lets the switch forward again after `silence`. */
export function endSilence({ switch: into, port }: Plug): void {
  inside(into, 'ip', 'link', 'set', port, 'master', 'br0');
}

/** Unplugs or plugs the cable; the host sees the change. */
export function setCable({ switch: into, port }: Plug, state: 'up' | 'down'): void {
  inside(into, 'ip', 'link', 'set', port, state);
}

/** Replaces the IPv4 address `from` of an interface by `to`. */
export function readdress(host: string, name: string, [from, to]: readonly [string, string]): void {
  inside(host, 'ip', 'address', 'del', from, 'dev', name);
  inside(host, 'ip', 'address', 'add', to, 'dev', name);
}

/** Interfaces added later get no IPv6 addresses. */
export function withoutIpv6(host: string): void {
  inside(host, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
}

/** Networks of namespaces: switches, and hosts plugged into them, without a route to the outside. Needs root. */
export class Lan {
  /** Separates the namespaces of this test from all others on the machine. */
  readonly #prefix = `kd${process.pid}x${Math.random().toString(36).slice(2, 6)}`;
  readonly #namespaces: string[] = [];
  #plugs = 0;

  /** Makes a host without a network. Returns the name of its namespace. */
  host(name: string): string {
    const namespace = `${this.#prefix}${name}`;
    run('ip', 'netns', 'add', namespace);
    this.#namespaces.push(namespace);
    // Without duplicate address detection, addresses work at once.
    inside(namespace, 'sysctl', '-qw', 'net.ipv6.conf.all.accept_dad=0', 'net.ipv6.conf.default.accept_dad=0');
    inside(namespace, 'ip', 'link', 'set', 'lo', 'up');
    return namespace;
  }

  /** Makes a switch: a bridge in a namespace of its own. */
  switch(name: string): string {
    const namespace = this.host(name);
    inside(namespace, 'ip', 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '0');
    inside(namespace, 'ip', 'link', 'set', 'br0', 'up');
    return namespace;
  }

  /**
   * Plugs a host into a switch by a new interface with a link-local IPv6 address and, if given, an IPv4 one.
   * @param ipv4       with its prefix length
   * @param multicast  false: the switch forwards no multicast to the host
   * @returns          the switch's end of the cable
   */
  plug(
    host: string,
    into: string,
    name: string,
    { ipv4, multicast = true }: { ipv4?: string; multicast?: boolean } = {},
  ): Plug {
    const port = `p${this.#plugs++}`;
    inside(into, 'ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', name, 'netns', host);
    inside(into, 'ip', 'link', 'set', port, 'master', 'br0', 'up');
    if (!multicast) inside(into, 'bridge', 'link', 'set', 'dev', port, 'mcast_flood', 'off');
    if (ipv4) inside(host, 'ip', 'address', 'add', ipv4, 'dev', name);
    inside(host, 'ip', 'link', 'set', name, 'up');
    untilRunning(into, port);
    untilRunning(host, name);
    return { switch: into, port };
  }

  /** Removes every namespace, even if removing one fails. */
  close(): void {
    const failures: unknown[] = [];
    for (const namespace of this.#namespaces.splice(0)) {
      try {
        run('ip', 'netns', 'delete', namespace);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** The kernel takes up to a second to report a new link, and programs do not see the interface before. */
function untilRunning(namespace: string, name: string): void {
  for (let tries = 0; !/ state UP /.test(inside(namespace, 'ip', '-o', 'link', 'show', name)); tries++) {
    if (tries === RUNNING_TRIES) throw new Error(`${name} of ${namespace} does not come up`);
  }
}

/** The command that runs another one in a namespace. It execs that command, which thus gets the signals. */
export function inNamespace(namespace: string): string[] {
  return ['ip', 'netns', 'exec', namespace];
}

function inside(namespace: string, ...command: string[]): string {
  return run('ip', ...inNamespace(namespace).slice(1), ...command);
}
