// The keyboard: single keys move and open, and can be turned off, as those who speak to their computer need it.

import { h, show } from './dom.js';

const SETTING = 'throughline.keys';
const PAGES = { t: 'today', s: 'sessions', m: 'search', p: 'projects', f: 'failures', n: 'notes', o: 'policies', c: 'spending', r: 'redaction', h: 'health' };

let wasG = false;

const isOn = () => localStorage.getItem(SETTING) !== 'off';

function isTyping(target) {
  return target instanceof HTMLElement && (target.matches('input:not([type=checkbox]):not([type=range]), textarea, select') || target.isContentEditable);
}

/** The items of the page that `j` and `k` go through, if it has no long list. */
function items() {
  return [...document.querySelectorAll('main [data-item]')];
}

function move(by) {
  const long = document.querySelector('main .window')?.parentElement?.longList;
  if (long) {
    long.move(by);
    return;
  }
  const all = items();
  if (all.length === 0) return;
  const at = all.findIndex((item) => item.classList.contains('picked'));
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
  for (const item of all) item.classList.toggle('picked', item === next);
  const link = next.querySelector('a, button, summary');
  link?.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

function enter(event) {
  // A focused link or button opens itself.
  if (event.target instanceof HTMLElement && event.target.closest('a, button, summary, input, select')) return;
  const long = document.querySelector('main .window')?.parentElement?.longList;
  if (long) long.enter();
  else document.querySelector('main .picked a')?.click();
}

/** Shows which keys there are. */
export function help() {
  const dialog = document.getElementById('help');
  const rows = [['/', 'search'], ['j, k', 'next, previous'], ['Enter', 'open'], ['g, then a letter', 'go to a page: t today, m memories, s sessions, p projects, f failures, n notes, o policies, c spending (cost), r redaction, h health'], ['?', 'this help'], ['Esc', 'close, or leave a field']];
  const box = h('input', { type: 'checkbox', id: 'single-keys', checked: isOn(), on: { change: () => localStorage.setItem(SETTING, box.checked ? 'on' : 'off') } });
  show(dialog, h('h2', { id: 'help-title' }, 'Keys'),
    h('dl', { class: 'facts' }, rows.map(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)])),
    h('p', {}, box, ' ', h('label', { for: 'single-keys' }, 'single keys do something')),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')));
  dialog.showModal();
}

/** Begins to listen. */
export function listen(navigate) {
  document.getElementById('keys').addEventListener('click', help);
  // A form of a dialog is not sent anywhere.
  document.addEventListener('submit', (event) => {
    if (event.target.getAttribute('method') === 'dialog') {
      event.preventDefault();
      event.target.closest('dialog')?.close();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape' && isTyping(event.target)) {
      event.target.blur();
      document.getElementById('main').focus();
      return;
    }
    if (isTyping(event.target) || document.getElementById('help').open || !isOn()) return;
    const after = wasG;
    wasG = false;
    if (after && PAGES[event.key]) {
      event.preventDefault();
      navigate(PAGES[event.key]);
      return;
    }
    switch (event.key) {
      case '/': {
        event.preventDefault();
        const field = document.getElementById('query');
        if (field) field.focus();
        else navigate('search', { focus: '1' });
        break;
      }
      case 'j': move(1); break;
      case 'k': move(-1); break;
      case 'Enter': enter(event); break;
      case 'g': wasG = true; break;
      case '?': help(); break;
      default:
    }
  });
}
