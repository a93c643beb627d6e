/** Who may import whom. Each rule carries its reason; testing/architecture.test.ts plants a violation for each. */
const tests = '\\.test\\.ts$';
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const product = '^(api|runtime|kubeadm|stores|stacks|tenants|controllers|cmd)/';
const sockets = '^(node:)?(net|http|https|http2|tls|dgram|dns|child_process)$|node_modules/undici/';

export default {
  forbidden: [
    rule(
      'no-cycles',
      'Two files that need each other are one file.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    rule(
      'api-is-a-leaf',
      'What users see depends on nothing of ours.',
      { path: '^api/', pathNot: tests },
      { path: '^(runtime|kubeadm|stores|stacks|tenants|controllers|cmd|e2e|testing|bench)/' },
    ),
    rule(
      'runtime-knows-no-kind',
      'The operator machine works for any kind.',
      { path: '^runtime/', pathNot: tests },
      {
        path: '^(api/(steward|controlplane|clusterstack)|kubeadm|stores|stacks|tenants|controllers|cmd|e2e|testing|bench)/',
      },
    ),
    rule(
      'kubeadm-is-below',
      'What kubeadm would produce needs only the api.',
      { path: '^kubeadm/', pathNot: tests },
      { path: '^(runtime|stores|stacks|tenants|controllers|cmd|e2e|testing|bench)/' },
    ),
    rule(
      'kubeadm-is-pure',
      'Same input, same output: no I/O, clock or environment.',
      { path: '^kubeadm/', pathNot: tests },
      { path: `${sockets}|^(node:)?(fs|fs/promises|os|process)$` },
    ),
    rule(
      'components-are-pure',
      'Inputs to manifests, nothing else.',
      { path: '^controllers/[^/]+/components/', pathNot: tests },
      {
        path: `${sockets}|^(node:)?(fs|fs/promises|os|process)$|^(runtime|stores|stacks|tenants)/`,
        pathNot: '^stores/driver\\.ts$|^stacks/[^/]+\\.ts$',
      },
    ),
    rule(
      'stores-are-below-kinds',
      'Where tenant data lives knows no controller.',
      { path: '^stores/', pathNot: tests },
      { path: '^(stacks|tenants|controllers|cmd|e2e|testing|bench)/' },
    ),
    rule(
      'tenants-are-below-kinds',
      'Leases on tenants know no controller.',
      { path: '^tenants/', pathNot: tests },
      { path: '^(stores|stacks|controllers|cmd|e2e|testing|bench)/' },
    ),
    rule(
      'stacks-are-below-kinds',
      'Where releases of cluster stacks come from knows no controller, no store and no tenant.',
      { path: '^stacks/', pathNot: tests },
      { path: '^(stores|tenants|controllers|cmd|e2e|testing|bench)/' },
    ),
    rule(
      'kinds-are-strangers',
      'Kinds meet in the API server.',
      { path: '^controllers/([^/]+)/', pathNot: tests },
      { path: '^controllers/([^/]+)/', pathNot: '^controllers/$1/' },
    ),
    rule(
      'drivers-are-strangers',
      'Deleting one driver touches no other.',
      { path: '^stores/(etcd|postgres|mysql|nats)/', pathNot: tests },
      { path: '^stores/(etcd|postgres|mysql|nats)/', pathNot: '^stores/$1/' },
    ),
    rule(
      'drivers-arrive-by-argument',
      'Only cmd/ knows the drivers.',
      { path: product, pathNot: `^(cmd|stores)/|${tests}` },
      { path: '^stores/(etcd|postgres|mysql|nats)/' },
    ),
    rule(
      'sources-are-strangers',
      'Deleting one source of releases touches no other.',
      { path: '^stacks/(oci|github|directory)/', pathNot: tests },
      { path: '^stacks/(oci|github|directory)/', pathNot: '^stacks/$1/' },
    ),
    rule(
      'stacks-arrive-by-argument',
      'The files of stacks/ itself are its interface; only cmd/ knows what is behind it.',
      { path: product, pathNot: `^(cmd/|stacks/[^/]+/)|${tests}` },
      { path: '^stacks/[^/]+/' },
    ),
    rule(
      'one-place-per-wire',
      'Database clients only where tenant data lives.',
      { path: product, pathNot: `^stores/|${tests}` },
      { path: 'node_modules/(etcd3|pg|mysql2|@nats-io|@grpc)/' },
    ),
    rule(
      'one-door-to-the-network',
      'Sockets only where connections are kept.',
      { path: product, pathNot: `^(runtime|stores|stacks|tenants|cmd)/|${tests}` },
      { path: sockets },
    ),
    rule(
      'cmd-is-the-top',
      'Nobody imports a composition root.',
      { path: '^(api|runtime|kubeadm|stores|stacks|tenants|controllers|e2e|bench)/', pathNot: tests },
      { path: '^cmd/' },
    ),
    rule(
      'tests-stay-in-tests',
      'Product code never imports test code.',
      // It writes pages of this repository, and is no part of the program.
      { path: product, pathNot: `^cmd/generate\\.ts$|${tests}` },
      { path: `^(testing|e2e|bench)/|${tests}` },
    ),
    rule(
      'e2e-is-a-user',
      'From outside, only the api is visible.',
      { path: '^e2e/' },
      { path: '^(runtime|kubeadm|stores|stacks|tenants|controllers|cmd|testing|bench)/' },
    ),
    rule(
      'client-node-is-narrowed',
      'Types for the product, a second client for e2e.',
      { path: product, pathNot: tests },
      { path: 'node_modules/@kubernetes/client-node/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'forge-only-reads-in-tests',
      'An independent reader, never part of the product.',
      { path: product, pathNot: tests },
      { path: 'node_modules/node-forge/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
