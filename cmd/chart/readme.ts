import type { ChartValues } from './chart-value.ts';
import { valuesTable } from './values-table.ts';

const header = '<!-- Made by `npm run gen`; do not edit. -->\n\n';

/** README of the chart `steward`. */
export const stewardPage = (values: ChartValues): string => `${header}# The chart \`steward\`

The manager of Steward with its webhooks, rights and metrics, and a quick-start etcd for tenants. One manager holds both halves,
TenantControlPlanes and the Cluster API provider; each can be switched off. The chart [steward-crds](../steward-crds/README.md) goes first,
in every installation and in every upgrade:

\`\`\`console
helm upgrade --install steward-crds charts/steward-crds -n steward-system --create-namespace
helm upgrade --install steward charts/steward -n steward-system
\`\`\`

[Install with Helm](../../docs/how-to/install-with-helm.md) tells the rest: own images, more replicas, upgrades, what comes over from the
Go Steward's chart, and removal. One release of the chart is possible in a cluster: webhook configurations and ClusterRoles have fixed
names. No cert-manager is needed; the manager makes the certificates of its webhooks.

## Values

A value that is not in the table is refused by \`values.schema.json\`.

${valuesTable(values)}
`;

/** README of the chart `steward-crds`. */
export const definitionsPage = (values: ChartValues): string => `${header}# The chart \`steward-crds\`

The definitions of Steward's kinds, as templates: \`helm upgrade\` upgrades them, which Helm does not do with definitions in a folder
\`crds/\`. Uninstalling leaves them where they are, and with them every tenant. Definitions that somebody else has applied are taken
over with \`--take-ownership\`:

\`\`\`console
helm upgrade --install steward-crds charts/steward-crds -n steward-system --create-namespace --take-ownership
\`\`\`

## Values

${valuesTable(values)}
`;
