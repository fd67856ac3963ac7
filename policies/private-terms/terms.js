// What a text loses: a team's private terms and patterns. Pure: settings come in as values, nothing is imported.
//
// The engine that runs this (SpiderMonkey without ICU, without a compiler for expressions) decides two things here:
// `\p{…}` and `normalize` do not exist, and an expression costs far more than a search for a string.

const TERM = 'private-term';
const PATTERN = 'private-pattern';

// What a redactor leaves behind, ours and all others'. It is never altered.
const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.:-]{1,64}\]/g;

// Two rounds settle every usual text: one that replaces and one that finds nothing more.
const MOST_ROUNDS = 8;

// Characters that make up words where writing has upper and lower case, as the inside of a class. Letters of scripts without
// case (Korean, Chinese, Arabic, …) are none: there, particles and prefixes are joined to a name, and it must still be found.
const WORD = wordCharacters();
const IS_WORD = new RegExp(`^[${WORD}]$`, 'u');
// The module is run while the component is built: what this call compiles need not be compiled at run time.
IS_WORD.test('a');

function wordCharacters() {
  const ranges = [];
  for (let code = 0; code < 0x1e950; code += 1) {
    const c = String.fromCodePoint(code);
    const isWord =
      c.toLowerCase() !== c.toUpperCase() || /[\d_]/.test(c) || (code >= 0x300 && code <= 0x36f);
    const last = ranges.at(-1);
    if (isWord && last?.[1] === code - 1) {
      last[1] = code;
    } else if (isWord) {
      ranges.push([code, code]);
    }
  }
  return ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join('');
}

// For comparing without regard to case; folded both ways because some letters have one partner in one direction only.
function fold(text) {
  return text.toLowerCase().toUpperCase();
}

// Korean syllables spelt out in letters, as file names of macOS have them.
function decomposed(text) {
  return text.replace(/[\uac00-\ud7a3]/g, (syllable) => {
    const index = syllable.charCodeAt(0) - 0xac00;
    const tail = index % 28;
    const letters = [0x1100 + Math.floor(index / 588), 0x1161 + Math.floor((index % 588) / 28)];
    return String.fromCharCode(...letters, ...(tail ? [0x11a7 + tail] : []));
  });
}

function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

// A term as an expression: any white space between its words, and the end of a word at both ends where they have one.
function expression(term) {
  const body = term.split(/\s+/).map(escaped).join('\\s+');
  const characters = [...term];
  const before = IS_WORD.test(characters[0]) ? `(?<![${WORD}])` : '';
  const after = IS_WORD.test(characters.at(-1)) ? `(?![${WORD}])` : '';
  return `${before}${body}${after}`;
}

function usableTerms(terms, warn) {
  const all = new Map();
  for (const [index, term] of terms.entries()) {
    const trimmed = typeof term === 'string' ? term.trim() : '';
    if (trimmed === '') {
      warn(`terms[${index}] is not used: it is no text or an empty one`);
      continue;
    }
    for (const spelling of [trimmed, decomposed(trimmed)]) {
      // The longest word is what a text without the term most likely does not have.
      const sign = spelling.split(/\s+/).reduce((a, b) => (b.length > a.length ? b : a));
      all.set(spelling, { sign: fold(sign), source: expression(spelling) });
    }
  }
  // The longer term first: "Acme Corp" before "Acme".
  return [...all].sort(([a], [b]) => b.length - a.length).map(([, term]) => term);
}

// As `u`, else as `v`. Never without either: there, `\p{L}` would be taken for the letters "p{L}" and nothing be found.
function compiled(source) {
  try {
    return new RegExp(source, 'gu');
  } catch (first) {
    try {
      return new RegExp(source, 'gv');
    } catch {
      throw first;
    }
  }
}

function usablePatterns(patterns, warn) {
  return patterns.flatMap((source, index) => {
    try {
      if (typeof source !== 'string' || source === '') {
        throw new TypeError('it is no text or an empty one');
      }
      return [compiled(source)];
    } catch (error) {
      // The pattern itself is left out: it may spell what it is to hide.
      warn(`patterns[${index}] is not used: ${error.message}`);
      return [];
    }
  });
}

function placeholders(text) {
  return text.includes('[redacted:') ? [...text.matchAll(PLACEHOLDER)].map((m) => [m.index, m.index + m[0].length]) : [];
}

// The parts of [start, end) that lie outside of the placeholders and are more than white space.
function outside(text, start, end, kept) {
  const parts = [];
  let from = start;
  for (const [open, close] of [...kept, [end, end]]) {
    if (close <= from || open > end) {
      continue;
    }
    if (open > from && text.slice(from, open).trim() !== '') {
      parts.push([from, open]);
    }
    from = Math.max(from, close);
  }
  return parts;
}

// Replaces every match; says how many there were.
function replace(text, regex, rule) {
  const kept = placeholders(text);
  let result = '';
  let done = 0;
  let count = 0;
  for (const match of text.matchAll(regex)) {
    const parts = outside(text, match.index, match.index + match[0].length, kept);
    count += parts.length > 0 ? 1 : 0;
    for (const [from, to] of parts) {
      result += `${text.slice(done, from)}[redacted:${rule}]`;
      done = to;
    }
  }
  return { text: result + text.slice(done), count };
}

// A redactor for these settings. `warn` is told what of them cannot be used.
export function redactorOf(terms, patterns, warn) {
  const usable = usableTerms(Array.isArray(terms) ? terms : [], warn);
  const regexes = usablePatterns(Array.isArray(patterns) ? patterns : [], warn);
  // Compiled when a text first has them: most calls see none of most terms.
  const compiledTerms = new Map();

  function termsIn(text) {
    if (usable.length === 0) {
      return null;
    }
    const folded = fold(text);
    const source = usable.filter((term) => folded.includes(term.sign)).map((term) => term.source).join('|');
    if (source !== '' && !compiledTerms.has(source)) {
      compiledTerms.set(source, new RegExp(source, 'giu'));
    }
    return source === '' ? null : compiledTerms.get(source);
  }

  function round(text, counts) {
    const term = termsIn(text);
    let now = text;
    for (const [rule, regex] of [...(term ? [[TERM, term]] : []), ...regexes.map((regex) => [PATTERN, regex])]) {
      const { text: replaced, count } = replace(now, regex, rule);
      now = replaced;
      counts.set(rule, (counts.get(rule) ?? 0) + count);
    }
    return now;
  }

  // Until a round changes nothing: only so does a pattern that looks around itself (`^x`, `(?<=\])x`) find nothing more in
  // the result. A text that does not settle, or at which an expression gives up, is kept from everybody.
  function settled(text, counts) {
    let now = text;
    try {
      for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
        const next = round(now, counts);
        if (next === now) {
          return now;
        }
        now = next;
      }
    } catch (error) {
      warn(`a text is withheld as a whole: ${error.message}`);
    }
    counts.set(PATTERN, (counts.get(PATTERN) ?? 0) + 1);
    return `[redacted:${PATTERN}]`;
  }

  return function redact(text) {
    const counts = new Map();
    const result = settled(text, counts);
    const findings = [...counts].filter(([, count]) => count > 0).map(([rule, count]) => ({ rule, count }));
    return { text: result === text ? undefined : result, findings };
  };
}
