import type { ChartValues } from './chart-value.ts';
import { valuesTable } from './values-table.ts';

const header = '<!-- Made by `npm run gen`; do not edit. -->\n\n';

/** README of the chart `steward`. */
export const stewardPage = (values: ChartValues): string => `${header}# The chart \`steward\`

The manager of Steward with its webhooks, permissions and metrics, and a quick-start etcd for tenants. One manager contains both parts,
TenantControlPlanes and the Cluster API provider; each can be disabled. Always install and upgrade the chart
[steward-crds](../steward-crds/README.md) first:

\`\`\`console
helm upgrade --install steward-crds charts/steward-crds -n steward-system --create-namespace
helm upgrade --install steward charts/steward -n steward-system
\`\`\`

[Install with Helm](../../docs/how-to/install-with-helm.md) describes custom images, more replicas, upgrades, the migration from the Go
Steward's chart, and removal. A cluster can have only one release of the chart, because webhook configurations and ClusterRoles have fixed
names. cert-manager is not needed; the manager creates the certificates of its webhooks.

## Values

\`values.schema.json\` rejects values that are not in the table.

${valuesTable(values)}
`;

/** README of the chart `steward-crds`. */
export const definitionsPage = (values: ChartValues): string => `${header}# The chart \`steward-crds\`

The CustomResourceDefinitions of Steward, as templates: \`helm upgrade\` upgrades them, unlike those in a folder \`crds/\`. By default,
uninstalling the chart keeps them, and with them every tenant. To adopt CustomResourceDefinitions that were applied in another way, use
\`--take-ownership\`:

\`\`\`console
helm upgrade --install steward-crds charts/steward-crds -n steward-system --create-namespace --take-ownership
\`\`\`

## Values

${valuesTable(values)}
`;
