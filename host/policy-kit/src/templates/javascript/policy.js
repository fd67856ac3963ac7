// Connects `testrun.js` to the contract: turns a tool call and the settings into an observation.

import { get } from 'throughline:policy/settings@0.1.0';

import { observed } from './testrun.js';

export const observer = {
  // `session` and `event` are records of wit/stages.wit, with names in camelCase. No result means not worth keeping.
  observe(session, event) {
    try {
      const commands = JSON.parse(get('commands') ?? '["npm test", "node --test"]');
      const found = observed(event, commands);
      return found && { ...found, files: [], attributes: [] };
    } catch (error) {
      // This is the contract's `failure`. Any other error ends the call without a message.
      throw { tag: 'internal', val: String(error) };
    }
  },
};
