// Connects `testrun.js` to the contract: turns a tool call and the settings into an observation.

import { get } from 'throughline:policy/settings@0.1.0';

import { told } from './guard.js';
import { observed } from './testrun.js';

// `session` and `event` are records of wit/stages.wit, with names in camelCase. No result means not worth keeping.
function observe(session, event) {
  const commands = JSON.parse(get('commands') ?? '["npm test", "node --test"]');
  const found = observed(event, commands);
  return found && { ...found, files: [], attributes: [] };
}

// An error, or a result of a wrong type, becomes the contract's failure with its message and place.
export const observer = {
  observe: told(observe, { summary: 'string', detail: 'string', files: ['string'], attributes: ['object'] }),
};
