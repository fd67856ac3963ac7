// Implements the contract on top of `terms.js`: settings and texts come in, redacted texts go out.

import { get } from 'throughline:policy/settings@0.1.0';
import { write } from 'throughline:policy/log@0.1.0';

import { redactorOf } from './terms.js';

function setting(key) {
  const json = get(key);
  return json === undefined ? [] : JSON.parse(json);
}

export const redactor = {
  redact(texts) {
    try {
      const redact = redactorOf(setting('terms'), setting('patterns'), (message) => write('warn', message));
      return texts.map(redact);
    } catch (error) {
      // The contract's `failure`. Any other error ends the call without a message, because the component has no output
      // for it.
      throw { tag: 'internal', val: String(error) };
    }
  },
};
