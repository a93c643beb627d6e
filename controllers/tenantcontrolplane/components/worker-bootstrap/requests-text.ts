/** Requests of workers that were left alone, as people are told of them. */
export interface RequestsLeft {
  readonly count: number;
  /** The first of them, by name. */
  readonly first: readonly { readonly name: string; readonly why: string }[];
}

/** None. */
export const noRequestsLeft: RequestsLeft = { count: 0, first: [] };

/** How many are told one by one: a tenant can make as many as it likes. */
const mostTold = 3;

/** One more that is left alone. */
export function withRequest(left: RequestsLeft, name: string, why: string): RequestsLeft {
  return {
    count: left.count + 1,
    first: left.first.length < mostTold ? [...left.first, { name, why }] : left.first,
  };
}

/** What was left alone, why, and what helps; empty when there is nothing. */
export function requestsText({ count, first }: RequestsLeft): string {
  if (count === 0) return '';
  const told = first.map(({ name, why }) => `${name} ${why}`);
  const others = count > first.length ? [`${count - first.length} more`] : [];
  const remedy = 'look at them with kubectl certificate, which approves and denies';
  return `certificate requests of the tenant are left alone: ${[...told, ...others].join('; ')}: ${remedy}`;
}
