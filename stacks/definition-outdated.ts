/** What to tell a person when the API server does not keep fields (`status.digest`) of a kind of ours that a visit goes on from. */
export function definitionOutdated(kind: string, fields: readonly string[]): string {
  return (
    `the API server does not keep ${[...fields].sort().join(', ')} of this ${kind}, because its definition of ${kind}s is older ` +
    'than the manager: apply the definitions of the manager’s version (config/clusterstacks, or the chart steward-crds); then it goes on'
  );
}
