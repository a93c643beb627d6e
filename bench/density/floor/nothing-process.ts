import { nothingServer } from './nothing-server.ts';

const [, , socket = ''] = process.argv;
nothingServer().listen(socket, () => process.send?.('serving'));
// Nobody asks anymore.
process.on('disconnect', () => process.exit(0));
