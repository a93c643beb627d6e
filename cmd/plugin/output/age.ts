/** The time since then, as kubectl shows ages: the two largest units while that says something. */
export function age(since: string | undefined, now: Date): string {
  const started = Date.parse(since ?? '');
  if (Number.isNaN(started)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now.getTime() - started) / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  const both = (large: number, unit: string, small: number, smaller: string): string =>
    small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smaller}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return both(Math.floor(days / 365), 'y', days % 365, 'd');
}
