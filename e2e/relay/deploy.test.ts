// SPDX-License-Identifier: MPL-2.0
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { LISTEN, Sandbox } from '../harness/sandbox.ts';

// The files of deploy/ agree with each other, and with what a relay is. `npm run check:release` runs what they are for.

const deploy = (name: string) => readFile(fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url)), 'utf8');

describe('the files for monitoring', () => {
  let sandbox: Sandbox;
  let metrics: Set<string>;
  let reasons: string[];
  beforeAll(async () => {
    sandbox = await Sandbox.open();
    const relay = await sandbox.start(['relay', ...LISTEN, '--json']);
    const { port } = await relay.until('listening');
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    metrics = new Set([...text.matchAll(/^([a-z_]\w+)(?:\{.*\})? /gm)].map(([, name = '']) => name));
    reasons = [...text.matchAll(/^keibidrop_dropped_total\{reason="(\w+)"\}/gm)].map(([, reason = '']) => reason);
  });
  afterAll(() => sandbox.close());

  /** `up` comes from Prometheus itself. */
  const named = (expression: string) => {
    const words = expression.replaceAll(/\{[^}]*\}/g, '').match(/\b(keibidrop|process|nodejs)_\w+/g) ?? [];
    return words.length === 0 && expression.startsWith('up') ? ['keibidrop_mailboxes'] : words;
  };

  async function rules(): Promise<{ alert: string; expr: string }[]> {
    const { groups } = parse(await deploy('monitoring/alerts.yaml'));
    return groups.flatMap((group: { rules: object[] }) => group.rules);
  }

  it('ask only for metrics that a relay exports', async () => {
    const { panels } = JSON.parse(await deploy('monitoring/dashboard.json'));
    const targets: { expr: string }[] = panels.flatMap((panel: { targets: object[] }) => panel.targets);
    const expressions = [...targets, ...(await rules())].map(({ expr }) => expr);
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) {
      expect(named(expression), expression).not.toEqual([]);
      for (const name of named(expression)) expect(metrics, expression).toContain(name);
    }
  });

  it('ask only for reasons that a relay counts', async () => {
    for (const { expr } of await rules()) {
      const [, , pattern] = /reason(=~?)"([^"]*)"/.exec(expr) ?? [];
      if (pattern === undefined) continue;
      for (const part of pattern.includes('(') ? [pattern] : pattern.split('|')) {
        expect(
          reasons.filter((reason) => new RegExp(`^(?:${part})$`).test(reason)),
          expr,
        ).not.toEqual([]);
      }
    }
  });

  it('show every metric of our own', async () => {
    const dashboard = await deploy('monitoring/dashboard.json');
    for (const name of metrics) if (name.startsWith('keibidrop_')) expect(dashboard).toContain(name);
  });
});

describe('the files for containers', () => {
  it('run the relay without rights, where it can write nothing', async () => {
    const { services } = parse(await deploy('compose.yaml'));
    for (const { read_only, cap_drop } of [services.relay, services.caddy, services.redis]) {
      expect([read_only, cap_drop]).toEqual([true, ['ALL']]);
    }
    const [, deployment] = parseAllDocuments(await deploy('kubernetes.yaml')).map((each) => each.toJSON());
    const { containers, securityContext } = deployment.spec.template.spec;
    expect(containers[0].securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const user = /^USER (\d+):/m.exec(await deploy('Dockerfile'))?.[1];
    expect(`${securityContext.runAsUser}`).toBe(user);
    expect(services.caddy.user).toBe(`${user}:${user}`);
  });

  it('find the certificate where Caddy keeps it', async () => {
    const caddyfile = await deploy('Caddyfile');
    const [, storage] = /storage file_system (\S+)/.exec(caddyfile) ?? [];
    const [, host, path] = /dir https:\/\/([^/]+)\/(\S+)/.exec(caddyfile) ?? [];
    const folder = `${storage}/certificates/${host}-${path}/\${RELAY_DOMAIN}/\${RELAY_DOMAIN}`;
    const { relay, caddy } = parse(await deploy('compose.yaml')).services;
    expect(relay.command).toEqual(expect.arrayContaining([`--cert=${folder}.crt`, `--key=${folder}.key`]));
    expect(caddy.healthcheck.test.at(-1)).toBe(`${folder}.crt`);
  });

  it('give running pairs their 5 minutes', async () => {
    const { relay } = parse(await deploy('compose.yaml')).services;
    const [, deployment] = parseAllDocuments(await deploy('kubernetes.yaml')).map((each) => each.toJSON());
    const unit = await deploy('systemd/keibidrop-relay.service');
    expect(relay.stop_grace_period).toBe('330s');
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBe(330);
    expect(unit).toContain('TimeoutStopSec=330\n');
  });
});
