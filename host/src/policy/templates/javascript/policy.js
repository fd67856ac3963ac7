// The contract around `testrun.js`: a tool's use and settings come in, an observation goes out.

import { get } from 'throughline:policy/settings@0.1.0';

import { observed } from './testrun.js';

export const observer = {
  // `session` and `event` are the records of wit/stages.wit, with names in camelCase. No result: not worth keeping.
  observe(session, event) {
    const commands = JSON.parse(get('commands') ?? '["npm test", "node --test"]');
    const found = observed(event, commands);
    return found && { ...found, files: [], attributes: [] };
  },
};
