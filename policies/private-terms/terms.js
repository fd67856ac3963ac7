// Removes a team's private terms and patterns from texts. The code is pure: settings come in as values, and nothing is
// imported.
//
// The JavaScript engine (SpiderMonkey without ICU and without a compiler for regular expressions) has two consequences:
// `\p{…}` and `normalize` do not exist, and a regular expression is far slower than a search for a string.

const TERM = 'private-term';
const PATTERN = 'private-pattern';

// The placeholder of this or any other redactor. Placeholders are never altered.
const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.:-]{1,64}\]/g;

// The maximum number of rounds. Two rounds are enough for ordinary texts: one that replaces and one that finds nothing
// more.
const MOST_ROUNDS = 8;

// Characters of words in scripts with upper and lower case, as the content of a character class. Letters of scripts
// without case (Korean, Chinese, Arabic, …) are excluded: in these scripts, particles and prefixes are attached to a
// name, and it must still be found.
const WORD = wordCharacters();
const IS_WORD = new RegExp(`^[${WORD}]$`, 'u');
// The module runs while the component is built, so what this call compiles need not be compiled at run time.
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

// Folds case for comparisons. It folds in both directions, because some letters have a counterpart in one direction
// only.
function fold(text) {
  return text.toLowerCase().toUpperCase();
}

// Decomposes Korean syllables into letters, as macOS writes them in file names.
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

// Converts a term to an expression with any white space between its words, and word boundaries at both ends if the ends
// belong to words.
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
      // A text without the term most likely does not contain its longest word.
      const sign = spelling.split(/\s+/).reduce((a, b) => (b.length > a.length ? b : a));
      all.set(spelling, { sign: fold(sign), source: expression(spelling) });
    }
  }
  // Longer terms first: "Acme Corp" before "Acme".
  return [...all].sort(([a], [b]) => b.length - a.length).map(([, term]) => term);
}

// Compiles the pattern with the flag `u`, or else with `v`. Never without both: then `\p{L}` would mean the letters
// "p{L}" and find nothing.
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
      // The message leaves out the pattern, because it may spell out what it is meant to hide.
      warn(`patterns[${index}] is not used: ${error.message}`);
      return [];
    }
  });
}

function placeholders(text) {
  return text.includes('[redacted:') ? [...text.matchAll(PLACEHOLDER)].map((m) => [m.index, m.index + m[0].length]) : [];
}

// Returns the parts of [start, end) that are outside of placeholders and contain more than white space.
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

// Replaces every match and returns the number of matches.
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

// Returns a redactor for these settings. Calls `warn` for settings that cannot be used.
export function redactorOf(terms, patterns, warn) {
  const usable = usableTerms(Array.isArray(terms) ? terms : [], warn);
  const regexes = usablePatterns(Array.isArray(patterns) ? patterns : [], warn);
  // Terms are compiled when a text first contains them: most calls never meet most terms.
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

  // Repeats until a round changes nothing. Only then does a pattern that looks at its context (`^x`, `(?<=\])x`) find
  // nothing more in the result. A text that does not settle, or on which an expression gives up, is withheld
  // completely.
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
