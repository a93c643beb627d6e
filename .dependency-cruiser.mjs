/** Who may import whom. Each rule carries its reason; testing/repository/architecture.test.ts plants a violation for each. */
const tests = '\\.test\\.ts$';
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const product = '^(api|runtime|kubeadm|stores|clusterstacks|tenants|controllers|cmd)/';
const sockets = '^(node:)?(net|http|https|http2|tls|dgram|dns|child_process)$|node_modules/undici/';

/** The folder of a driver: every folder of stores/ but those that all drivers share. */
const drivers = '^stores/(?!(?:bootstrap|contract|isolation|kine|migration)/)([^/]+)/';

/** What acts below a concern of a TenantControlPlane, besides its phases; by the path in the kind's folder. */
const acting = `^controllers/tenantcontrolplane/(${[
  'addons/([^/]+/addon|addon|retention|konnectivity/tunnel-is-missing|worker-bootstrap/csr-progress)',
  'adoption/[^/]+',
  'certificates/(ca-pairs|ensure-[^/]+|issue-certificates|not-yet-valid|persist-before-use|published-cas|user-supplied-cas)',
  'configuration/secret-readers',
  'datastore/migration/(copying|job|migration-job|migration-step|switching|tenancies|tenant-read-only)',
  'datastore/drain/drain-turns',
  'datastore/placement/(namespace-labels|placements)',
  'encryption/rewrite-page',
  'endpoint/exposure/(apply-routes|routes)',
  'shared/(inside-tenant|phase-row|preserve-replicas|reconcile-cache|selection-in-tenant|translate-errors|ttl-list-cache)',
  'sleep/(backups-of|waking/(activator-ports|left-ports|release-port|wake-requests-of|waking))',
  'tenant/(read-tenant|tenant-access|used-servers)',
  'workload/(external-pdbs|management-api|namespace-standard|rollout/(find|read)-rollout|start-queue)',
].join('|')})\\.ts$`;

/** The concerns of a TenantControlPlane: each may import those before it. */
const concerns =
  'shared sleep upgrade certificates datastore encryption configuration workload endpoint tenant quota monitoring adoption addons'.split(
    ' ',
  );

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
      { path: '^(api|clusterstacks/api)/', pathNot: tests },
      { path: '^((runtime|kubeadm|stores|tenants|controllers|cmd|release|e2e|testing|bench)/|clusterstacks/(?!api/))' },
    ),
    rule(
      'runtime-knows-no-kind',
      'The operator machine works for any kind.',
      { path: '^runtime/', pathNot: tests },
      {
        path: '^((api/(steward|controlplane)|kubeadm|stores|tenants|controllers|cmd|release|e2e|testing|bench)/|clusterstacks/)',
      },
    ),
    rule(
      'kubeadm-is-below',
      'What kubeadm would produce needs only the api.',
      { path: '^kubeadm/', pathNot: tests },
      { path: '^((runtime|stores|tenants|controllers|cmd|release|e2e|testing|bench)/|clusterstacks/)' },
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
      { path: '^(clusterstacks/)?controllers/[^/]+/components/', pathNot: tests },
      {
        path: `${sockets}|^(node:)?(fs|fs/promises|os|process)$|^(runtime|stores|clusterstacks/(sources|helm|cmd)|tenants)/`,
        pathNot: '^stores/driver\\.ts$|^clusterstacks/sources/[^/]+\\.ts$',
      },
    ),
    rule(
      'concerns-are-pure',
      'In a concern only phases and the files of `acting` do anything; all others turn inputs into manifests, errors and status.',
      { path: '^controllers/tenantcontrolplane/[^/]+/', pathNot: `-phase\\.ts$|${acting}|${tests}` },
      {
        path: `${sockets}|^(node:)?(fs|fs/promises|os|process)$|^(runtime|stores|clusterstacks/(sources|helm|cmd)|tenants)/`,
        pathNot: '^stores/(driver|tenancy-names)\\.ts$',
      },
    ),
    rule(
      'addons-do-not-import-each-other',
      'An add-on can be deleted without a change to another one.',
      { path: '^controllers/tenantcontrolplane/addons/([^/]+)/', pathNot: tests },
      {
        path: '^controllers/tenantcontrolplane/addons/([^/]+)/',
        pathNot: '^controllers/tenantcontrolplane/addons/$1/',
      },
    ),
    ...concerns
      .slice(0, -1)
      .map((concern, index) =>
        rule(
          `${concern}-is-below`,
          'The concerns of a TenantControlPlane are in one order. Only the files at the top of the kind read the registry of add-ons.',
          { path: `^controllers/tenantcontrolplane/${concern}/`, pathNot: tests },
          { path: `^controllers/tenantcontrolplane/(${concerns.slice(index + 1).join('|')})/` },
        ),
      ),
    rule(
      'stores-are-below-kinds',
      'Where tenant data lives knows no controller.',
      { path: '^stores/', pathNot: tests },
      { path: '^(clusterstacks|tenants|controllers|cmd|release|e2e|testing|bench)/' },
    ),
    rule(
      'tenants-are-below-kinds',
      'Leases on tenants know no controller.',
      { path: '^tenants/', pathNot: tests },
      { path: '^(stores|clusterstacks|controllers|cmd|release|e2e|testing|bench)/' },
    ),
    rule(
      'sources-are-below-kinds',
      'Where releases of cluster stacks come from knows no controller, no store and no tenant.',
      { path: '^clusterstacks/(sources|helm)/', pathNot: tests },
      { path: '^((stores|tenants|controllers|cmd|release|e2e|testing|bench)/|clusterstacks/(controllers|cmd)/)' },
    ),
    rule(
      'cluster-stacks-are-an-option',
      'Without the layer everything else still works: others know its API at most, and cmd/ switches it on.',
      { path: '^(api|runtime|kubeadm|stores|tenants|controllers)/', pathNot: tests },
      { path: '^clusterstacks/(?!api/)' },
    ),
    rule(
      'kinds-do-not-import-each-other',
      'Kinds meet in the API server.',
      { path: '^(?:clusterstacks/)?controllers/([^/]+)/', pathNot: tests },
      { path: '^(?:clusterstacks/)?controllers/([^/]+)/', pathNot: '^(?:clusterstacks/)?controllers/$1/' },
    ),
    rule(
      'tenants-know-no-parent',
      'A TenantControlPlane is complete without Cluster API: what may own it acts through fields and annotations of its own.',
      {
        path: '^controllers/(tenantcontrolplane|retainedcontrolplane|controlplane(?:pool|claim)|datastore|kubeconfiggenerator)/',
        pathNot: tests,
      },
      { path: '^api/(controlplane/|cluster-api/kinds\\.ts$)' },
    ),
    rule(
      'drivers-do-not-import-each-other',
      'Deleting one driver touches no other.',
      { path: drivers, pathNot: tests },
      { path: drivers, pathNot: '^stores/$1/' },
    ),
    rule(
      'drivers-arrive-by-argument',
      'Only cmd/ knows the drivers and the places of backups.',
      { path: product, pathNot: `^((clusterstacks/)?cmd|stores)/|${tests}` },
      { path: drivers, pathNot: '^stores/backup/(?!s3/|folder)' },
    ),
    rule(
      'sources-do-not-import-each-other',
      'Deleting one source of releases touches no other.',
      { path: '^clusterstacks/sources/(oci|github|directory)/', pathNot: tests },
      { path: '^clusterstacks/sources/(oci|github|directory)/', pathNot: '^clusterstacks/sources/$1/' },
    ),
    rule(
      'sources-arrive-by-argument',
      'The files of sources/ itself are its interface; only cmd/ knows what is behind it.',
      { path: product, pathNot: `^((clusterstacks/)?cmd/|clusterstacks/(sources/[^/]+|helm)/)|${tests}` },
      { path: '^clusterstacks/(sources/[^/]+|helm)/' },
    ),
    rule(
      'one-place-per-wire',
      'Clients of databases and of S3 only where tenant data and its backups live.',
      { path: product, pathNot: `^stores/|${tests}` },
      { path: 'node_modules/(etcd3|pg|mysql2|@nats-io|@grpc|@aws-sdk|@smithy)/' },
    ),
    rule(
      'one-door-to-the-network',
      'Sockets only where connections are kept.',
      { path: product, pathNot: `^(runtime|stores|clusterstacks/(sources|helm|cmd)|tenants|cmd)/|${tests}` },
      { path: sockets },
    ),
    rule(
      'cmd-is-the-top',
      'Nobody imports a composition root.',
      {
        path: '^((api|runtime|kubeadm|stores|tenants|controllers|release|e2e|bench)/|clusterstacks/(?!cmd/))',
        pathNot: tests,
      },
      { path: '^(clusterstacks/)?cmd/' },
    ),
    rule(
      'commands-load-what-they-need',
      'Whatever the binary imports at its start is held in memory by every process of it, of which some are small.',
      { path: '^cmd/steward\\.ts$' },
      {
        dynamic: false,
        path: '^(api|runtime|kubeadm|stores|clusterstacks|tenants|controllers|cmd)/',
        pathNot: '^cmd/(flags/flags|exception-record|last-resort|version)\\.ts$',
      },
    ),
    rule(
      'the-activator-is-small',
      'It runs beside the manager all the time, and holds nothing that only a manager needs.',
      { path: '^cmd/activator/activator\\.ts$' },
      { path: '^(kubeadm|stores|clusterstacks|controllers)/', reachable: true },
    ),
    rule(
      'tests-stay-in-tests',
      'Product code never imports test code.',
      // It writes pages of this repository, and is no part of the program.
      { path: product, pathNot: `^cmd/generate\\.ts$|${tests}` },
      { path: `^(testing|release|e2e|bench|docs)/|${tests}` },
    ),
    rule(
      'e2e-is-a-user',
      'From outside, only the api is visible.',
      { path: '^e2e/' },
      { path: '^((runtime|kubeadm|stores|tenants|controllers|cmd|testing|bench)/|clusterstacks/(?!api/))' },
    ),
    rule(
      'release-packs-what-is-built',
      'What is published is made of files and of what `npm run build` wrote, and pushed by the one client of OCI registries.',
      { path: '^release/' },
      {
        path: '^(runtime|kubeadm|stores|clusterstacks/(?!(api|sources/oci)/|sources/[^/]+\\.ts$)|tenants|controllers|cmd|testing|bench|e2e/(?!tools/|cluster/))',
      },
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
