// SPDX-License-Identifier: MPL-2.0

// The ladder of docs/ARCHITECTURE.md: arrows point down only.
//   apps/cli, apps/desktop -> daemon -> share -> contacts -> peer -> settings
//   -> session, transfer, discovery, server, mount (-> fuse-native-host) -> protocol -> proto;  native beside protocol, of which it takes types

const TESTS = '\\.test\\.ts$|/test/';

/** `folder` may import, of this project, only itself and `allowed`. */
function mayImportOnly(folder, allowed) {
  return {
    name: `${folder.replace(/[^a-z]+/g, '-')}-imports-only-below`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: {
      path: '^(apps|packages|native|proto|e2e|bench)/',
      pathNot: [`^${folder}/`, ...allowed.map((path) => `^${path}/`), '(^|/)node_modules/'],
    },
  };
}

/** In the desktop's processes: main has Node and Electron, the preload Electron alone, the page neither; `shared` is types and pure functions. */
const DESKTOP_ROOMS = [
  ['main', ['shared'], []],
  ['preload', ['shared'], ['core']],
  ['renderer', ['shared'], ['core']],
  ['shared', [], ['core', 'npm', 'npm-dev']],
].flatMap(([room, allowed, never]) => [
  {
    name: `desktop-${room}-imports-only-${allowed.join('-') || 'itself'}`,
    severity: 'error',
    from: { path: `^apps/desktop/src/${room}/` },
    to: {
      path: '^apps/desktop/',
      pathNot: ['^apps/desktop/images/', ...[room, ...allowed].map((path) => `^apps/desktop/src/${path}/`)],
    },
  },
  ...(never.length === 0
    ? []
    : [
        {
          name: `desktop-${room}-runs-where-there-is-no-${never.join('-')}`,
          severity: 'error',
          from: { path: `^apps/desktop/src/${room}/`, pathNot: TESTS },
          to: { dependencyTypes: never },
        },
      ]),
]);

const BELOW_SESSION = ['packages/protocol', 'native', 'proto'];
const BELOW_SETTINGS = ['packages/(session|transfer|discovery|server|mount)', ...BELOW_SESSION];

module.exports = {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    mayImportOnly('apps/cli', ['packages/(daemon|share|contacts|peer|settings|server|protocol|integration)']),
    mayImportOnly('apps/desktop', ['packages/(daemon|integration)']),
    mayImportOnly('packages/integration', []),
    ...DESKTOP_ROOMS,
    {
      name: 'desktop-page-knows-no-electron',
      severity: 'error',
      from: { path: '^apps/desktop/src/(renderer|shared)/' },
      to: { path: '(^|/)node_modules/electron/' },
    },
    mayImportOnly('packages/daemon', ['packages/(share|contacts|peer|settings)', ...BELOW_SETTINGS]),
    mayImportOnly('packages/share', ['packages/(contacts|peer|settings)', ...BELOW_SETTINGS]),
    mayImportOnly('packages/contacts', ['packages/(peer|settings)', ...BELOW_SETTINGS]),
    mayImportOnly('packages/peer', ['packages/settings', ...BELOW_SETTINGS]),
    mayImportOnly('packages/settings', BELOW_SETTINGS),
    mayImportOnly('packages/session', BELOW_SESSION),
    mayImportOnly('packages/transfer', BELOW_SESSION),
    mayImportOnly('packages/discovery', BELOW_SESSION),
    mayImportOnly('packages/server', BELOW_SESSION),
    mayImportOnly('packages/mount', ['packages/fuse-native-host', ...BELOW_SESSION]),
    mayImportOnly('packages/fuse-native-host', ['packages/protocol', 'proto']),
    mayImportOnly('packages/protocol', ['proto']),
    mayImportOnly('native', ['packages/protocol']),
    {
      name: 'native-takes-types-alone',
      comment: 'native/lib shares types with the packages, and runs without them.',
      severity: 'error',
      from: { path: '^native/' },
      to: { path: '^packages/', dependencyTypesNot: ['type-only'] },
    },
    mayImportOnly('proto', []),
    {
      name: 'protocol-is-pure',
      comment: 'packages/protocol holds values and codecs: no I/O, no Node, no native.',
      severity: 'error',
      from: { path: '^packages/protocol/src/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'through-the-front-door',
      comment: "Another package's inside is its own: import the package by its name.",
      severity: 'error',
      from: { path: '^(apps/[^/]+|packages/[^/]+|native|proto)/' },
      to: {
        path: '^(apps/[^/]+|packages/[^/]+|native|proto)/',
        pathNot: [
          '^$1/',
          '^packages/[^/]+/src/index\\.ts$',
          '^packages/contacts/src/stored\\.ts$',
          '^packages/settings/src/files\\.ts$',
          '^packages/daemon/src/local\\.ts$',
          '^native/lib/index\\.ts$',
          '^proto/(index|mount-host)\\.ts$',
          // Shared by tests of several packages: contract suites, and views of a mount from outside.
          '^packages/[^/]+/test/[^/.]+\\.ts$',
          '(^|/)node_modules/',
        ],
      },
    },
    {
      name: 'no-test-in-source',
      severity: 'error',
      from: { pathNot: [TESTS, '^e2e/'] },
      to: { path: ['^e2e/', '\\.test\\.ts$', '^(packages|apps)/[^/]+/test/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['(^|/)(dist|build)/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
