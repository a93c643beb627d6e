import type { recipe } from '../controllers/tenantcontrolplane/recipe.ts';

type Row = (typeof recipe)[number];

/** The rows, each after those that it runs after. */
function inOrder(rows: readonly Row[]): readonly Row[] {
  const left = [...rows];
  const done = new Set<string>();
  const sorted: Row[] = [];
  while (left.length > 0) {
    const [next] = left.splice(
      left.findIndex(({ needs, after }) => [...needs, ...after].every((name) => done.has(name))),
      1,
    );
    if (next === undefined) break;
    done.add(next.name);
    sorted.push(next);
  }
  return sorted;
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/** The reference page of the phases of a TenantControlPlane, in Markdown. */
export function phasesPage(rows: readonly Row[]): string {
  const lines = inOrder(rows).map(
    ({ name, condition = '', needs, after }) => `| \`${name}\` | ${condition} | ${code(needs)} | ${code(after)} |`,
  );
  return `<!-- Made by \`npm run gen\`; do not edit. -->

# Phases of a TenantControlPlane

A phase runs when all phases that it needs are done, and all that it runs after have ended. Everything else runs in
parallel.

| Phase | Condition | Needs | Runs after |
| --- | --- | --- | --- |
${lines.join('\n')}
`;
}
