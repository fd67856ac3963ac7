// The contract around `testrun.js`: a tool's use and settings come in, an observation goes out.

import { get } from 'throughline:policy/settings@0.1.0';

import { observed } from './testrun.js';

export const observer = {
  // `session` and `event` are the records of wit/stages.wit, with names in camelCase. No result: not worth keeping.
  observe(session, event) {
    try {
      const commands = JSON.parse(get('commands') ?? '["npm test", "node --test"]');
      const found = observed(event, commands);
      return found && { ...found, files: [], attributes: [] };
    } catch (error) {
      // The contract's `failure`. Any other error ends the call without a word: there is no output for it.
      throw { tag: 'internal', val: String(error) };
    }
  },
};
