import { testScope } from './testing/runner/test-scope.ts';

// kubectl keeps for hours which kinds the server of an address has. The next cluster at that address has others.
process.env.KUBECACHEDIR ??= '/dev/null/kubectl';

const clusterApiMinors = testScope()
  .clusterApi.map(({ minor }) => minor.replace('.', '\\.'))
  .join('|');

const project = (displayName, testRegex, extra = {}) => ({
  displayName,
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/testing/runner/patient-environment.ts',
  setupFiles: ['<rootDir>/testing/runner/repeatable-properties.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
  testRegex,
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/docs/site/node_modules/'],
  ...extra,
});

const rooms =
  '(api|runtime|kubeadm|stores|clusterstacks|tenants|controllers|cmd|release|testing|e2e|bench|clusterctl|docs)';

/** The tiers, by the ending of the file: x.test.ts · x.contract.test.ts · x.api.test.ts · x.capi.test.ts · e2e/scenarios/x.test.ts. */
export default {
  // What a test waits for has its own deadline; this one only ends what hangs, on a busy machine too.
  testTimeout: 60_000,
  testSequencer: '<rootDir>/testing/runner/longest-first.ts',
  projects: [
    project(
      'unit',
      [`/${rooms}/(?!scenarios/)(?:[^/]+/)*[^/.]+(?:\\.(?!contract\\.|api\\.|capi\\.)[^/.]+)*\\.test\\.ts$`],
      {
        testPathIgnorePatterns: ['\\.(contract|api|capi)\\.test\\.ts$', '/e2e/scenarios/'],
      },
    ),
    project('contract', ['\\.contract\\.test\\.ts$'], {
      globalSetup: '<rootDir>/testing/servers/contract-global-setup.ts',
    }),
    project('api', ['\\.api\\.test\\.ts$'], {
      globalSetup: '<rootDir>/testing/servers/api-global-setup.ts',
      globalTeardown: '<rootDir>/testing/servers/api-global-teardown.ts',
    }),
    project('capi', [`-(${clusterApiMinors})\\.capi\\.test\\.ts$`], {
      globalSetup: '<rootDir>/testing/servers/capi-global-setup.ts',
    }),
    project('e2e', ['/e2e/scenarios/[^/]+\\.test\\.ts$'], {
      testPathIgnorePatterns: testScope().leftOut.map((name) => `/e2e/scenarios/${name}\\.test\\.ts$`),
      globalSetup: '<rootDir>/testing/servers/e2e-global-setup.ts',
      globalTeardown: '<rootDir>/testing/servers/e2e-global-teardown.ts',
    }),
  ],
};
