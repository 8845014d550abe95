// SPDX-License-Identifier: MPL-2.0

// Bill of materials of one package, in CycloneDX 1.6. The same content gives the same bytes: no time, no random number.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const SPDX = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MPL-2.0', 'Unlicense']);

/**
 * @param file       the package itself
 * @param libraries  of scripts/notices.mjs: `{ name, version, licence, purl }`
 */
export function sbomOf({ name, version, licence, file }, libraries) {
  const content = createHash('sha256').update(readFileSync(file)).digest('hex');
  const component = { ...componentOf({ name, version, licence }), type: 'application' };
  const components = libraries.map(componentOf);
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(content)}`,
    version: 1,
    metadata: { component: { ...component, hashes: [{ alg: 'SHA-256', content }] } },
    components,
    dependencies: [{ ref: component['bom-ref'], dependsOn: components.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

function componentOf({ name, version, licence, purl = npmPurl(name, version) }) {
  const [, group, own] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [undefined, undefined, name];
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group && { group }),
    name: own,
    ...(version && { version }),
    licenses: [licenceOf(licence)],
    purl,
  };
}

function licenceOf(licence) {
  if (SPDX.has(licence)) return { license: { id: licence } };
  return / (AND|OR|WITH) /.test(licence)
    ? { expression: licence.replace(/^\((.*)\)$/, '$1') }
    : { license: { name: licence } };
}

function npmPurl(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** Version 8 of RFC 9562: of a digest. */
function uuidOf(digest) {
  const hex = `${digest.slice(0, 12)}8${digest.slice(13, 16)}8${digest.slice(17, 32)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
