// Makes elements. Text only ever becomes a text node: nothing here parses markup, and nothing else in the page makes elements.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'max' || name === 'selected') {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === '') continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Makes an HTML element. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Makes an SVG element. */
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Puts these children in the place of all others. */
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** The language of a text as far as its script says it: Korean and Japanese are set and broken differently. */
export function languageOf(text) {
  if (/[\uac00-\ud7af\u1100-\u11ff\u3130-\u318f]/u.test(text)) return 'ko';
  if (/[\u3040-\u30ff]/u.test(text)) return 'ja';
  return undefined;
}

/** A stored text: isolated, so that its direction changes nothing around it. */
export function said(text, properties) {
  const words = String(text ?? '');
  return h('bdi', { lang: languageOf(words), dir: 'auto', ...properties }, words);
}

/** A stored text in parts, of which some were found. */
export function parts(list) {
  const whole = list.map((part) => part.text).join('');
  return h('bdi', { lang: languageOf(whole), dir: 'auto' }, list.map((part) => (part.found ? h('mark', {}, part.text) : part.text)));
}

/** A list of names and values; those without a value are left out. */
export function facts(rows) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '' && value?.length !== 0);
  return h('dl', { class: 'facts' }, shown.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

/** A table with a caption. Columns are `[heading, isNumber]`. */
export function table(caption, columns, rows) {
  const heading = ([name, isNumber]) => h('th', { scope: 'col', class: isNumber && 'number' }, name);
  const cell = (value, index) => h('td', { class: columns[index][1] && 'number' }, value);
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, columns.map(heading))),
      h('tbody', {}, rows.map((row) => h('tr', {}, row.map(cell))))));
}
