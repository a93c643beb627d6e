import type { Figure } from '../figure.ts';
import { measureUpgrades } from './measure-upgrades.ts';
import type { UpgradeRow } from './measure-upgrades.ts';
import { isHarmed, upgradePresentation } from './upgrade-report.ts';

/** `npm run bench -- upgrade`. */
export const upgradeFigure: Figure<'steward', UpgradeRow> = {
  presentation: upgradePresentation,
  help: 'two upgrades of each of five tenants under load, over three types of Service, against the same pods by hand',
  isQuick: true,
  measure: (cluster, { options, progress }) => measureUpgrades(cluster, { tenants: options.upgrades, progress }),
  isBroken: (rows) => rows.some(isHarmed),
};
