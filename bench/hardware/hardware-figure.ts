import type { Figure } from '../figure.ts';
import { hardwarePresentation } from './hardware-report.ts';
import type { HardwareRow } from './hardware-rows.ts';
import { measureHardware } from './measure-hardware.ts';

/** `npm run bench -- hardware`. */
export const hardwareFigure: Figure<'machines', HardwareRow> = {
  presentation: hardwarePresentation,
  help: 'memory and CPU of idle control planes, against those of kubeadm with stacked etcd on machines of their own',
  measure: (harness, { options, progress }) => measureHardware({ ...options, harness, progress }),
};
