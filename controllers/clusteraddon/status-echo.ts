import type { ClusterAddonStatus } from '../../api/clusterstack/cluster-addon.ts';

type Fields = Partial<Record<string, unknown>>;

/**
 * Whether the API server keeps what one visit leaves in the status for the next, which follows at once. A definition that is older than
 * the manager drops fields that it does not know: then the next visit would do the same again, and so on without a pause.
 */
export class StatusEcho {
  /** What is dropped once may not be needed: only what is told again, before anything comes to rest, makes a circle. */
  #dropped: ReadonlySet<string> = new Set();
  #lost: Partial<ClusterAddonStatus> = {};

  /** Fields that do not stay though visits go on from them, with what they should be. */
  get lost(): Partial<ClusterAddonStatus> {
    return this.#lost;
  }

  /** What was told in a visit that is followed at once, and what the API server has of it. */
  heard(told: Partial<ClusterAddonStatus>, stored: ClusterAddonStatus | undefined): void {
    const all = Object.entries(told);
    const dropped = all.filter(([name, field]) => lacks((stored as Fields | undefined)?.[name], field));
    this.#lost = Object.fromEntries(dropped.filter(([name]) => this.#dropped.has(name)));
    this.#dropped = new Set([...this.#dropped, ...dropped.map(([name]) => name)]);
  }

  /** Visits come to rest. */
  reset(): void {
    this.#dropped = new Set();
    this.#lost = {};
  }
}

/** Whether a field is not there that was told, however deep. */
function lacks(stored: unknown, told: unknown): boolean {
  if (told === undefined) return false;
  if (stored === undefined) return true;
  if (Array.isArray(told) && Array.isArray(stored)) return told.some((one, index) => lacks(stored[index], one));
  if (!isFields(told) || !isFields(stored)) return false;
  return Object.entries(told).some(([name, field]) => lacks(stored[name], field));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
