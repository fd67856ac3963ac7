// Says times, sizes and paths.

import { h, said } from './dom.js';

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const WHOLE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const NUMBER = new Intl.NumberFormat('en');

const UNITS = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3_600], ['minute', 60]];

function date(at) {
  return at instanceof Date ? at : new Date(at);
}

/** How long ago, in words. */
export function ago(at) {
  const seconds = (date(at).getTime() - Date.now()) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  }
  return 'now';
}

/** A time: how long ago, with the whole time as its title. `at` is milliseconds or RFC 3339. */
export function when(at) {
  if (at === undefined || at === null) return '';
  const time = date(at);
  if (Number.isNaN(time.getTime())) return '';
  return h('time', { datetime: time.toISOString(), title: WHOLE.format(time) }, ago(time));
}

/** A time in full. */
export function exact(at) {
  if (at === undefined || at === null) return '';
  const time = date(at);
  return Number.isNaN(time.getTime()) ? '' : h('time', { datetime: time.toISOString() }, `${WHOLE.format(time)}, ${ago(time)}`);
}

/** The time of day. */
export function clock(at) {
  const time = date(at);
  return h('time', { datetime: time.toISOString(), title: WHOLE.format(time) }, CLOCK.format(time));
}

export const day = (at) => DAY.format(date(at));
export const number = (value) => NUMBER.format(value);
export const plural = (count, one, many) => `${NUMBER.format(count)} ${count === 1 ? one : many}`;

/** An amount in billionths of a US dollar, to a hundredth of a cent as the commands say it. */
export const dollars = (nano) => `$${Math.floor(nano / 1e9)}.${String(Math.floor((nano % 1e9) / 1e5)).padStart(4, '0')}`;

/** A size in bytes. */
export function bytes(size) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let at = 0;
  let value = size;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

/** A path, shortened by the home folder. */
export function path(text, home) {
  const whole = String(text ?? '');
  return said(home && whole.startsWith(`${home}/`) ? `~${whole.slice(home.length)}` : whole, { class: 'code' });
}

/** The last part of a path. */
export const base = (text) => String(text ?? '').split(/[\\/]/u).filter(Boolean).pop() ?? '';

const SAYERS = { human: 'said by the human', agreed: 'agreed with the human', agent: 'said by the agent', tool: 'said by a tool' };
export const sayer = (who) => SAYERS[who] ?? '';

const EVENTS = {
  user_prompt: 'prompt', stop: 'end of turn', stop_failure: 'failed turn', subagent_stop: 'sub-agent', pre_compact: 'compaction',
  post_compact: 'compacted', session_start: 'start', session_end: 'end', told: 'told',
};
/** The name of what happened. */
export const happened = (event) => EVENTS[event.type] ?? (event.tool || event.type.replaceAll('_', ' '));
