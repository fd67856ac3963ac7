// Extracts the failures of a test run. Plain JavaScript: `node --test` tests it without wasm.

const FAILED = /^\s*(?:not ok\b|FAIL\b|✖|✗|×)/;
const MOST_FAILURES = 20;

// Returns the summary and the failures of a test run; undefined if the event is not a test run.
export function observed({ tool, input, output }, commands) {
  if (tool !== 'Bash') {
    return undefined;
  }
  const command = parsed(input)?.command;
  if (typeof command !== 'string' || !commands.some((known) => command.includes(known))) {
    return undefined;
  }
  const result = parsed(output);
  const text = typeof result?.stdout === 'string' ? `${result.stdout}\n${result.stderr ?? ''}` : output;
  const failures = text.split('\n').filter((line) => FAILED.test(line)).map((line) => line.trim().slice(0, 300));
  const count = failures.length;
  return {
    summary: `\`${command.slice(0, 100)}\`: ${count === 0 ? 'no test failed' : `${count} failed`}`,
    detail: failures.slice(0, MOST_FAILURES).join('\n'),
  };
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
